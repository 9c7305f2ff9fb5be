"""Callbacks as attempts send them: signed, repeated while the receiver is away, and harmless."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay import agent as agents
from forebay import callbacks
from forebay import run_attempt as running_module
from forebay.callbacks import Callbacks
from forebay.calls import agent as calls
from forebay.calls import viewer, worker
from forebay.errors import SettingError
from forebay.run_attempt import run_attempt
from forebay.running_attempt import RunningAttempt
from forebay.webhooks import LONGEST_REASON, THREAD, NotDelivered, Receiver
from support.daemon import attempts, ended, enqueue, register, running, task
from support.receiver import OTHER_SECRET, SECRET, receiving
from support.waiting import until

EVENT = {
    "type": "task.completed",
    "data": {"task_id": 1, "attempt_id": 2, "result": {"a": "secret"}},
}
SET_UP = {"FOREBAY_CALLBACK_URL", "FOREBAY_CALLBACK_SECRETS", "FOREBAY_CALLBACK_SECONDS"}


def sender(url: str, *secrets: str, patience: float = 20) -> Callbacks:
    """Return a sender to this address that is not stopped."""
    return Callbacks(Receiver(url, secrets or (SECRET,)), lambda: False, patience)


def set_up(monkeypatch: pytest.MonkeyPatch, url: str, seconds: float = 15) -> None:
    """Have this process and its children send callbacks there."""
    for name, value in zip(sorted(SET_UP), (seconds, SECRET, url), strict=True):
        monkeypatch.setenv(name, str(value))


def closed_port() -> int:
    """Return a port on which nobody listens."""
    with receiving() as receiver:
        return int(receiver.url.split(":")[2].split("/")[0])


@pytest.fixture
def claimed(db: psycopg.Connection, role_dsn: Callable[..., str]) -> Callable[..., dict[str, Any]]:
    """Return a function that enqueues and claims a task of the fake agent, as a child gets it."""

    def claim(do: str = "nothing", dsn: str = "", **payload: Any) -> dict[str, Any]:
        task_id = enqueue(db, do, **payload)
        (row,) = worker.dequeue(db, worker="w", agents=["fake"])
        return {
            **{"task_id": task_id, "attempt_id": row.attempt_id, "attempt_no": 1, "agent": "fake"},
            **{"entry_point": "fake", "payload": row.payload},
            "conninfo": dsn or role_dsn("agent"),
            "deadline_at": row.deadline_at.isoformat(),
        }

    register(db)
    return claim


def test_a_daemons_attempts_send_what_they_reported(
    daemon_dsn: str,
    db: psycopg.Connection,
    tmp_path: Path,
    fake_agents: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Completed and failed: the same ids, result, error and waiting time as in the database."""
    register(db)
    with receiving() as receiver:
        set_up(monkeypatch, receiver.url)
        with running(daemon_dsn, tmp_path):
            done = enqueue(db, "return", text="Größe", times=1)
            failed = enqueue(db, "retry")
            ended(db, done)
            events = {
                message.event["data"]["task_id"]: (message.message_id, message.event)
                for message in until(lambda: len(receiver.messages) > 1 and receiver.messages)
            }
    (completed,), (retried,) = attempts(db, done), attempts(db, failed)
    message_id, event = events[done]
    assert message_id == f"task.completed.{completed['attempt_id']}"
    assert event["data"]["attempt_id"] == completed["attempt_id"]
    assert event["data"]["result"] == task(db, done)["result"] == {"text": "Größe"}
    message_id, event = events[failed]
    assert message_id == f"task.failed.{retried['attempt_id']}"
    assert event["data"]["error"] == {"kind": "overloaded", "message": "the model is busy"}
    assert event["data"]["retry_after_seconds"] == 420
    assert receiver.paths == ["/hook", "/hook"]


