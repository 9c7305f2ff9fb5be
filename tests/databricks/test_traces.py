"""What attempts used by their traces, in a real MLflow: CO1, CO3, CO4, CO5 and CO7."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import mlflow
import psycopg
import pytest
from mlflow import MlflowClient

from apps.support.people import logged_in, write_people
from apps.support.serving import served
from databricks.support_traces import (
    EXPERIMENT,
    MODEL,
    Seen,
    call,
    empty_mlflow,
    seen,
    told,
    traced,
)
from forebay.calls import agent as report
from forebay.calls import viewer
from forebay.errors import SettingError, TracesError
from forebay.pool import Database
from forebay.rows import AttemptToTrace
from forebay.traces import harvest
from forebay.traces.harvest import FoundTrace
from forebay.traces.mlflow_settings import LAUNCH_KEY
from forebay.traces.mlflow_store import TRACE_ID
from forebay_agents.tracing import Trace
from forebay_apps.orchestrator.traces import STATES, TraceReader
from forebay_apps.web.database import Connections
from support.cli import Cli
from support.waiting import until

__all__ = ["empty_mlflow", "seen"]

MINUTE = timedelta(minutes=1)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dsn: str) -> Cli:
    """Run commands as the installer."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
    return Cli(capsys)


def test_co1_a_trace_counts_its_calls_and_not_their_sum(seen: Seen) -> None:
    """A root with usage 100 above two calls of 50: 100, whatever the trace says of itself."""
    work = seen.claim()
    with traced(work) as root:
        call(root, (50, 0), mlflow__llm__model=MODEL)
        call(root, (50, 0), mlflow__llm__model=MODEL)
        root.set_attribute("mlflow.chat.tokenUsage", {"input_tokens": 100, "output_tokens": 0})
    seen.complete(work)
    done = seen.read()
    assert (done.attempts, done.calls, dict(done.states)) == (1, 2, {"found": 1})
    assert seen.used(work) == (100, 0, True)
    assert Decimal(str(seen.attempt(work)["cost_usd"])) == Decimal("0.0001")
    assert {one["trace_id"] for one in seen.calls(work)} == {root.trace_id}


