"""Uploads are in one batch or in none, whoever submits, drops or cleans them meanwhile."""

from __future__ import annotations

import random
import uuid
from datetime import timedelta
from itertools import count
from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage
from forebay.calls import operator, submitter, upkeep
from forebay.errors import IdempotencyKeyReusedError, UnknownUploadError, UploadSubmittedError

OWNER = "ann"
numbers = count(1)


def uploaded(stage: Stage, many: int = 1) -> list[uuid.UUID]:
    """Return uploads that are stored."""
    ids = [uuid.UUID(int=next(numbers)) for _ in range(many)]
    for upload_id in ids:
        submitter.open_upload(stage.db, upload_id=upload_id, name="n.pdf", actor=OWNER)
        finish(upload_id)(stage.db)
    return ids


def finish(upload_id: uuid.UUID) -> Act[None]:
    """Return the act of finishing an upload."""
    return lambda s: submitter.finish_upload(
        s, upload_id=upload_id, bytes_=1, pages=1, estimated_tokens=1, actor=OWNER
    )


def drop(upload_id: uuid.UUID) -> Act[str]:
    """Return the act of dropping an upload."""
    return lambda s: submitter.drop_upload(s, upload_id=upload_id, actor=OWNER)


def submit(key: str, upload_ids: list[uuid.UUID]) -> Act[int]:
    """Return the act of submitting uploads under a key."""
    return lambda s: submitter.submit_uploads(
        s, submission_key=key, upload_ids=upload_ids, agent="a", name="n", actor=OWNER
    )


def clean(session: psycopg.Connection) -> list[uuid.UUID]:
    """Drop whatever is not submitted, and return it."""
    rows = upkeep.uploads_to_clean(session, older_than=timedelta())
    return [row.upload_id for row in rows if row.what == "file"]


def after(stage: Stage, first: Act[Any], second: Act[Any], *, rolls_back: bool = False) -> Any:
    """Return what second answers that begins while first is done and not committed."""
    with stage.transaction() as session:
        first(session)
        waiting, outcome = stage.start(second)
        stage.wait_until_blocked(waiting, outcome)
        if rolls_back:
            session.rollback()
        else:
            session.commit()
        return outcome.exception() or outcome.result()


def batches(stage: Stage) -> list[tuple[int, int]]:
    """Return each batch with its number of tasks."""
    query = "select batch_id, count(*) from forebay.tasks group by batch_id order by batch_id"
    return [tuple(row) for row in stage.rows(query)]


def test_a_submission_twice_at_once_is_one_batch(stage: Stage) -> None:
    """Eight sessions with the same key get the same batch, and it has each upload once."""
    stage.agent()
    for number in range(10):
        ids = uploaded(stage, 3)
        key = f"key {number}"
        outcomes = stage.at_once([submit(key, random.sample(ids, 3)) for _ in range(8)])
        assert len(set(outcomes)) == 1, outcomes
    assert [tasks for _, tasks in batches(stage)] == [3] * 10


def test_a_submission_waits_for_the_same_one(stage: Stage) -> None:
    """It answers with that batch when it is committed, and makes its own when it is given up."""
    stage.agent()
    ids = uploaded(stage, 2)
    first = after(stage, submit("k", ids), submit("k", ids), rolls_back=True)
    assert batches(stage) == [(first, 2)]
    ids = uploaded(stage, 2)
    second = after(stage, submit("l", ids), submit("l", ids))
    assert batches(stage) == [(first, 2), (second, 2)]


def test_a_key_that_is_being_used_for_others_is_refused(stage: Stage) -> None:
    """The second of two different submissions under one key is told so, not given the first."""
    stage.agent()
    one, other = uploaded(stage, 2)
    outcome = after(stage, submit("k", [one]), submit("k", [other]))
    assert isinstance(outcome, IdempotencyKeyReusedError)
    assert [tasks for _, tasks in batches(stage)] == [1]


def test_an_upload_is_in_one_of_two_submissions(stage: Stage) -> None:
    """The second one is refused as a whole, and names the upload."""
    stage.agent()
    shared, one, other = uploaded(stage, 3)
    outcome = after(stage, submit("k", [one, shared]), submit("l", [shared, other]))
    assert isinstance(outcome, UploadSubmittedError)
    assert str(shared) in str(outcome)
    assert [tasks for _, tasks in batches(stage)] == [2]
    assert len(submitter.list_uploads(stage.db, actor=OWNER)) == 1


def test_submissions_of_the_same_uploads_race(stage: Stage) -> None:
    """Whatever the order of their uploads, one of eight wins and nobody deadlocks."""
    stage.agent()
    for number in range(10):
        ids = uploaded(stage, 4)
        keys = [f"{number}-{racer}" for racer in range(8)]
        outcomes = stage.at_once([submit(key, random.sample(ids, 4)) for key in keys])
        lost = [one for one in outcomes if isinstance(one, UploadSubmittedError)]
        assert len(lost) == 7, outcomes
    assert [tasks for _, tasks in batches(stage)] == [4] * 10


