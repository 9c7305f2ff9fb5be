"""`forebay cost`: the questions that people ask about money, answered by one command each."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from forebay.calls import agent as report
from forebay.calls import operator, submitter, upkeep, worker
from support.cli import Cli
from support.clock import Clock
from support.daemon import register


@pytest.fixture
def spent(db: psycopg.Connection, clock: Clock) -> list[int]:
    """Let an agent do five tasks for two customers, in January and February; return their ids."""
    register(db, "parse")
    operator.register_price(db, model="ocr", usd_per_page=Decimal("0.001"))
    ids = []
    for customer, usd, fails in (
        ("acme", "0.10", False),
        ("acme", "0.205", True),
        ("=best", "0.333", False),
        (None, "1", False),
    ):
        ids.append(submitter.enqueue(db, agent="parse", payload={}, customer=customer))
        attempt(db, usd, fails=fails)
    clock.advance(timedelta(days=31))
    ids.append(submitter.enqueue(db, agent="parse", payload={}, customer="acme"))
    attempt(db, "5", fails=False)
    return ids


def attempt(db: psycopg.Connection, usd: str, *, fails: bool) -> None:
    """Let the task that waits run, use a model and a machine, and end."""
    (claim,) = worker.dequeue(db, worker="w", agents=["parse"])
    call = {"call_id": "1", "model": "m", "input_tokens": 100, "output_tokens": 10, "cost_usd": usd}
    pages = {
        "call_id": "2",
        "model": "ocr",
        "pages": 5,
        "input_tokens": 0,
        "output_tokens": 0,
    }
    report.report_usage(db, attempt_id=claim.attempt_id, usage=[call, pages])
    if fails:
        error = {"kind": "bad", "message": "no"}
        report.fail(db, attempt_id=claim.attempt_id, error=error, retryable=False)
    else:
        report.complete(db, attempt_id=claim.attempt_id, result={})
        rows = [
            {
                "record_id": str(claim.attempt_id),
                "attempt_id": claim.attempt_id,
                "usd": "0.004",
                "is_final": usd != "1",
            }
        ]
        upkeep.record_compute_usage(db, rows=rows, source="billing")


def test_what_failed_tasks_cost(cli: Cli, spent: list[int]) -> None:
    """By any filter; --last counts back from now."""
    [line] = cli("cost", "by", "agent", "--status", "failed", "--from", "2026-01-01", "--json").json
    assert (line["key"], line["tasks"], line["llm_usd"]) == ("parse", 1, 0.21)
    assert cli("cost", "by", "agent", "--last", "7d", "--json").json == []
    told = cli("cost", "summary", "--status", "failed", "--json").json["summary"]
    assert (told["tasks"], told["llm_usd"], told["costed_attempts"]) == (1, 0.21, 0)


def test_what_a_task_of_an_agent_costs(cli: Cli, spent: list[int]) -> None:
    """The median over tasks whose cost is known, and which sources told it."""
    january = ("--from", "2026-01-01T00:00Z", "--to", "2026-02-01T00:00Z")
    told = cli("cost", "summary", "--agent", "parse", *january, "--json").json
    assert told["summary"]["whole_median"] == 0.342
    assert told["summary"]["llm_median"] == 0.21
    assert [(line["part"], line["source"], line["basis"]) for line in told["sources"]] == [
        ("llm", "agent", "price"),
        ("llm", "agent", "reported"),
        ("compute", "billing", "final"),
        ("compute", "billing", "provisional"),
        ("compute", None, "unknown"),
    ]
    shown = cli("cost", "summary", "--agent", "parse", *january).out
    assert "0.3420" in shown
    assert "3 of 4 tasks" in shown
    assert "first tries" in shown


def test_first_tries_and_retries(cli: Cli, spent: list[int]) -> None:
    """Apart, with what made retries necessary."""
    [line] = cli("cost", "by", "try", "--json").json
    assert (line["key"], line["tasks"]) == ("first", 5)


def test_a_month_for_finance(cli: Cli, spent: list[int], tmp_path: Path) -> None:
    """One file a month, to the cent, with sums that add up and names that do nothing."""
    file = tmp_path / "out.csv"
    answer = cli("cost", "month", "2026-01", "--csv", file)
    assert answer.code == 0
    assert "0.01 of the compute cost may still change" not in answer.out
    assert "Of 1 attempts the compute cost is not known" in answer.err
    rows = read(file.read_text(encoding="utf-8-sig"))
    assert [(row["line"], row["customer"], row["tasks"]) for row in rows] == [
        ("customer", "'=best", "1"),
        ("customer", "acme", "2"),
        ("customer", "", "1"),
        ("total", "", "4"),
    ]
    assert [row["llm_usd"] for row in rows] == ["0.34", "0.32", "1.00", "1.66"]
    assert [row["pages"] for row in rows] == ["5", "10", "5", "20"]
    for column in ("llm_usd", "compute_usd", "total_usd", "provisional_usd"):
        *lines, total = [Decimal(row[column]) for row in rows]
        assert sum(lines) == total
    assert rows[-1]["total_usd"] == "1.67"
    assert rows[1]["attempts_without_compute_cost"] == "1"


def test_a_month_on_the_screen(cli: Cli, spent: list[int]) -> None:
    """The same lines; --csv - is for pipes."""
    assert "5.01" in cli("cost", "month", "2026-02").out
    piped = cli("cost", "month", "2026-02", "--customer", "acme", "--csv", "-").out
    assert [row["total_usd"] for row in read(piped.removeprefix("\ufeff"))] == ["5.01", "5.01"]
    assert len(cli("cost", "month", "2026-03", "--json").json) == 1


def test_shared_costs_are_apart(cli: Cli, spent: list[int], db: psycopg.Connection) -> None:
    """They are in the month's file below its total."""
    day = {"started_at": "2026-01-05T00:00:00Z", "ended_at": "2026-01-06T00:00:00Z"}
    row = {"record_id": "s", "usd": "12.345", "product": "SQL", **day}
    upkeep.record_compute_usage(db, rows=[row], source="billing")
    assert "SQL" in cli("cost", "shared").out
    rows = read(cli("cost", "month", "2026-01", "--csv", "-").out.removeprefix("\ufeff"))
    assert (rows[-1]["line"], rows[-1]["agent"], rows[-1]["total_usd"]) == (
        "shared",
        "SQL",
        "12.35",
    )
    assert rows[-2]["total_usd"] == "1.67"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("by", "weather"), 2, "not one of"),
        (("month", "2026-13"), 2, "2026-11"),
        (("month", "November"), 2, "2026-11"),
        (("summary", "--last", "7d", "--from", "2026-01-01"), 2, "give one"),
        (("by", "agent", "--agent", "nobody"), 1, "nobody"),
        (("refresh",), 1, "FOREBAY_WAREHOUSE_ID"),
        (("month", "2026-01", "--csv", "/nowhere/x.csv"), 1, "/nowhere/x.csv"),
    ],
)
def test_mistakes_are_a_sentence(
    cli: Cli, arguments: tuple[str, ...], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name what is wrong."""
    monkeypatch.delenv("FOREBAY_WAREHOUSE_ID", raising=False)
    answer = cli("cost", *arguments)
    assert answer.code == code
    assert said in answer.err


def read(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(text, newline="")))
