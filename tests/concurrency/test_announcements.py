"""What has to be told is told once, whoever asks at the same time and whoever commits late."""

from __future__ import annotations

from datetime import timedelta

import psycopg

from concurrency.stage import Act, Stage
from forebay.calls import agent as report
from forebay.calls import operator, submitter, upkeep
from forebay.rows import Announcement

MINUTES = timedelta(minutes=5)  # more than clocks are allowed to step back


def collect(session: psycopg.Connection) -> list[Announcement]:
    return upkeep.collect_announcements(session)


def subjects(found: list[Announcement]) -> list[str]:
    return sorted(announcement.subject for announcement in found)


def open_batch(stage: Stage, tasks: int) -> int:
    """Open a batch of so many tasks, and return its id."""
    batch_id = submitter.open_batch(stage.db, name="b")
    submitter.enqueue_many(stage.db, agent="a", tasks=[{"payload": {}}] * tasks, batch_id=batch_id)
    return batch_id


def pause(stage: Stage, count: int) -> list[str]:
    """Pause some agents, and return their names."""
    names = [f"a{number:02}" for number in range(count)]
    for name in names:
        stage.agent(name)
    operator.pause_agent(stage.db, agent=None)
    return names


def test_orchestrators_that_collect_at_once_share_what_there_is(stage: Stage) -> None:
    """Each announcement is handed to one of eight sessions, and none is left out."""
    names = pause(stage, 40)
    for _ in range(5):
        found = []
        for outcome in stage.at_once([collect] * 8):
            assert isinstance(outcome, list), outcome
            found += outcome
        found += collect(stage.db)  # what began while another session was noting it
        assert subjects(found) == names
        assert collect(stage.db) == []
        operator.resume_agent(stage.db, agent=None)
        collect(stage.db)
        operator.pause_agent(stage.db, agent=None)


def test_a_collection_that_is_open_holds_nobody_up(stage: Stage) -> None:
    """Others neither wait for it nor get what it was given."""
    pause(stage, 2)
    with stage.transaction() as first:
        assert len(collect(first)) == 2
        assert not stage.is_held_up(collect)
        assert collect(stage.db) == []
        first.commit()
    assert collect(stage.db) == []


def test_what_is_being_handed_out_holds_nobody_up(stage: Stage) -> None:
    """Neither does one that was noted before and is handed out again."""
    clock = stage.clock
    pause(stage, 2)
    collect(stage.db)
    clock.advance(MINUTES)
    with stage.transaction() as first:
        assert len(collect(first)) == 2
        assert not stage.is_held_up(collect)
        assert collect(stage.db) == []


def test_a_collection_that_was_lost_comes_again(stage: Stage) -> None:
    """An orchestrator that dies before it commits, or before it sends, takes nothing with it."""
    clock = stage.clock
    names = pause(stage, 3)
    with stage.transaction() as dying:
        collect(dying)
        dying.rollback()
    assert subjects(collect(stage.db)) == names
    clock.advance(timedelta(seconds=59))
    assert collect(stage.db) == []
    clock.advance(timedelta(seconds=1))
    assert subjects(collect(stage.db)) == names


def test_a_batch_whose_end_is_committed_late_is_told(stage: Stage) -> None:
    """A task ended before a look and committed after it: the next look still finds the batch."""
    clock = stage.clock
    stage.agent()
    batch_id = open_batch(stage, 1)
    claim = stage.claim_one()
    assert collect(stage.db) == []
    with stage.transaction() as late:
        report.complete(late, attempt_id=claim.attempt_id, result={})
        for _ in range(3):
            clock.advance(MINUTES)
            assert collect(stage.db) == []
        late.commit()
    clock.advance(MINUTES)
    assert subjects(collect(stage.db)) == [str(batch_id)]
    clock.advance(timedelta(seconds=30))
    assert collect(stage.db) == []


def test_looks_that_are_over_are_forgotten(stage: Stage) -> None:
    """However often it is asked, only the times that matter to the next look are kept."""
    clock = stage.clock
    for _ in range(20):
        clock.advance(MINUTES)
        collect(stage.db)
    assert stage.value("select count(*) from forebay.announcement_marks") <= 3


def test_batches_that_end_while_others_look_are_told_once(stage: Stage) -> None:
    """Tasks end in four sessions while two collect: in the end each batch was told, once."""
    stage.agent()
    collect(stage.db)
    batches = [open_batch(stage, 2) for _ in range(24)]
    claims = stage.claim(48)
    told: list[str] = []

    def end(number: int) -> Act[None]:
        def act(session: psycopg.Connection) -> None:
            for claim in claims[number::4]:
                report.complete(session, attempt_id=claim.attempt_id, result={})

        return act

    def look(session: psycopg.Connection) -> None:
        for _ in range(8):
            told.extend(subjects(collect(session)))

    outcomes = stage.at_once([*(end(number) for number in range(4)), look, look])
    assert outcomes == [None] * 6
    told += subjects(collect(stage.db))
    assert sorted(told) == sorted(map(str, batches))