def test_a_dead_receiver_changes_no_report(
    claimed: Callable[..., dict[str, Any]],
    db: psycopg.Connection,
    fake_agents: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The report is in the database before the first try, and the process ends within its time."""
    set_up(monkeypatch, f"http://127.0.0.1:{closed_port()}/", seconds=1)
    states = []
    send = Callbacks.send

    def spied(self: Callbacks, event: dict[str, Any]) -> bool:
        states.append(task(db, event["data"]["task_id"])["status"])
        return send(self, event)

    monkeypatch.setattr(Callbacks, "send", spied)
    document = claimed()
    began = time.monotonic()
    assert run_attempt(RunningAttempt(document, lambda: False))
    assert time.monotonic() - began < 10
    assert states == ["completed"]


def test_a_receiver_takes_the_report_that_the_database_does_not(
    claimed: Callable[..., dict[str, Any]],
    db: psycopg.Connection,
    role_dsn: Callable[..., str],
    fake_agents: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line from the agent to the database is cut: the callback alone is enough."""
    with receiving() as receiver:
        set_up(monkeypatch, receiver.url)
        document = claimed(dsn=f"host=127.0.0.1 port={closed_port()} user=nobody dbname=none")
        receiver.statuses = [503, 503]
        assert run_attempt(RunningAttempt(document, lambda: False))
    assert {message.message_id for message in receiver.messages} == {
        f"task.completed.{document['attempt_id']}"
    }
    answer = calls.callback(db, event=receiver.messages[0].event)
    assert answer["effect"] == "completed"


def test_what_was_used_is_told_after_a_receiver_took_the_report(
    claimed: Callable[..., dict[str, Any]],
    db: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No callback tells it: it waits for the database, which is back once all else is done."""
    is_back: list[bool] = []
    connection, send = RunningAttempt.connection, Callbacks.send

    def away(self: RunningAttempt) -> psycopg.Connection[Any]:
        if not is_back:
            raise psycopg.OperationalError("the database is away")
        return connection(self)

    def sent(self: Callbacks, event: dict[str, Any]) -> bool:
        is_back.append(True)
        return send(self, event)

    def agent(attempt: agents.Attempt) -> agents.Result:
        attempt.usage({"call_id": "1", "input_tokens": 10, "output_tokens": 2})
        return agents.Result({"pages": 1})

    monkeypatch.setattr(RunningAttempt, "connection", away)
    monkeypatch.setattr(Callbacks, "send", sent)
    monkeypatch.setattr(running_module, "_load", lambda name: agent)
    with receiving() as receiver:
        set_up(monkeypatch, receiver.url)
        document = claimed()
        assert run_attempt(RunningAttempt(document, lambda: False))
    (call,) = viewer.task_detail(db, task_id=document["task_id"]).usage
    assert (call["input_tokens"], call["output_tokens"]) == (10, 2)


def test_a_stop_ends_the_tries(fake_agents: None) -> None:
    """SIGTERM leaves the receiver to the report that was made."""
    stopped: list[bool] = []
    with receiving() as receiver:
        receiver.statuses = [503] * 100
        sends = Callbacks(Receiver(receiver.url, (SECRET,)), lambda: bool(stopped), 60)
        taken = sends.begin(EVENT)
        until(lambda: len(receiver.messages) > 1)
        stopped.append(True)
        time.sleep(0.3)
        tries = len(receiver.messages)
        time.sleep(1)
    assert len(receiver.messages) == tries
    assert not taken.is_set()


def test_it_is_tried_until_the_receiver_takes_it(caplog: pytest.LogCaptureFixture) -> None:
    """429 and 5xx may pass; every try has the same id and a time of its own, and Retry-After holds.

    Nothing of the payload is logged.
    """
    with receiving() as receiver, caplog.at_level(logging.DEBUG):
        receiver.statuses = [503, 429]
        receiver.headers = {"Retry-After": "1"}
        began = time.monotonic()
        assert sender(receiver.url).send(EVENT)
        assert time.monotonic() - began >= 2
    assert [message.message_id for message in receiver.messages] == ["task.completed.2"] * 3
    assert receiver.messages[2].timestamp > receiver.messages[0].timestamp
    logged = [vars(record) for record in caplog.records]
    assert [entry["message"] for entry in logged] == ["callback_delayed"] * 2
    assert "secret" not in str(logged)


@pytest.mark.parametrize("status", [400, 401, 404, 413, 301, 307])
def test_what_is_refused_for_good_is_tried_once(status: int) -> None:
    """A 4xx is final, and so is a redirect, which is not followed."""
    with receiving() as receiver:
        receiver.statuses = [status]
        receiver.headers = {"Location": "/elsewhere"}
        assert not sender(receiver.url).send(EVENT)
    assert receiver.paths == ["/hook"]


@pytest.mark.parametrize("kind", ["silent", "dripping"])
def test_a_slow_receiver_costs_a_bounded_time(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """One that answers nothing, and one that answers a byte now and then."""
    monkeypatch.setattr(callbacks, "TRY_SECONDS", 0.5)
    with receiving() as receiver:
        receiver.drips = kind == "dripping"
        receiver.statuses = [100] * 99 if kind == "silent" else []
        began = time.monotonic()
        assert not sender(receiver.url, patience=1.5).send(EVENT)
        assert time.monotonic() - began < 4
        if kind == "dripping":  # the line is cut, and no thread is left that reads on
            until(lambda: receiver.hung_up == len(receiver.messages) > 0)
            until(lambda: THREAD not in [each.name for each in threading.enumerate()])


def test_what_is_no_http_is_a_reason_that_can_be_stored() -> None:
    """Neither NUL nor half a surrogate pair, and no more than a line."""
    with receiving() as receiver:
        for raw in (b"\x00\xff\r\n\r\n", b"\x00" * 60_000 + b"\r\n\r\n"):
            receiver.raw = raw
            with pytest.raises(NotDelivered, match="cannot be reached") as caught:
                Receiver(receiver.url, (SECRET,)).post("m", "{}", seconds=5)
            assert "\0" not in str(caught.value)
            assert len(str(caught.value)) <= LONGEST_REASON
    assert str(NotDelivered("a\ud800b\0", is_final=False)) == "a\ufffdb\ufffd"


@pytest.mark.parametrize("host", ["ä" * 64, "a b", "127.0.0.1:1", "name.invalid", "[::1]:1"])
def test_an_address_that_leads_nowhere_is_a_sentence(
    host: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever is wrong with it, the log says so, and nothing is raised."""
    assert not sender(f"http://{host}/", patience=0.1).send(EVENT)
    (record,) = caplog.records
    assert "cannot be reached" in str(vars(record))


def test_both_secrets_sign() -> None:
    """Sender and receiver may be given the new secret in any order."""
    for secret in (SECRET, OTHER_SECRET):
        with receiving(secret) as receiver:
            assert sender(receiver.url, OTHER_SECRET, SECRET).send(EVENT)


def test_what_json_cannot_hold_is_mended() -> None:
    """NaN becomes null and NUL becomes U+FFFD, as in the report; what is no JSON is not sent."""
    with receiving() as receiver:
        data = {"attempt_id": 1, "result": {"a": "x\0", "b": float("nan")}}
        assert sender(receiver.url).send({"type": "task.completed", "data": data})
        assert not sender(receiver.url).send({"type": "x", "data": {"attempt_id": {1, 2}}})
    (message,) = receiver.messages
    assert message.event["data"]["result"] == {"a": "x\ufffd", "b": None}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"FOREBAY_CALLBACK_URL": "http://h/"}, "FOREBAY_CALLBACK_SECRETS is not set"),
        ({"FOREBAY_CALLBACK_URL": "ftp://h/"}, "FOREBAY_CALLBACK_URL is no address"),
        ({"FOREBAY_CALLBACK_URL": "http://[/"}, "FOREBAY_CALLBACK_URL is no address"),
        ({"FOREBAY_CALLBACK_URL": "http:///x"}, "FOREBAY_CALLBACK_URL is no address"),
        ({"FOREBAY_CALLBACK_URL": "http://h/", "FOREBAY_CALLBACK_SECRETS": "abc"}, "no secret"),
        (
            {"FOREBAY_CALLBACK_URL": "http://h/", "FOREBAY_CALLBACK_SECRETS": "whsec_YQ"},
            "no secret",
        ),
        (
            {"FOREBAY_CALLBACK_URL": "http://h/", "FOREBAY_CALLBACK_SECRETS": f"{SECRET} " * 3},
            "holds 3 secrets",
        ),
        ({"FOREBAY_CALLBACK_SECONDS": "soon"}, "FOREBAY_CALLBACK_SECONDS"),
    ],
)
def test_wrong_settings_are_named_and_send_nothing(
    environment: dict[str, str],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Reports go on without callbacks; the log names the setting, and never a secret."""
    assert Callbacks.from_settings(lambda: False, environment) is None
    assert said in str([vars(record) for record in caplog.records])
    assert SECRET not in str([vars(record) for record in caplog.records])


def test_a_receiver_hides_its_secrets() -> None:
    """They are not in its repr."""
    receiver = Receiver.read({"U": "https://h/x", "S": SECRET}, "U", "S")
    assert receiver == Receiver("https://h/x", (SECRET,))
    assert SECRET not in repr(receiver)
    with pytest.raises(SettingError):
        Receiver.read({"U": "https://h/x", "S": "whsec_"}, "U", "S")
