"""Quotas: what is granted stays within them, whoever asks at once, and every wait has its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage, claimed, dequeue
from concurrency.test_plans import pages
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker
from forebay.rows import CallPermit

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
CROWD = 16


def quota(stage: Stage, *limits: dict[str, Any], name: str = "q") -> None:
    """Define a quota without headroom, so that the numbers are round."""
    operator.register_quota(stage.db, quota=name, limits=limits, headroom=Decimal(0))


def window(amount: int, unit: str = "tokens", per: str = "minute") -> dict[str, Any]:
    """Return a strict limit."""
    return {"unit": unit, "per": per, "amount": amount}


def bucket(amount: int, unit: str = "tokens", per: str = "minute", **more: Any) -> dict[str, Any]:
    """Return a limit that refills continuously."""
    return {"unit": unit, "per": per, "amount": amount, "kind": "bucket"} | more


def concurrent(amount: int) -> dict[str, Any]:
    """Return a limit of calls at once."""
    return {"unit": "concurrent_calls", "amount": amount}


def attempts(stage: Stage, number: int = 1, agent: str = "a", **definition: Any) -> list[int]:
    """Start so many tasks of an agent that draws on the quota q only once they run."""
    stage.agent(agent)
    stage.enqueue(agent, number, estimated_tokens=1)
    ids = [claim.attempt_id for claim in stage.claim(number, agent)]
    assert len(ids) == number
    stage.agent(agent, **({"quotas": ["q"]} | definition))
    return ids


def ask(
    attempt_id: int, tokens: int = 0, output: int = 0, call_id: str | None = None
) -> Act[CallPermit]:
    """Return the act of asking for a call."""
    return lambda session: report.may_call(
        session, attempt_id=attempt_id, tokens=tokens, output_tokens=output, call_id=call_id
    )


def used(stage: Stage, attempt_id: int, call_id: str, tokens: int, output: int = 0) -> None:
    """Report what a call used."""
    usage = {"call_id": call_id, "input_tokens": tokens - output, "output_tokens": output}
    report.report_usage(stage.db, attempt_id=attempt_id, usage=usage)


def granted(outcomes: Sequence[CallPermit | Exception]) -> int:
    """Return how many of those who asked at once may go."""
    errors = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert not errors, errors
    return sum(permit.decision == "go" for permit in outcomes if isinstance(permit, CallPermit))


def state(stage: Stage, unit: str = "tokens", name: str = "q") -> Any:
    """Return a limit as quota_status shows it."""
    (row,) = [row for row in viewer.quota_status(stage.db, quotas=[name]) if row.unit == unit]
    return row


def most(calls: list[tuple[datetime, int]], period: timedelta) -> int:
    """Return the most that was granted within any period: counted anew, from the calls alone."""
    return max(sum(tokens for at, tokens in calls if end - period < at <= end) for end, _ in calls)


@pytest.mark.parametrize(
    "limit", [window(1000), bucket(1250), concurrent(10)], ids=lambda x: x["unit"]
)
def test_a_grant_sees_the_grant_before(stage: Stage, limit: dict[str, Any]) -> None:
    """Sixteen ask at once where there is room for ten: ten go, in every round."""
    assert stage.clock
    quota(stage, limit)
    ids = attempts(stage, CROWD)
    for turn in range(8):
        outcomes = stage.at_once([ask(attempt, 100, call_id=str(turn)) for attempt in ids])
        assert granted(outcomes) == 10
        for attempt, permit in zip(ids, outcomes, strict=True):
            if isinstance(permit, CallPermit) and permit.decision == "go":
                used(stage, attempt, str(turn), 100)
        stage.clock.advance(2 * MINUTE)


def test_a_grant_waits_for_the_grant_under_way(stage: Stage) -> None:
    """Whoever asks next is answered once the one before has committed, and counts it."""
    quota(stage, window(100))
    one, other = attempts(stage, 2)
    with stage.transaction() as first:
        assert ask(one, 100)(first).decision == "go"
        session, future = stage.start(ask(other, 100))
        assert stage.wait_until_blocked(session, future)
        first.commit()
        assert future.result().decision == "wait"


def crowd(
    stage: Stage, seconds: float, call: Callable[[psycopg.Connection, int, str], None]
) -> None:
    """Let sixteen sessions call for some seconds; after each go comes call."""
    numbers = count()
    end = time.monotonic() + seconds

    def work(attempt: int) -> Act[None]:
        def act(session: psycopg.Connection) -> None:
            while time.monotonic() < end:
                number = next(numbers)
                permit = ask(attempt, 100 + number % 7 * 50, call_id=str(number))(session)
                if permit.waits is None:
                    call(session, attempt, str(number))
                else:
                    time.sleep(permit.waits.total_seconds())

        return act

    ids = attempts(stage, CROWD)
    assert stage.at_once([work(attempt) for attempt in ids]) == [None] * CROWD


@pytest.mark.parametrize(
    ("limit", "at_most"), [(window(2000, per="second"), 2000), (bucket(2000, per="second"), 3600)]
)
def test_a_crowd_stays_within_the_limit(stage: Stage, limit: dict[str, Any], at_most: int) -> None:
    """For three seconds of real time; counted from the calls alone, and most of it is used."""
    quota(stage, limit)
    crowd(stage, 3, lambda session, attempt, call_id: None)
    query = "select granted_at, input_tokens from forebay.attempt_calls"
    calls = [(row.granted_at, row.input_tokens) for row in stage.rows(query)]
    assert most(calls, SECOND) <= at_most
    assert sum(tokens for _, tokens in calls) >= 0.8 * 3 * 2000


def test_a_crowd_never_calls_more_at_once(stage: Stage) -> None:
    """For two seconds of real time; the callers count themselves while their calls run."""
    quota(stage, concurrent(3))
    running: list[str] = []
    together: list[int] = []

    def call(session: psycopg.Connection, attempt: int, call_id: str) -> None:
        running.append(call_id)
        together.append(len(running))
        time.sleep(0.02)
        running.remove(call_id)
        report.report_usage(session, attempt_id=attempt, usage={"call_id": call_id})

    crowd(stage, 2, call)
    assert max(together) == 3
    assert len(together) >= 30


def test_two_quotas_are_charged_both_or_neither(stage: Stage) -> None:
    """A call that one quota has no room for leaves no trace in the other."""
    assert stage.clock
    quota(stage, window(1000), name="q")
    quota(stage, window(100), bucket(1000, "requests"), concurrent(5), name="r")
    (one,) = attempts(stage, quotas=["q", "r"])
    assert ask(one, 60)(stage.db).decision == "go"
    before = viewer.quota_status(stage.db)
    permit = ask(one, 60)(stage.db)
    assert (permit.decision, permit.quota, permit.needs, permit.has) == ("wait", "r", 60, 40)
    assert [(row.used, row.room) for row in viewer.quota_status(stage.db)] == [
        (row.used, row.room) for row in before
    ]
    assert stage.value("select count(*) from forebay.attempt_calls") == 1


def test_agents_that_share_two_quotas_crosswise(stage: Stage) -> None:
    """Named in either order, they are locked in one: nobody deadlocks, and neither is exceeded."""
    quota(stage, window(3000), name="q")
    quota(stage, window(2000), name="r")
    ids = attempts(stage, 8, "a", quotas=["q", "r"]) + attempts(stage, 8, "b", quotas=["r", "q"])

    def work(attempt: int) -> Act[int]:
        return lambda session: granted([ask(attempt, 10)(session) for _ in range(20)])

    outcomes = stage.at_once([work(attempt) for attempt in ids])
    assert sum(number for number in outcomes if isinstance(number, int)) == 200, outcomes


def test_a_saturated_quota_delays_nobody_outside_it(stage: Stage) -> None:
    """Neither its ledger nor its lock is in the way of an agent of another quota, or of none."""
    quota(stage, window(100), name="q")
    quota(stage, window(100), name="r")
    (full,) = attempts(stage, 1, "a")
    (other,) = attempts(stage, 1, "b", quotas=["r"])
    (free,) = attempts(stage, 1, "c", quotas=[])
    assert ask(full, 100)(stage.db).decision == "go"
    with stage.transaction() as held:
        assert ask(full, 100)(held).decision == "wait"
        for attempt in (other, free):
            assert not stage.is_held_up(ask(attempt, 1))
        stage.enqueue("b", estimated_tokens=1)
        assert len(stage.claim(1, "b")) == 1


def test_a_call_that_waits_for_one_quota_holds_no_room_in_another(stage: Stage) -> None:
    """However long it has waited for r, the others of q go on."""
    assert stage.clock
    quota(stage, window(1000), name="q")
    quota(stage, concurrent(1), name="r")
    (both,) = attempts(stage, 1, "a", quotas=["q", "r"])
    (busy,) = attempts(stage, 1, "b", quotas=["r"])
    (other,) = attempts(stage, 1, "c")
    assert ask(busy)(stage.db).decision == "go"
    for _ in range(12):
        assert ask(both, 1000)(stage.db).decision == "wait"
        stage.clock.advance(4 * SECOND)
    assert ask(other, 1000)(stage.db).decision == "go"


def test_a_call_that_needs_two_quotas_holds_its_room_in_both(stage: Stage) -> None:
    """Small calls in each of them do not take turns in passing it."""
    assert stage.clock
    for name in ("q", "r"):
        quota(stage, window(1000), name=name)
    (both,) = attempts(stage, 1, "a", quotas=["q", "r"])
    small = [*attempts(stage, 1, "b", quotas=["q"]), *attempts(stage, 1, "c", quotas=["r"])]
    for _ in range(150):
        for attempt in small:
            while ask(attempt, 100)(stage.db).decision == "go":
                pass
        if ask(both, 600)(stage.db).decision == "go":
            return
        stage.clock.advance(SECOND)
    pytest.fail("it waits for ever")


def test_a_quota_that_is_full_for_long_delays_nobody_in_another(stage: Stage) -> None:
    """A call that waits for it holds nothing there, also where it had to wait before."""
    assert stage.clock
    quota(stage, window(1000), name="q")
    quota(stage, window(1000, per="day"), name="r")
    (both,) = attempts(stage, 1, "a", quotas=["q", "r"])
    (busy,) = attempts(stage, 1, "b", quotas=["r"])
    (other,) = attempts(stage, 1, "c")
    assert ask(other, 1000)(stage.db).decision == "go"
    assert ask(both, 900)(stage.db).quota == "q"
    assert ask(busy, 1000)(stage.db).decision == "go"
    for _ in range(16):
        stage.clock.advance(4 * SECOND)
        assert ask(both, 900)(stage.db).quota == "r"
    assert ask(other, 1000)(stage.db).decision == "go"


def test_a_wait_ends_when_it_said(stage: Stage) -> None:
    """When the slot of the calls before, half a second, has left the period, and a second more."""
    assert stage.clock
    quota(stage, window(1000))
    one, other = attempts(stage, 2)
    start = stage.clock.now()
    assert ask(one, 600)(stage.db).decision == "go"
    stage.clock.advance(59 * SECOND)
    while (permit := ask(other, 500)(stage.db)).decision == "wait":
        assert permit.waits is not None
        assert timedelta() < permit.waits <= SECOND
        stage.clock.advance(permit.waits)
    assert stage.clock.now() - start == timedelta(seconds=61.5)


def test_a_bucket_says_to_the_microsecond_when_it_will_do(stage: Stage) -> None:
    """It holds 0.8 of the amount at first, and refills continuously."""
    assert stage.clock
    quota(stage, bucket(6000))
    one, other = attempts(stage, 2)
    assert ask(one, 4800)(stage.db).decision == "go"
    permit = ask(other, 25)(stage.db)
    assert permit.waits == timedelta(seconds=0.25)
    stage.clock.advance(permit.waits)
    assert ask(other, 25)(stage.db).decision == "go"


def test_a_bucket_refills_to_its_burst_before_a_report_and_not_beyond(stage: Stage) -> None:
    """An hour without calls is worth no more than a full bucket to an agent that does not ask."""
    assert stage.clock
    quota(stage, bucket(1000))
    one, other = attempts(stage, 2)
    stage.clock.advance(timedelta(hours=1))
    used(stage, one, "c", 1000)
    assert (state(stage).used, state(stage).room) == (1000, 0)
    stage.clock.advance(30 * SECOND)
    assert (state(stage).used, state(stage).room) == (500, 300)
    worker.sweep(stage.db)
    assert (state(stage).used, state(stage).room) == (500, 300)
    stage.clock.advance(timedelta(hours=1))
    used(stage, one, "d", 1000)
    permit = ask(other, 800)(stage.db)
    assert (permit.decision, permit.has, permit.waits) == ("wait", -200, SECOND / 2)


def test_those_who_wait_are_woken_one_after_the_other(stage: Stage) -> None:
    """Each is told the moment that is left to it after the calls before it: no herd."""
    assert stage.clock
    quota(stage, bucket(60_000))
    first, *others = attempts(stage, 5)
    assert ask(first, 48_000)(stage.db).decision == "go"
    waits = [ask(other, 100)(stage.db).waits for other in others]
    assert waits == [timedelta(seconds=0.1 * n) for n in (1, 2, 3, 4)]


def test_a_call_that_has_waited_long_is_passed_by_nobody(stage: Stage) -> None:
    """A small call passes a large one at first; after a third of the period it waits behind it."""
    assert stage.clock
    quota(stage, window(1000))
    busy, large, small = attempts(stage, 3)
    assert ask(busy, 600)(stage.db).decision == "go"
    for _ in range(5):
        assert ask(large, 900)(stage.db).decision == "wait"
        assert ask(small, 10)(stage.db).decision == "go"
        stage.clock.advance(4 * SECOND)
    assert ask(large, 900)(stage.db).decision == "wait"
    permit = ask(small, 10)(stage.db)
    assert (permit.decision, permit.reason) == ("wait", "calls that have waited longer go first")
    stage.clock.advance(9 * SECOND)
    assert ask(small, 10)(stage.db).decision == "go", "a caller that does not ask again is gone"


@pytest.mark.parametrize("limit", [window(100), bucket(100)], ids=["window", "bucket"])
def test_a_call_larger_than_its_limit_goes_when_nothing_counts(
    stage: Stage, limit: dict[str, Any]
) -> None:
    """Alone, and it blocks until it has left again; it never waits for ever."""
    assert stage.clock
    quota(stage, limit)
    small, huge = attempts(stage, 2)
    assert ask(small, 1)(stage.db).decision == "go"
    turns = 0
    while ask(huge, 10**12, 10**12)(stage.db).decision == "wait" and turns < 20:
        stage.clock.advance(4 * SECOND)
        turns += 1
    assert turns == (16 if limit == window(100) else 1)
    assert ask(small, 1)(stage.db).decision == "wait"
    assert ask(small, 0)(stage.db).decision == "go", "what uses nothing of it is not held up"


def test_a_limit_of_zero_lets_nothing_through(stage: Stage) -> None:
    """Not even when it is idle; calls that use nothing of it go."""
    quota(stage, window(0), bucket(0, "output_tokens"))
    (one,) = attempts(stage)
    assert ask(one, 1)(stage.db).decision == "wait"
    assert ask(one, 0)(stage.db).decision == "go"


def test_usage_replaces_the_grant(stage: Stage) -> None:
    """Less gives room back at once, more takes it; at the time of the grant, and once."""
    assert stage.clock
    quota(stage, window(1000))
    one, other = attempts(stage, 2)
    assert ask(one, 900, 800, "c")(stage.db).decision == "go"
    assert ask(other, 500)(stage.db).decision == "wait"
    stage.clock.advance(10 * SECOND)
    for _ in range(2):
        used(stage, one, "c", 200, 100)
        assert state(stage).used == 200
    assert ask(other, 500, 0, "d")(stage.db).decision == "go"
    used(stage, other, "d", 700)
    assert (state(stage).used, state(stage).room) == (900, 100)
    stage.clock.advance(timedelta(seconds=51.5))
    assert state(stage).used == 700


def test_a_call_is_over_with_its_report_even_when_its_use_is_unknown(stage: Stage) -> None:
    """It frees its place among the calls at once, and keeps its grant until the numbers come."""
    assert stage.clock
    quota(stage, window(1000), concurrent(1))
    one, other = attempts(stage, 2)
    assert ask(one, 900, 800, "c")(stage.db).decision == "go"
    assert ask(other, 10)(stage.db).unit == "concurrent_calls"
    report.report_usage(stage.db, attempt_id=one, usage={"call_id": "c"})
    assert (state(stage).used, state(stage, "concurrent_calls").used) == (900, 0)
    assert ask(other, 10)(stage.db).decision == "go"
    report.report_usage(stage.db, attempt_id=one, usage={"call_id": "c", "input_tokens": 50})
    assert state(stage).used == 50 + 800 + 10
    used(stage, one, "c", 60, 10)
    assert state(stage).used == 60 + 10


def test_a_call_asked_for_twice_is_charged_once(stage: Stage) -> None:
    """Under its call id, as long as it is open."""
    quota(stage, window(1000))
    (one,) = attempts(stage)
    for _ in range(3):
        assert ask(one, 900, 0, "c")(stage.db).decision == "go"
    assert state(stage).used == 900


@pytest.mark.parametrize("limit", [window(1000), bucket(1250)], ids=["window", "bucket"])
def test_usage_settles_the_quotas_that_were_charged(stage: Stage, limit: dict[str, Any]) -> None:
    """Also when the agent draws on another quota by then: nobody gets room that was not taken."""
    assert stage.clock
    for name in ("q", "r"):
        quota(stage, limit, name=name)
    (one,) = attempts(stage)
    assert ask(one, 900, 0, "c")(stage.db).decision == "go"
    (other,) = attempts(stage, 1, "b", quotas=["r"])
    assert ask(other, 900, 0, "c")(stage.db).decision == "go"
    for quotas in (["r"], []):
        stage.agent("a", quotas=quotas)
        usage = {"call_id": "c", ("output" if quotas else "input") + "_tokens": 100}
        report.report_usage(stage.db, attempt_id=one, usage=usage)
        assert state(stage, name="q").used == (1000 if quotas else 200)
        assert state(stage, name="r").used == 900


@pytest.mark.parametrize("limit", [window(1000), bucket(1250)], ids=["window", "bucket"])
def test_a_limit_counts_no_calls_of_before(stage: Stage, limit: dict[str, Any]) -> None:
    """What they used less than they were granted gives no room that was not taken."""
    assert stage.clock
    quota(stage, limit)
    one, other = attempts(stage, 2)
    for call_id in "cd":
        assert ask(one, 400, 0, call_id)(stage.db).decision == "go"
    stage.clock.advance(SECOND / 10)
    quota(stage)
    quota(stage, limit)
    assert ask(other, 700)(stage.db).decision == "go"
    used(stage, one, "c", 0)
    assert state(stage).used == 700
    used(stage, one, "d", 100_000)
    worker.sweep(stage.db)
    assert state(stage).used == 700


def test_calls_that_nobody_asked_for_count_when_they_were_made(stage: Stage) -> None:
    """By the client's clock, but not before the attempt began and not in the future."""
    assert stage.clock
    quota(stage, window(1000))
    (one,) = attempts(stage)
    start = stage.clock.now()
    stage.clock.advance(30 * SECOND)
    for number, step in enumerate((-(10**6), 20, 10**6)):
        usage = {"call_id": str(number), "input_tokens": 10**number, "output_tokens": 0}
        usage["started_at"] = (start + step * SECOND).isoformat()
        report.report_usage(stage.db, attempt_id=one, usage=usage)
    for after, left in ((60, 111), (61.5, 110), (81.5, 100), (91.5, 0)):
        stage.clock.set(start + after * SECOND)
        assert state(stage).used == left