def test_co3_usage_that_is_missing_is_unknown(seen: Seen) -> None:
    """A call without usage, or under a wrong key, makes the attempt's cost unknown, and not 0."""
    work = seen.claim()
    with traced(work) as root:
        call(root, mlflow__llm__model=MODEL)
        call(root, {"prompt": 7}, mlflow__llm__model=MODEL)
        call(root, (8, 1), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.read()
    assert seen.used(work) == (8, 1, False)
    assert not seen.attempt(work)["is_cost_known"]
    summary = viewer.cost_summary(seen.db)
    assert (summary.ended_attempts, summary.measured_attempts, summary.priced_attempts) == (1, 0, 0)


def test_co5_cached_tokens_stand_apart(seen: Seen) -> None:
    """86 fresh and 17,817 cached tokens are that, told either way."""
    work = seen.claim()
    usage = {"input_tokens": 86, "output_tokens": 5, "cache_read_input_tokens": 17817}
    with traced(work) as root:
        call(root, usage, mlflow__llm__model=MODEL, mlflow__llm__provider="anthropic")
        call(root, usage | {"input_tokens": 17903, "total_tokens": 17908}, mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.read()
    assert [(one["input_tokens"], one["cached_tokens"]) for one in seen.calls(work)] == [
        (17903, 17817),
        (17903, 17817),
    ]


def test_what_an_agent_reports_and_traces_is_counted_once(seen: Seen) -> None:
    """Both tell as much: the agent's report counts, and its trace says that nothing is missing."""
    work = seen.claim()
    calls = [
        told("1", (10, 2), cached_tokens=4),
        told("2", (5, 1)),
        {"call_id": "3", "model": "ai_parse_document", "input_tokens": 0, "output_tokens": 0}
        | {"pages": 12, "latency_ms": 9, "started_at": told("x")["started_at"]},
    ]
    trace = Trace(work, seen.environment)
    for each in calls:
        report.report_usage(
            seen.db, attempt_id=work.attempt_id, usage=each | {"trace_id": trace.id()}
        )
        trace.add(each)
    trace.end()
    seen.complete(work)
    assert dict(seen.read().states) == {"found": 1}
    assert seen.used(work) == (15, 3, True)
    by_agent, by_trace = seen.calls(work)[:3], seen.calls(work)[3:]
    numbers = ("model", "input_tokens", "output_tokens", "cached_tokens", "pages", "usd")
    assert len(by_agent) == len(by_trace) == 3
    for one, other in zip(by_agent, by_trace, strict=True):
        assert {one[name] for name in numbers} - {0} == {other[name] for name in numbers} - {0}
    assert {line.source for line in seen.sources()} == {"agent"}


def test_a_reload_changes_nothing(seen: Seen) -> None:
    """The same trace read again, also by an installation that forgot its looks, adds no call."""
    work = seen.claim()
    with traced(work) as root:
        call(root, (7, 3), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.read()
    before = seen.attempt(work), seen.calls(work)
    for _ in range(2):
        seen.again()
        assert seen.read().calls == 1
    assert (seen.attempt(work), seen.calls(work)) == before


def test_the_more_complete_source_counts_alone(seen: Seen) -> None:
    """A trace fills in for an agent that lost its usage; one that lost a call replaces nothing."""
    lost, kept = seen.claim(), seen.claim()
    report.report_usage(seen.db, attempt_id=lost.attempt_id, usage=[told("1", (10, 0)), told("2")])
    report.report_usage(
        seen.db, attempt_id=kept.attempt_id, usage=[told("1", (10, 0)), told("2", (20, 0))]
    )
    for work, sizes in ((lost, (10, 30)), (kept, (10,))):
        with traced(work) as root:
            for size in sizes:
                call(root, (size, 0), mlflow__llm__model=MODEL)
        seen.complete(work)
    assert dict(seen.read().states) == {"found": 1, "partial": 1}
    assert seen.used(lost) == (40, 0, True)
    assert seen.used(kept) == (30, 0, True)
    assert [(line.source, line.basis, line.attempts) for line in seen.sources()] == [
        ("agent", "price", 1),
        ("trace", "price", 1),
    ]
    assert [(line.basis, line.attempts) for line in seen.sources("trace")] == [
        ("found", 1),
        ("partial", 1),
    ]


def test_co4_a_late_trace_is_picked_up(seen: Seen) -> None:
    """A trace that is stored ten minutes after its attempt's end is found by a later look."""
    work = seen.claim()
    seen.complete(work)
    assert dict(seen.read().states) == {"awaited": 1}
    assert seen.attempt(work)["trace_state"] == "awaited"
    with traced(work) as root:
        call(root, (7, 3), mlflow__llm__model=MODEL)
    assert seen.read().attempts == 0  # not due yet
    seen.clock.advance(10 * MINUTE)
    assert dict(seen.read().states) == {"found": 1}
    assert seen.used(work) == (7, 3, True)


def test_co4_a_trace_that_goes_on_is_read_again(seen: Seen) -> None:
    """What is there of one that has not ended counts, and the rest when it comes."""
    work = seen.claim()
    with traced(work) as root:
        call(root, (7, 3), mlflow__llm__model=MODEL)
        usage = {"call_id": "1", "trace_id": root.trace_id}
        report.report_usage(seen.db, attempt_id=work.attempt_id, usage=usage)
        seen.complete(work)
        assert dict(seen.read().states) == {"partial": 1}
        assert seen.attempt(work)["trace_state"] == "partial"
        call(root, (1, 1), mlflow__llm__model=MODEL)
    seen.clock.advance(MINUTE)
    assert dict(seen.read().states) == {"found": 1}
    assert seen.used(work) == (8, 4, True)


def test_co4_a_trace_whose_state_says_so_goes_on(seen: Seen) -> None:
    """All that is stored of it has ended, but not the trace: more may come."""
    work = seen.claim()
    with traced(work) as root:
        call(root, (7, 3), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.store_sql("update trace_info set status = 'IN_PROGRESS'")
    assert dict(seen.read().states) == {"partial": 1}
    assert seen.used(work) == (7, 3, False)
    seen.store_sql("update trace_info set status = 'ERROR'")
    seen.clock.advance(MINUTE)
    assert dict(seen.read().states) == {"found": 1}
    assert seen.used(work) == (7, 3, True)


@pytest.mark.parametrize(
    ("trace_id", "is_one"),
    [
        ("tr-0123456789abcdef0123456789abcdef", True),
        ("trace:/main.traces/0123456789abcdef", True),
        ("../../experiments/list", False),
        ("tr-1/../../experiments", False),
        ("tr-1\n", False),
        ("", False),
    ],
)
def test_what_is_no_id_of_a_trace_is_not_asked_for(trace_id: str, is_one: bool) -> None:
    """An agent says what it likes, and it becomes part of a request's path."""
    assert bool(TRACE_ID.fullmatch(trace_id)) == is_one


def test_co4_a_trace_that_opens_empty_is_partial(seen: Seen) -> None:
    """Its root is there and has ended, but no call: nothing is known, and it is read again."""
    work = seen.claim()
    with traced(work):
        pass
    seen.complete(work)
    assert dict(seen.read().states) == {"partial": 1}
    assert seen.used(work) == (0, 0, False)


WORKER = """
import json, os, sys, threading
from forebay.rows import ClaimedAttempt
from forebay_agents.tracing import Trace
work, call, flushes = json.loads(sys.argv[1])
known = {name: None for name in ClaimedAttempt.__slots__}
trace = Trace(ClaimedAttempt(**known | work))
trace.id()
trace.add(call)
threading.Timer(0.1, os._exit, [0]).start()
if flushes:
    trace.end()
threading.Event().wait()
"""


@pytest.mark.timeout(120)
def test_co4_a_worker_that_exits_at_once_loses_no_cost(seen: Seen) -> None:
    """It dies 100 ms after its last span: the trace is looked for, given up and that is said.

    What the agent reported itself is what the attempt cost.
    """
    work = seen.claim()
    usage = told("1", (10, 2))
    trace = {
        "attempt_id": work.attempt_id,
        "task_id": work.task_id,
        "launch_token": work.launch_token,
    }
    report.report_usage(seen.db, attempt_id=work.attempt_id, usage=usage | {"trace_id": "tr-1"})
    subprocess.run(
        [sys.executable, "-c", WORKER, json.dumps([trace, usage, False])],
        env=seen.environment | {"PATH": ""},
        timeout=100,
        check=True,
    )
    seen.complete(work)
    states = []
    for _ in range(7):
        states += seen.read().states
        seen.clock.advance(20 * 60 * MINUTE)
    assert states == ["awaited"] * 6 + ["missing"]
    assert seen.read().attempts == 0
    assert seen.used(work) == (10, 2, True)
    assert [(line.source, line.basis, line.attempts) for line in seen.sources("trace")] == [
        ("mlflow", "missing", 1)
    ]


def test_co7_every_attempt_counts(seen: Seen) -> None:
    """A failed first attempt and a second one are each read from their own trace, and added up."""
    first = seen.claim()
    with traced(first) as root:
        call(root, (2_100_000, 0), mlflow__llm__model=MODEL)
    report.fail(seen.db, attempt_id=first.attempt_id, error={"kind": "agent", "message": "no"})
    seen.clock.advance(timedelta(hours=1))
    second = seen.claim_again()
    assert second.task_id == first.task_id
    with traced(second) as root:
        call(root, (3_600_000, 0), mlflow__llm__model=MODEL)
    seen.complete(second)
    seen.read()
    assert seen.used(first) == (2_100_000, 0, True)
    assert seen.used(second) == (3_600_000, 0, True)
    detail = viewer.task_detail(seen.db, task_id=first.task_id)
    assert detail.used_input_tokens == 5_700_000
    assert detail.cost_usd == Decimal("5.7")
    summary = viewer.cost_summary(seen.db)
    assert (summary.first_llm_usd, summary.retry_llm_usd) == (Decimal("2.1"), Decimal("3.6"))


def test_a_job_that_began_twice_counts_both_traces(seen: Seen) -> None:
    """A run that Lakeflow started again in one attempt left two traces, and paid for both."""
    work = seen.claim()
    for size in (10, 20):
        with traced(work) as root:
            call(root, (size, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.read()
    assert seen.used(work) == (30, 0, True)


def test_attempts_of_other_installations_are_not_mixed_up(seen: Seen) -> None:
    """Another installation's attempt of the same id, in the same experiment, is not ours."""
    work = seen.claim()
    with traced(work, **{LAUNCH_KEY: "0" * 64}) as theirs:
        call(theirs, (1000, 0), mlflow__llm__model=MODEL)
    with traced(work, **{LAUNCH_KEY: None}) as unnamed:
        call(unnamed, (2000, 0), mlflow__llm__model=MODEL)
    with traced(work) as ours:
        call(ours, (7, 0), mlflow__llm__model=MODEL)
    usage = {"call_id": "1", "trace_id": theirs.trace_id}  # not even if the agent says so
    report.report_usage(seen.db, attempt_id=work.attempt_id, usage=usage)
    seen.complete(work)
    seen.read()
    assert seen.used(work) == (7, 0, True)


def test_a_trace_that_only_the_agent_names_is_read(seen: Seen) -> None:
    """An agent that does not tag its trace may report its id; what is no id is not asked for."""
    named, wild = seen.claim(), seen.claim()
    with traced(named, **{LAUNCH_KEY: None}) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    for work, trace_id in ((named, root.trace_id), (wild, "../../experiments/list")):
        usage = {"call_id": "1", "trace_id": trace_id}
        report.report_usage(seen.db, attempt_id=work.attempt_id, usage=usage)
        seen.complete(work)
    assert dict(seen.read().states) == {"found": 1, "awaited": 1}
    assert seen.used(named) == (7, 0, True)


HOSTILE = {
    "negative": "-5",
    "not a number": "NaN",
    "infinite": "-Infinity",
    "huge": "9" * 60,
    "beyond floats": "1e999",
    "a fraction": "1.5",
    "a string": '"5"',
    "true": "true",
    "nested": '{"input_tokens": 5}',
    "no JSON": "}{",
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_hostile_usage_is_unknown(value: str, seen: Seen) -> None:
    """What is no number of tokens is unknown; what else the trace tells counts."""
    work, other = seen.claim(), seen.claim()
    with traced(work) as root:
        call(root, (123456, 1), mlflow__llm__model="m\x00" * 400, forebay__cost_usd=123456)
    with traced(other) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.complete(other)
    seen.store("123456", value)
    seen.read()
    assert seen.used(work) == (0, 0 if value == "}{" else 1, False)
    (one,) = seen.calls(work)
    usd = {"1.5": 1.5, '"5"': 5}.get(value)  # an amount may be a fraction, and be told as text
    assert (one["model"], one["input_tokens"], one["usd"]) == (None, None, usd)
    assert seen.attempt(work)["is_cost_known"] == (usd is not None)
    assert seen.used(other) == (7, 0, True)


def test_what_is_no_trace_at_all_is_not_read(seen: Seen) -> None:
    """Spans that MLflow itself cannot read leave their attempt unknown, and others as they are."""
    work, other = seen.claim(), seen.claim()
    with traced(work) as root:
        call(root, (123456, 1), mlflow__llm__model=MODEL)
    with traced(other) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.complete(other)
    seen.store("span_id", "span")
    seen.read()
    assert seen.used(work) == seen.used(other) == (0, 0, False)
    assert {one.basis for one in seen.sources("trace")} == {"partial"}


def test_a_price_of_ours_counts_before_a_list_price(seen: Seen) -> None:
    """MLflow prices calls by a list of its own: that is used, and named, where we have none."""
    work = seen.claim()
    with traced(work) as root:
        call(root, (1000, 0), mlflow__llm__model=MODEL, mlflow__llm__cost={"total_cost": 99.0})
        call(root, (1000, 0), mlflow__llm__model="gpt", mlflow__llm__cost={"total_cost": 1.5e-4})
        call(root, (1000, 0), mlflow__llm__model="nobody knows it")
        call(root, (1000, 0), mlflow__llm__model=MODEL, forebay__cost_usd=0.5)
    seen.complete(work)
    seen.read()
    of_model = {(one["model"], one["usd"], one["cost_usd"]) for one in seen.calls(work)}
    assert of_model == {
        (MODEL, Decimal("0.001"), None),
        ("gpt", Decimal("0.00015"), None),
        ("nobody knows it", None, None),
        (MODEL, 0.5, 0.5),
    }
    assert [(line.source, line.basis) for line in seen.sources()] == [
        ("trace", "list_price"),
        ("trace", "price"),
        ("trace", "reported"),
        ("trace", "unknown"),
    ]
    assert not seen.attempt(work)["is_cost_known"]


@pytest.fixture
def silent() -> Any:
    """Give the address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("place", ["away", "slow", "no experiment", "no database"])
def test_an_mlflow_that_does_not_answer_costs_no_look(
    place: str, seen: Seen, silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said in bounded time, and the attempt is looked for as often as if nothing had been."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    work = seen.claim()
    with traced(work) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    uri = seen.uri
    (tmp_path / "broken.db").write_text("no database")
    seen.uri = {
        "away": "http://127.0.0.1:9",
        "slow": silent,
        "no experiment": uri,
        "no database": f"sqlite:///{tmp_path / 'broken.db'}",
    }[place]
    if place == "no experiment":
        MlflowClient(uri).rename_experiment("1", "another")
    began = time.monotonic()
    with pytest.raises(TracesError):
        seen.read()
    assert time.monotonic() - began < 30
    if place == "no experiment":
        MlflowClient(uri).rename_experiment("1", EXPERIMENT)
    seen.uri = uri
    if place != "no database":  # of which MLflow says so before anything is to be looked for
        assert seen.read().attempts == 0
        seen.clock.advance(2 * MINUTE)
    assert dict(seen.read().states) == {"found": 1}
    looks = seen.db.execute("select looks from forebay.attempt_traces").fetchall()
    assert looks == [(1,)]


class Moody:
    """Traces of which some cannot be read."""

    def __init__(self, unreadable: set[int]) -> None:
        self.unreadable = unreadable
        self.asked: list[int] = []

    def find(self, attempt: AttemptToTrace, seconds: float) -> list[FoundTrace]:
        """Fail for those, and find nothing for the others."""
        self.asked.append(attempt.attempt_id)
        if attempt.attempt_id in self.unreadable:
            raise TracesError("not this one")
        return []


def test_an_attempt_that_cannot_be_read_holds_up_no_other(seen: Seen) -> None:
    """It counts as not found while others are read; an MLflow that is away is asked three times."""
    works = [seen.claim() for _ in range(6)]
    for work in works:
        seen.complete(work)
    ids = [work.attempt_id for work in works]
    moody = Moody({ids[0]})
    done = harvest.refresh_traces(lambda: nullcontext(seen.db), moody)
    assert (done.attempts, sorted(moody.asked)) == (6, ids)
    seen.again()
    away = Moody(set(ids))
    with pytest.raises(TracesError):
        harvest.refresh_traces(lambda: nullcontext(seen.db), away)
    assert len(away.asked) == 3


@pytest.mark.timeout(120)
def test_the_dashboard_reads_traces(
    seen: Seen, role_dsn: Callable[..., str], tmp_path: Path
) -> None:
    """It does by itself where an experiment is set, and the task's page says how far that is."""
    work, other = seen.claim(), seen.claim()
    with traced(work) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    seen.complete(other)
    (tmp_path / "home").mkdir()
    write_people(tmp_path / "home" / "users.json")
    settings = {
        "FOREBAY_DATABASE_URL": role_dsn("all"),
        "FOREBAY_LOGIN": "password",
        **seen.environment,
    }
    with served("orchestrator", settings, tmp_path) as app, logged_in(app, "vic") as person:
        until(lambda: seen.attempt(other)["trace_state"] == "awaited", 60)
        pages = [person.get(f"/tasks/{it.task_id}/body").text for it in (work, other)]
    assert seen.used(work) == (7, 0, True)
    assert [STATES[word] in page for page in pages for word in ("found", "awaited")] == [
        *(True, False),
        *(False, True),
    ]


def test_upkeep_alone_may_read_traces(seen: Seen, role_dsn: Callable[..., str]) -> None:
    """The reader needs no other role; without an experiment there is none."""
    work = seen.claim()
    with traced(work) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    connections = Connections(Database(role_dsn("upkeep"), application_name="test"))
    reader = TraceReader.of(seen.environment, connections)
    assert reader is not None
    reader.step()
    connections.close()
    assert seen.used(work) == (7, 0, True)
    assert TraceReader.of({}, connections) is None


@pytest.mark.timeout(120)
def test_the_command_line_reads_traces(
    seen: Seen, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`forebay cost refresh` says what it found, and `cost summary` where figures are from."""
    for name, value in seen.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FOREBAY_WAREHOUSE_ID", raising=False)
    work = seen.claim()
    with traced(work) as root:
        call(root, (7, 0), mlflow__llm__model=MODEL)
    seen.complete(work)
    answer = cli("cost", "refresh", "--json")
    assert answer.code == 0, answer.err
    assert answer.json == {
        "bill": None,
        "traces": {"attempts": 1, "calls": 1, "states": {"found": 1}},
    }
    assert "0" in cli("cost", "refresh").out
    assert "mlflow" in cli("cost", "summary").out


def test_harvests_at_once_count_nothing_twice(seen: Seen, dsn: str) -> None:
    """Several processes may read: what one looks for another does not, and nothing is doubled."""
    works = [seen.claim() for _ in range(12)]
    for work in works:
        with traced(work) as root:
            call(root, (7, 0), mlflow__llm__model=MODEL)
        seen.complete(work)
    done: list[int] = []

    def read() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            own = Seen(connection, seen.clock, seen.uri)
            done.append(own.read().attempts)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == 12
    assert viewer.cost_summary(seen.db).input_tokens == 84
    assert mlflow.get_tracking_uri() == seen.uri


def test_settings_that_cannot_be_are_said(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, an experiment cannot be read."""
    monkeypatch.setattr("forebay_apps.orchestrator.traces.has", lambda _: False)
    with pytest.raises(SettingError, match="databricks"):
        TraceReader.of(seen.environment, Connections(Database("postgresql:///x")))
