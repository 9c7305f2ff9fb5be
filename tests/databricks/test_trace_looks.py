"""Looks at traces that come bit by bit, too many, shared or poisonous: the last look is right."""

from __future__ import annotations

import logging
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
from forebay.calls import operator, viewer
from forebay.logs import FIELDS
from forebay.rows import AttemptToTrace, ClaimedAttempt
from forebay.traces import harvest, mlflow_store
from forebay.traces.harvest import FoundTrace, Traced, refresh_traces
from forebay.traces.mlflow_settings import LAUNCH_KEY
from forebay.traces.spans import MODEL as MODEL_NAME
from forebay.traces.spans import USAGE, SpanSeen
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
    (spent,) = bare.db.execute("select sum(usd) from forebay.spend_entries").fetchall()
    assert spent == (Decimal("0.00002"),)


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
