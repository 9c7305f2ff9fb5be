"""Totals and rollups are exact at every moment, whoever changes tasks, folds or reads meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, LiteralString

import psycopg
import pytest

from concurrency.stage import Act, Stage
from concurrency.test_deadlocks import WRITERS, Crowd, repeated
from forebay.calls import agent as report
from forebay.calls import operator, submitter, upkeep, viewer, worker
from forebay.compute import refresh_local
from forebay.rows import MetricsReport

FOLD: LiteralString = "select forebay._fold_changes(1)"
REBUILD: LiteralString = "select forebay._rebuild_rollups()"
START = datetime(2026, 1, 1, tzinfo=UTC)
STATUSES = ("enqueued", "processing", "completed", "failed", "cancelled")
LOCKED = {"register_agent", "register_quota", "register_price", "open_installation"}  # change none

ROLLUPS = """
select to_jsonb(r) as row from forebay.task_rollups as r
where r.tasks <> 0 or r.input_tokens <> 0 or r.ended_attempts <> 0
order by r.minutes, r.is_by_customer, r.customer, r.starts_at, r.agent, r.status
"""
WRONG_TOTALS = """
select t.task_id from forebay.tasks as t
left join lateral (
    select coalesce(sum(a.used_input_tokens), 0) as input,
        coalesce(sum(a.used_output_tokens), 0) as output,
        coalesce(sum(a.cost_usd), 0) as usd, coalesce(sum(a.compute_usd), 0) as compute,
        count(a.finished_at) as ended, coalesce(sum(a.finished_at - a.started_at), '0') as run_time,
        count(a.finished_at) filter (
            where a.is_cost_known or a.status = 'released' and a.used_calls = 0
        ) as priced,
        count(a.finished_at) filter (where a.compute_usd is not null) as costed
    from forebay.task_attempts as a where a.task_id = t.task_id
) as a on true
where (t.used_input_tokens, t.used_output_tokens, t.cost_usd, t.compute_usd, t.ended_attempts,
    t.run_time, t.priced_attempts, t.costed_attempts)
    <> (a.input, a.output, a.usd, a.compute, a.ended, a.run_time, a.priced, a.costed)
"""
BY_BUCKETS = """
select r.* from forebay._report_of_slots(
    forebay._slots(%s, %s, array[40320, 1440, 60, 15]), null, null, null
) as r
"""
COUNTED = """
select count(*) filter (where t.status = 'enqueued') as enqueued,
    count(*) filter (where t.status = 'processing') as processing,
    count(*) filter (where t.status = 'completed') as completed,
    count(*) filter (where t.status = 'failed') as failed,
    count(*) filter (where t.status = 'cancelled') as cancelled,
    coalesce(sum(t.ended_attempts), 0) as ended, coalesce(sum(t.used_input_tokens), 0) as tokens,
    coalesce(sum(t.cost_usd), 0) as usd
from forebay.tasks as t
where t.created_at >= %s and t.created_at < %s and (%s::text[] is null or t.agent = any(%s))
    and (%s::text[] is null or t.customer = any(%s)) and (%s::text[] is null or t.status = any(%s))
