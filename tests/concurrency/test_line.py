"""The line under load: how long it may be, who is passed and for how long, and whose turn it is."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage, claimed, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker
from forebay.errors import ForebayError
from forebay.rows import ClaimedAttempt

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def enqueue(count: int, agent: str = "a", **task: Any) -> Act[Any]:
    """Return the act of enqueueing tasks that are alike, in a transaction that commits late."""
    tasks = [{"payload": {}} | task] * count

    def act(session: psycopg.Connection) -> Any:
        with session.transaction():
            rows = submitter.enqueue_many(session, agent=agent, tasks=tasks)
            session.execute("select pg_sleep(0.01)")
            return rows

    return act


def waiting(stage: Stage, agent: str = "a") -> int:
    """Return how many tasks wait."""
    query = "select count(*) from forebay.tasks where agent = %s and status = 'enqueued'"
    return stage.value(query, agent)


def test_sixteen_sessions_fill_the_line_exactly(stage: Stage) -> None:
    """Each batch is taken whole or refused with QF403, and none is refused that had room."""
    stage.agent(max_waiting=13)
    for number in range(1, 8):
        outcomes = stage.at_once([enqueue(number)] * 16)
        refused = [row for row in outcomes if isinstance(row, Exception)]
        assert {getattr(row, "sqlstate", row) for row in refused} == {"QF403"}
        assert waiting(stage) == 13 - 13 % number
        while stage.claim(50):
            pass


def test_the_line_stays_short_while_tasks_start_and_end(stage: Stage) -> None:
    """Enqueues and claims at once: never more wait than may, and in the end the line is full."""
    stage.agent(max_waiting=20)
    for _ in range(10):
        stage.at_once([enqueue(3), dequeue(2, "a")] * 8)
        assert waiting(stage) <= 20
    stage.at_once([enqueue(1)] * 20)
    assert waiting(stage) == 20


def test_a_line_that_gets_a_limit_misses_no_open_enqueue(stage: Stage) -> None:
    """register_agent waits for transactions that enqueue: what they add is counted."""
    stage.agent()
    with stage.transaction() as session:
        submitter.enqueue_many(session, agent="a", tasks=[{"payload": {}}] * 5)
        change = lambda db: operator.register_agent(db, agent="a", max_waiting=5)  # noqa: E731
        waits, future = stage.start(change)
        assert stage.wait_until_blocked(waits, future)
        session.commit()
        future.result()
    with pytest.raises(ForebayError) as refused:
        stage.enqueue()
    assert refused.value.sqlstate == "QF403"


def test_an_agent_without_the_limit_enqueues_beside_others(stage: Stage) -> None:
    """An open transaction holds up nobody there, but where the line is limited it does."""
    stage.agent()
    stage.agent("short", max_waiting=10)
    with stage.transaction() as session:
        submitter.enqueue_many(session, agent="a", tasks=[{"payload": {}}])
        assert not stage.is_held_up(enqueue(1))
        submitter.enqueue_many(session, agent="short", tasks=[{"payload": {}}])
        assert stage.is_held_up(enqueue(1, "short"))
        assert not stage.is_held_up(dequeue(1, "short"))


def test_fair_share_that_begins_finds_every_task(stage: Stage) -> None:
    """A task of an open transaction, one that runs, and one that failed before all take turns."""
    stage.agent(max_attempts=1)
    failed, runs = stage.enqueue(count=2)
    report.fail(stage.db, attempt_id=stage.claim_one().attempt_id, error={})
    running = stage.claim_one()
    assert running.task_id == runs
    with stage.transaction() as session:
        (row,) = submitter.enqueue_many(session, agent="a", tasks=[{"payload": {}}])
        waits, future = stage.start(
            lambda db: operator.register_agent(db, agent="a", fair_by_customer=True)
        )
        assert stage.wait_until_blocked(waits, future)
        session.commit()
        future.result()
    operator.retry(stage.db, task_ids=[failed])
    worker.release(stage.db, attempt_id=running.attempt_id, reason="again")
    assert {claim.task_id for claim in stage.claim(5)} == {failed, runs, row.task_id}


@pytest.mark.parametrize("order", [{"aging": MINUTE}, {"fair_by_customer": True}], ids=str)
def test_a_held_task_is_passed_over(stage: Stage, order: dict[str, Any]) -> None:
    """A task whose row somebody holds keeps nobody else from starting."""
    stage.agent(**order)
    first, second = stage.enqueue(count=2)
    with stage.transaction() as other:
        operator.cancel(other, task_ids=[first])
        assert stage.claim_one().task_id == second


@pytest.mark.parametrize("order", [{"aging": MINUTE}, {"fair_by_customer": True}], ids=str)
def test_sixteen_sessions_take_each_task_once(stage: Stage, order: dict[str, Any]) -> None:
    """And all of them, whatever the order of the line."""
    stage.agent(**order)
    for _ in range(5):
        tasks = stage.enqueue(count=40, customer="x") + stage.enqueue(count=9, customer="y")
        taken = claimed(stage.at_once([dequeue(3, "a")] * 16))
        while more := stage.claim(50):
            taken += more
        assert sorted(row.task_id for row in taken) == sorted(tasks)


def turns(stage: Stage, customers: dict[str, int], claims: int, size: int) -> Counter[str]:
    """Enqueue for customers, claim and complete so often, and count what each has had."""
    for customer, count in customers.items():
        stage.enqueue(count=count, customer=customer, estimated_tokens=100)
    had: Counter[str] = Counter()
    for _ in range(claims):
        for row in stage.claim(size):
            had[str(row.customer)] += 1
            report.complete(stage.db, attempt_id=row.attempt_id, result={})
    return had


def test_a_customer_with_ten_thousand_tasks_holds_back_nobody(stage: Stage) -> None:
    """One with three is served at once; each of the others gets an equal share."""
    stage.agent(max_concurrent_tasks=3, fair_by_customer=True)
    stage.enqueue(count=5000, customer="bulk", estimated_tokens=100)
    stage.enqueue(count=5000, customer="bulk", estimated_tokens=100)
    assert turns(stage, {}, 20, 3) == {"bulk": 60}
    assert turns(stage, {"three": 3}, 2, 3) == {"bulk": 3, "three": 3}
    assert turns(stage, {"x": 100, "y": 100}, 30, 3) == {"bulk": 30, "x": 30, "y": 30}


def test_sixteen_sessions_share_fairly(stage: Stage) -> None:
    """Claims at once keep the shares as even as claims one after the other do."""
    stage.agent(fair_by_customer=True)
    for customer in "wxyz":
        stage.enqueue(count=200, customer=customer, estimated_tokens=100)
    had = Counter(dict.fromkeys("wxyz", 0))
    for _ in range(8):
        taken = claimed(stage.at_once([dequeue(2, "a")] * 16))
        had.update(str(row.customer) for row in taken)
        assert max(had.values()) - min(had.values()) <= 1


def test_shares_are_by_tokens_and_hold_whatever_comes_and_goes(stage: Stage) -> None:
    """While two customers wait without a break, what they have had differs by two tasks at most."""
    assert stage.clock
    dice = random.Random(4)
    stage.agent(max_concurrent_tasks=4, fair_by_customer=True)
    had: Counter[str] = Counter()
    sizes = {"x": 100, "y": 900, "z": 300}
    for _ in range(150):
        for customer, size in sizes.items():
            if customer != "z" or dice.random() < 0.3:
                stage.enqueue(count=dice.randint(1, 9), customer=customer, estimated_tokens=size)
        stage.enqueue(count=dice.randint(0, 1), priority=5, customer="x", estimated_tokens=50)
        for row in stage.claim(4):
            if row.priority == 0:
                had[str(row.customer)] += row.estimated_tokens
            if dice.random() < 0.9:
                report.complete(stage.db, attempt_id=row.attempt_id, result={})
            else:
                worker.release(stage.db, attempt_id=row.attempt_id, reason="again")
                had[str(row.customer)] -= row.estimated_tokens
        stage.clock.advance(SECOND)
    assert had["y"] > 20_000
    share = stage.rows("select customer, served from forebay.customer_turns where agent = 'a'")
    assert {row.customer for row in share} <= {"x", "y", "z"}


def stream(stage: Stage, minutes: int, act: Callable[[], Any]) -> Any:
    """Enqueue an urgent task every second, run one at a time, until act answers."""
    for _ in range(60 * minutes):
        stage.enqueue(priority=10)
        claim = stage.claim_one()
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
        if answer := act():
            return answer
        stage.clock.advance(SECOND)
    return None


def test_st5_aging_bounds_the_wait_under_urgent_work(stage: Stage) -> None:
    """Ten steps below a steady stream, and a step a minute: it starts after ten minutes."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=1, aging=MINUTE)
    since = stage.clock.now()
    (low,) = stage.enqueue(priority=0)
    assert stream(stage, 11, lambda: stage.task(low).status == "completed")
    assert timedelta(minutes=10) <= stage.clock.now() - since <= timedelta(minutes=10, seconds=2)