def test_a_crash_keeps_the_grant_until_it_has_left_the_window(stage: Stage) -> None:
    """Nobody knows what it used: its tokens stay charged, its place among the calls is free."""
    assert stage.clock
    quota(stage, window(1000), concurrent(1))
    one, other = attempts(stage, 2)
    assert ask(one, 900)(stage.db).decision == "go"
    stage.expire(one)
    assert ask(one, 1)(stage.db).decision == "wait", (
        "a lease that ran out holds its task until swept"
    )
    worker.sweep(stage.db)
    assert ask(one, 1)(stage.db).decision == "stop"
    assert ask(other, 200)(stage.db).unit == "tokens"
    assert ask(other, 100)(stage.db).decision == "go"
    stage.clock.advance(timedelta(seconds=61.5))
    assert state(stage).used == 0


@pytest.mark.parametrize("end", ["report", "release", "lease"])
def test_a_cancelled_call_keeps_its_place_until_it_has_stopped(stage: Stage, end: str) -> None:
    """It is still at the provider, until its worker says otherwise, or its lease has run out."""
    assert stage.clock
    quota(stage, concurrent(1))
    one, other = attempts(stage, 2)
    assert ask(one, 0, 0, "c")(stage.db).decision == "go"
    operator.cancel(stage.db, task_ids=[stage.attempt(one).task_id])
    assert ask(one)(stage.db).decision == "stop"
    assert ask(other)(stage.db).decision == "wait"
    if end == "report":
        used(stage, one, "c", 10)
    elif end == "release":
        worker.release(stage.db, attempt_id=one, reason="stopped")
    else:
        stage.expire(one)
    assert ask(other)(stage.db).decision == "go"


