"""The attempt as its agent sees it, used from several threads, and its report."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from forebay import agent as agents
from forebay import run_attempt as running
from forebay.calls import operator, submitter, viewer, worker
from forebay.errors import ConnectError
from forebay.failures import Failure
from forebay.run_attempt import _outcome
from forebay.running_attempt import RunningAttempt
from forebay.stop_signal import StopSignal


def claimed(db: psycopg.Connection, dsn: str) -> RunningAttempt:
    """Enqueue a task of `parse`, and return its attempt."""
    task_id = submitter.enqueue(db, agent="parse", payload={})
    (claimed,) = worker.dequeue(db, worker="w", agents=["parse"])
    document = {
        **{"task_id": task_id, "attempt_id": claimed.attempt_id, "attempt_no": 1},
        **{"agent": "parse", "payload": {}, "entry_point": "fake"},
        "conninfo": dsn,
        "deadline_at": claimed.deadline_at.isoformat(),
    }
    return RunningAttempt(document, lambda: False)


def test_model_calls_may_be_made_side_by_side(
    db: psycopg.Connection, role_dsn: Callable[..., str]
) -> None:
    """Each asks and is reported once, on one connection; a quota lets them through in turns."""
    limit = {"unit": "concurrent_calls", "amount": 2}
    operator.register_quota(db, quota="q", limits=[limit])
    operator.register_agent(db, agent="parse", quotas=["q"], lease=timedelta(minutes=5))
    attempt = claimed(db, role_dsn("agent"))

    def call(number: int) -> None:
        attempt.wait_to_call(100, 10, f"call-{number}")
        attempt.usage({"call_id": f"call-{number}", "input_tokens": 90, "output_tokens": 10})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, range(24)))
    attempt.close()
    recorded = viewer.task_detail(db, task_id=attempt.task_id).usage
    assert sorted(one["call_id"] for one in recorded) == sorted(f"call-{n}" for n in range(24))
    (state,) = viewer.quota_status(db)
    assert (state.open_calls, state.waiting_calls) == (0, 0)


def test_a_stop_signal_outside_of_the_main_thread_is_never_received() -> None:
    """As where a notebook's shell calls the job: it runs, and leaves signals to the shell."""
    with ThreadPoolExecutor(1) as threads:
        assert not threads.submit(StopSignal).result().was_received()


SAID = 'connection to server at "127.0.0.1", port 5432 failed: FATAL:  '


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Return a function that has connections be refused with these words, so many times."""
    connect = psycopg.Connection.connect

    def refuse(said: str, times: int) -> None:
        left = iter(range(times))

        def refused(*args: Any, **options: Any) -> psycopg.Connection:
            if next(left, None) is not None:
                raise psycopg.OperationalError(said)
            return connect(*args, **options)

        monkeypatch.setattr(psycopg.Connection, "connect", refused)

    return refuse


@pytest.mark.parametrize(
    "said",
    [
        "failed to resolve host 'db': [Errno -3] Temporary failure in name resolution",
        "failed to resolve host 'db': [Errno -2] Name or service not known",
        SAID + "the database system is not yet accepting connections",
        SAID + "terminating connection due to administrator command",
        SAID + "remaining connection slots are reserved for roles with the SUPERUSER attribute",
        SAID + 'database "x" does not exist',
    ],
)
def test_a_result_is_reported_once_the_database_lets_its_process_in_again(
    db: psycopg.Connection,
    role_dsn: Callable[..., str],
    refuse: Callable[[str, int], None],
    said: str,
) -> None:
    """Who gave the work was connected: whatever is said now, it is tried until the deadline."""
    operator.register_agent(db, agent="parse", lease=timedelta(minutes=5))
    attempt = claimed(db, role_dsn("agent"))
    refuse(said, 3)
    running._report(attempt, agents.Result({"pages": 3}), None)
    attempt.close()
    assert viewer.task_detail(db, task_id=attempt.task_id).status == "completed"


@pytest.mark.parametrize("times", range(1, 6))
def test_no_report_overtakes_what_its_model_calls_used(
    db: psycopg.Connection,
    role_dsn: Callable[..., str],
    refuse: Callable[[str, int], None],
    monkeypatch: pytest.MonkeyPatch,
    times: int,
) -> None:
    """Wherever the database comes back, what was paid for is booked before the task completes."""
    operator.register_agent(db, agent="parse", lease=timedelta(minutes=5))
    operator.register_price(db, model="m", usd_per_m_input=1, usd_per_m_output=1)
    attempt = claimed(db, role_dsn("agent"))

    def agent(attempt: agents.Attempt) -> agents.Result:
        refuse(SAID + "the database system is starting up", times)
        attempt.usage({"call_id": "1", "model": "m", "input_tokens": 1_000_000, "output_tokens": 0})
        return agents.Result({"pages": 3})

    monkeypatch.setattr(running, "_load", lambda name: agent)
    assert running.run_attempt(attempt)
    task = viewer.task_detail(db, task_id=attempt.task_id)
    assert (task.status, task.cost_usd) == ("completed", 1)


def test_a_login_that_is_refused_ends_the_report(
    db: psycopg.Connection, role_dsn: Callable[..., str], refuse: Callable[[str, int], None]
) -> None:
    """A password that is not taken any more does not come right by itself."""
    operator.register_agent(db, agent="parse", lease=timedelta(minutes=5))
    attempt = claimed(db, role_dsn("agent"))
    refuse(SAID + 'password authentication failed for user "agent"', 2)
    with pytest.raises(ConnectError, match="correct the DSN"):
        running._report(attempt, agents.Result({"pages": 3}), None)


def test_an_agent_that_is_not_installed_fails_once() -> None:
    """By a sentence with its name: to try again, at a price, would end the same."""
    failure = _outcome(SimpleNamespace(entry_point="no_such", cancelled=lambda: False))
    assert isinstance(failure, Failure)
    assert failure.is_retryable is False
    assert "no agent 'no_such' is installed" in failure.error["message"]
