"""Slots and budgets: nothing leaks, nothing is counted twice, nobody starves silently (SL, ST)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker

MINUTE = timedelta(minutes=1)


def use(stage: Stage, attempt_id: int, tokens: int, call_id: str = "c") -> None:
    """Report one call that used so many tokens."""
    usage = {"call_id": call_id, "input_tokens": tokens - 1, "output_tokens": 1}
    report.report_usage(stage.db, attempt_id=attempt_id, usage=usage)


def test_sl1_a_crashed_worker_gives_its_slot_back(stage: Stage) -> None:
    """Until then everybody can see who holds it; afterwards the next task starts."""
    stage.agent(max_concurrent_tasks=1)
    first, second = stage.enqueue(count=2)
    claim = stage.claim_one(by="crashed")
    assert viewer.agent_status(stage.db, agents=["a"])[0].state == "full"
    assert "crashed" in viewer.explain_task(stage.db, task_id=first).explanation
    assert viewer.explain_task(stage.db, task_id=second).reason == "full"
    stage.expire(claim.attempt_id)
    worker.sweep(stage.db)
    assert stage.in_use() == 0
    assert stage.claim_one().task_id == first


def test_sl2_a_limit_of_one_needs_no_sweeper(stage: Stage) -> None:
    """The expired attempt fills the only slot, and still a dequeue alone gets it going again."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue()
    dead = stage.claim_one()
    assert stage.claim() == []
    stage.expire(dead.attempt_id)
    again = stage.claim_one()
    assert (again.task_id, again.attempt_no) == (dead.task_id, 2)