def test_a_late_report_settles_the_call_of_a_lost_attempt(stage: Stage) -> None:
    """The grant is known for a day, whatever became of the attempt."""
    assert stage.clock
    quota(stage, window(1000, per="day"))
    (one,) = attempts(stage)
    assert ask(one, 900, 0, "c")(stage.db).decision == "go"
    stage.expire(one)
    stage.clock.advance(timedelta(hours=20))
    worker.sweep(stage.db)
    used(stage, one, "c", 300)
    assert state(stage).used == 300
    stage.clock.advance(timedelta(hours=6))
    worker.sweep(stage.db)
    assert stage.rows("select from forebay.quota_slots") == []
    assert stage.rows("select from forebay.attempt_calls") == []


def test_a_limit_lowered_below_what_is_in_flight_drains(stage: Stage) -> None:
    """Calls that were granted go on; the next waits until enough has left. Nothing is killed."""
    assert stage.clock
    quota(stage, window(1000), concurrent(3))
    ids = attempts(stage, 4)
    for attempt in ids[:3]:
        assert ask(attempt, 200, 0, "c")(stage.db).decision == "go"
    quota(stage, window(500), concurrent(2))
    assert (state(stage).room, state(stage, "concurrent_calls").room) == (0, 0)
    used(stage, ids[0], "c", 200)
    assert ask(ids[3], 200)(stage.db).decision == "wait"
    stage.clock.advance(timedelta(seconds=61.5))
    assert ask(ids[3], 200)(stage.db).unit == "concurrent_calls"
    used(stage, ids[1], "c", 200)
    assert ask(ids[3], 200)(stage.db).decision == "go"
    assert stage.in_use() == 4


