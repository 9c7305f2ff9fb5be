"""Looks at traces that come bit by bit, too many, shared or poisonous: the last look is right."""

from __future__ import annotations

import logging
import random
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import mlflow
import psycopg
import pytest

from databricks.support_traces import MODEL, Seen, call, empty_mlflow, seen, told, traced
from forebay.calls import agent as report
from forebay.calls import operator, upkeep, viewer
from forebay.logs import FIELDS
from forebay.rows import AttemptToTrace, ClaimedAttempt
from forebay.traces import harvest, mlflow_store
from forebay.traces.harvest import FoundTrace, Traced, refresh_traces
from forebay.traces.mlflow_settings import LAUNCH_KEY
from forebay.traces.spans import COST, OWN_COST, USAGE, SpanSeen, calls_of
from forebay.traces.spans import MODEL as MODEL_NAME
from support.clock import Clock

__all__ = ["empty_mlflow", "seen"]

MINUTES = timedelta(minutes=2)


@pytest.fixture
def bare(db: psycopg.Connection, clock: Clock) -> Seen:
    """Give a database with an agent and a model with a price, without an MLflow."""
    operator.register_agent(db, agent="a")
    operator.register_price(db, model=MODEL, usd_per_m_input=1, usd_per_m_output=10)
    return Seen(db, clock, "")


@dataclass(slots=True)
class There:
    """Traces that are there, of attempts by their ids."""

    traces: dict[int, list[FoundTrace]]

    def find(self, attempt: AttemptToTrace, seconds: float) -> list[FoundTrace]:
        """Return those of an attempt."""
        return self.traces[attempt.attempt_id]


def look(seen: Seen, work: ClaimedAttempt, *traces: FoundTrace) -> Traced:
    """Look for the traces of an attempt, all of which are these, once it is due."""
    seen.clock.advance(MINUTES)
    return refresh_traces(lambda: nullcontext(seen.db), There({work.attempt_id: list(traces)}))


def span(
    key: str, parent: str | None = None, used: tuple[int, int] | None = None, **more: Any
) -> SpanSeen:
    """Return a call of the priced model."""
    usage = {USAGE: {"input_tokens": used[0], "output_tokens": used[1]}} if used else {}
    return SpanSeen(key, parent, "CHAT_MODEL", {MODEL_NAME: MODEL} | usage | more, key, 1, 2)


UNKNOWN_CHILD, UNKNOWN_PARENT = span("c", "p"), span("p")
CHILD, PARENT, ROOT = span("c", "p", (10, 1)), span("p", None, (10, 1)), span("r", None, (10, 1))
BETWEEN = SpanSeen("p", "r", "CHAIN", {})


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param([UNKNOWN_CHILD], [UNKNOWN_CHILD, PARENT], id="what it is a part of"),
        pytest.param([UNKNOWN_PARENT], [UNKNOWN_PARENT, CHILD], id="what it is the frame of"),
        pytest.param([PARENT], [PARENT, CHILD], id="what it is the sum of"),
        pytest.param([ROOT, CHILD], [ROOT, BETWEEN, CHILD], id="what is between"),
        pytest.param([span("c", None, (3, 0))], [span("c", None, (10, 1))], id="its end"),
    ],
)
def test_co4_what_comes_later_corrects(
    first: list[SpanSeen], then: list[SpanSeen], bare: Seen
) -> None:
    """Spans are stored in any order: read bit by bit a trace tells what it tells read once."""
    work = bare.claim()
    bare.complete(work)
    assert dict(look(bare, work, FoundTrace("tr-1", first)).states) == {"partial": 1}
    assert not bare.attempt(work)["is_usage_known"]
    assert not bare.attempt(work)["is_cost_known"]
    assert dict(look(bare, work, FoundTrace("tr-1", then, is_whole=True)).states) == {"found": 1}
    assert bare.used(work) == (10, 1, True)
    assert (bare.attempt(work)["cost_usd"], bare.attempt(work)["is_cost_known"]) == (
        Decimal("0.00002"),
        True,
    )
    assert spent(bare) == Decimal("0.00002")


KNOWN = (
    "used_input_tokens",
    "used_output_tokens",
    "used_cached_tokens",
    "is_usage_known",
    "cost_usd",
    "is_cost_known",
)
CALLED = (
    "model",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "pages",
    "cost_usd",
    "list_usd",
    "usd",
    "started_at",
    "latency_ms",
)
USED: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 100}
CACHED = {"cache_read_input_tokens": 900}


def spent(bare: Seen) -> Decimal:
    """Return what all attempts were found to spend."""
    (spent,) = bare.db.execute("select sum(usd) from forebay.spend_entries").fetchall()
    return spent[0] or Decimal(0)


