"""Sweeps that meet others, die, or hang: each task is moved once, and nobody waits (SW, LJ)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker
from forebay.rows import ClaimedAttempt, SweepResult

MINUTE = timedelta(minutes=1)
RUNNING = {"life_cycle_state": "RUNNING"}


def sweep(limit: int = 1000, by: str | None = None) -> Act[SweepResult]:
    """Return the act of sweeping."""
    return lambda session: worker.sweep(session, limit=limit, worker=by)


def renew(attempt_id: int) -> Act[Any]:
    """Return the act of renewing a lease."""
    return lambda session: worker.renew_leases(session, worker="w", attempt_ids=[attempt_id])


@contextmanager
def paused_after_its_look(stage: Stage) -> Iterator[Future[SweepResult]]:
    """Let a sweep see what has expired, and hold it there until the block ends."""
    stage.mutate(
        "functions/internal/_is_expired.sql",
        "select\n    p_attempt.deadline_at",
        "select pg_catalog.current_setting('application_name') = 'paused'\n"
        "    and pg_catalog.pg_advisory_xact_lock_shared(1)::text is null\n"
        "    or p_attempt.deadline_at",
    )
    paused = stage.session("-c application_name=paused")
    with stage.session() as gate:
        gate.execute("select pg_advisory_lock(1)")
        future = stage.pool.submit(sweep(), paused)
        assert stage.wait_until_blocked(paused, future)
        yield future


def kill(stage: Stage, session: psycopg.Connection) -> None:
    """End a session's server process, and wait until it is gone."""
    assert stage.value("select pg_terminate_backend(%s, 5000)", session.info.backend_pid)


