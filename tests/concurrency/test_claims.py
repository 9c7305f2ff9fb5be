"""Claims that meet: each task goes to one worker, and no limit is ever passed (DX, OA)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from itertools import product

import psycopg
import pytest
from psycopg import errors

from concurrency.stage import Act, Stage, claimed, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker
from forebay.rows import ClaimedAttempt


def two_claims(stage: Stage, first: int, second: int) -> tuple[int, int]:
    """Let a second claim begin while the first is not committed; return how much each got."""
    with stage.transaction() as session:
        got = dequeue(first, "a")(session)
        waiting, future = stage.start(dequeue(second, "a"))
        stage.wait_until_blocked(waiting, future)
        session.commit()
        return len(got), len(future.result())


def slowly(act: Act[list[ClaimedAttempt]]) -> Act[list[ClaimedAttempt]]:
    """Return the act in a transaction that commits some time after it."""

    def slow(session: psycopg.Connection) -> list[ClaimedAttempt]:
        with session.transaction():
            rows = act(session)
            session.execute("select pg_sleep(0.01)")
            return rows

    return slow


def test_dx2_one_task_goes_to_one_of_sixteen(stage: Stage) -> None:
    """Sixteen sessions ask for the only task at once: one gets it, the others nothing."""
    stage.agent()
    for number in range(30):
        stage.enqueue()
        assert len(claimed(stage.at_once([dequeue(1, "a")] * 16))) == 1
        assert stage.value("select count(*) from forebay.task_attempts") == number + 1


def test_dx4_order_is_promised_within_one_claim_line_only(stage: Stage) -> None:
    """A task whose row is held is passed over: claims follow the line, starts are not ordered."""
    stage.agent()
    first, second = stage.enqueue(count=2)
    with stage.transaction() as other:
        assert dequeue(1, "a")(other)[0].task_id == first
        assert stage.claim_one().task_id == second


def test_dx6_every_claim_has_a_fence_of_its_own(stage: Stage) -> None:
    """The claim's row names its attempt; a claim of the same task later has another one."""
    stage.agent()
    stage.enqueue()
    fences = set()
    for number in range(1, 4):
        claim = stage.claim_one(by="same name")
        assert claim.attempt_no == number
        assert stage.task(claim.task_id).attempt_id == claim.attempt_id
        fences.add((claim.attempt_id, claim.launch_token))
        worker.release(stage.db, attempt_id=claim.attempt_id, reason="again")
    assert len(fences) == 3


def test_oa1_the_count_sees_the_claim_before(stage: Stage) -> None:
    """A claim waits for the one before it to commit, and counts what that one took."""
    stage.agent(max_concurrent_tasks=3)
    stage.enqueue(count=100)
    assert two_claims(stage, 2, 10) == (2, 1)
    assert stage.in_use() == 3


def test_oa2_sixteen_slow_claims_stay_within_the_limit(stage: Stage) -> None:
    """Sixteen sessions that commit late take three in all: the count is made after the lock."""
    stage.agent(max_concurrent_tasks=3)
    stage.enqueue(count=100)
    assert len(claimed(stage.at_once([slowly(dequeue(1, "a"))] * 16))) == 3


def test_oa3_tokens_are_not_spent_twice(stage: Stage) -> None:
    """The second claim sees the level that the first one left."""
    assert stage.clock
    stage.agent(max_tpm=1250)
    stage.enqueue(count=2, estimated_tokens=600)
    assert two_claims(stage, 1, 1) == (1, 0)
    assert stage.level() == 400


def test_oa3_requests_are_not_spent_twice(stage: Stage) -> None:
    """The same for claims a minute."""
    assert stage.clock
    stage.agent(max_rpm=5)
    stage.enqueue(count=10)
    assert two_claims(stage, 3, 10) == (3, 1)


def test_oa4_the_lock_covers_the_commit(stage: Stage) -> None:
    """The agent is locked until the claim is committed, not only until it has returned."""
    stage.agent(max_concurrent_tasks=3)
    stage.enqueue(count=3)
    with stage.transaction() as first:
        dequeue(1, "a")(first)
        assert stage.is_held_up(dequeue(1, "a"))


@pytest.mark.parametrize("late", ["accept", "reject"])
def test_oa5_a_zombie_frees_no_slot_twice(stage: Stage, late: str) -> None:
    """The first attempt was swept; what it reports later never makes room for a second task."""
    stage.agent(max_concurrent_tasks=1, late_results=late)
    stage.enqueue(count=5)
    for ending in (report.fail, report.complete):
        zombie = stage.claim_one()
        stage.expire(zombie.attempt_id)
        stage.claim_one()
        words = {"error": {}} if ending is report.fail else {"result": {}}
        for _ in range(3):
            ending(stage.db, attempt_id=zombie.attempt_id, **words)
            stage.claim(5)
            assert stage.in_use() == 1
        operator.cancel(stage.db, task_ids=[row.task_id for row in running(stage)])


def running(stage: Stage) -> list[ClaimedAttempt]:
    """Return the tasks that are processing."""
    return stage.rows("select * from forebay.tasks where status = 'processing'")