def looked(bare: Seen, *looks: list[SpanSeen]) -> tuple[list[Any], list[Any], Decimal]:
    """Return what is known of a new attempt once its trace was looked at, at last as a whole.

    That is the attempt as it is shown, its calls, and what it was found to spend.
    """
    before, work = spent(bare), bare.claim()
    bare.complete(work)
    for number, spans in enumerate(looks, 1):
        upkeep.record_traces(
            bare.db,
            attempt_id=work.attempt_id,
            calls=calls_of(f"tr-{work.attempt_id}", spans),
            traces=1,
            is_whole=number == len(looks),
        )
    shown, calls = bare.attempt(work), bare.calls(work)
    told_by = [(one["call_id"].split("/")[1], *(one[name] for name in CALLED)) for one in calls]
    return [shown[name] for name in KNOWN], sorted(told_by, key=str), spent(bare) - before


@pytest.mark.parametrize(
    "details",
    [
        pytest.param({COST: {"total_cost": 10.0}}, id="its list cost"),
        pytest.param({OWN_COST: "10"}, id="its cost"),
        pytest.param({MODEL_NAME: MODEL, USAGE: USED | CACHED}, id="its cached tokens"),
    ],
)
@pytest.mark.parametrize("looks", [2, 3])
def test_co4_a_look_keeps_nothing_of_an_earlier_one(
    looks: int, details: dict[str, Any], bare: Seen
) -> None:
    """What a sum told that was seen alone is not told of the rest that it is in the end."""
    alone = SpanSeen("r", None, "AGENT", {USAGE: USED} | details, "agent", 1, 9)
    both = [alone, span("c", "r", (600, 60))]
    assert looked(bare, *[[alone], both, both][:looks]) == looked(bare, both)


