"""Calls from Python: one definition for both kinds of connection, and JSON that can be stored."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from forebay.calls import agent, operator, reader, submitter, viewer, worker
from forebay.errors import InvalidDocumentError, UnknownTaskError

DSN = Callable[..., str]


@pytest.fixture
def caller(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """Connect as a member of every role, with agent `parse` registered."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse", reason="test")
    return conn


def claim(conn: psycopg.Connection) -> int:
    """Claim the next task of parse and return the attempt."""
    (found,) = worker.dequeue(conn, worker="w", agents=["parse"])
    return found.attempt_id


def test_a_task_goes_from_enqueue_to_its_result(caller: psycopg.Connection) -> None:
    """Every step is one call, and comes back as rows of the declared types."""
    task_id = submitter.enqueue(caller, agent="parse", payload={"path": "a.pdf"}, priority=5)
    (claimed,) = worker.dequeue(caller, worker="w", agents=["parse"])
    assert (claimed.task_id, claimed.payload, claimed.priority) == (task_id, {"path": "a.pdf"}, 5)
    assert claimed.lease_expires_at.tzinfo is not None
    status = agent.complete(
        caller, attempt_id=claimed.attempt_id, result={"pages": 3}, confidence=Decimal("0.75")
    )
    assert status == "completed"
    found = reader.task_result(caller, task_id=task_id)
    assert (found.result, found.confidence) == ({"pages": 3}, Decimal("0.75"))


def test_what_is_stored_can_be_claimed_and_read(caller: psycopg.Connection) -> None:
    """The deepest document that is taken is read from a deep stack too; a deeper one is refused."""
    deep = "[" * 500 + "1" + "]" * 500
    with pytest.raises(psycopg.DataError, match="more than 500 levels"):
        submitter.enqueue(caller, agent="parse", payload=[json.loads(deep)])
    task_id = submitter.enqueue(caller, agent="parse", payload=json.loads(deep))

    def from_below(frames: int) -> Any:
        return (
            from_below(frames - 1)
            if frames
            else worker.dequeue(caller, worker="w", agents=["parse"])
        )

    (claimed,) = from_below(300)
    assert (claimed.task_id, json.dumps(claimed.payload)) == (task_id, deep)


def test_an_async_connection_makes_the_same_calls(
    caller: psycopg.Connection, role_dsn: DSN
) -> None:
    """With an AsyncConnection a call is awaited, and its errors are the same."""

    async def session() -> None:
        conn = await psycopg.AsyncConnection.connect(role_dsn("all"), autocommit=True)
        async with conn:
            task_id = await submitter.enqueue(conn, agent="parse", payload={})
            counts = {row.status: row.tasks for row in await viewer.task_counts(conn)}
            assert counts["enqueued"] == 1
            assert (await viewer.task_detail(conn, task_id=task_id)).agent == "parse"
            with pytest.raises(UnknownTaskError):
                await viewer.explain_task(conn, task_id=task_id + 1)

    asyncio.run(session())


def test_the_caller_owns_the_transaction(
    caller: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    """A call inside a transaction is undone with it."""
    conn = connect("all", autocommit=False)
    submitter.enqueue(conn, agent="parse", payload={})
    conn.rollback()
    assert viewer.list_tasks(caller) == []


def test_a_set_of_single_values_is_a_list_of_them(caller: psycopg.Connection) -> None:
    """What has one column comes without a row around it."""
    operator.register_agent(caller, agent="classify")
    assert viewer.agent_names(caller) == ["classify", "parse"]


def test_infinite_times_can_be_read(caller: psycopg.Connection) -> None:
    """A pause until resumed is 'infinity' in Postgres, which Python's datetime cannot hold."""
    assert operator.pause_agent(caller, agent="parse") == 1
    (state,) = viewer.agent_status(caller, agents=["parse"])
    assert state.state == "paused"
    assert state.paused_until in (None, datetime.max.replace(tzinfo=UTC))


def test_a_limit_out_of_range_names_the_type(caller: psycopg.Connection) -> None:
    """An argument is cast to the parameter's type: never 'function does not exist'."""
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        submitter.enqueue(caller, agent="parse", payload={}, priority=10**12)


def test_any_sequence_is_an_array(caller: psycopg.Connection) -> None:
    """A list, a tuple or a range of ids is the same to the caller."""
    task_id = submitter.enqueue(caller, agent="parse", payload={})
    for ids in ([task_id], (task_id,), range(task_id, task_id + 1)):
        (found,) = operator.reprioritize(caller, task_ids=ids, priority=5)
        assert found.task_id == task_id


def test_a_misspelled_argument_is_a_type_error(caller: psycopg.Connection) -> None:
    """Nothing is sent when an argument is unknown, missing or given by position."""
    for wrong in ({"task": 1}, {}, {"task_id": 1, "extra": 2}):
        with pytest.raises(TypeError):
            viewer.task_detail(caller, **wrong)
    with pytest.raises(TypeError):
        viewer.task_detail(caller, 1)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "not JSON"),
        (-math.inf, "not JSON"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        (datetime.now(UTC), "datetime"),
    ],
)
def test_js2_a_payload_that_cannot_be_stored_is_refused_by_name(
    caller: psycopg.Connection, value: Any, said: str
) -> None:
    """A payload is never changed in silence: the error names the argument and what is wrong."""
    with pytest.raises(InvalidDocumentError, match=f"payload.*{said}"):
        submitter.enqueue(caller, agent="parse", payload={"deep": [{"value": value}]})
    with pytest.raises(ValueError, match="tasks"):
        submitter.enqueue_many(caller, agent="parse", tasks=[{"payload": {"value": value}}])
    assert viewer.list_tasks(caller) == []


