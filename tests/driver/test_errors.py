"""Errors that a caller can act on are classes; all others are psycopg's own."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from forebay import errors
from forebay.calls import agent, operator, submitter, viewer, worker

Connect = Callable[..., psycopg.Connection]


@pytest.fixture
def caller(connect: Connect) -> psycopg.Connection:
    """Connect as a member of every role, with agent `parse` registered."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse")
    return conn


def test_what_does_not_exist_is_told_by_class(caller: psycopg.Connection) -> None:
    """Each QF3xx has its class; all of them are NotFoundError."""
    with pytest.raises(errors.UnknownAgentError) as caught:
        submitter.enqueue(caller, agent="nobody", payload={})
    assert caught.value.sqlstate == "QF301"
    assert "nobody" in str(caught.value)
    with pytest.raises(errors.UnknownBatchError):
        viewer.batch_progress(caller, batch_id=1)
    with pytest.raises(errors.UnknownTaskError):
        viewer.task_detail(caller, task_id=1)
    with pytest.raises(errors.UnknownAttemptError):
        agent.complete(caller, attempt_id=1, result={})
    with pytest.raises(errors.UnknownQuotaError):
        operator.register_agent(caller, agent="parse", quotas=["nobody's"])
    assert issubclass(errors.UnknownAttemptError, errors.NotFoundError)


def test_a_reused_key_and_another_run_are_told_by_class(caller: psycopg.Connection) -> None:
    """Each QF2xx has its class."""
    submitter.enqueue(caller, agent="parse", payload={"n": 1}, idempotency_key="k")
    with pytest.raises(errors.IdempotencyKeyReusedError):
        submitter.enqueue(caller, agent="parse", payload={"n": 2}, idempotency_key="k")
    (claimed,) = worker.dequeue(caller, worker="w", agents=["parse"])
    worker.record_run(caller, attempt_id=claimed.attempt_id, run_id="1")
    with pytest.raises(errors.RunAlreadyRecordedError):
        worker.record_run(caller, attempt_id=claimed.attempt_id, run_id="2")


def test_a_closed_copy_and_a_huge_payload_are_told_by_class(
    caller: psycopg.Connection, superuser: psycopg.Connection
) -> None:
    """Each QF4xx has its class, and brings the database's hint along."""
    with pytest.raises(errors.TooLargeError, match="1048576"):
        submitter.enqueue(caller, agent="parse", payload={"text": "x" * 2_000_000})
    superuser.execute("update forebay.installation set is_branch = true, opened_in = null")
    with pytest.raises(errors.InstallationClosedError) as caught:
        worker.dequeue(caller, worker="w")
    assert "open_installation" in (caught.value.hint or "")


def test_a_full_line_is_told_by_class(caller: psycopg.Connection) -> None:
    """An agent that lets no task wait refuses the next one, and says how many may."""
    operator.register_agent(caller, agent="parse", max_waiting=1)
    submitter.enqueue(caller, agent="parse", payload={})
    with pytest.raises(errors.LineFullError, match="at most 1"):
        submitter.enqueue(caller, agent="parse", payload={})


def test_other_errors_pass_untouched(caller: psycopg.Connection, connect: Connect) -> None:
    """A bad argument and a missing right are psycopg's errors, with their SQLSTATE."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        worker.dequeue(caller, worker="w", batch_size=0)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        operator.pause_agent(connect("viewer"), agent=None)
    with caller.transaction():
        caller.execute("set transaction isolation level repeatable read")
        with pytest.raises(psycopg.Error) as caught:
            worker.dequeue(caller, worker="w")
        assert caught.value.sqlstate == "25001"
        raise psycopg.Rollback
