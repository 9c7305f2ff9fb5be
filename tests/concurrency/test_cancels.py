"""A cancel that meets a claim: the task ends, and whoever has it is told to stop (WH)."""

from __future__ import annotations

from concurrency.stage import Stage, dequeue
from forebay.calls import operator, worker


def test_wh6_a_task_that_is_being_cancelled_is_not_claimed(stage: Stage) -> None:
    """A claim passes over it without waiting, and finds nothing once the cancel is committed."""
    stage.agent(max_concurrent_tasks=1)
    (task_id,) = stage.enqueue()
    with stage.transaction() as cancelling:
        operator.cancel(cancelling, task_ids=[task_id])
        assert not stage.is_held_up(dequeue(1, "a"))
        assert stage.in_use() == 0
        cancelling.commit()
    assert stage.claim() == []


def test_wh6_a_cancel_waits_for_the_claim_and_ends_it(stage: Stage) -> None:
    """The claim's worker is told to stop, its slot is free at once, and nothing goes back."""
    stage.agent(max_concurrent_tasks=1)
    first, second = stage.enqueue(count=2)
    with stage.transaction() as claiming:
        (claim,) = dequeue(1, "a")(claiming)
        session, future = stage.start(lambda s: operator.cancel(s, task_ids=[first]))
        assert stage.wait_until_blocked(session, future)
        claiming.commit()
        (effect,) = future.result()
    assert (effect.status, effect.effect) == ("cancelled", "cancelled")
    (told,) = worker.renew_leases(stage.db, worker="w", attempt_ids=[claim.attempt_id])
    assert told.state == "cancel_requested"
    assert stage.claim_one().task_id == second
    assert worker.release(stage.db, attempt_id=claim.attempt_id, reason="stop") == "cancelled"


def test_wh6_cancels_and_claims_at_the_same_moment(stage: Stage) -> None:
    """Whoever is first: every task ends cancelled, with no attempt that is still open."""
    stage.agent()
    ids = stage.enqueue(count=40)
    acts = [dequeue(10, "a"), lambda s: operator.cancel(s, task_ids=ids)] * 4
    outcomes = stage.at_once(acts)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert {stage.task(task_id).status for task_id in ids} == {"cancelled"}
    open_attempts = "select count(*) from forebay.task_attempts where finished_at is null"
    assert stage.value(open_attempts) == 0
