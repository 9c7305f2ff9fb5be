"""Waiting for a model call's turn: go, wait, stop, and a database that does not answer."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from forebay import asking
from forebay.agent import Retry
from forebay.asking import known, wait_to_call
from forebay.errors import ConnectError, UnknownAttemptError
from forebay.rows import CallPermit


class Watched:
    """Stand in for an attempt that may be cancelled or run out of time."""

    attempt_id = 7

    def __init__(self, *, cancelled_after: int = 1000, seconds_left: float = 100) -> None:
        self._looks = cancelled_after
        self._end = time.monotonic() + seconds_left

    def cancelled(self) -> bool:
        self._looks -= 1
        return self._looks < 0

    def seconds_left(self) -> float:
        return self._end - time.monotonic()


def permit(decision: str, waits: float | None = None) -> CallPermit:
    """Return an answer of may_call."""
    fields: dict[str, Any] = dict.fromkeys(CallPermit.__dataclass_fields__)
    pause = None if waits is None else timedelta(seconds=waits)
    return CallPermit(**fields | {"decision": decision, "waits": pause})


def wait(*answers: CallPermit | Exception, attempt: Watched | None = None) -> int:
    """Wait while the database answers this, the last answer for ever; return how often it did."""
    asked = 0

    def ask() -> CallPermit:
        nonlocal asked
        answer = answers[min(asked, len(answers) - 1)]
        asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    wait_to_call(attempt or Watched(), ask)  # type: ignore[arg-type]
    return asked


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask often, and go on soon without an answer."""
    monkeypatch.setattr(asking, "ASK_AGAIN", 0.01)
    monkeypatch.setattr(asking, "UNANSWERED", 0.2)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (psycopg.OperationalError("away"), None),
        (ConnectError("away"), None),
        (psycopg.errors.UndefinedFunction("an older database"), set()),
        (psycopg.errors.InsufficientPrivilege("no"), set()),
    ],
    ids=lambda case: type(case).__name__,
)
def test_whose_attempts_are_known_is_nobodys_failure(
    error: Exception, said: set[str] | None
) -> None:
    """Nobody can tell while the database is away; where the question fails, none are."""

    def ask(**_: Any) -> list[str]:
        raise error

    assert known([(1, "00")], ask) == said


def test_a_call_goes_at_once() -> None:
    """One answer is enough."""
    assert wait(permit("go")) == 1


def test_a_call_waits_as_long_as_it_is_told() -> None:
    """It asks again then."""
    began = time.monotonic()
    assert wait(permit("wait", 0.3), permit("wait", 0.3), permit("go")) == 3
    assert 0.6 <= time.monotonic() - began < 5


def test_what_held_a_call_up_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Also where no quota did, but a provider's pause; a call that went at once says nothing."""
    with caplog.at_level(logging.INFO):
        wait(permit("go"))
        assert "call_waited" not in caplog.text
        wait(permit("wait", 0.1), permit("go"))
    assert "call_waited" in caplog.text


def test_an_attempt_without_its_task_stops() -> None:
    """Its call must not be made."""
    with pytest.raises(Retry, match="does not hold its task"):
        wait(permit("stop"))


def test_a_cancel_ends_the_wait() -> None:
    """It is looked for several times a second."""
    with pytest.raises(Retry, match="on request"):
        wait(permit("wait", 3600), attempt=Watched(cancelled_after=5))


def test_the_deadline_ends_the_wait() -> None:
    """What is left of the attempt's time is all it waits."""
    with pytest.raises(Retry, match="time was over") as over:
        wait(permit("wait", 3600), attempt=Watched(seconds_left=0.3))
    assert over.value.kind == "overloaded", "a deferral: it spends no attempt"


@pytest.mark.usefixtures("impatient")
def test_a_database_that_is_away_is_asked_again() -> None:
    """Its answer counts when it is back."""
    away = psycopg.OperationalError("gone"), ConnectError("not there")
    assert wait(*away, permit("wait", 0.01), *away, permit("go")) == 6


@pytest.mark.usefixtures("impatient")
def test_a_database_that_stays_away_does_not_stop_an_agent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After a while the call goes on, and the log says so."""
    with caplog.at_level(logging.WARNING):
        assert wait(psycopg.OperationalError("gone")) > 3
    assert "call_not_asked" in caplog.text


@pytest.mark.parametrize(
    "error", [psycopg.errors.UndefinedFunction("no"), UnknownAttemptError("no such attempt")]
)
def test_a_question_that_fails_does_not_either(error: Exception) -> None:
    """Asking again would change nothing."""
    assert wait(error) == 1


def test_a_login_that_may_not_ask_fails_the_attempt() -> None:
    """An operator has to grant it the role: until then no call of it would keep to the quota."""
    with pytest.raises(Retry, match="forebay_agent") as refused:
        wait(psycopg.errors.InsufficientPrivilege("no"))
    assert refused.value.kind == "infrastructure"
