"""The example agent: installed as its README says, it repairs what is clear and tells the rest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from forebay.calls import submitter
from support.daemon import attempts, ended, register, running

EXAMPLE = Path(__file__).parents[2] / "examples" / "repair_agent"
TABLE = """ordered,price,from
03/04/2026,1.234,Deutschland
25/04/2026,"12,50 €",FRANCE
1 May 2026,"-1.234,56",日本
2026-06-01,7,nl
03/04/26,none,Atlantis
,,
"""
COLUMNS = {"ordered": "date", "price": "amount", "from": "country"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example into a folder of its own, which stands before others on the path."""
    folder = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    options = ("--no-deps", "--no-build-isolation", "--target", str(folder))
    subprocess.run([*pip, *options, str(EXAMPLE)], check=True, timeout=100)
    return folder


@pytest.fixture
def repair(
    db: psycopg.Connection,
    role_dsn: Callable[..., str],
    installed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[object], dict[str, object]]:
    """Return a function that puts a payload through the queue and gives the finished task."""
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.setenv("PYTHONPATH", str(installed))
    register(db, "repair", entry_point="repair")

    def repair(payload: object) -> dict[str, object]:
        task_id = submitter.enqueue(db, agent="repair", payload=payload)
        with running(role_dsn("worker", "agent"), tmp_path / "logs"):
            row = ended(db, task_id, 20)
        (attempt,) = attempts(db, task_id)
        return row | {"done": attempt["progress_done"]}

    return repair


def test_a_table_is_repaired_and_what_stays_open_is_told(
    repair: Callable[[object], dict[str, object]],
) -> None:
    """Through the real queue: one habit fits each column, and what no habit reads is left alone."""
    row = repair({"csv": TABLE, "columns": COLUMNS})
    assert row["status"] == "completed", row["error"]
    assert row["done"] == 3
    result = row["result"]
    assert isinstance(result, dict)
    assert [[each[column] for column in COLUMNS] for each in result["rows"]] == [
        ["2026-04-03", "1234", "DE"],
        ["2026-04-25", "12.50", "FR"],
        ["2026-05-01", "-1234.56", "JP"],
        ["2026-06-01", "7", "NL"],
        ["03/04/26", "none", "Atlantis"],
        ["", "", ""],
    ]
    assert len(result["changes"]) == 10
    change = {"row": 1, "column": "ordered", "value": "03/04/2026", "repaired": "2026-04-03"}
    assert change in result["changes"]
    doubts = {(each["row"], each["column"]) for each in result["doubts"]}
    assert doubts == {(5, column) for column in COLUMNS}
    assert str(row["confidence"]) == "0.800"


def test_a_column_that_settles_nothing_is_left_as_it_is(
    repair: Callable[[object], dict[str, object]],
) -> None:
    """Where both habits fit every value of a column, none is changed and all are doubted."""
    table = "ordered,price\n03/04/2026,1.234\n05/06/2026,5.678\n07/07/2026,9\n"
    row = repair({"csv": table, "columns": {"ordered": "date", "price": "amount"}})
    result = row["result"]
    assert isinstance(result, dict)
    doubts = {each["value"] for each in result["doubts"]}
    assert doubts == {"03/04/2026", "05/06/2026", "1.234", "5.678"}
    assert [each["repaired"] for each in result["changes"]] == ["2026-07-07"]


def test_what_is_no_plain_sum_is_doubted(
    repair: Callable[[object], dict[str, object]],
) -> None:
    """Only a currency and the marks of thousands are taken off a number; anything else is left."""
    clear = {"€ 1.234,50": "1234.50", "7 EUR": "7", "-2,5": "-2.5", "1 234,00": "1234.00"}
    odd = ["2 x 50", "12 apples 7", "(12,00)", "5%", "12,5 kg", "1,2,3"]
    table = "price\n" + "".join(f'"{value}"\n' for value in [*clear, *odd])
    row = repair({"csv": table, "columns": {"price": "amount"}})
    result = row["result"]
    assert isinstance(result, dict)
    changes = {each["value"]: each["repaired"] for each in result["changes"]}
    assert changes == clear
    assert [each["value"] for each in result["doubts"]] == odd


@pytest.mark.parametrize(
    "payload", [{}, {"csv": TABLE}, {"csv": TABLE, "columns": {"price": "colour"}}]
)
def test_what_cannot_be_repaired_is_refused(
    repair: Callable[[object], dict[str, object]], payload: object
) -> None:
    """A payload without a table, or with an unknown kind of column, fails for good."""
    row = repair(payload)
    assert row["status"] == "failed"
    assert "needs" in str(row["error"])
