"""An act on all that match is one on what somebody was shown: what moved meanwhile refuses it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage, dequeue
from concurrency.test_notify import Ear
from forebay.calls import agent as report
from forebay.calls import operator, viewer
from forebay.errors import MatchChangedError
from forebay.rows import EffectCount


def on_matching(act: str, expected: int, *statuses: str) -> Act[list[EffectCount]]:
    """Return the act of acting on all tasks of these statuses."""
    return lambda session: operator.act_on_matching(
        session, act=act, expected=expected, statuses=list(statuses), priority=1, note="n"
    )


def outcome_of(act: Act[Any], session: psycopg.Connection) -> Any:
    try:
        return act(session)
    except MatchChangedError as error:
        return error


@pytest.mark.parametrize("act", ["cancel", "reprioritize", "annotate"])
def test_an_act_on_waiting_tasks_spares_one_that_is_claimed_meanwhile(
    stage: Stage, act: str
) -> None:
    """It waits for the claim, finds that one task less matches, and changes nothing."""
    stage.agent(max_concurrent_tasks=1)
    ids = stage.enqueue(count=3)
    with stage.transaction() as claiming:
        dequeue(1, "a")(claiming)
        session, future = stage.start(
            lambda session: outcome_of(on_matching(act, 3, "enqueued"), session)
        )
        assert stage.wait_until_blocked(session, future)
        claiming.commit()
        refused = future.result()
    assert isinstance(refused, MatchChangedError)
    assert str(refused) == "2 tasks match now, not 3"
    tasks = [stage.task(task_id) for task_id in ids]
    assert [task.status for task in tasks] == ["processing", "enqueued", "enqueued"]
    assert {task.priority for task in tasks} == {0}
    assert viewer.list_audit(stage.db, task_id=ids[1]) == []


def test_an_act_that_is_open_is_not_overtaken_by_claims(stage: Stage) -> None:
    """A claim passes over the tasks that are being cancelled, and finds nothing afterwards."""
    stage.agent()
    stage.enqueue(count=3)
    with stage.transaction() as acting:
        on_matching("cancel", 3, "enqueued")(acting)
        assert not stage.is_held_up(dequeue(3, "a"))
        acting.commit()
    assert stage.claim(3) == []


def test_acts_and_claims_at_the_same_moment(stage: Stage) -> None:
    """Either all that waited are cancelled, or none is; what runs is never cancelled by it."""
    stage.agent()
    for _ in range(10):
        ids = stage.enqueue(count=24)
        acts = [dequeue(3, "a"), on_matching("cancel", 24, "enqueued")] * 4
        outcomes = stage.at_once(acts)
        others = [
            outcome for outcome in outcomes if not isinstance(outcome, list | MatchChangedError)
        ]
        assert others == []
        cancelled = sum(stage.task(task_id).status == "cancelled" for task_id in ids)
        assert cancelled in (0, 24)
        stopped = "select count(*) from forebay.task_attempts where status = 'cancelled'"
        assert stage.value(stopped) == 0
        for claim in stage.claim(24):
            report.complete(stage.db, attempt_id=claim.attempt_id, result={})


def test_two_retries_of_the_same_tasks_are_one(stage: Stage) -> None:
    """The second waits for the first, finds that nothing matches, and retries nothing."""
    stage.agent()
    ids = stage.enqueue(count=5)
    operator.cancel(stage.db, task_ids=ids)
    with stage.transaction() as first:
        assert on_matching("retry", 5, "cancelled")(first) == [EffectCount("retried", 5)]
        session, future = stage.start(
            lambda session: outcome_of(on_matching("retry", 5, "cancelled"), session)
        )
        assert stage.wait_until_blocked(session, future)
        first.commit()
        assert isinstance(future.result(), MatchChangedError)
    retries = "select count(*) from forebay.audit_log where action = 'retry'"
    assert stage.value(retries) == 5


def test_a_task_that_comes_to_match_meanwhile_is_left_alone(stage: Stage) -> None:
    """Only what was counted is changed, though the filter is asked again."""
    stage.agent()
    shown = stage.enqueue(count=2)
    with stage.transaction() as holding:
        operator.reprioritize(holding, task_ids=shown, priority=2)
        session, future = stage.start(on_matching("cancel", 2, "enqueued"))
        assert stage.wait_until_blocked(session, future)
        (later,) = stage.enqueue()
        holding.commit()
        assert future.result() == [EffectCount("cancelled", 2)]
    assert stage.task(later).status == "enqueued"


def test_a_note_wakes_displays_and_nobody_else(stage: Stage) -> None:
    """A note that stands somewhere is shown at once; one on no task is silence."""
    stage.agent()
    (task_id,) = stage.enqueue()
    ear = Ear(stage)
    operator.annotate(stage.db, task_ids=[0], note="n")
    assert not ear.heard()
    operator.annotate(stage.db, task_ids=[task_id], note="n")
    assert set(ear.heard()) == {"changes"}