def drawn(chance: random.Random) -> list[SpanSeen]:
    """Draw a trace of a few spans, each of which tells something or nothing."""
    spans = []
    for number in range(chance.randint(2, 6)):
        tokens = chance.choice([10, 20, 50, 100, 300])
        told = {"input_tokens": tokens, "output_tokens": tokens // 10}
        cached = {"cache_read_input_tokens": tokens // 2}
        attributes = {
            USAGE: chance.choice([None, told, told, told | cached]),
            COST: chance.choice([None, None, {"total_cost": 1.5}]),
            OWN_COST: chance.choice([None, None, "2"]),
            MODEL_NAME: chance.choice([None, MODEL]),
        }
        parent = f"s{chance.randrange(number)}" if number else None
        kind = chance.choice(["AGENT", "CHAT_MODEL", "CHAIN"])
        said = {name: value for name, value in attributes.items() if value is not None}
        spans.append(SpanSeen(f"s{number}", parent, kind, said, "", 1, 2))
    return spans


@pytest.mark.parametrize("seed", range(3))
def test_co4_looks_in_part_leave_what_one_whole_look_tells(seed: int, bare: Seen) -> None:
    """Whatever was there of a trace before, in whatever order it came."""
    chance = random.Random(seed)
    for _ in range(30):
        spans = drawn(chance)
        parts = [[one for one in spans if chance.random() < 0.6] for _ in range(2)]
        assert looked(bare, *parts, spans) == looked(bare, spans), (parts, spans)


def test_a_trace_in_part_replaces_no_whole_report(bare: Seen) -> None:
    """An agent told all in one sum; two small spans of its trace are stored, and no more."""
    work = bare.claim()
    report.report_usage(bare.db, attempt_id=work.attempt_id, usage=told("all", (100_000, 5_000)))
    bare.complete(work)
    before = bare.attempt(work)
    look(bare, work, FoundTrace("tr-1", [span("1", None, (10, 1)), span("2", None, (10, 1))]))
    after = bare.attempt(work)
    assert after.pop("trace_state") == "partial"
    before.pop("trace_state")
    assert after == before | {"trace_id": "tr-1"}


def test_spans_of_one_id_in_two_traces_both_count(bare: Seen) -> None:
    """Ids of spans are unique in their trace only."""
    work = bare.claim()
    bare.complete(work)
    spans = [[span("1", None, (10, 1))], [span("1", None, (700, 70))]]
    look(bare, work, *(FoundTrace(f"tr-{n}", each, True) for n, each in enumerate(spans)))
    assert bare.used(work) == (710, 71, True)


POISON = {"NUL": "a\0", "half of a surrogate pair": "\ud800", "endless": "x" * 600}


@pytest.mark.parametrize("key", POISON.values(), ids=POISON)
def test_a_trace_that_cannot_be_stored_stops_no_other(
    key: str, bare: Seen, caplog: pytest.LogCaptureFixture
) -> None:
    """It is left out, and named; the attempt's other trace counts, and so do other attempts."""
    work, other = bare.claim(), bare.claim()
    for each in (work, other):
        bare.complete(each)
    good = FoundTrace("tr-good", [span("1", None, (10, 1))], is_whole=True)
    poison = FoundTrace("tr-poison", [span("1", None, (1, 1)), span(key)], is_whole=True)
    traces = There({work.attempt_id: [poison, good], other.attempt_id: [good]})
    with caplog.at_level(logging.WARNING):
        done = refresh_traces(lambda: nullcontext(bare.db), traces)
    assert (done.attempts, dict(done.states)) == (2, {"partial": 1, "found": 1})
    assert bare.used(work) == (10, 1, False)
    assert bare.used(other) == (10, 1, True)
    (said,) = [getattr(record, FIELDS) for record in caplog.records]
    assert (said["attempt_id"], said["trace_id"]) == (work.attempt_id, "tr-poison")


def test_what_was_looked_for_too_long_ago_is_not_recorded(
    bare: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was held up may have seen less than somebody who looked meanwhile; it is looked anew."""
    work = bare.claim()
    bare.complete(work)
    part, whole = FoundTrace("tr-1", [CHILD]), FoundTrace("tr-1", [CHILD, ROOT], is_whole=True)
    with monkeypatch.context() as late:
        late.setattr(harvest, "RECORD_SECONDS", 0.0)
        assert look(bare, work, part) == Traced()
    assert bare.used(work) == (0, 0, False)
    assert dict(look(bare, work, whole).states) == {"found": 1}


def test_more_calls_than_are_recorded_are_not_known(
    bare: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is beyond the limit was used as well."""
    monkeypatch.setattr(harvest, "MOST_CALLS", 2)
    work = bare.claim()
    bare.complete(work)
    spans = [span(str(n), None, (10, 1)) for n in range(3)]
    assert dict(look(bare, work, FoundTrace("tr-1", spans, is_whole=True)).states) == {"partial": 1}
    assert bare.used(work) == (20, 2, False)
    assert not bare.attempt(work)["is_cost_known"]


def test_more_traces_than_are_read_are_not_known(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as are read are known; one more, and what it used is missing."""
    monkeypatch.setattr(mlflow_store, "MOST_TRACES", 2)
    monkeypatch.setattr(mlflow_store, "PAGE", 1)
    many, enough = seen.claim(), seen.claim()
    for work, traces in ((many, 4), (enough, 2)):
        for _ in range(traces):
            with traced(work) as root:
                call(root, (100, 10), mlflow__llm__model=MODEL)
        seen.complete(work)
    assert dict(seen.read().states) == {"partial": 1, "found": 1}
    assert seen.used(many) == (200, 20, False)
    assert seen.used(enough) == (200, 20, True)


def test_a_trace_that_several_attempts_name_is_nobodys(seen: Seen) -> None:
    """Of a batch in one trace without a tag each attempt used what it told; so does a retry."""
    works = [seen.claim() for _ in range(3)]
    with mlflow.start_span("batch", span_type="AGENT") as root:
        for _ in works:
            call(root, (1000, 100), mlflow__llm__model=MODEL)
    for number, work in enumerate(works):
        usage = told("c", (1000, 100), trace_id=root.trace_id)
        report.report_usage(seen.db, attempt_id=work.attempt_id, usage=usage)
        seen.complete(work)
        if number == 0:  # nobody else named it yet
            assert seen.read().calls == 3
            assert seen.used(work) == (3000, 300, True)
    for _ in range(2):  # the second time the first one is looked at again
        seen.clock.advance(MINUTES)
        assert seen.read().calls == 0
    assert [seen.used(work) for work in works] == [(1000, 100, True)] * 3
    assert viewer.cost_summary(seen.db).input_tokens == 3000


def test_a_trace_with_a_tag_is_its_attempts_whoever_names_it(seen: Seen) -> None:
    """A retry that names its predecessor's trace takes nothing from it."""
    first, second = seen.claim(), seen.claim()
    with traced(first) as root:
        call(root, (7, 3), mlflow__llm__model=MODEL)
    assert LAUNCH_KEY in mlflow.get_trace(root.trace_id).info.tags
    seen.complete(first)
    seen.read()
    usage = told("c", (5, 1), trace_id=root.trace_id)
    report.report_usage(seen.db, attempt_id=second.attempt_id, usage=usage)
    seen.complete(second)
    for _ in range(2):
        seen.clock.advance(MINUTES)
        seen.read()
    assert seen.used(first) == (7, 3, True)
    assert seen.attempt(first)["trace_state"] == "found"
    assert seen.used(second) == (5, 1, True)
