"""The dashboard's figure of compute cost, from a workspace's bill when a warehouse is set."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from apps.support.people import logged_in, write_people
from apps.support.serving import served
from databricks.support_billing import Books, books
from forebay.calls import viewer
from forebay.errors import SettingError
from forebay_apps.orchestrator import compute
from forebay_lab.workspace import Workspace
from support.waiting import until

__all__ = ["books"]

RATE = {"FOREBAY_COMPUTE_USD_PER_HOUR": "3600"}  # a dollar a second: nobody takes that for a bill


@pytest.fixture
def person(
    books: Books,
    workspace: Workspace,
    role_dsn: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[httpx.Client]:
    """Give somebody who looks at the dashboard of an app with a warehouse and a rate."""
    monkeypatch.setenv("DATABRICKS_HOST", workspace.url)
    monkeypatch.setenv("DATABRICKS_TOKEN", workspace.token)
    (tmp_path / "home").mkdir()
    write_people(tmp_path / "home" / "users.json")
    settings = {
        "FOREBAY_DATABASE_URL": role_dsn("all"),
        "FOREBAY_LOGIN": "password",
        "FOREBAY_WAREHOUSE_ID": "w1",
        **RATE,
    }
    with served("orchestrator", settings, tmp_path) as app, logged_in(app, "vic") as client:
        yield client


def ask(person: httpx.Client) -> str:
    """Press the button, and return the tiles once the look-up is over."""
    assert person.post("/overview/compute", data={"next": "/"}).status_code == 303
    until(lambda: "loading" not in tiles(person), 20)
    return tiles(person)


def tiles(person: httpx.Client) -> str:
    """Return the figures as the page has them, of all time."""
    return person.get("/overview/figures?range=all").text


def test_the_bill_is_the_source_where_a_warehouse_is_set(
    books: Books, person: httpx.Client
) -> None:
    """Not the rate: a run without rows stays unknown, and only who asks wakes the warehouse."""
    task_id, run_id = books.run()
    other_id, _ = books.run()
    books.rows.use("2.5", books.clock.now(), run_id=run_id)
    assert "loading" not in tiles(person)
    assert books.statements.statements == {}
    ask(person)
    assert (books.cost(task_id), books.cost(other_id)) == ((1.25, False), None)
    assert "provisional" in tiles(person)
    assert [(s.source, s.basis) for s in viewer.cost_sources(books.db) if s.part == "compute"] == [
        ("billing", "provisional"),
        (None, "awaited"),
    ]


def test_a_bill_that_cannot_be_read_is_a_sentence(books: Books, person: httpx.Client) -> None:
    """It says what the warehouse said; the next one may go well."""
    _, run_id = books.run()
    books.rows.use("2.5", books.clock.now(), run_id=run_id, sku="NEW_SKU")
    books.statements.warehouses.clear()
    assert "The bill cannot be read: SQL warehouse w1 does not exist." in ask(person)
    books.statements.add_warehouse("w1")
    books.rows.use("1e19", books.clock.now(), run_id=books.run()[1])
    seen = ask(person)
    assert "No price is listed for NEW_SKU" in seen
    assert "Of 1 lines of the bill no amount is recorded" in seen
    books.rows.price("1", books.clock.now().replace(year=2020), sku="NEW_SKU")
    assert "NEW_SKU" not in ask(person)
    assert viewer.metrics(books.db).compute_usd == 2.5


def test_wrong_settings_are_refused_at_the_start(
    role_dsn: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag that is none, and a warehouse where the SDK is not installed."""
    settings = {"FOREBAY_DATABASE_URL": role_dsn("all"), "FOREBAY_WAREHOUSE_ID": "w1"}
    with (
        pytest.raises(SettingError, match="project=forebay"),
        served("orchestrator", settings | {"FOREBAY_BILLING_TAG": "x"}, tmp_path),
    ):
        pass
    monkeypatch.setattr(compute, "has", lambda extra: False)
    with (
        pytest.raises(SettingError, match="extra databricks"),
        served("orchestrator", settings, tmp_path),
    ):
        pass


def test_without_a_warehouse_the_sdk_is_not_loaded() -> None:
    """It takes seconds, and an installation elsewhere has none."""
    program = (
        "import sys, forebay_apps.orchestrator.app;"
        "print([m for m in sys.modules if m.startswith('databricks.sdk')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
