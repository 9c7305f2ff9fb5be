"""A task has one owner and never loses its way: leases, sweeps, retries, clocks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from concurrency.stage import Stage, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker
from forebay.rows import ClaimedAttempt

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def renewed(stage: Stage, claim: ClaimedAttempt, by: str = "w") -> str:
    """Renew one lease and return its state."""
    (row,) = worker.renew_leases(stage.db, worker=by, attempt_ids=[claim.attempt_id])
    return row.state


def superseded(stage: Stage, **agent: Any) -> tuple[ClaimedAttempt, ClaimedAttempt]:
    """Return an attempt that lost its lease, and the one that runs the task since."""
    stage.agent(**agent)
    stage.enqueue()
    old = stage.claim_one(by="old")
    stage.expire(old.attempt_id)
    worker.sweep(stage.db)
    return old, stage.claim_one(by="new")


def test_le1_a_late_failure_leaves_the_new_owner_alone(stage: Stage) -> None:
    """It is recorded on its own attempt only, and the task runs on."""
    old, new = superseded(stage)
    before = stage.task(old.task_id)
    assert report.fail(stage.db, attempt_id=old.attempt_id, error={}) == "processing"
    assert stage.task(old.task_id) == before
    assert stage.attempt(old.attempt_id).error is not None
    assert renewed(stage, new, by="new") == "renewed"


def test_le1_a_late_success_is_kept_where_it_is_rejected(stage: Stage) -> None:
    """An agent with late_results = reject keeps the result on the attempt; the task runs on."""
    old, new = superseded(stage, late_results="reject")
    assert report.complete(stage.db, attempt_id=old.attempt_id, result={"n": 1}) == "processing"
    assert stage.task(old.task_id).attempt_id == new.attempt_id
    assert stage.attempt(old.attempt_id).result == {"n": 1}


def test_le1_a_late_success_counts_where_it_is_accepted(stage: Stage) -> None:
    """The work is real: the task is completed, and the other attempt is told to stop."""
    old, new = superseded(stage)
    assert report.complete(stage.db, attempt_id=old.attempt_id, result={"n": 1}) == "completed"
    assert stage.task(old.task_id).result == {"n": 1}
    assert renewed(stage, new, by="new") == "cancel_requested"
    assert report.complete(stage.db, attempt_id=new.attempt_id, result={"n": 2}) == "completed"
    assert stage.task(old.task_id).result == {"n": 1}


def test_le2_a_renewed_lease_never_gets_a_second_attempt(stage: Stage) -> None:
    """Twenty seconds of work under a lease of five, with renewals: nobody else starts it."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    for _ in range(5):
        stage.clock.advance(4 * SECOND)
        assert renewed(stage, claim) == "renewed"
        assert (stage.claim(), worker.sweep(stage.db).requeued) == ([], 0)


def test_le4_a_lease_that_ran_out_is_not_renewed(stage: Stage) -> None:
    """Swept or not, taken over or not: the answer is lost, and the new owner keeps its lease."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    old = stage.claim_one(by="old")
    stage.clock.advance(5 * SECOND)
    assert renewed(stage, old, by="old") == "lost"
    assert stage.attempt(old.attempt_id).lease_expires_at == stage.clock.now()
    new = stage.claim_one(by="new")
    assert renewed(stage, old, by="old") == "lost"
    assert stage.task(new.task_id).attempt_id == new.attempt_id


def test_le4_nobody_renews_the_lease_of_another_worker(stage: Stage) -> None:
    """Not yours is lost, and nothing is extended."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one(by="owner")
    stage.clock.advance(SECOND)
    assert renewed(stage, claim, by="thief") == "lost"
    assert stage.attempt(claim.attempt_id).lease_expires_at == claim.lease_expires_at