def test_a_report_waits_for_no_quota(stage: Stage) -> None:
    """While a claim or a call holds the quota's lock, usage and results are taken in."""
    quota(stage, window(1000))
    one, other = attempts(stage, 2)
    assert ask(one, 100, 0, "c")(stage.db).decision == "go"
    with stage.transaction() as held:
        assert ask(other, 100)(held).decision == "go"
        assert not stage.is_held_up(
            lambda s: report.report_usage(
                s, attempt_id=one, usage={"call_id": "c", "input_tokens": 5, "output_tokens": 5}
            )
        )
        assert not stage.is_held_up(lambda s: report.complete(s, attempt_id=one, result={}))
        assert not stage.is_held_up(lambda s: worker.sweep(s))
    assert state(stage).used == 110


def test_a_long_transaction_on_an_attempt_holds_up_no_quota(stage: Stage) -> None:
    """It finishes with its own data in one commit; a call of the same attempt waits, others go."""
    quota(stage, window(1000))
    one, other = attempts(stage, 2)
    with stage.transaction() as held:
        report.complete(held, attempt_id=one, result={})
        session, future = stage.start(ask(one, 1))
        assert stage.wait_until_blocked(session, future)
        assert not stage.is_held_up(ask(other, 1))
        held.commit()
        assert future.result().decision == "stop"


