"""What an attempt asks the database, by one rule, wherever the agent runs: most of all whether a
model call may begin."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

import psycopg

from forebay.agent import Attempt, Retry
from forebay.errors import ConnectError, ForebayError
from forebay.logs import EventLog, first_line
from forebay.rows import CallPermit

log = EventLog(__name__)

AWAY = (psycopg.OperationalError, psycopg.InterfaceError, ConnectError)
UNANSWERED = 60.0  # seconds without an answer of the database after which a call goes on
ASK_AGAIN = 0.5  # seconds between tries while the database is away
GIVE_BACK = 2.0  # seconds before the deadline at which a call that waits gives its task back
LOOK_EVERY = 0.1  # seconds between two looks at whether to stop


def wait_to_call(attempt: Attempt, ask: Callable[[], CallPermit]) -> None:
    """Ask until the answer is go. Raises Retry when the attempt is to stop, or may not ask.

    A database that is away does not keep an agent from its work: after a minute the call goes on,
    and the provider's own limit is what holds it. It goes on at once where the question fails.
    A quota that has no room until the attempt's deadline costs no attempt: the task is deferred.
    """
    began = answered_at = time.monotonic()
    first: CallPermit | None = None
    while True:
        _check(attempt)
        pause = ASK_AGAIN
        try:
            permit = ask()
        except AWAY as error:
            if time.monotonic() - answered_at > UNANSWERED:
                return _not_asked(attempt, error)
        except psycopg.errors.InsufficientPrivilege as error:
            raise Retry(
                "The agent's login may not ask: grant it the role forebay_agent."
            ) from error
        except psycopg.errors.InvalidParameterValue:
            raise  # the agent's mistake, such as a call id that it has reported before
        except (psycopg.Error, ForebayError) as error:
            return _not_asked(attempt, error)
        else:
            answered_at = time.monotonic()
            if permit.decision == "go":
                return _waited(attempt, first, answered_at - began)
            if permit.decision == "stop":
                raise Retry("The attempt does not hold its task any more.")
            first = first or permit
            pause = permit.waits.total_seconds() if permit.waits else ASK_AGAIN
        _sleep(attempt, pause)


def known(attempts: Collection[tuple[int, str]], ask: Callable[..., list[str]]) -> set[str] | None:
    """Return the launch keys of those attempts that are of this database.

    None while it is away; where the question fails, none are.
    """
    try:
        return set(
            ask(attempt_ids=[id_ for id_, _ in attempts], launch_keys=[key for _, key in attempts])
        )
    except AWAY:
        return None
    except (psycopg.Error, ForebayError) as error:
        log.warning("attempts_not_known", reason=first_line(error))
        return set()


def _sleep(attempt: Attempt, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, LOOK_EVERY))
        _check(attempt)


def _check(attempt: Attempt) -> None:
    if attempt.cancelled():
        raise Retry("Stopped on request while a model call waited for its turn.")
    if attempt.seconds_left() <= GIVE_BACK:
        raise Retry("The quota had no room before the attempt's time was over.", kind="overloaded")


def _waited(attempt: Attempt, permit: CallPermit | None, seconds: float) -> None:
    """Log how long a call waited, and why at first."""
    if permit is not None:
        said = {"quota": permit.quota, "reason": permit.reason, "seconds": round(seconds, 3)}
        log.info("call_waited", attempt_id=attempt.attempt_id, **said)


def _not_asked(attempt: Attempt, error: Exception) -> None:
    log.warning("call_not_asked", attempt_id=attempt.attempt_id, reason=first_line(error))