def test_le6_the_run_of_a_lost_attempt_is_cancelled(stage: Stage) -> None:
    """The database names the run until it was seen to end, to one asker in ten seconds."""
    assert stage.clock
    stage.agent(launcher="lakeflow", lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    worker.record_run(stage.db, attempt_id=claim.attempt_id, run_id="7")
    stage.clock.advance(3 * MINUTE)
    assert worker.sweep(stage.db).requeued == 1
    assert [run.run_id for run in worker.runs_to_cancel(stage.db, worker="w")] == ["7"]
    assert worker.runs_to_cancel(stage.db, worker="w") == []
    stage.clock.advance(10 * SECOND)
    run = {"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}
    worker.observe_run(stage.db, attempt_id=claim.attempt_id, run=run)
    assert worker.runs_to_cancel(stage.db, worker="w") == []


def test_le6_an_external_run_is_left_to_be_adopted(stage: Stage) -> None:
    """For the grace no sweep takes it; a driver that adopts it gets the same attempt and token."""
    assert stage.clock
    stage.agent(launcher="lakeflow", lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one(by="dead")
    assert worker.adopt(stage.db, worker="heir", launchers=["lakeflow"]) == []
    stage.clock.advance(6 * SECOND)
    assert (stage.claim(), worker.sweep(stage.db).requeued) == ([], 0)
    (adopted,) = worker.adopt(stage.db, worker="heir", launchers=["lakeflow"])
    assert (adopted.attempt_id, adopted.launch_token) == (claim.attempt_id, claim.launch_token)
    assert renewed(stage, claim, by="heir") == "renewed"


def test_le7_each_lease_is_its_own_agents(stage: Stage) -> None:
    """A lease of two hours outlives a sweep that ends one of a minute."""
    assert stage.clock
    stage.agent("short", lease=MINUTE)
    stage.agent("long", lease=timedelta(hours=2))
    for agent in ("short", "long"):
        stage.enqueue(agent)
        stage.claim_one(agent)
    stage.clock.advance(timedelta(hours=1))
    assert worker.sweep(stage.db).requeued == 1
    assert (stage.in_use("short"), stage.in_use("long")) == (0, 1)


def test_sw1_a_sweep_leaves_what_is_being_renewed(stage: Stage) -> None:
    """The lease looks expired while its renewal is not committed: the sweep passes it over."""
    assert stage.clock
    stage.agent(lease=5 * SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    stage.clock.advance(4 * SECOND)
    with stage.transaction() as owner:
        worker.renew_leases(owner, worker="w", attempt_ids=[claim.attempt_id])
        stage.clock.advance(2 * SECOND)
        session, future = stage.start(lambda s: worker.sweep(s))
        stage.wait_until_blocked(session, future)
        owner.commit()
        assert future.result().requeued == 0
    assert stage.task(claim.task_id).attempt_id == claim.attempt_id
    assert renewed(stage, claim) == "renewed"


@pytest.mark.parametrize("ending", [True, False], ids=["committed", "rolled back"])
def test_sw1_a_sweep_never_overwrites_a_result(stage: Stage, ending: bool) -> None:
    """The owner's report is under way: the sweep passes the task over, and takes it only after."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    stage.expire(claim.attempt_id)
    with stage.transaction() as owner:
        report.complete(owner, attempt_id=claim.attempt_id, result={})
        assert worker.sweep(stage.db).requeued == 0
        owner.commit() if ending else owner.rollback()
    assert worker.sweep(stage.db).requeued == (0 if ending else 1)
    assert stage.task(claim.task_id).status == ("completed" if ending else "enqueued")


def test_sw4_a_sweeper_that_hangs_stops_no_other(stage: Stage) -> None:
    """It holds what it has taken; others take the rest at once, and all of it when it is gone."""
    stage.agent()
    stage.enqueue(count=4)
    stage.expire(*[claim.attempt_id for claim in stage.claim(4)])
    with stage.transaction() as hung:
        assert worker.sweep(hung, limit=2).requeued == 2
        assert not stage.is_held_up(lambda s: worker.sweep(s, worker="other"))
        assert viewer.health(stage.db).last_sweep_at is not None
        hung.rollback()
    worker.sweep(stage.db)
    assert viewer.health(stage.db).expired_leases == stage.in_use() == 0


def test_sw7_ten_sweepers_share_the_work(stage: Stage) -> None:
    """Ten sweepers at once bring back each expired task once, and none is left."""
    stage.agent()
    stage.enqueue(count=500)
    stage.expire(*[claim.attempt_id for claim in stage.claim(500)])
    outcomes = stage.at_once([lambda s: worker.sweep(s, limit=1000).requeued] * 10)
    assert sum(outcomes) + worker.sweep(stage.db).requeued == 500
    assert stage.in_use() == 0


def test_sw9_an_expired_attempt_is_handled_once(stage: Stage) -> None:
    """However many sweep at once: one transition, one attempt spent."""
    stage.agent()
    stage.enqueue()
    for number in range(1, 11):
        claim = stage.claim_one()
        stage.expire(claim.attempt_id)
        outcomes = stage.at_once([lambda s: worker.sweep(s).requeued] * 8)
        assert sum(outcomes) == 1
        assert stage.task(claim.task_id).attempt_count == number


def test_lj4_nothing_stays_expired(stage: Stage) -> None:
    """health counts the expired leases, and after a sweep there are none."""
    stage.agent()
    stage.enqueue(count=3)
    stage.expire(*[claim.attempt_id for claim in stage.claim(3)])
    assert viewer.health(stage.db).expired_leases == 3
    worker.sweep(stage.db)
    assert viewer.health(stage.db).expired_leases == 0


def test_lj6_a_hand_back_is_whole_or_nothing(stage: Stage) -> None:
    """A connection lost in the middle of a release leaves the task with its owner."""
    stage.agent()
    stage.enqueue()
    claim = stage.claim_one()
    lost = stage.session(autocommit=False)
    worker.release(lost, attempt_id=claim.attempt_id, reason="stop")
    stage.superuser.execute("select pg_terminate_backend(%s, 5000)", [lost.info.backend_pid])
    assert stage.task(claim.task_id).status == "processing"
    assert renewed(stage, claim) == "renewed"


def test_rt1_a_task_that_kills_its_worker_runs_out_of_attempts(stage: Stage) -> None:
    """The attempt is counted at the claim, so the third crash is the last."""
    stage.agent(max_attempts=3)
    (task_id,) = stage.enqueue()
    for _ in range(3):
        stage.expire(stage.claim_one().attempt_id)
        worker.sweep(stage.db)
    task = stage.task(task_id)
    assert (task.status, task.attempt_count) == ("failed", 3)
    assert "lease expired" in task.error["message"]
    assert stage.claim() == []


def test_rt2_releases_are_bounded_and_cancel_always_works(stage: Stage) -> None:
    """A release spends nothing until max_releases; a task in processing can be cancelled."""
    stage.agent(max_attempts=2, max_releases=3)
    (task_id,) = stage.enqueue()
    counts = []
    while stage.task(task_id).status == "enqueued":
        claim = stage.claim_one()
        worker.release(stage.db, attempt_id=claim.attempt_id, reason="again")
        counts.append(stage.task(task_id).attempt_count)
    assert counts == [0, 0, 0, 1, 2]
    assert stage.task(task_id).status == "failed"
    stage.enqueue()
    claim = stage.claim_one()
    operator.cancel(stage.db, task_ids=[claim.task_id])
    assert renewed(stage, claim) == "cancel_requested"
    assert stage.claim() == []


def test_rt5_no_count_overflows_the_backoff(stage: Stage) -> None:
    """Attempt 1, 17 and a million: never longer than the maximum, never an error (RT8: an hour)."""
    for count in (1, 17, 1024, 1_000_000):
        delay = stage.value("select forebay._backoff('5 seconds', '1 hour', %s)", count)
        longest = min(timedelta(hours=1), 5 * SECOND * 2 ** min(count - 1, 20))
        assert longest * 0.9 <= delay <= longest


def test_rt6_a_lost_lease_is_never_refunded(stage: Stage) -> None:
    """A task slower than its lease spends an attempt each time; only a release spends none."""
    stage.agent(max_attempts=5)
    (task_id,) = stage.enqueue()
    stage.expire(stage.claim_one().attempt_id)
    worker.sweep(stage.db)
    worker.release(stage.db, attempt_id=stage.claim_one().attempt_id, reason="stop")
    task = stage.task(task_id)
    assert (task.attempt_no, task.attempt_count, task.release_count) == (2, 1, 1)


def test_rt7_a_refusal_waits_as_long_as_it_says(stage: Stage) -> None:
    """retry_after goes before the backoff."""
    assert stage.clock
    stage.agent(backoff_base=SECOND)
    stage.enqueue()
    claim = stage.claim_one()
    error = {"kind": "rate_limited"}
    report.fail(stage.db, attempt_id=claim.attempt_id, error=error, retry_after=65 * SECOND)
    stage.clock.advance(64 * SECOND)
    assert stage.claim() == []
    stage.clock.advance(SECOND)
    stage.claim_one()


def test_rt9_an_operators_retry_starts_afresh(stage: Stage) -> None:
    """The spent attempts are forgotten, their history is not."""
    stage.agent(max_attempts=2)
    (task_id,) = stage.enqueue()
    for _ in range(2):
        claim = stage.claim_one()
        report.fail(stage.db, attempt_id=claim.attempt_id, error={}, retry_after=0 * SECOND)
    assert stage.task(task_id).status == "failed"
    operator.retry(stage.db, task_ids=[task_id])
    assert stage.task(task_id).attempt_count == 0
    claim = stage.claim_one()
    assert claim.attempt_no == 3
    report.fail(stage.db, attempt_id=claim.attempt_id, error={}, retry_after=0 * SECOND)
    assert stage.task(task_id).status == "enqueued"


def test_tm1_no_caller_tells_the_time_of_a_lease(stage: Stage) -> None:
    """No function of a worker takes a time: durations go in, times come out."""
    arguments = stage.rows(
        "select p.proname from pg_proc as p where p.pronamespace = 'forebay'::regnamespace"
        " and has_function_privilege('forebay_worker', p.oid, 'execute')"
        " and 'timestamptz'::regtype = any(p.proargtypes::oid[])"
    )
    assert arguments == []


def test_tm2_a_lease_begins_when_the_lock_is_held(stage: Stage) -> None:
    """Neither a long transaction nor a wait for the agent eats into the lease."""
    stage.agent(max_concurrent_tasks=2, lease=MINUTE)
    stage.enqueue(count=2)
    with stage.transaction() as first:
        first.execute("select now(), pg_sleep(0.2)")
        dequeue(1, "a")(first)
        session, future = stage.start(dequeue(1, "a"))
        assert stage.wait_until_blocked(session, future)
        first.execute("select pg_sleep(0.2)")
        released = stage.value("select clock_timestamp()")
        first.commit()
        (claim,) = future.result()
    assert claim.lease_expires_at >= released + MINUTE
    starts = "select max(started_at) - min(started_at) from forebay.task_attempts"
    assert stage.value(starts) >= 0.2 * SECOND


def test_tm3_every_time_has_a_zone(stage: Stage) -> None:
    """No column is a timestamp without one, and sessions in other zones see the same work."""
    without = stage.rows(
        "select a.attname from pg_attribute as a join pg_class as c on c.oid = a.attrelid"
        " where c.relnamespace = 'forebay'::regnamespace and a.atttypid = 'timestamp'::regtype"
    )
    assert without == []
    stage.agent()
    stage.enqueue()
    session = stage.session("-c timezone=Asia/Kolkata")
    (claim,) = dequeue(1, "a")(session)
    assert claim.lease_expires_at > stage.value("select now()")


def test_tm5_run_after_is_an_instant(stage: Stage) -> None:
    """A caller whose clock is wrong gets what it asked for; one that is past means now."""
    assert stage.clock
    stage.agent()
    hour = timedelta(hours=1)
    (late,) = stage.enqueue(run_after=(stage.clock.now() + hour).isoformat())
    (now,) = stage.enqueue(run_after=(stage.clock.now() - hour).isoformat())
    assert [row.task_id for row in stage.claim(5)] == [now]
    stage.clock.advance(hour)
    assert stage.claim_one().task_id == late