def test_st5_without_aging_priority_is_strict(stage: Stage) -> None:
    """The same stream, and the low task never starts."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=1)
    (low,) = stage.enqueue(priority=0)
    assert stream(stage, 2, lambda: stage.task(low).status == "completed") is None


def test_st6_a_task_of_a_limited_agent_keeps_its_place(stage: Stage) -> None:
    """A thousand old tasks age too, but an urgent one still takes the next slot."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=4, aging=timedelta(hours=1))
    stage.enqueue(count=1000)
    running = stage.claim(4)
    stage.clock.advance(MINUTE)
    (urgent,) = stage.enqueue(priority=1)
    report.complete(stage.db, attempt_id=running[0].attempt_id, result={})
    assert stage.claim_one().task_id == urgent


def test_agents_on_crosswise_quotas_do_not_deadlock(stage: Stage) -> None:
    """A names q1 and q2, B names q2 and q1: sixteen sessions claim for both, and none fails."""
    for quota in ("q1", "q2"):
        operator.register_quota(
            stage.db, quota=quota, limits=[{"unit": "concurrent_calls", "amount": 10}]
        )
    stage.agent("a", quotas=["q1", "q2"], max_releases=1_000_000)
    stage.agent("b", quotas=["q2", "q1"], max_releases=1_000_000)
    for name in "ab":
        stage.enqueue(name, 30)
    orders = [dequeue(3, *names) for names in ("ab", "ba", "a", "b")]
    for _ in range(20):
        taken = claimed(stage.at_once(orders * 4))
        running = stage.in_use("a") + stage.in_use("b")
        assert running == len(taken) <= 10
        assert taken
        for row in taken:
            worker.release(stage.db, attempt_id=row.attempt_id, reason="again")


