"""Agents, quotas, customers and prices on the command line: what is set, kept and shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import psycopg
import pytest

from forebay.calls import agent as agent_calls
from forebay.calls import operator, submitter, viewer, worker
from forebay.cli import agent_view
from forebay.cli.words import duration
from support.cli import Cli

Connect = Callable[..., psycopg.Connection]

TOKENS = ("--limit", "tokens/minute=60000")


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    """Connect as every caller, to a database that knows the agent classify."""
    conn = connect("all")
    operator.register_agent(conn, agent="classify")
    return conn


def test_agent_set_keeps_what_is_not_given(cli: Cli, conn: psycopg.Connection) -> None:
    """Every option alone changes its own parameter: the rest stays as it was registered."""
    cli("quota", "set", "gpt", *TOKENS)
    options = {
        "--launcher": ("local", "launcher", "local"),
        "--job-id": (7, "job_id", 7),
        "--max-concurrent-tasks": (3, "max_concurrent_tasks", 3),
        "--max-tpm": (6000, "max_tpm", 6000),
        "--max-rpm": (60, "max_rpm", 60),
        "--tpm-burst": (0.5, "tpm_burst", Decimal("0.5")),
        "--quota": ("gpt", "quota_names", ["gpt"]),
        "--max-usd-per-day": (2.5, "max_usd_per_day", Decimal("2.5")),
        "--default-estimated-tokens": (50, "default_estimated_tokens", 50),
        "--max-waiting": (9, "max_waiting", 9),
        "--aging": ("2m", "aging", timedelta(minutes=2)),
        "--reserve-after": ("3m", "reserve_after", timedelta(minutes=3)),
        "--lease": ("90s", "lease", timedelta(seconds=90)),
        "--timeout": ("2h", "timeout", timedelta(hours=2)),
        "--max-attempts": (4, "max_attempts", 4),
        "--max-releases": (5, "max_releases", 5),
        "--max-deferrals": (6, "max_deferrals", 6),
        "--max-deferral-time": ("4h", "max_deferral_time", timedelta(hours=4)),
        "--backoff-base": ("7s", "backoff_base", timedelta(seconds=7)),
        "--backoff-max": ("8m", "backoff_max", timedelta(minutes=8)),
        "--on-lost-lease": ("fail", "on_lost_lease", "fail"),
        "--late-results": ("reject", "late_results", "reject"),
        "--retention": ("30d", "retention", timedelta(days=30)),
    }
    cli("agent", "set", "classify", "--entry-point", "parse_document", "--fair-by-customer")
    for option, (value, _, _) in options.items():
        answer = cli("agent", "set", "classify", option, value)
        assert answer.code == 0, answer.err
    (state,) = viewer.agent_status(conn, agents=["classify"])
    assert (state.entry_point, state.is_fair_by_customer) == ("parse_document", True)
    for _, column, wanted in options.values():
        assert getattr(state, column) == wanted, column


def test_agent_set_takes_limits_away_and_defaults_back(cli: Cli, conn: psycopg.Connection) -> None:
    """The word none removes a limit; --reset is the definition of a new agent."""
    limits = ("--max-tpm", "none", "--aging", "none", "--max-usd-per-day", "none")
    cli("quota", "set", "gpt", *TOKENS)
    cli("agent", "set", "classify", "--max-tpm", 60, "--aging", "1m", "--max-usd-per-day", 1)
    cli("agent", "set", "classify", "--quota", "gpt", "--max-attempts", 9, "--in-order")
    (state,) = cli("agent", "set", "classify", *limits, "--quota", "none", "--json").json
    for column in ("max_tpm", "aging", "max_usd_per_day"):
        assert state[column] is None
    assert (state["quota_names"], state["max_attempts"]) == ([], 9)
    (state,) = cli("agent", "set", "classify", "--reset", "--max-rpm", 5, "--json").json
    assert (state["max_attempts"], state["max_rpm"]) == (3, 5)


def test_the_help_of_agent_set_tells_the_defaults(cli: Cli, conn: psycopg.Connection) -> None:
    """They are what a new agent has."""
    (new,) = viewer.agent_status(conn, agents=["classify"])
    shown = " ".join(cli("agent", "set", "--help").out.replace("│", " ").split())
    told = dict(re.findall(r"--([a-z-]+) (?:(?! --).)*?\[default: \(([^)]+)\)\]", shown))
    del told["dsn"]
    for option, default in told.items():
        value = getattr(new, option.replace("-", "_"))
        known = duration(value) if isinstance(value, timedelta) else str(value)
        assert known == default, option
    assert len(told) == 15


def test_agent_set_shows_the_definition(cli: Cli) -> None:
    """What was set is shown in words, one line each."""
    answer = cli("agent", "set", "classify", "--max-tpm", 60000, "--aging", "2m")
    lines = dict(line.split("  ", 1) for line in answer.out.splitlines())
    assert lines["tokens"].strip() == "60,000 a minute, 48,000 at once"
    assert lines["order"].strip() == "one priority more each 2m of waiting"


def test_a_local_agent_needs_an_entry_point(cli: Cli) -> None:
    """It is asked for once; later changes may leave it out."""
    refused = cli("agent", "set", "classify", "--launcher", "local")
    assert (refused.code, "needs entry_point, such as" in refused.err) == (1, True)
    assert cli("agent", "list", "--json").json == []
    local = ("--launcher", "local", "--entry-point", "parse_document")
    assert cli("agent", "set", "classify", *local).code == 0
    assert cli("agent", "set", "classify", "--launcher", "local").code == 0


def test_an_unknown_quota_is_refused(cli: Cli) -> None:
    """Nothing is registered, and the sentence names the command that would help."""
    answer = cli("agent", "set", "classify", "--quota", "gpt")
    assert answer.code == 1
    assert "gpt" in answer.err
    assert "'forebay quota set'" in answer.err
    assert cli("agent", "list", "--json").json == []


def test_quotas_are_set_and_listed(cli: Cli, conn: psycopg.Connection) -> None:
    """A limit is UNIT/PERIOD=NUMBER; each is one row, with what counts and what is left."""
    answer = cli(
        *("quota", "set", "gpt", *TOKENS, "--limit", "requests/hour=1000:bucket:0.5"),
        *("--limit", "concurrent_calls=8", "--limit", "input_tokens/6s=5000", "--headroom", 0),
    )
    assert answer.code == 0, answer.err
    operator.register_agent(conn, agent="classify", quotas=["gpt"])
    rows = cli("quota", "list", "gpt", "--json").json
    assert {(row["unit"], row["period"], row["kind"], row["amount"]) for row in rows} == {
        ("tokens", 60, "window", 60000),
        ("requests", 3600, "bucket", 1000),
        ("concurrent_calls", 0, "count", 8),
        ("input_tokens", 6, "window", 5000),
    }
    assert {row["room"] for row in rows if row["unit"] == "requests"} == {500}
    shown = cli("quota", "list").out
    for words in ("60,000 tokens a minute", "5,000 input tokens in 6 s", "classify"):
        assert words in shown
    assert cli("quota", "set", "gpt", "--limit", "none").code == 0
    (row,) = cli("quota", "list", "--json").json
    assert row["unit"] is None
    unknown = cli("quota", "list", "nosuch")
    assert (unknown.code, "nosuch" in unknown.err) == (1, True)


def test_customers_are_set_and_listed(cli: Cli) -> None:
    """What is left out of a customer's terms stays."""
    cli("customer", "set", "acme", "--max-usd-per-day", 5)
    (state,) = cli("customer", "set", "acme", "--priority-boost", 10, "--json").json
    assert (state["priority_boost"], state["max_usd_per_day"]) == (10, 5)
    assert "5.00" in cli("customer", "list").out
    (state,) = cli("customer", "set", "acme", "--max-usd-per-day", "none", "--json").json
    assert (state["priority_boost"], state["max_usd_per_day"]) == (10, None)


