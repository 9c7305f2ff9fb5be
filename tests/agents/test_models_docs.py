"""docs/models.md says what the code does."""

from pathlib import Path

import pytest

from forebay_agents.models import prompts, refusals, settings, verify
from forebay_agents.models.merge import AGREED

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