"""


def fold(stage: Stage) -> None:
    """Fold all that waits, as a sweep does when it is enough."""
    stage.superuser.execute(FOLD)


def again(stage: Stage, statement: LiteralString, times: int) -> Act[None]:
    """Return the act of running a statement some times, as one who may call private ones."""

    def act(session: psycopg.Connection) -> None:
        with psycopg.connect(stage.superuser.info.dsn, autocommit=True) as owner:
            for _ in range(times):
                owner.execute(statement)

    return act


def assert_exact(stage: Stage) -> None:
    """Compare totals with the attempts, and the rollups with those made from scratch."""
    assert stage.rows(WRONG_TOTALS) == []
    fold(stage)
    kept = stage.rows(ROLLUPS)
    stage.superuser.execute(REBUILD)
    assert kept == stage.rows(ROLLUPS)


def test_rollups_are_what_a_rebuild_makes_whatever_happened_at_once(stage: Stage) -> None:
    """All writers in sessions at once, with folds in between: no change is lost or doubled."""
    crowd = Crowd(stage)
    names = [name for name in WRITERS if name not in LOCKED]
    choices = random.Random(5)

    for _ in range(6):
        crowd.replenish()
        acts: list[Act[None]] = [repeated(name, crowd, 4) for name in choices.sample(names, 10)]
        outcomes = stage.at_once([*acts, again(stage, FOLD, 20)])
        assert [one for one in outcomes if one is not None] == []
    assert stage.value("select count(*) from forebay.task_rollups") > 0
    assert_exact(stage)


def spread_out(stage: Stage, days: int = 90, seed: int = 3) -> None:
    """Let tasks of two agents and two customers be created, and end in every way, over the days."""
    choices = random.Random(seed)
    stage.clock.set(START)
    for agent in ("a", "b"):
        stage.agent(agent, max_attempts=2)
    for number in range(60):
        stage.clock.advance(timedelta(days=days / 60 * choices.random() * 2))
        for agent in ("a", "b"):
            customer = choices.choice((None, "acme", "best"))
            stage.enqueue(agent, choices.randint(1, 3), customer=customer)
            stage.clock.advance(timedelta(seconds=choices.expovariate(1 / 60)))
            for row in stage.claim(2, agent):
                stage.clock.advance(timedelta(seconds=choices.expovariate(1 / 30)))
                end(stage, row, choices)
        if number < 50 and choices.random() < 0.4:
            fold(stage)


def end(stage: Stage, row: Any, choices: random.Random) -> None:
    """End an attempt in one of the ways, mostly well, and with usage."""
    usage = {"call_id": "1", "input_tokens": choices.randint(1, 9999), "output_tokens": 7}
    cost = {"cost_usd": choices.randint(1, 99) / 100} if choices.random() < 0.7 else {}
    report.report_usage(stage.db, attempt_id=row.attempt_id, usage=usage | cost)
    way = choices.random()
    if way < 0.6:
        confidence = Decimal(choices.randint(0, 100)) / 100
        report.complete(stage.db, attempt_id=row.attempt_id, result={}, confidence=confidence)
    elif way < 0.7:
        lose(stage, row.attempt_id)
        stage.clock.advance(timedelta(seconds=choices.expovariate(1 / 300)))
        if choices.random() < 0.7:
            report.complete(stage.db, attempt_id=row.attempt_id, result={})
    elif way < 0.8:
        report.fail(stage.db, attempt_id=row.attempt_id, error={}, retry_after=timedelta(0))
    elif way < 0.9:
        worker.release(stage.db, attempt_id=row.attempt_id, reason="stop")
    else:
        operator.cancel(stage.db, task_ids=[row.task_id])


def lose(stage: Stage, attempt_id: int) -> None:
    """End an attempt whose worker is not heard of any more, and estimate what it cost."""
    stage.expire(attempt_id)
    worker.sweep(stage.db)
    refresh_local(stage.db, usd_per_hour=Decimal(6))


def some_range(choices: random.Random, created: list[datetime]) -> tuple[datetime, datetime]:
    """Return a range of any length, that begins with a task or anywhere, or lies on hours."""
    anywhere = START + timedelta(days=choices.uniform(-5, 90))
    begin = choices.choice((anywhere, choices.choice(created)))
    finish = begin + timedelta(hours=10 ** choices.uniform(-1, 3.5))
    if choices.random() < 0.3:
        begin, finish = (at.replace(minute=0, second=0, microsecond=0) for at in (begin, finish))
    return begin, finish


def test_counts_and_sums_are_exact_in_any_range_and_filter(stage: Stage) -> None:
    """Whatever of it lies in whole slots, in what is not folded, or beside: it counts once."""
    spread_out(stage)
    choices = random.Random(4)
    created = [row.created_at for row in stage.rows("select created_at from forebay.tasks")]
    for _ in range(60):
        begin, finish = some_range(choices, created)
        agents = choices.choice((None, ["a"], ["a", "b"]))
        customers = choices.choice((None, ["acme"], ["acme", "best"]))
        statuses = choices.choice((None, ["completed"], ["failed", "enqueued", "cancelled"]))
        filters: dict[str, Any] = {
            "from_": begin,
            "to": finish,
            "agents": agents,
            "customers": customers,
            "statuses": statuses,
        }
        wanted = stage.row(
            COUNTED,
            begin,
            finish,
            *(one for name in (agents, customers, statuses) for one in (name, name)),
        )
        seen = viewer.metrics(stage.db, **filters)
        counts = tuple(getattr(seen, status) for status in STATUSES)
        assert (*counts, seen.ended_attempts, seen.input_tokens, seen.llm_usd) == tuple(wanted)

        series = viewer.metric_series(stage.db, **filters)
        added = tuple(sum(getattr(point, status) for point in series) for status in STATUSES)
        usd = sum((point.llm_usd for point in series), Decimal(0))
        assert (*added, usd) == (*counts, seen.llm_usd)
        for dimension in ("agent", "customer", "day"):
            lines = viewer.cost_by(stage.db, dimension=dimension, **filters)
            assert sum(line.tasks for line in lines) == sum(counts), dimension
    assert_exact(stage)


def finished(stage: Stage, count: int, choices: random.Random) -> list[Any]:
    """Complete that many tasks, created at once now, within an hour; return their rows."""
    ids = stage.enqueue(count=count)
    for _ in ids:
        stage.clock.advance(timedelta(seconds=choices.expovariate(1 / 20)))
        claim = stage.claim_one()
        stage.clock.advance(timedelta(seconds=choices.expovariate(1 / 20)))
        confidence = Decimal(choices.randint(0, 1000)) / 1000
        report.complete(stage.db, attempt_id=claim.attempt_id, result={}, confidence=confidence)
    return [stage.task(task_id) for task_id in ids]


def marks(values: list[Any]) -> tuple[Any, Any]:
    """Return the median and the 95th percentile: the least that as many are not above."""
    ordered = sorted(values)
    return tuple(ordered[-(-len(ordered) * percent // 100) - 1] for percent in (50, 95))


def times_of(seen: MetricsReport) -> tuple[timedelta | None, ...]:
    """Return the medians and percentiles of a report, in the order of its columns."""
    names = ("response", "queue", "run")
    return tuple(getattr(seen, f"{name}_{mark}") for name in names for mark in ("median", "p95"))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 19, 20, 21, 40])
def test_medians_by_buckets_are_at_most_2_5_percent_off(stage: Stage, count: int) -> None:
    """Of few tasks, of many and in a series each is the time of the same task: the lower median."""
    stage.clock.set(START)
    stage.agent()
    tasks = finished(stage, count, random.Random(count))
    responses = [task.finished_at - task.created_at for task in tasks]
    runs = [task.run_time for task in tasks]
    queues = [response - run for response, run in zip(responses, runs, strict=True)]
    slot = {"from_": START, "to": START + timedelta(minutes=15)}

    exact = viewer.metrics(stage.db, **slot)
    assert exact.is_exact
    assert times_of(exact) == (*marks(responses), *marks(queues), *marks(runs))
    assert exact.confidence_median == marks([task.confidence for task in tasks])[0]

    (point,) = viewer.metric_series(stage.db, **slot, step=timedelta(minutes=15))
    by_buckets = stage.row(BY_BUCKETS, *slot.values())
    assert abs(by_buckets.confidence_median - exact.confidence_median) <= Decimal("0.005")
    seen = (*times_of(by_buckets), point.response_median, point.response_p95)
    wanted = (*times_of(exact), exact.response_median, exact.response_p95)
    for one, other in zip(seen, wanted, strict=True):
        assert one
        assert abs(one / other - 1) <= 0.025


def test_a_reader_sees_each_change_once_while_it_is_folded(stage: Stage) -> None:
    """Tasks change their state and are folded all the time; their number never changes."""
    stage.agent()
    stage.enqueue(count=200)

    def work(session: psycopg.Connection) -> None:
        for _ in range(40):
            for row in worker.dequeue(session, worker="w", agents=["a"], batch_size=1):
                report.complete(session, attempt_id=row.attempt_id, result={})

    def read(session: psycopg.Connection) -> None:
        for _ in range(30):
            seen = viewer.metrics(session)
            assert sum(getattr(seen, status) for status in STATUSES) == 200

    folds = again(stage, FOLD, 60)
    assert stage.at_once([work, work, folds, folds, read, read]) == [None] * 6
    assert viewer.metrics(stage.db).completed == 80
    assert_exact(stage)


def test_a_fold_that_is_open_holds_nobody_up(stage: Stage) -> None:
    """Whoever comes while changes are folded leaves that to the one who is at it."""
    stage.agent()
    operator.cancel(stage.db, task_ids=stage.enqueue(count=2500))
    stage.enqueue(count=3)
    with psycopg.connect(stage.superuser.info.dsn) as session:
        session.execute(FOLD)
        operator.cancel(stage.db, task_ids=stage.enqueue(count=2500))
        assert not stage.is_held_up(lambda other: worker.sweep(other))
        assert viewer.metrics(stage.db).cancelled == 5000
        session.commit()
    assert_exact(stage)


def test_a_sweep_folds_when_many_changes_wait(stage: Stage) -> None:
    """Few are quicker read as they are; many are not left to readers."""
    stage.agent()
    stage.enqueue(count=3)
    worker.sweep(stage.db)
    assert stage.value("select count(*) from forebay.task_changes") == 1
    waiting = stage.enqueue(count=2500)
    operator.cancel(stage.db, task_ids=waiting)
    assert stage.value("select count(*) from forebay.task_changes") > 5000
    worker.sweep(stage.db)
    assert stage.value("select count(*) from forebay.task_changes") == 0
    assert_exact(stage)


def usage_of(attempt_id: int) -> Act[Any]:
    usage = {"call_id": "1", "input_tokens": 1, "output_tokens": 1}
    return lambda session: report.report_usage(session, attempt_id=attempt_id, usage=usage)


def cost_of(attempt_id: int) -> Act[Any]:
    rows = [{"record_id": "1", "attempt_id": attempt_id, "usd": 1}]
    return lambda session: upkeep.record_compute_usage(session, rows=rows)


@pytest.mark.parametrize("report_of", [usage_of, cost_of], ids=["usage", "compute"])
def test_what_an_attempt_used_waits_for_its_task_holding_nothing(
    stage: Stage, report_of: Callable[[int], Act[Any]]
) -> None:
    """The task is locked first, as everywhere: whoever holds it may go on to the attempt."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    with psycopg.connect(stage.superuser.info.dsn) as holder:
        holder.execute("select from forebay.tasks for no key update")
        session, future = stage.start(report_of(claim.attempt_id))
        assert stage.wait_until_blocked(session, future)
        cancel = stage.pool.submit(operator.cancel, holder, task_ids=[claim.task_id])
        assert cancel.exception() is None
        holder.commit()
    assert future.exception() is None
    assert_exact(stage)