def test_a_backslash_before_u0000_is_no_nul(caller: psycopg.Connection) -> None:
    r"""The six characters \u0000 are text like any other."""
    payload = {"text": r"\u0000", r"\u0000": 1}
    task_id = submitter.enqueue(caller, agent="parse", payload=payload)
    assert reader.task_result(caller, task_id=task_id).payload == payload


@pytest.mark.parametrize("together", [False, True])
def test_js1_js2_a_result_is_mended_and_never_lost(
    caller: psycopg.Connection, together: bool
) -> None:
    """NaN and Infinity become null, NUL and half surrogates U+FFFD; whole characters stay."""
    task_id = submitter.enqueue(caller, agent="parse", payload={})
    attempt_id = claim(caller)
    found = {
        "nan": float("nan"),
        "inf": [math.inf, 1.5],
        "n\0l": "a\0b",
        "half": "x\ud83dy",
        "😀": ("\u00e9", "😀"),
    }
    if together:
        (row,) = agent.complete_many(caller, attempt_ids=[attempt_id], results=[found])
        assert row.effect == "completed"
    else:
        assert agent.complete(caller, attempt_id=attempt_id, result=found) == "completed"
    assert reader.task_result(caller, task_id=task_id).result == {
        "nan": None,
        "inf": [None, 1.5],
        "n\ufffdl": "a\ufffdb",
        "half": "x\ufffdy",
        "😀": ["\u00e9", "😀"],
    }


def test_js1_an_error_and_an_event_are_mended_too(caller: psycopg.Connection) -> None:
    """What went wrong is recorded whatever its text holds."""
    task_id = submitter.enqueue(caller, agent="parse", payload={}, max_attempts=1)
    attempt_id = claim(caller)
    error = {"kind": "bad_input", "message": "page \0 \udfff"}
    assert agent.fail(caller, attempt_id=attempt_id, error=error) == "failed"
    assert viewer.task_detail(caller, task_id=task_id).error["message"] == "page \ufffd \ufffd"
    again = submitter.enqueue(caller, agent="parse", payload={})
    data = {"task_id": again, "attempt_id": claim(caller), "result": {"x": math.nan, "y": "\0"}}
    event = {"type": "task.completed", "timestamp": "2026-01-01T00:00:00Z", "data": data}
    assert agent.callback(caller, event=event)["status"] == "completed"
    assert reader.task_result(caller, task_id=again).result == {"x": None, "y": "\ufffd"}


def test_js7_one_bad_result_names_its_place(caller: psycopg.Connection) -> None:
    """A result that is no JSON at all is refused before anything is sent."""
    with pytest.raises(InvalidDocumentError, match=r"results\[2\]"):
        agent.complete_many(caller, attempt_ids=[1, 2], results=[{}, {"at": datetime.now(UTC)}])


def test_a_circular_or_bottomless_result_is_refused(caller: psycopg.Connection) -> None:
    """No result ends in a RecursionError."""
    circle: dict[str, Any] = {}
    circle["self"] = circle
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for result in (circle, {"deep": deep}, {"nan": math.nan, "deep": deep}):
        with pytest.raises(InvalidDocumentError):
            agent.complete(caller, attempt_id=1, result=result)


def test_durations_are_timedeltas_and_numbers_decimals(caller: psycopg.Connection) -> None:
    """What goes in comes out, without a float in between."""
    operator.register_agent(
        caller,
        agent="parse",
        lease=timedelta(seconds=1.5),
        max_tpm=100,
        tpm_burst=Decimal("0.31"),
    )
    (state,) = viewer.agent_status(caller)
    assert state.lease == timedelta(seconds=1.5)
    assert state.token_burst == Decimal(31)


@pytest.mark.parametrize("is_async", [False, True])
def test_money_in_the_json_of_a_task_keeps_every_digit(
    caller: psycopg.Connection, role_dsn: DSN, is_async: bool
) -> None:
    """Of its attempts and of each call; a payload's numbers are the agent's, as JSON has them."""
    usd = Decimal("4184.089315256164112233")
    task_id = submitter.enqueue(caller, agent="parse", payload={"share": 0.1})
    attempt_id = claim(caller)
    usage = {"call_id": "1", "model": "m", "cost_usd": f"{usd:f}", "pages": 0.5}
    agent.report_usage(caller, attempt_id=attempt_id, usage=usage)
    caller.commit()
    if is_async:

        async def ask() -> Any:
            async with await psycopg.AsyncConnection.connect(role_dsn("all")) as conn:
                return await viewer.task_detail(conn, task_id=task_id)

        detail = asyncio.run(ask())
    else:
        detail = viewer.task_detail(caller, task_id=task_id)
    assert [detail.attempts[0]["cost_usd"], detail.usage[0]["usd"]] == [usd, usd]
    assert isinstance(detail.usage[0]["pages"], float)
    payload = reader.task_result(caller, task_id=task_id).payload
    assert isinstance(payload["share"], float)