def test_a_saturated_quota_delays_nobody_outside_it(stage: Stage) -> None:
    """Its agent starts nothing; one on another quota, and one on none, do."""
    for quota in ("full", "free"):
        operator.register_quota(
            stage.db, quota=quota, limits=[{"unit": "concurrent_calls", "amount": 1}]
        )
    stage.agent("a", quotas=["full"])
    stage.agent("b", quotas=["free"])
    stage.agent("c")
    for name in "abc":
        stage.enqueue(name, 2, priority=9 if name == "a" else 0)
    stage.claim_one("a")
    assert [row.agent for row in worker.dequeue(stage.db, worker="w", batch_size=9)] != []
    assert [stage.in_use(name) for name in "abc"] == [1, 1, 2]


def test_a_refused_claim_writes_nothing(stage: Stage) -> None:
    """Where nothing fits no row changes, in no table."""
    assert stage.clock
    operator.register_quota(stage.db, quota="q", limits=[{"unit": "concurrent_calls", "amount": 0}])
    stage.agent(quotas=["q"], fair_by_customer=True)
    stage.agent("b", max_tpm=1000, aging=MINUTE)
    stage.enqueue("b", estimated_tokens=700)
    stage.claim_one("b")
    stage.enqueue("a", 3)
    stage.enqueue("b", 3, estimated_tokens=700)

    def written() -> list[Any]:
        stage.db.execute("select pg_stat_force_next_flush()")
        return stage.rows(
            "select relname, n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables"
            " where schemaname = 'forebay' order by relname"
        )

    before = written()
    assert worker.dequeue(stage.db, worker="w", agents=["a", "b"], batch_size=9) == []
    assert written() == before