def test_usage_of_many_attempts_of_a_task_at_once_is_all_added_up(stage: Stage) -> None:
    """Each adds its own to the task; none writes over another."""
    stage.agent()
    stage.enqueue()
    attempts = []
    for _ in range(6):
        claim = stage.claim_one()
        attempts.append(claim.attempt_id)
        report.fail(stage.db, attempt_id=claim.attempt_id, error={}, retry_after=timedelta(0))

    def use(attempt_id: int) -> Act[None]:
        def act(session: psycopg.Connection) -> None:
            for number in range(10):
                usage = {"call_id": str(number), "input_tokens": 3, "output_tokens": 1}
                report.report_usage(session, attempt_id=attempt_id, usage=usage)

        return act

    assert stage.at_once([use(attempt_id) for attempt_id in attempts]) == [None] * 6
    assert stage.value("select used_input_tokens from forebay.tasks") == 180
    assert_exact(stage)


def test_an_attempt_that_succeeds_late_ran_until_then(stage: Stage) -> None:
    """What counts is its true end: in the times, and in what its machine cost, once and for all."""
    stage.clock.set(START)
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    stage.clock.advance(timedelta(minutes=10))
    lose(stage, claim.attempt_id)
    assert viewer.metrics(stage.db).compute_usd == 1
    stage.clock.advance(timedelta(minutes=30))
    report.complete(stage.db, attempt_id=claim.attempt_id, result={})

    seen = viewer.metrics(stage.db)
    whole, none = timedelta(minutes=40), timedelta(0)
    assert times_of(seen) == (whole, whole, none, none, whole, whole)
    assert (seen.ended_attempts, seen.costed_attempts, seen.compute_usd) == (1, 0, 0)
    assert [refresh_local(stage.db, usd_per_hour=Decimal(6)) for _ in range(2)] == [1, 0]
    assert viewer.metrics(stage.db).compute_usd == 4
    assert_exact(stage)