def test_sl2_a_task_that_is_due_needs_no_sweeper(stage: Stage) -> None:
    """A delayed task starts by a dequeue alone once it is due, not before."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=1)
    submitter.enqueue(
        stage.db, agent="a", payload={}, run_after=stage.clock.now() + timedelta(seconds=10)
    )
    assert stage.claim() == []
    stage.clock.advance(timedelta(seconds=10))
    stage.claim_one()


@pytest.mark.parametrize("ending", ["completed", "failed", "cancelled", "released", "swept"])
def test_sl3_every_end_frees_the_slot(stage: Stage, ending: str) -> None:
    """In the same transaction, whichever way the attempt ends."""
    stage.agent(max_concurrent_tasks=1)
    stage.enqueue(max_attempts=1)
    claim = stage.claim_one()
    if ending == "completed":
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    elif ending == "failed":
        report.fail(stage.db, attempt_id=claim.attempt_id, error={})
    elif ending == "cancelled":
        operator.cancel(stage.db, task_ids=[claim.task_id])
    elif ending == "released":
        worker.release(stage.db, attempt_id=claim.attempt_id, reason="r", retry_in=MINUTE)
    else:
        stage.expire(claim.attempt_id)
        worker.sweep(stage.db)
    assert viewer.agent_status(stage.db, agents=["a"])[0].in_use == 0
    (other,) = stage.enqueue()
    assert stage.claim_one().task_id == other


@pytest.mark.parametrize(("used", "left"), [(5000, 79_900 - 4900), (50, 79_900 + 50)])
def test_sl5_the_estimate_becomes_the_actual(stage: Stage, used: int, left: int) -> None:
    """Both ways, and once, however often usage and report are repeated."""
    assert stage.clock
    stage.agent(max_tpm=100_000)
    stage.enqueue(count=2, estimated_tokens=100)
    claim = stage.claim_one()
    assert stage.level() == 79_900
    for _ in range(3):
        use(stage, claim.attempt_id, used)
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert stage.level() == left
    stage.claim_one()
    assert stage.level() == left - 100
    use(stage, claim.attempt_id, used)
    assert stage.level() == left - 100


def test_sl5_usage_that_comes_after_the_end_settles_too(stage: Stage) -> None:
    """A second call reported late is charged on top of the first, not again for the first."""
    assert stage.clock
    stage.agent(max_tpm=100_000)
    stage.enqueue(estimated_tokens=1000)
    claim = stage.claim_one()
    use(stage, claim.attempt_id, 600, "first")
    report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert stage.level() == 80_000 - 600
    use(stage, claim.attempt_id, 300, "second")
    assert stage.level() == 80_000 - 900
    operator.cancel(stage.db, task_ids=[claim.task_id])
    assert stage.level() == 80_000 - 900


def test_sl5_a_crash_keeps_the_estimate(stage: Stage) -> None:
    """Nobody knows what a lost attempt used: its charge stays, and only time refills."""
    assert stage.clock
    stage.agent(max_tpm=60_000)
    stage.enqueue(estimated_tokens=30_000)
    stage.expire(stage.claim_one().attempt_id)
    worker.sweep(stage.db)
    assert stage.level() == 18_000
    stage.clock.advance(timedelta(seconds=10))
    assert stage.level() == 28_000
    stage.clock.advance(timedelta(hours=1))
    assert stage.level() == 48_000


def test_sl5_a_release_refunds_its_charge(stage: Stage) -> None:
    """What never started used nothing, unless it reported something."""
    assert stage.clock
    stage.agent(max_tpm=60_000)
    stage.enqueue(estimated_tokens=10_000)
    worker.release(stage.db, attempt_id=stage.claim_one().attempt_id, reason="refused")
    assert stage.level() == 48_000
    claim = stage.claim_one()
    use(stage, claim.attempt_id, 4000)
    worker.release(stage.db, attempt_id=claim.attempt_id, reason="refused")
    assert stage.level() == 44_000


def test_sl5_the_bucket_refills_by_the_clock_up_to_the_burst(stage: Stage) -> None:
    """A full bucket of 48,000 gains 1,000 a second, and a refund on top of it gains nothing."""
    assert stage.clock
    stage.agent(max_tpm=60_000)
    stage.enqueue(count=10, estimated_tokens=20_000)
    claims = stage.claim(10)
    assert len(claims) == 2
    assert stage.claim() == []
    stage.clock.advance(timedelta(seconds=11))
    assert stage.claim() == []
    stage.clock.advance(timedelta(seconds=1))
    assert len(stage.claim(10)) == 1
    stage.clock.advance(timedelta(hours=1))
    worker.release(stage.db, attempt_id=claims[0].attempt_id, reason="refund when full")
    assert stage.level() == 48_000
    assert len(stage.claim(10)) == 2


def test_the_same_limits_again_refill_nothing(stage: Stage) -> None:
    """A lower limit cuts the level, a higher one adds nothing, a first one starts full."""
    assert stage.clock
    stage.agent(max_tpm=1000)
    stage.enqueue(estimated_tokens=700)
    stage.claim_one()
    stage.agent(max_tpm=1000)
    assert stage.level() == 100
    stage.agent(max_tpm=2000)
    assert stage.level() == 100
    stage.agent(max_tpm=50)
    assert stage.level() == 40
    stage.agent(max_rpm=60)
    (state,) = viewer.agent_status(stage.db, agents=["a"])
    assert (state.token_level, state.request_level) == (None, 48)


def test_st1_a_full_agent_hides_no_other(stage: Stage) -> None:
    """A thousand urgent tasks of a full agent do not keep another agent's one from starting."""
    stage.agent("full", max_concurrent_tasks=1)
    stage.agent("free", max_concurrent_tasks=1)
    stage.enqueue("full", 1000, priority=2)
    stage.claim_one("full")
    (task_id,) = stage.enqueue("free", priority=1)
    (claim,) = worker.dequeue(stage.db, worker="w", batch_size=32)
    assert claim.task_id == task_id


def test_st3_a_task_above_the_burst_goes_alone_when_the_bucket_is_full(stage: Stage) -> None:
    """It takes the bucket into debt: never refused silently, never let through beside others."""
    assert stage.clock
    stage.agent(max_tpm=1000, reserve_after=timedelta(0))
    stage.enqueue(count=1, estimated_tokens=300)
    stage.claim_one()
    (heavy,) = stage.enqueue(estimated_tokens=1500, priority=1)
    stage.enqueue(estimated_tokens=1)
    assert stage.claim(5) == []
    assert viewer.explain_task(stage.db, task_id=heavy).reason == "out_of_tokens"
    stage.clock.advance(timedelta(seconds=17))
    assert stage.claim(5) == []
    stage.clock.advance(timedelta(seconds=1))
    assert [row.task_id for row in stage.claim(5)] == [heavy]
    assert stage.level() == -700


def test_st3_a_lower_limit_is_judged_at_the_claim(stage: Stage) -> None:
    """A task that fitted when it was enqueued still starts when the burst has shrunk below it."""
    assert stage.clock
    stage.agent(max_tpm=10_000)
    stage.enqueue(estimated_tokens=5000)
    stage.agent(max_tpm=1000)
    stage.claim_one()