@pytest.mark.parametrize(
    "limit", [window(1000), bucket(1250), window(10, "requests"), concurrent(10)], ids=str
)
def test_claims_of_agents_that_do_not_ask_share_the_quota(
    stage: Stage, limit: dict[str, Any]
) -> None:
    """Two agents are claimed for by sixteen sessions: what both may use in all fits the quota."""
    assert stage.clock
    quota(stage, limit)
    for agent in ("a", "b"):
        stage.agent(agent, quotas=["q"])
    for agent in ("a", "b") * CROWD:
        stage.enqueue(agent, estimated_tokens=100)
    started = []
    while claims := claimed(stage.at_once([dequeue(2)] * CROWD)):
        started += claims
    assert len(started) == 10
    assert {claim.agent for claim in started} == {"a", "b"}
    for claim in started:
        used(stage, claim.attempt_id, "c", 100)
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert len(stage.claim(8) + stage.claim(8, "b")) == (10 if limit == concurrent(10) else 0)
    stage.clock.advance(2 * MINUTE)
    assert len(stage.claim(8) + stage.claim(8, "b")) == (0 if limit == concurrent(10) else 10)


def teach(stage: Stage, agent: str, calls: int, tokens: int, lasting: timedelta) -> None:
    """Let tasks of an agent run without a quota: so many calls of so many tokens, so long."""
    stage.agent(agent)
    stage.enqueue(agent, 10, estimated_tokens=calls * tokens)
    claims = stage.claim(10, agent)
    stage.clock.advance(lasting)
    for claim in claims:
        for number in range(calls):
            used(stage, claim.attempt_id, str(number), tokens)
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    stage.agent(agent, quotas=["q"])