def test_oa6_an_expired_attempt_holds_its_slot_until_swept(stage: Stage) -> None:
    """Sweeper and three dequeuers begin at one moment after a crash: one task runs, not more."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue(count=5)
    for _ in range(10):
        for row in running(stage):
            stage.expire(row.attempt_id)
        sweep = lambda session: worker.sweep(session) and []  # noqa: E731
        stage.at_once([sweep, *[dequeue(2, "a")] * 3])
        stage.claim()
        assert stage.in_use() == 1


def test_oa7_the_estimate_is_reserved_at_the_claim(stage: Stage) -> None:
    """Five claims at once of 60 tokens each against 100: one is admitted, not five."""
    assert stage.clock
    stage.agent(max_tpm=125)
    stage.enqueue(count=5, estimated_tokens=60)
    assert len(claimed(stage.at_once([dequeue(1, "a")] * 5))) == 1
    assert stage.level() == 40


def test_oa9_what_is_available_is_never_negative(stage: Stage) -> None:
    """Tasks of weight 3 against 6: two run, and status and claims agree about what is left."""
    assert stage.clock
    stage.agent(max_tpm=60, tpm_burst=Decimal("0.1"))
    stage.enqueue(count=3, estimated_tokens=3)
    assert len(stage.claim(3)) == 2
    (state,) = viewer.agent_status(stage.db, agents=["a"])
    assert (state.token_level, state.in_flight_tokens, state.state) == (0, 6, "out_of_tokens")


ROLES = ("submitter", "worker", "agent", "operator", "viewer", "reader", "upkeep")


def test_oa10_no_role_touches_a_table(stage: Stage) -> None:
    """The stored functions are the only way: nobody may read or write a table or a sequence."""
    allowed = stage.rows(
        "select role, c.relname, privilege from unnest(%s::text[]) as role, pg_class as c,"
        " unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as privilege"
        " where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r'"
        " and has_table_privilege('forebay_' || role, c.oid, privilege)",
        list(ROLES),
    )
    assert allowed == []
    with pytest.raises(errors.InsufficientPrivilege):
        stage.db.execute("update forebay.tasks set status = 'processing'")


def test_oa10_each_role_calls_its_own_functions_only(stage: Stage) -> None:
    """Nothing is executable by PUBLIC, private functions by nobody, and each role has its own."""
    owners = {
        "dequeue": {"worker"},
        "complete": {"agent"},
        "cancel": {"operator"},
        "enqueue": {"submitter"},
        "sweep": {"worker", "upkeep"},
        "_claim": set(),
        "_report": set(),
    }
    for (function, allowed), role in product(owners.items(), (*ROLES, "nobody")):
        may = stage.value(
            "select bool_or(has_function_privilege(%s, p.oid, 'execute')) from pg_proc as p"
            " where p.pronamespace = 'forebay'::regnamespace and p.proname = %s",
            "pg_monitor" if role == "nobody" else f"forebay_{role}",
            function,
        )
        assert may == (role in allowed), f"{role} and {function}"


@pytest.mark.parametrize(
    "change",
    [
        ("completed", "enqueued"),
        ("completed", "processing"),
        ("failed", "completed"),
        ("cancelled", "completed"),
        ("enqueued", "failed"),
    ],
    ids="-".join,
)
def test_oa10_a_transition_that_does_not_exist_is_refused(
    stage: Stage, change: tuple[str, str]
) -> None:
    """Not even the owner of the tables makes one: QF901."""
    stage.agent()
    (task_id,) = stage.enqueue()
    before, after = change
    if before == "completed":
        report.complete(stage.db, attempt_id=stage.claim_one().attempt_id, result={})
    elif before == "failed":
        report.fail(stage.db, attempt_id=stage.claim_one().attempt_id, error={}, retryable=False)
    elif before == "cancelled":
        operator.cancel(stage.db, task_ids=[task_id])
    is_final = after in ("completed", "failed")
    is_running = after == "processing"
    with pytest.raises(psycopg.Error) as refused:
        stage.superuser.execute(
            "update forebay.tasks set status = %s, finished_at = case when %s then now() end,"
            " attempt_id = case when %s then 1 end, locked_by = case when %s then 'w' end",
            [after, is_final, is_running, is_running],
        )
    assert refused.value.sqlstate == "QF901"


def test_oa11_limits_live_in_one_place(stage: Stage) -> None:
    """Whoever claims, the agent's row decides; a change holds for everybody and is audited."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue(count=9)
    assert len(claimed(stage.at_once([dequeue(5, "a", by=name) for name in "vw"]))) == 1
    stage.agent(max_concurrent_tasks=5, actor="ada", reason="more quota")
    assert len(claimed(stage.at_once([dequeue(5, "a", by=name) for name in "vw"]))) == 4
    entries = stage.rows("select actor, reason from forebay.audit_log order by audit_id")
    assert entries[-1] == ("ada", "more quota")


def test_a_limit_of_zero_admits_nothing(stage: Stage) -> None:
    """0 means none, for each of the three limits, also for a task larger than the burst."""
    assert stage.clock
    for limit in ("max_concurrent_tasks", "max_tpm", "max_rpm"):
        stage.agent(limit, **{limit: 0})
        stage.enqueue(limit, estimated_tokens=0)
        stage.enqueue(limit, estimated_tokens=100, priority=5)
        assert stage.claim(2, limit) == []
        stage.clock.advance(timedelta(hours=1))
        assert stage.claim(2, limit) == []


def test_a_lock_that_stays_held_keeps_no_dispatcher_for_ever(stage: Stage) -> None:
    """Somebody left a transaction open after a claim: the next call gives up, to come again."""
    stage.agent(max_concurrent_tasks=5)
    stage.enqueue(count=2)
    stage.superuser.execute("alter function forebay.dequeue set lock_timeout = '200ms'")
    holder, other = stage.session(), stage.session()
    with holder.transaction():
        assert len(dequeue(1, "a")(holder)) == 1
        assert dequeue(1, "a")(other) == []
    assert len(dequeue(1, "a")(other)) == 1