def test_a_submission_comes_too_late_for_what_is_being_cleaned(stage: Stage) -> None:
    """What the clean-up has marked is refused when it commits: its file is about to go."""
    stage.agent()
    ids = uploaded(stage, 2)
    outcome = after(stage, clean, submit("k", ids))
    assert isinstance(outcome, UnknownUploadError)
    assert batches(stage) == []


def test_the_clean_up_passes_what_is_being_submitted(stage: Stage) -> None:
    """It neither waits for a submission that is open, nor takes its uploads afterwards."""
    stage.agent()
    ids = uploaded(stage, 2)
    with stage.transaction() as session:
        submit("k", ids)(session)
        assert not stage.is_held_up(clean)
        session.commit()
    assert clean(stage.db) == []
    assert [tasks for _, tasks in batches(stage)] == [2]


def test_submissions_race_with_the_clean_up(stage: Stage) -> None:
    """No upload is both cleaned and in a batch, and none is in neither."""
    stage.agent()
    for number in range(20):
        ids = uploaded(stage, 6)
        submissions = [submit(f"{number}-{place}", [one]) for place, one in enumerate(ids)]
        outcomes = stage.at_once([*submissions, clean, clean])
        cleaned = {one for outcome in outcomes[-2:] for one in outcome}  # type: ignore[union-attr]
        for one, outcome in zip(ids, outcomes, strict=False):
            assert isinstance(outcome, int if one not in cleaned else UnknownUploadError), outcomes
    submitted = stage.value("select count(*) from forebay.uploads where task_id is not null")
    assert submitted == len(batches(stage))


@pytest.mark.parametrize("rival", ["finish", "submit"])
def test_what_was_dropped_meanwhile_is_refused(stage: Stage, rival: str) -> None:
    """Whoever waited for the person who dropped the file is told that it is gone."""
    stage.agent()
    (one,) = uploaded(stage)
    second: Act[Any] = finish(one) if rival == "finish" else submit("k", [one])
    assert isinstance(after(stage, drop(one), second), UnknownUploadError)
    assert batches(stage) == []


def test_what_was_submitted_meanwhile_is_not_dropped(stage: Stage) -> None:
    """A file with a task stays."""
    stage.agent()
    (one,) = uploaded(stage)
    assert isinstance(after(stage, submit("k", [one]), drop(one)), UploadSubmittedError)
    assert stage.value("select dropped_at from forebay.uploads") is None


def ended(stage: Stage) -> tuple[uuid.UUID, int]:
    """Return an upload whose task was cancelled, and that task."""
    stage.agent()
    (one,) = uploaded(stage)
    batch_id = submit("k", [one])(stage.db)
    (task,) = submitter.batch_tasks(stage.db, batch_id=batch_id, actor=OWNER)
    operator.cancel(stage.db, task_ids=[task.task_id])
    return one, task.task_id


def leftovers(stage: Stage) -> list[uuid.UUID]:
    """Return the uploads whose tasks have left something."""
    rows = upkeep.uploads_to_clean(stage.db, older_than=timedelta())
    return [row.upload_id for row in rows if row.what == "leftovers"]


def test_what_a_retried_task_leaves_is_cleaned_again(stage: Stage) -> None:
    """That its leftovers were removed once says nothing about those of the next attempt."""
    upload_id, task_id = ended(stage)
    assert leftovers(stage) == [upload_id]
    assert upkeep.uploads_cleaned(stage.db, upload_ids=[upload_id]) == 1
    operator.retry(stage.db, task_ids=[task_id])
    assert leftovers(stage) == []
    operator.cancel(stage.db, task_ids=[task_id])
    assert leftovers(stage) == [upload_id]


def test_a_task_that_is_being_retried_is_not_cleaned(stage: Stage) -> None:
    """A clean-up that comes meanwhile does not hide what the task will leave."""
    upload_id, task_id = ended(stage)
    retry: Act[Any] = lambda s: operator.retry(s, task_ids=[task_id])  # noqa: E731
    cleaned: Act[int] = lambda s: upkeep.uploads_cleaned(s, upload_ids=[upload_id])  # noqa: E731
    assert after(stage, retry, cleaned) == 0
    operator.cancel(stage.db, task_ids=[task_id])
    assert leftovers(stage) == [upload_id]


def test_uploads_are_locked_by_id(stage: Stage) -> None:
    """A submission that waits for one upload holds those before it, in whatever order it came."""
    stage.agent()
    first, last = uploaded(stage, 2)
    with stage.transaction() as session:
        drop(last)(session)
        submitting, submitted = stage.start(submit("k", [last, first]))
        assert stage.wait_until_blocked(submitting, submitted)
        assert stage.is_held_up(drop(first))
        session.rollback()
    batch_id = submitted.result()
    assert batches(stage) == [(batch_id, 2)]


def test_a_submission_takes_the_line_before_its_uploads(stage: Stage) -> None:
    """While it waits for who defines the agent anew, it holds up nobody."""
    stage.agent()
    (one,) = uploaded(stage)
    with stage.transaction() as session:
        operator.register_agent(session, agent="a", max_waiting=10)
        submitting, submitted = stage.start(submit("k", [one]))
        assert stage.wait_until_blocked(submitting, submitted)
        assert not stage.is_held_up(drop(one))
        session.commit()
    assert isinstance(submitted.exception(), UnknownUploadError)
