"""Announcements: each condition is told once, to whoever it takes, by whichever process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from apps.conftest import Serve
from forebay.calls import agent as report
from forebay.calls import operator, submitter, upkeep, worker
from forebay.errors import SettingError
from forebay_apps.orchestrator.announce import Announcer
from forebay_apps.orchestrator.app import create_app
from support.daemon import enqueue, register
from support.receiver import SECRET, Receiver, receiving
from support.waiting import until

Announce = Callable[..., None]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Serve a receiver."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def begin(serve: Serve, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Announce:
    """Return a function that serves a dashboard which announces to the receiver."""
    monkeypatch.setattr(Announcer, "every", 0.1)
    monkeypatch.setattr(Announcer, "after_an_error", 0.1)

    def begin(**settings: str) -> None:
        own = {"FOREBAY_WEBHOOK_URL": receiver.url, "FOREBAY_WEBHOOK_SECRET": SECRET}
        serve("orchestrator", **own | settings)

    return begin


def told(receiver: Receiver, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind, in the order in which they came."""
    return [message.event for message in receiver.messages if message.event["type"] == kind]


def settled(db: psycopg.Connection) -> int:
    """Count the announcements that are done with."""
    query = "select count(*) from forebay.announcements where settled_at is not null"
    return int(db.execute(query).fetchone()[0])  # type: ignore[index]


def due(db: psycopg.Connection) -> None:
    """Let the waits and leases of announcements run out now."""
    db.execute("update forebay.announcements set next_try_at = forebay._now()")


def pause(db: psycopg.Connection) -> None:
    """Pause the agent."""
    operator.pause_agent(db, agent="fake", reason="the scanner is dirty")


def test_each_pause_is_told_once(
    begin: Announce, receiver: Receiver, db: psycopg.Connection
) -> None:
    """Signed, with its id, what it is about and since when; again when it begins again."""
    register(db)
    pause(db)
    begin()
    until(lambda: settled(db) == 1)
    (event,) = told(receiver, "agent.paused")
    assert event["data"]["subject"] == "fake"
    assert event["timestamp"]
    operator.resume_agent(db, agent="fake")
    until(
        lambda: db.execute("select from forebay.announcements where ended_at is not null").rowcount
    )
    pause(db)
    until(lambda: settled(db) == 2)
    assert len(told(receiver, "agent.paused")) == 2
    assert len({message.message_id for message in receiver.messages}) == 2


def test_a_batch_that_is_done_and_a_task_that_waits(
    begin: Announce, receiver: Receiver, db: psycopg.Connection
) -> None:
    """The batch once; the oldest task of an agent when it waits longer than the setting says."""
    register(db)
    batch = submitter.open_batch(db, name="may", owner="mila")
    enqueue(db)
    db.execute(
        "update forebay.tasks set available_at = available_at - interval '7 minutes',"
        " created_at = created_at - interval '7 minutes'"
    )
    begin(FOREBAY_WEBHOOK_WAITING_MINUTES="6")
    until(lambda: told(receiver, "waiting.too_long"))
    submitter.enqueue(db, agent="fake", payload={}, batch_id=batch, priority=9)
    (claim,) = worker.dequeue(db, worker="w", agents=["fake"])
    report.complete(db, attempt_id=claim.attempt_id, result={})
    until(lambda: told(receiver, "batch.done"))
    until(lambda: settled(db) == 2)
    assert [
        told(receiver, kind)[0]["data"]["subject"] for kind in ("waiting.too_long", "batch.done")
    ]


def test_a_receiver_that_is_away_is_told_later(
    begin: Announce, receiver: Receiver, db: psycopg.Connection
) -> None:
    """What fails is tried again under the same id; what went wrong is noted, and others go on."""
    failures = [500, 503, 404]
    receiver.statuses = failures.copy()
    register(db)
    pause(db)
    begin()
    for status in failures:
        until(lambda status=status: f"answered {status}" in str(_last_error(db)))
        due(db)
    until(lambda: settled(db) == 1)
    assert len(receiver.messages) == 4
    assert len({message.message_id for message in receiver.messages}) == 1


@pytest.mark.parametrize("odd", ["a\\ud800b", "a\\u0000b"])
def test_js1_a_reason_that_cannot_be_stored_is_noted_all_the_same(
    odd: str, begin: Announce, receiver: Receiver, db: psycopg.Connection
) -> None:
    """Half a surrogate pair and NUL are replaced: else the try would not count, and never end."""
    receiver.statuses, receiver.answer = [500], f'{{"error": "{odd}"}}'.encode()
    register(db)
    pause(db)
    begin()
    until(lambda: "answered 500: a\ufffdb" in str(_last_error(db)))
    due(db)
    until(lambda: settled(db) == 1)


def test_a_receiver_that_speaks_no_http_is_noted_and_the_others_go_on(
    begin: Announce, receiver: Receiver, db: psycopg.Connection
) -> None:
    """Whatever it says, its refusal is stored, and the next one of the page is sent."""
    receiver.raw = b"\x00\xff\r\n\r\n"
    for name in ("fake", "other"):
        register(db, name)
        operator.pause_agent(db, agent=name, reason="r")
    begin()
    noted = "select count(*) from forebay.announcements where last_error like '%�%'"
    until(lambda: db.execute(noted).fetchone() == (2,))


def _last_error(db: psycopg.Connection) -> str | None:
    row = db.execute("select last_error from forebay.announcements").fetchone()
    return row and row[0]


def test_two_orchestrators_tell_once(
    begin: Announce, receiver: Receiver, db: psycopg.Connection
) -> None:
    """Both look all the time; every condition goes out once."""
    begin()
    begin()
    names = [f"agent-{number}" for number in range(12)]
    for name in names:
        register(db, name)
        operator.pause_agent(db, agent=name, reason="r")
    until(lambda: settled(db) == len(names), 30)
    subjects = sorted(event["data"]["subject"] for event in told(receiver, "agent.paused"))
    assert subjects == sorted(names)


def test_a_death_between_sending_and_saying_so_sends_the_same_again(
    begin: Announce, receiver: Receiver, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the same id, so that the receiver knows it; only once its lease is over."""
    lost: list[Any] = []
    said = upkeep.announcement_sent

    def sent(connection: Any, **arguments: Any) -> Any:
        if not lost:
            lost.append(arguments)
            raise psycopg.OperationalError("the line is cut")
        return said(connection, **arguments)

    monkeypatch.setattr(upkeep, "announcement_sent", sent)
    register(db)
    pause(db)
    begin()
    until(lambda: lost)
    due(db)
    until(lambda: settled(db) == 1)
    assert len({message.message_id for message in receiver.messages}) == 1
    assert len(receiver.messages) == 2


def test_wrong_settings_are_named() -> None:
    """Before anything is served."""
    own = {"FOREBAY_DATABASE_URL": "host=/nowhere", "FOREBAY_WEBHOOK_URL": "https://h/"}
    for wrong in (
        {},
        {"FOREBAY_WEBHOOK_SECRET": "x"},
        {"FOREBAY_WEBHOOK_SECRET": SECRET, "FOREBAY_WEBHOOK_WAITING_MINUTES": "-1"},
    ):
        with pytest.raises(SettingError, match="FOREBAY_WEBHOOK"):
            create_app(own | wrong)
