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
    if way < 0.7:
        confidence = Decimal(choices.randint(0, 100)) / 100
        report.complete(stage.db, attempt_id=row.attempt_id, result={}, confidence=confidence)
    elif way < 0.8:
        report.fail(stage.db, attempt_id=row.attempt_id, error={}, retry_after=timedelta(0))
    elif way < 0.9:
        worker.release(stage.db, attempt_id=row.attempt_id, reason="stop")
    else:
        operator.cancel(stage.db, task_ids=[row.task_id])


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


def test_medians_by_buckets_are_at_most_2_5_percent_off(stage: Stage) -> None:
    """In each step, of the task in the middle, and of the one above 95 %."""
    spread_out(stage, days=20)
    series = viewer.metric_series(stage.db, step=timedelta(days=1))
    compared = 0
    for point in series:
        wanted = stage.row(
            "select percentile_disc(0.5) within group (order by v.response) as half,"
            " percentile_disc(0.95) within group (order by v.response) as most"
            " from forebay.tasks as t"
            " cross join lateral (select t.finished_at - t.created_at as response) as v"
            " where t.status = 'completed' and t.created_at >= %s and t.created_at < %s",
            point.starts_at,
            point.ends_at,
        )
        for seen, exact in (
            (point.response_median, wanted.half),
            (point.response_p95, wanted.most),
        ):
            assert (seen is None) == (exact is None)
            if seen and exact:
                assert abs(seen / exact - 1) <= 0.025
                compared += 1
    assert compared > 20


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