def buffers(session: psycopg.Connection, query: str) -> int:
    """Run a query, and return how many pages it touched."""
    plan: Any = session.execute(
        f"explain (analyze, buffers, format json) {query}".encode()
    ).fetchone()
    top = plan[0][0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


def someone_else_claims(stage: Stage, claim: ClaimedAttempt) -> None:
    """Hand the task back and let another worker claim it."""
    worker.release(stage.db, attempt_id=claim.attempt_id, reason="stop")
    assert stage.claim_one(by="other").task_id == claim.task_id


def history(stage: Stage) -> list[Any]:
    """Return all attempts."""
    return stage.rows("select * from forebay.task_attempts order by attempt_id")


BETWEEN: dict[str, Callable[[Stage, ClaimedAttempt], Any]] = {
    "complete": lambda s, c: report.complete(s.db, attempt_id=c.attempt_id, result={}),
    "fail": lambda s, c: report.fail(s.db, attempt_id=c.attempt_id, error={}, retryable=False),
    "release": lambda s, c: worker.release(s.db, attempt_id=c.attempt_id, reason="stop"),
    "cancel": lambda s, c: operator.cancel(s.db, task_ids=[c.task_id]),
    "observe": lambda s, c: worker.observe_run(s.db, attempt_id=c.attempt_id, run=RUNNING),
    "adopt": lambda s, c: worker.adopt(s.db, worker="other", launchers=["lakeflow"]),
    "claim": someone_else_claims,
}


@pytest.mark.parametrize("between", BETWEEN)
def test_sw1_what_came_between_stays(stage: Stage, between: str) -> None:
    """A sweep that saw an expired lease looks again under the lock: whoever was quicker wins."""
    assert stage.clock
    stage.agent(launcher="lakeflow", job_id=1, lease=MINUTE)
    stage.enqueue()
    claim = stage.claim_one()
    stage.clock.advance(5 * MINUTE)
    with paused_after_its_look(stage) as paused:
        BETWEEN[between](stage, claim)
        task, attempts = stage.task(claim.task_id), history(stage)
    assert paused.result() == SweepResult(requeued=0, failed=0, woken=0)
    assert stage.task(claim.task_id) == task
    assert history(stage) == attempts


def test_sw4_a_killed_sweeper_stops_nobody(stage: Stage) -> None:
    """While a sweep is open others sweep the rest; when it is killed they sweep its part too."""
    stage.agent()
    stage.enqueue(count=2)
    stage.expire(*(claim.attempt_id for claim in stage.claim(2)))
    doomed = stage.session(autocommit=False)
    assert sweep(1, by="same name")(doomed).requeued == 1
    assert sweep(by="same name")(stage.db).requeued == 1
    kill(stage, doomed)
    assert sweep(by="same name")(stage.db).requeued == 1
    assert sweep()(stage.db).requeued == 0
    assert viewer.health(stage.db).last_sweep_at is not None


def test_sw6_a_long_history_costs_nothing(stage: Stage) -> None:
    """One expired lease beside 20,000 finished attempts: the sweep reads a handful of pages."""
    stage.agent()
    with stage.superuser.transaction():
        stage.superuser.execute("set local session_replication_role = replica")
        stage.superuser.execute(
            "insert into forebay.tasks"
            " (task_id, agent, status, payload, available_at, created_at, finished_at)"
            " select -n, 'a', 'completed', '{}', now(), now(), now()"
            " from generate_series(1, 20000) as n"
        )
        stage.superuser.execute(
            "insert into forebay.task_attempts (attempt_id, task_id, agent, launcher, attempt_no,"
            " status, worker, launch_token, lease_expires_at, deadline_at, estimated_tokens,"
            " started_at, finished_at)"
            " select -n, -n, 'a', 'pull', 1, 'succeeded', 'w', 'old-' || n,"
            " now(), now(), 0, now(), now() from generate_series(1, 20000) as n"
        )
    pages = []
    for _ in range(2):  # the first one also reads the catalog
        stage.enqueue()
        stage.expire(stage.claim_one().attempt_id)
        pages.append(buffers(stage.superuser, "select * from forebay.sweep()"))
        assert stage.in_use() == 0
    assert pages[1] < 200


def test_sw7_a_sweeper_cut_off_inside_its_transaction_stops_nobody(stage: Stage) -> None:
    """Claims, renewals and sweeps go on; the server ends it, and its part is swept."""
    stage.agent(max_concurrent_tasks=3)
    stage.enqueue(count=4)
    expired, alive = stage.claim(2)
    stage.expire(expired.attempt_id)
    cut_off = stage.session("-c idle_in_transaction_session_timeout=400ms", autocommit=False)
    assert sweep(by="cut off")(cut_off).requeued == 1
    assert not stage.is_held_up(dequeue(1, "a"))
    assert not stage.is_held_up(sweep(by="next"))
    assert not stage.is_held_up(renew(alive.attempt_id))
    names = [
        seen["worker"] for seen in viewer.health(stage.db).dispatchers if seen["last_sweep_at"]
    ]
    assert names == ["next"]
    gone = "select not exists (select from pg_stat_activity where pid = %s)"
    while not stage.value(gone, cut_off.info.backend_pid):
        pass
    assert worker.sweep(stage.db).requeued == 1


def test_sw9_the_second_sweep_that_saw_a_task_leaves_it(stage: Stage) -> None:
    """Of two sweeps that saw one expired lease one moves the task, and its history has one end."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    stage.expire(claim.attempt_id)
    with paused_after_its_look(stage) as paused:
        assert worker.sweep(stage.db).requeued == 1
        task, attempts = stage.task(claim.task_id), history(stage)
    assert paused.result().requeued == 0
    assert stage.task(claim.task_id) == task
    assert history(stage) == attempts
    assert [attempt.status for attempt in attempts] == ["lost"]


BACK: dict[str, Callable[[psycopg.Connection, int], Any]] = {
    "fail": lambda s, id: report.fail(s, attempt_id=id, error={}, retry_after=timedelta()),
    "sweep": lambda s, id: worker.sweep(s),
}


@pytest.mark.parametrize("way", BACK)
def test_lj6_going_back_in_line_is_all_or_nothing(stage: Stage, way: str) -> None:
    """A connection that dies on the way leaves the task as it was; then the same row goes back."""
    stage.agent()
    (task_id,) = stage.enqueue()
    claim = stage.claim_one()
    if way == "sweep":
        stage.expire(claim.attempt_id)
    task, attempts = stage.task(task_id), history(stage)
    doomed = stage.session(autocommit=False)
    BACK[way](doomed, claim.attempt_id)
    kill(stage, doomed)
    assert stage.task(task_id) == task
    assert history(stage) == attempts
    BACK[way](stage.db, claim.attempt_id)
    assert stage.claim_one().task_id == task_id
    assert stage.value("select count(*) from forebay.tasks") == 1