def test_a_long_task_takes_what_it_uses_within_the_period(stage: Stage) -> None:
    """At 20 tokens a second it is 1,200 of 6,000 a minute, though 2,000 in all."""
    assert stage.clock
    quota(stage, window(6000))
    teach(stage, "a", 4, 500, timedelta(seconds=100))
    stage.enqueue("a", 10, estimated_tokens=2000)
    assert sum(len(stage.claim()) for _ in range(10)) == 5


def test_a_slow_task_needs_room_for_its_first_call(stage: Stage) -> None:
    """However little it is a minute; the first calls of both agents come at once."""
    assert stage.clock
    quota(stage, window(1000))
    for agent in ("a", "b"):
        teach(stage, agent, 1, 100, timedelta(hours=1))
        stage.enqueue(agent, 8, estimated_tokens=100)
    claims = stage.claim(8) + stage.claim(8, "b")
    assert len(claims) == 10
    for claim in claims[:3]:
        used(stage, claim.attempt_id, "c", 100)
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert stage.claim(8, "b") == []
    stage.clock.advance(timedelta(seconds=61.5))
    assert len(stage.claim(8, "b")) == 3


def test_a_claim_waits_for_calls_and_calls_for_a_claim(stage: Stage) -> None:
    """Both decide under the quota's lock; a claim goes on to agents outside it meanwhile."""
    quota(stage, window(1000))
    (asking,) = attempts(stage)
    stage.enqueue("a", 2, estimated_tokens=1)
    stage.agent("free")
    stage.enqueue("free")
    with stage.transaction() as held:
        assert ask(asking, 1)(held).decision == "go"
        assert [claim.agent for claim in claimed(stage.at_once([dequeue(2)]))] == ["free"]
        session, future = stage.start(dequeue(1))
        assert stage.wait_until_blocked(session, future)
        held.commit()
        assert [claim.agent for claim in future.result()] == ["a"]
    with stage.transaction() as held:
        dequeue(1, "a")(held)
        session, waiting = stage.start(ask(asking, 1))
        held.commit()
        assert waiting.result().decision == "go"