def test_caps_are_lifted_for_the_day(cli: Cli, conn: psycopg.Connection) -> None:
    """Of an agent or of a customer, by an amount or without end."""
    operator.register_agent(conn, agent="classify", max_usd_per_day=Decimal(2))
    cli("customer", "set", "acme", "--max-usd-per-day", 5)
    assert "7.00 US dollars" in cli("agent", "lift", "classify", "--usd", 5).out
    assert cli("customer", "lift", "acme", "--usd", 1.5, "--json").json == {"cap_usd": 6.5}
    assert "without end" in cli("customer", "lift", "acme").out
    assert cli("agent", "lift", "nosuch").code == 1


def test_prices_are_set_and_listed(cli: Cli) -> None:
    """A price may begin later and end; what it does not name is not paid by it."""
    (price,) = cli("price", "set", "gpt", "--input", 2.5, "--output", 10, "--json").json
    assert (price["usd_per_m_input"], price["usd_per_m_output"]) == (2.5, 10)
    assert (price["usd_per_page"], price["valid_until"]) == (None, None)
    later = ("--from", "2040-01-01", "--until", "2041-01-01", "--page", "$0.01")
    assert len(cli("price", "set", "gpt", *later, "--json").json) == 2
    shown = cli("price", "list", "gpt").out
    assert "2.5" in shown
    assert "2041-01-01" in shown
    assert cli("price", "list", "other", "--json").json == []