@pytest.mark.parametrize("kind", ["window", "bucket"])
def test_small_tasks_of_one_agent_do_not_starve_a_large_one_of_another(
    stage: Stage, kind: str
) -> None:
    """On a quota that they share it waits no longer than they do, and then for room to add up."""
    assert stage.clock
    limit = {"unit": "tokens", "per": "minute", "amount": 10_000, "kind": kind}
    operator.register_quota(stage.db, quota="q", limits=[limit])
    stage.agent("small", quotas=["q"])
    stage.agent("large", quotas=["q"])

    def serve(times: int, size: int, *agents: str) -> Iterator[ClaimedAttempt]:
        """Claim every six seconds; what starts uses what it was expected to, at once."""
        for _ in range(times):
            stage.clock.advance(6 * SECOND)
            stage.enqueue("small", 20 - waiting(stage, "small"), estimated_tokens=1000)
            for row in dequeue(size, *agents)(stage.db):
                usage = {"call_id": "c", "input_tokens": row.estimated_tokens, "output_tokens": 0}
                report.report_usage(stage.db, attempt_id=row.attempt_id, usage=usage)
                report.complete(stage.db, attempt_id=row.attempt_id, result={})
                yield row

    assert len(list(serve(9, 1, "small"))) == 9
    (large,) = stage.enqueue("large", estimated_tokens=7000)
    since = stage.clock.now()
    assert any(row.task_id == large for row in serve(40, 100, "small", "large"))
    assert stage.clock.now() - since < 4 * MINUTE
    assert any(row.agent == "small" for row in serve(15, 100, "small", "large"))


def test_a_large_task_that_nobody_serves_holds_no_room_for_ever(stage: Stage) -> None:
    """Ten minutes beyond its reservation the others go on."""
    assert stage.clock
    limit = {"unit": "tokens", "per": "minute", "amount": 10_000}
    operator.register_quota(stage.db, quota="q", limits=[limit])
    stage.agent("small", quotas=["q"])
    stage.agent("large", quotas=["q"])
    stage.enqueue("large", estimated_tokens=20_000)
    stage.clock.advance(SECOND)
    stage.enqueue("small", estimated_tokens=1000)
    stage.clock.advance(MINUTE)
    assert stage.claim(1, "small") == []
    stage.clock.advance(10 * MINUTE)
    stage.claim_one("small")


JOINING: dict[str, Callable[[psycopg.Connection, int], Any]] = {
    "enqueue": lambda session, _: submitter.enqueue(session, agent="a", payload={}),
    "retry": lambda session, task: operator.retry(session, task_ids=[task]),
    "reprocess": lambda session, task: operator.reprocess(session, task_ids=[task]),
}


@pytest.mark.parametrize("act", JOINING)
def test_no_task_joins_a_line_that_is_not_kept_that_way_any_more(stage: Stage, act: str) -> None:
    """In an older snapshot the agent does not take turns yet: the task would never be found."""
    stage.agent()
    (old,) = stage.enqueue(customer="x")
    operator.cancel(stage.db, task_ids=[old], reason=None)
    session = stage.session("-c default_transaction_isolation=repeatable\\ read")
    with session.transaction():
        session.execute("select from forebay.schema_version()")
        stage.agent(fair_by_customer=True)
        with pytest.raises(psycopg.errors.SerializationFailure), session.transaction():
            JOINING[act](session, old)
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        operator.register_agent(session, agent="a", fair_by_customer=True)


def test_a_task_that_is_due_when_a_pause_ends_says_when_it_starts(stage: Stage) -> None:
    """Also where customers take turns, and it has no place in line before it is due."""
    assert stage.clock
    stage.agent(fair_by_customer=True)
    until = stage.clock.now() + SECOND
    (task,) = stage.enqueue(run_after=until.isoformat())
    operator.pause_agent(stage.db, agent="a", until=until)
    said = viewer.explain_task(stage.db, task_id=task)
    assert (said.reason, said.waiting_until) == ("paused", until)