def test_claims_keep_asking_agents_supplied(stage: Stage) -> None:
    """One more starts while its first call fits beside those that wait; the rest is up to calls."""
    assert stage.clock
    quota(stage, window(1000))
    (one,) = attempts(stage)
    assert ask(one, 500)(stage.db).decision == "go"
    stage.enqueue("a", 10, estimated_tokens=150)
    claims = stage.claim(10)
    assert len(claims) == 4, "four first calls fit the half that is left and a tenth more"
    assert [ask(c.attempt_id, 150)(stage.db).decision for c in claims] == ["go"] * 3 + ["wait"]
    assert stage.claim(10) == [], "one waits: that is enough"
    stage.clock.advance(6 * SECOND)
    assert stage.claim(10) == [], "it lost its place, and may come nonetheless"
    stage.clock.advance(timedelta(seconds=55.5))
    assert len(stage.claim(1)) == 1, "it does not ask again: somebody else may wait"
    assert ask(claims[3].attempt_id, 150)(stage.db).decision == "go"
    assert len(stage.claim(10)) == 5


@pytest.mark.parametrize("per", ["hour", "day"])
def test_few_wait_for_a_quota_that_is_used_up_for_long(stage: Stage, per: str) -> None:
    """Their time would run out in the wait: the others stay in line, where it costs nothing."""
    assert stage.clock
    quota(stage, window(10_000, per=per))
    (one,) = attempts(stage)
    assert ask(one, 10_000)(stage.db).decision == "go"
    stage.enqueue("a", 50, estimated_tokens=100)
    waits = stage.claim(50)
    assert 1 <= len(waits) <= 3
    for claim in waits:
        assert ask(claim.attempt_id, 100)(stage.db).decision == "wait"
    assert stage.claim(50) == []
    stage.clock.advance(30 * SECOND)
    assert stage.claim(50) == [], "also when those who wait ask once a minute"


def test_pf2_what_others_have_in_flight_costs_a_quota_nothing(stage: Stage) -> None:
    """Also while the table was never analyzed: the attempts of other agents are not read."""
    quota(stage, window(100_000), concurrent(1000))
    ids = attempts(stage, 4) + attempts(stage, 4, "b")
    stage.enqueue("a", 4, estimated_tokens=1)
    claim = "select * from forebay.dequeue('w', '{a}')"
    call = f"select * from forebay.may_call({ids[0]}, 10, 0)"
    before = [pages(stage.db, query) for query in (claim, call, claim, call)]
    attempts(stage, 1000, "other", quotas=[])
    after = [pages(stage.db, query) for query in (claim, call)]
    assert after[0] <= before[2] + 30
    assert after[1] <= before[3] + 30