def test_agents_are_listed_with_what_holds_them_up(cli: Cli, conn: psycopg.Connection) -> None:
    """One table of agents, one of their quotas, and a sentence for a pause."""
    operator.register_quota(
        conn, quota="gpt", limits=[{"unit": "tokens", "per": "minute", "amount": 60000}]
    )
    operator.register_agent(conn, agent="classify", quotas=["gpt"], max_concurrent_tasks=1)
    operator.register_agent(conn, agent="other")
    for _ in range(3):
        submitter.enqueue(conn, agent="classify", payload={})
    (claimed,) = worker.dequeue(conn, worker="w", agents=["classify"])
    agent_calls.report_usage(
        conn,
        attempt_id=claimed.attempt_id,
        usage={"call_id": "1", "input_tokens": 1000, "output_tokens": 234},
    )
    operator.pause_agent(conn, agent="other", reason="\x1b[31mlunch")
    shown = cli("agent", "list").out
    for words in ("1 of 1", "full", "1,234", "60,000 tokens a minute"):
        assert words in shown
    assert "other is paused until it is resumed: \ufffd[31mlunch" in shown
    only = cli("agent", "list", "other").out
    assert "gpt" not in only
    assert "classify" not in only


def test_agents_are_listed_with_what_refusals_lowered(cli: Cli, conn: psycopg.Connection) -> None:
    """A lowered limit stands beside the one that is set, and what is in flight beside both."""
    operator.register_agent(conn, agent="classify", max_concurrent_tasks=8, max_tpm=60000)
    for _ in range(2):
        submitter.enqueue(conn, agent="classify", payload={}, estimated_tokens=1500)
    first, _ = worker.dequeue(conn, worker="w", agents=["classify"], batch_size=2)
    refusal = {"kind": "rate_limited", "message": "slow down"}
    agent_calls.fail(conn, attempt_id=first.attempt_id, error=refusal)
    shown = cli("agent", "list").out
    assert "in flight /min" in shown
    assert "1,500" in shown
    assert (
        "classify works at 50% of its limits after refusals:"
        " 4 of 8 tasks at once, 30,000 of 60,000 tokens a minute"
    ) in " ".join(shown.split())


def test_the_limit_that_holds_an_agent_up_is_named(cli: Cli, conn: psycopg.Connection) -> None:
    """With the task that waits; the quota shows what a call and what a new task could take."""
    limits = [{"unit": "tokens", "per": "minute", "amount": 50000}]
    operator.register_quota(conn, quota="gpt", limits=limits, headroom=Decimal(0))
    operator.register_agent(conn, agent="classify", quotas=["gpt"])
    for _ in range(2):
        submitter.enqueue(conn, agent="classify", payload={}, estimated_tokens=30000)
    worker.dequeue(conn, worker="w", agents=["classify"], batch_size=2)
    shown = " ".join(cli("agent", "list").out.split())
    assert "classify: Task 2 waits: quota gpt has 20,000 of 50,000 tokens a minute left" in shown
    assert "left for a call in flight will use left for a task" in shown
    (row,) = cli("quota", "list", "--json").json
    assert (row["room"], row["projected"], row["task_room"]) == (50000, 30000, 20000)


def test_money_that_nobody_told_of_is_not_said_to_be_in_flight(
    cli: Cli, conn: psycopg.Connection
) -> None:
    """The cost that is expected of ended attempts counts, and the sentence names them."""
    operator.register_agent(conn, agent="classify", max_usd_per_day=Decimal(5))
    shown = " ".join(cli("agent", "list").out.split())
    assert "0.00 of 5.00 US dollars today (UTC), and tasks in flight, or that never told" in shown


def test_agents_are_watched_until_an_interrupt(
    cli: Cli, conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal each look is printed below the last, and Ctrl-C is a normal end."""
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        operator.pause_agent(conn, agent="classify")
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(agent_view, "time", SimpleNamespace(sleep=wait))  # other threads sleep too
    answer = cli("agent", "list", "--watch")
    assert (answer.code, waits) == (0, [2.0, 2.0])
    assert answer.out.count("classify is paused") == 1
    assert "\x1b" not in answer.out


def test_agent_set_wants_the_job_of_a_lakeflow_agent(cli: Cli, conn: psycopg.Connection) -> None:
    """Said at once, and not at the first launch; a job that was given before is enough."""
    refused = cli("agent", "set", "classify", "--launcher", "lakeflow")
    assert (refused.code, "--job-id" in refused.err) == (1, True)
    assert cli("agent", "set", "classify", "--launcher", "lakeflow", "--job-id", "7").code == 0
    assert cli("agent", "set", "classify", "--launcher", "lakeflow").code == 0