def test_an_estimate_by_an_end_that_moves_meanwhile_does_not_count(stage: Stage) -> None:
    """Who asked before a late success records after it: the attempt is asked for again."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    stage.expire(claim.attempt_id)
    worker.sweep(stage.db)
    (asked,) = upkeep.attempts_to_cost(stage.db)
    rows = [{"record_id": "1", "attempt_id": asked.attempt_id, "usd": 1}]
    rows[0]["ended_at"] = asked.finished_at.isoformat()
    with stage.transaction() as late:
        report.complete(late, attempt_id=claim.attempt_id, result={})
        session, future = stage.start(lambda conn: upkeep.record_compute_usage(conn, rows=rows))
        assert stage.wait_until_blocked(session, future)
        late.commit()
    assert future.result() == 1
    assert [each.attempt_id for each in upkeep.attempts_to_cost(stage.db)] == [claim.attempt_id]
    assert_exact(stage)


def test_a_run_that_is_told_while_its_attempt_is_handed_back_may_cost(stage: Stage) -> None:
    """The launch's answer comes as the attempt is released: what the run cost is not 0."""
    stage.agent(launcher="lakeflow", job_id=7)
    task_id = stage.enqueue()[0]
    claim = stage.claim_one()
    with stage.transaction() as release:
        worker.release(release, attempt_id=claim.attempt_id, reason="shutdown")
        session, future = stage.start(
            lambda conn: worker.record_run(conn, attempt_id=claim.attempt_id, run_id="1")
        )
        assert stage.wait_until_blocked(session, future)
        release.commit()
    future.result()
    attempt = stage.attempt(claim.attempt_id)
    assert (attempt.status, attempt.run_id, attempt.compute_usd) == ("released", "1", None)
    assert stage.task(task_id).costed_attempts == 0
    assert_exact(stage)


