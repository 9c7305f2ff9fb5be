"""`forebay cost`: the questions that people ask about money, answered by one command each."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from forebay.calls import agent as report
from forebay.calls import operator, submitter, upkeep, viewer, worker
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


def test_what_failed_tasks_of_the_last_days_cost(cli: Cli, db: psycopg.Connection) -> None:
    """By the clock on the wall; what was done well is not in it."""
    register(db, "parse")
    operator.register_price(db, model="ocr", usd_per_page=Decimal("0.001"))
    for usd, fails in (("0.25", True), ("0.5", False), ("2", True)):
        submitter.enqueue(db, agent="parse", payload={})
        attempt(db, usd, fails=fails)
    asked = ("--status", "failed", "--last", "7d", "--json")
    [line] = cli("cost", "by", "agent", *asked).json
    assert (line["tasks"], line["llm_usd"], line["compute_usd"]) == (2, 2.26, None)
    told = cli("cost", "summary", "--agent", "parse", *asked).json["summary"]
    assert (told["llm_usd"], told["llm_median"], told["first_tries"]) == (2.26, 0.255, 2)


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


def test_what_traces_may_still_change(cli: Cli, db: psycopg.Connection, spent: list[int]) -> None:
    """While they are looked for no known cost is final; afterwards nothing will change."""
    (attempt,) = viewer.task_detail(db, task_id=spent[-1]).attempts
    upkeep.record_traces(db, attempt_id=attempt["attempt_id"], calls=[])
    asked = ("cost", "summary", "--from", "2026-02-01")
    assert "what traces tell" in cli(*asked).out
    for _ in range(7):
        upkeep.record_traces(db, attempt_id=attempt["attempt_id"], calls=[])
    assert "nothing will change" in cli(*asked).out


def test_a_summary_says_at_least_where_some_attempts_do_not_tell(
    cli: Cli, spent: list[int]
) -> None:
    """A sum is no more than what is known of it; nothing is called provisional that is unknown."""
    told = cli("cost", "summary", "--from", "2026-01-01", "--to", "2026-02-01").out
    assert re.search(r"first tries +4: LLM 1\.66, compute at least 0\.0120", told)
    failed = cli("cost", "summary", "--from", "2026-01-01", "--status", "failed").out
    assert re.search(r"provisional +what runs, or is unknown", failed)


def test_first_tries_and_retries(cli: Cli, spent: list[int]) -> None:
    """Apart, with what made retries necessary."""
    [line] = cli("cost", "by", "try", "--json").json
    assert (line["key"], line["tasks"]) == ("first", 5)


def test_a_month_for_finance(cli: Cli, spent: list[int], tmp_path: Path) -> None:
    """One file a month, to the cent, with sums that add up and names that do nothing."""
    file = tmp_path / "out.csv"
    answer = cli("cost", "month", "2026-01", "--csv", file)
    assert answer.code == 0
    assert "Of 1 attempts the compute cost may still change: 0.00 together." in answer.err
    assert "Of 1 attempts the compute cost is not known" in answer.err
    rows = read(file.read_text(encoding="utf-8-sig"))
    assert [(row["line"], row["customer"], row["tasks"]) for row in rows] == [
        ("customer", "'=best", "1"),
        ("customer", "acme", "2"),
        ("customer", "", "1"),
        ("total", "", "4"),
    ]
    assert [row["llm_usd"] for row in rows] == ["0.34", "0.32", "1.01", "1.67"]
    assert [row["pages"] for row in rows] == ["5", "10", "5", "20"]
    for column in ("llm_usd", "compute_usd", "total_usd", "provisional_usd"):
        *lines, total = [Decimal(row[column]) for row in rows]
        assert sum(lines) == total
    assert rows[-1]["total_usd"] == "1.67"
    assert rows[1]["attempts_without_compute_cost"] == "1"
    assert {row["llm_sources"] for row in rows} == {"agent price, agent reported"}
    assert {row["compute_sources"] for row in rows} == {"billing"}


def test_a_month_on_the_screen(cli: Cli, spent: list[int]) -> None:
    """The same lines; --csv - is for pipes."""
    assert "5.01" in cli("cost", "month", "2026-02").out
    piped = cli("cost", "month", "2026-02", "--customer", "acme", "--csv", "-").out
    assert [row["total_usd"] for row in read(piped.removeprefix("\ufeff"))] == ["5.01", "5.01"]
    empty = cli("cost", "month", "2026-03", "--json")
    assert [(line["line"], line["total_usd"]) for line in empty.json] == [("total", 0)]
    assert "No task of 2026-03" in empty.err


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
def test_a_month_in_a_pipe_is_utf_8(
    cli: Cli, db: psycopg.Connection, clock: Clock, encoding: str
) -> None:
    """As the file is, whatever the terminal's encoding."""
    register(db, "parse")
    submitter.enqueue(db, agent="parse", payload={}, customer="Žluťoučký")
    month = ("cost", "month", f"{clock.now():%Y-%m}", "--csv", "-")
    done = subprocess.run(
        [sys.executable, "-m", "forebay.cli", *month],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    [row, _] = read(done.stdout.decode("utf-8-sig"))
    assert row["customer"] == "Žluťoučký"
    assert done.stdout.decode("utf-8").splitlines() == cli(*month).out.splitlines()


def test_a_zero_that_nobody_told_is_from_none(cli: Cli, db: psycopg.Connection) -> None:
    """A task that was handed back before its launch: by agent, in sum, and for finance."""
    register(db, "parse", launcher="local")
    submitter.enqueue(db, agent="parse", payload={})
    (claim,) = worker.dequeue(db, worker="w", agents=["parse"])
    worker.release(db, attempt_id=claim.attempt_id, reason="shutdown")
    [line] = cli("cost", "by", "agent", "--json").json
    assert (line["llm_usd"], line["compute_usd"]) == (0, 0)
    assert [(one["source"], one["basis"], one["usd"]) for one in line["sources"]] == [
        (None, "unused", 0),
        (None, "final", 0),
    ]
    told = cli("cost", "by", "agent").out
    assert "none" in told
    assert "unknown" not in told
    month = f"{viewer.task_detail(db, task_id=claim.task_id).created_at:%Y-%m}"
    [row, _] = read(cli("cost", "month", month, "--csv", "-").out.removeprefix("\ufeff"))
    assert (row["llm_usd"], row["compute_usd"]) == ("0.00", "0.00")
    assert (row["llm_sources"], row["compute_sources"]) == ("none", "none")


@pytest.fixture
def silent(db: psycopg.Connection, clock: Clock) -> None:
    """Let a task run and tell nothing of what it used."""
    register(db, "silent")
    submitter.enqueue(db, agent="silent", payload={}, customer="acme")
    (claim,) = worker.dequeue(db, worker="w", agents=["silent"])
    report.complete(db, attempt_id=claim.attempt_id, result={})


def test_what_is_unknown_is_never_zero(cli: Cli, silent: None) -> None:
    """On the screen, in JSON and in the file: amounts and tokens, of lines and of their total."""
    tokens = ("input_tokens", "output_tokens", "cached_tokens")
    names = ("llm_usd", "compute_usd", *tokens)
    summary = cli("cost", "summary", "--json").json["summary"]
    told = [*cli("cost", "by", "agent", "--json").json, summary]
    told += cli("cost", "month", "2026-01", "--json").json
    assert [[line[name] for name in names] for line in told] == [[None] * 5] * 4
    assert [line["pages"] for line in told[1:]] == [None] * 3
    assert (summary["provisional_usd"], summary["first_llm_usd"]) == (None, None)
    file = cli("cost", "month", "2026-01", "--csv", "-").out.removeprefix("\ufeff")
    names += ("pages", "total_usd")
    assert [[row[name] for name in names] for row in read(file)] == [[""] * 7] * 2
    shown = cli("cost", "summary").out
    assert "unknown (known of 0 of 1 attempts)" in shown
    assert "1: LLM unknown, compute unknown" in shown
    for out in (cli("cost", "by", "agent").out, shown):
        assert "unknown" in out
        assert "0.00" not in out
    assert cli("cost", "month", "2026-01").out.count("unknown") > 8


def test_every_line_says_where_its_figures_are_from(cli: Cli, spent: list[int]) -> None:
    """A price that is registered from a reported one, a bill from an estimate."""
    told = cli("cost", "by", "customer", "--customer", "acme", "--json").json
    assert [
        (one["part"], one["source"], one["basis"], one["usd"]) for one in told[0]["sources"]
    ] == [
        ("llm", "agent", "price", 0.015),
        ("llm", "agent", "reported", 5.305),
        ("compute", "billing", "final", 0.008),
        ("compute", None, "unknown", None),
    ]
    (model,) = [line for line in cli("cost", "by", "model", "--json").json if line["key"] == "ocr"]
    assert [(one["part"], one["basis"]) for one in model["sources"]] == [("llm", "price")]
    assert "agent price" in cli("cost", "by", "agent").out
    assert "billing" in cli("cost", "month", "2026-01").out
    assert "0.1050 agent" in cli("task", spent[0]).out
    assert "0.0040 billing" in cli("task", spent[0]).out


def test_json_keeps_every_digit(cli: Cli, spent: list[int], db: psycopg.Connection) -> None:
    """An amount is a number with all of its digits, that a float could not hold."""
    usd = "31.957375966092765432"
    row = {"record_id": "s", "usd": usd, "product": "SQL", "started_at": "2026-01-05T00:00:00Z"}
    upkeep.record_compute_usage(db, rows=[row], source="billing")
    out = cli("cost", "shared", "--json").out
    assert json.loads(out, parse_float=Decimal)[0]["usd"] == Decimal(usd)
    assert cli("cost", "by", "agent", "--json").json[0]["priced_attempts"] == 5


def test_days_are_utc_as_months_are(
    cli: Cli, spent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the computer is; only a time with an offset says otherwise."""
    monkeypatch.setenv("TZ", "Etc/GMT-14")
    time.tzset()
    try:
        days = [line["key"] for line in cli("cost", "by", "day", "--json").json]
        assert days == ["2026-02-01", "2026-01-01"]
        one = cli("cost", "by", "day", "--from", "2026-01-01", "--to", "2026-01-02", "--json").json
        assert [line["key"] for line in one] == ["2026-01-01"]
        before = ("--to", "2026-01-02T00:00+14:00")
        assert cli("cost", "by", "day", "--from", "2026-01-01", *before, "--json").json == []
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_list_that_is_cut_says_so(cli: Cli, spent: list[int]) -> None:
    """And one without lines too."""
    cut = cli("cost", "by", "customer", "--limit", "2", "--json")
    assert len(cut.json) == 2
    assert "more lines than 2" in cut.err
    assert cli("cost", "by", "customer", "--limit", "3").err == ""
    assert "No task matches." in cli("cost", "by", "customer", "--last", "1d").err
    assert "No task matches." in cli("cost", "summary", "--last", "1d").err


def test_a_price_of_the_past_prices_calls_that_had_none(cli: Cli, db: psycopg.Connection) -> None:
    """From its time on; without one, it is said that calls of before keep what they have."""
    register(db, "parse")
    submitter.enqueue(db, agent="parse", payload={})
    (claim,) = worker.dequeue(db, worker="w", agents=["parse"])
    call = {"call_id": "1", "model": "m", "input_tokens": 1_000_000, "output_tokens": 0}
    report.report_usage(db, attempt_id=claim.attempt_id, usage=[call])
    report.complete(db, attempt_id=claim.attempt_id, result={})
    later = cli("price", "set", "m", "--input", "3")
    assert "Calls made before keep what they have" in later.err
    assert cli("cost", "by", "agent", "--json").json[0]["llm_usd"] is None
    past = cli("price", "set", "m", "--input", "2", "--from", "2026-01-01")
    assert "have one now: 1." in past.err
    assert cli("cost", "by", "agent", "--json").json[0]["llm_usd"] == 2
    again = cli("price", "set", "m", "--input", "9", "--from", "2026-01-01")
    assert "have one now: 0." in again.err


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
        (("month", "9999-12"), 2, "2026-11"),
        (("month", "2０26-11"), 2, "2026-11"),
        (("by", "agent", "--last", "7"), 2, "without a unit"),
        (("by", "agent", "--last", "36501d"), 2, "36501d is longer than 36500d"),
        (("summary", "--last", "999999999d"), 2, "999999999d is longer than 36500d"),
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
