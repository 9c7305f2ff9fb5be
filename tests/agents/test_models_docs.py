"""docs/models.md says what the code does."""

import re
from pathlib import Path

import pytest

from forebay_agents.models import prompts, refusals, settings, verify
from forebay_agents.models.merge import AGREED
from forebay_lab.model_server import CallLog, Limit
from forebay_lab.model_server.ledger import Ledger

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()


@pytest.mark.parametrize(
    "setting",
    sorted(value for value in vars(settings).values() if str(value).startswith("FOREBAY_")),
)
def test_every_setting_is_described(setting: str) -> None:
    """An operator finds each variable in the table."""
    assert f"| `{setting}" in PAGE or f", `{setting}`" in PAGE


@pytest.mark.parametrize("status", refusals.KINDS)
def test_every_status_has_its_kind(status: int) -> None:
    """The table of refusals gives a status the kind that the queue gets."""
    row = next(row for row in PAGE.splitlines() if row.startswith("|") and str(status) in row)
    assert f"`{refusals.KINDS[status]}`" in row


@pytest.mark.parametrize(
    "confidence",
    [AGREED, verify.LABELLED, verify.BARE, verify.AMBIGUOUS, verify.UNSETTLED, verify.TOLD],
)
def test_every_confidence_is_explained(confidence: float) -> None:
    """Each number that an auditor may see has its row."""
    assert f"\n| {confidence} |" in PAGE


@pytest.mark.parametrize("name", [prompts.EXTRACT, prompts.REPAIR, prompts.VISION])
def test_every_prompt_in_use_is_linked(name: str) -> None:
    """The page names the versions that this release sends."""
    assert f"[{name}](../agents/forebay_agents/models/prompts/{name}.md)" in PAGE
    assert prompts.prompt(name)


def test_the_limits_of_the_page_can_be_given() -> None:
    """Each limit that the page shows is one."""
    shown = re.findall(r"--limit ([a-z]\S+)", PAGE) + re.findall(r"`(tokens/\S+)`", PAGE)
    assert len(shown) > 4
    for text in shown:
        assert Limit.parse(text).amount > 0


def test_every_field_of_the_log_is_described() -> None:
    """Who reads the simulated endpoint's log finds each field on the page."""
    log = CallLog()
    ledger = Ledger([Limit.parse("requests/minute=1")], log)
    ledger.admit(1, 1, None)
    ledger.admit(1, 1, None)
    fields = {field for record in log.records for field in record}
    assert {"why", "left"} <= fields
    assert not {field for field in fields if f"`{field}`" not in PAGE}