def test_a_record_that_moves_twice_at_once_costs_one_attempt(stage: Stage) -> None:
    """Loads of a source go one after the other, so that each sees what the one before moved."""
    stage.agent()
    ids = stage.enqueue(count=3)
    attempts = [claim.attempt_id for claim in stage.claim(3)]
    report.complete_many(stage.db, attempt_ids=attempts, results=[{}] * 3)

    def move_to(attempt_id: int) -> Act[int]:
        rows = [{"record_id": "r", "attempt_id": attempt_id, "usd": 2}]
        return lambda session: upkeep.record_compute_usage(session, rows=rows)

    move_to(attempts[0])(stage.db)
    with stage.transaction() as first:
        move_to(attempts[1])(first)
        session, future = stage.start(move_to(attempts[2]))
        assert stage.wait_until_blocked(session, future)
        first.commit()
    assert future.result() == 1
    assert [stage.task(task_id).compute_usd for task_id in ids] == [0, 0, 2]
    assert_exact(stage)


def test_the_rollups_are_made_of_tasks_that_stand_still(stage: Stage) -> None:
    """A rebuild waits for whoever changes tasks, and they for it: nothing counts twice."""
    stage.agent()
    with stage.transaction() as writer:
        submitter.enqueue(writer, agent="a", payload={})
        with psycopg.connect(stage.superuser.info.dsn, autocommit=True) as owner:
            future = stage.pool.submit(owner.execute, REBUILD)
            assert stage.wait_until_blocked(owner, future)
            writer.commit()
            future.result()
    assert viewer.metrics(stage.db).enqueued == 1
    assert_exact(stage)


def test_a_rebuild_counts_each_task_once_however_their_numbers_lie(stage: Stage) -> None:
    """It goes through the tasks 100,000 numbers at a time; some hold one task, some none."""
    stage.agent()
    first = stage.enqueue()[0]
    for gap in (99_999, 100_000, 250_000):
        stage.superuser.execute("select setval('forebay.tasks_task_id_seq', %s)", [first + gap - 1])
        assert stage.enqueue() == [first + gap]
    stage.superuser.execute(REBUILD)
    assert viewer.metrics(stage.db).enqueued == 4
    assert_exact(stage)