def test_st4_nothing_overtakes_a_heavy_head_that_is_reserved_for(stage: Stage) -> None:
    """Light tasks behind it wait with it, so it waits no longer than its own refill."""
    assert stage.clock
    stage.agent(max_tpm=1000, reserve_after=timedelta(0))
    stage.enqueue(estimated_tokens=700)
    stage.claim_one()
    (heavy,) = stage.enqueue(estimated_tokens=600, priority=10)
    light = stage.enqueue(count=3, estimated_tokens=50)
    for _ in range(30):
        assert stage.claim(5) == []
        stage.clock.advance(timedelta(seconds=1))
    assert [row.task_id for row in stage.claim(5)] == [heavy]
    stage.clock.advance(MINUTE)
    assert [row.task_id for row in stage.claim(5)] == light


def test_st4_light_tasks_pass_a_heavy_one_only_so_long(stage: Stage) -> None:
    """900 tokens against a stream of 100 every 5 s: it waits 60 s, and then for the bucket."""
    assert stage.clock
    stage.agent(max_tpm=1000, tpm_burst=Decimal(1))
    stage.enqueue(estimated_tokens=1000)
    stage.claim_one()
    since = stage.clock.now()
    (heavy,) = stage.enqueue(estimated_tokens=900, priority=10)
    passed = 0
    while stage.task(heavy).status == "enqueued":
        stage.clock.advance(timedelta(seconds=5))
        stage.enqueue(estimated_tokens=100)
        passed += sum(row.task_id != heavy for row in stage.claim(5))
    assert passed >= 9
    assert MINUTE <= stage.clock.now() - since <= 2 * MINUTE


def test_st4_what_fits_is_taken_within_one_claim(stage: Stage) -> None:
    """A claim looks at a hundred tasks behind those that do not fit, and no further."""
    assert stage.clock
    stage.agent(max_tpm=1000)
    tasks = [stage.enqueue(estimated_tokens=tokens)[0] for tokens in (300, 600, 50)]
    assert [row.task_id for row in stage.claim(5)] == [tasks[0], tasks[2]]
    stage.agent("b", max_tpm=1000)
    stage.enqueue("b", estimated_tokens=700)
    stage.claim_one("b")
    stage.enqueue("b", 101, estimated_tokens=200)
    stage.enqueue("b", estimated_tokens=50)
    assert stage.claim(1, "b") == []
    assert [row.task_id for row in stage.claim(2, "b")] == []
    stage.clock.advance(timedelta(seconds=6))
    assert len(stage.claim(1, "b")) == 1


def test_st5_priority_is_strict_and_the_wait_can_be_seen(stage: Stage) -> None:
    """Urgent work that keeps coming goes first; health tells since when the other waits."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=1)
    (low,) = stage.enqueue(priority=-10)
    since = stage.clock.now()
    for _ in range(5):
        stage.clock.advance(MINUTE)
        stage.enqueue(priority=10)
        claim = stage.claim_one()
        assert claim.task_id != low
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert viewer.health(stage.db).oldest_waiting_at == since
    assert stage.claim_one().task_id == low


def test_st6_the_freed_slot_goes_to_the_most_urgent(stage: Stage) -> None:
    """A thousand that wait since long do not go before one urgent task; equals go by age."""
    stage.agent(max_concurrent_tasks=1)
    oldest, *_ = stage.enqueue(count=1000)
    first = stage.claim_one()
    assert first.task_id == oldest
    (urgent,) = stage.enqueue(priority=10)
    report.complete(stage.db, attempt_id=first.attempt_id, result={})
    claim = stage.claim_one()
    assert claim.task_id == urgent
    worker.release(stage.db, attempt_id=claim.attempt_id, reason="try again")
    assert stage.claim_one().task_id == urgent


def test_st6_equals_go_first_in_first_out(stage: Stage) -> None:
    """Priority before age, age before id, also when a task comes back in line."""
    assert stage.clock
    stage.agent()
    late = stage.enqueue(count=2, priority=0)
    stage.clock.advance(timedelta(seconds=-1))
    early = stage.enqueue(count=2, priority=0)
    urgent = stage.enqueue(count=1, priority=1)
    stage.clock.advance(timedelta(seconds=1))
    assert [row.task_id for row in stage.claim(10)] == [*urgent, *early, *late]


def test_st8_a_claim_holds_no_more_than_can_start(stage: Stage) -> None:
    """A batch of ten takes what there is room for; the rest stays in line for anybody."""
    stage.agent(max_concurrent_tasks=2)
    tasks = stage.enqueue(count=10)
    assert len(stage.claim(10)) == 2
    statuses = [stage.task(task_id).status for task_id in tasks]
    assert statuses == ["processing"] * 2 + ["enqueued"] * 8
