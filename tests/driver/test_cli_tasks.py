"""Agents, tasks and batches on the command line: what it shows, and what it does to them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import psycopg
import pytest

from forebay.calls import agent as agent_calls
from forebay.calls import operator, submitter, worker
from support.cli import Cli

Connect = Callable[..., psycopg.Connection]

STATUSES = {"enqueued", "processing", "completed", "failed", "cancelled"}


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    """Connect as every caller, to a database that knows the agent classify."""
    conn = connect("all")
    operator.register_agent(conn, agent="classify")
    return conn


def enqueue(conn: psycopg.Connection, count: int = 1, **more: object) -> list[int]:
    """Enqueue tasks for classify, one transaction each."""
    return [
        submitter.enqueue(conn, agent="classify", payload={"number": number}, **more)
        for number in range(count)
    ]


def finish(conn: psycopg.Connection) -> int:
    """Claim one task and complete it, and return its id."""
    (claimed,) = worker.dequeue(conn, worker="w1")
    agent_calls.complete(conn, attempt_id=claimed.attempt_id, result={"label": "invoice"})
    return claimed.task_id


def test_agent_set_defines_and_list_shows(cli: Cli) -> None:
    """`agent set` stores what was given, defaults for the rest; `agent list` shows limits."""
    answer = cli(
        *("agent", "set", "classify", "--max-concurrent-tasks", 3, "--max-tpm", 60000),
        *("--lease", "90s", "--timeout", "2h", "--tpm-burst", "0.5", "--json"),
    )
    assert answer.code == 0
    (state,) = answer.json
    assert state["agent"] == "classify"
    assert state["max_concurrent_tasks"] == 3
    assert state["max_tpm"] == 60000
    assert state["token_burst"] == 30000
    assert (state["lease"], state["timeout"]) == (90, 7200)
    assert state["max_attempts"] == 3
    table = cli("agent", "list").out
    assert "classify" in table
    assert "30,000 of 60,000" in table


def test_agent_set_refuses_a_negative_limit(cli: Cli) -> None:
    """What the database refuses is exit code 1 and one sentence."""
    answer = cli("agent", "set", "classify", "--max-tpm", -1)
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert cli("agent", "list", "--json").json == []


def test_agents_pause_and_resume(cli: Cli, conn: psycopg.Connection) -> None:
    """A paused agent says until when and why; --all takes every agent; unknown ones are refused."""
    operator.register_agent(conn, agent="other")
    paused = cli("agent", "pause", "classify", "--reason", "quota", "--json")
    assert paused.json == {"agents": 1}
    (state,) = cli("agent", "list", "classify", "--json").json
    assert (state["state"], state["pause_reason"]) == ("paused", "quota")
    assert "quota" in cli("agent", "list").out
    assert cli("agent", "pause", "--all", "--until", "2040-01-01").code == 0
    assert cli("agent", "resume", "--all", "--json").json == {"agents": 2}
    unknown = cli("agent", "resume", "nobody")
    assert (unknown.code, "nobody" in unknown.err) == (1, True)


def test_tasks_are_listed_newest_first_page_by_page(cli: Cli, conn: psycopg.Connection) -> None:
    """A full page ends with how to get the next one, which goes on where it ended."""
    ids = enqueue(conn, 5)
    first = cli("tasks", "--limit", 3, "--json").json
    assert [row["task_id"] for row in first] == ids[:1:-1]
    assert f"--before {ids[2]}" in cli("tasks", "--limit", 3).err
    second = cli("tasks", "--limit", 3, "--before", ids[2], "--json").json
    assert [row["task_id"] for row in second] == [ids[1], ids[0]]


def test_tasks_are_filtered(cli: Cli, conn: psycopg.Connection) -> None:
    """Each filter leaves only what it names; filters of different kinds all hold."""
    operator.register_agent(conn, agent="other")
    acme, globex = enqueue(conn, customer="acme")[0], enqueue(conn, customer="globex")[0]
    done = finish(conn)
    batch_id = submitter.open_batch(conn, name="b")
    in_batch = submitter.enqueue(conn, agent="other", payload={}, batch_id=batch_id)

    def ids(*filters: object) -> set[int]:
        return {row["task_id"] for row in cli("tasks", *filters, "--json").json}

    assert ids() == {acme, globex, in_batch}
    assert ids("--status", "completed") == {done}
    assert ids("--status", "completed", "--status", "enqueued") == {acme, globex, in_batch}
    assert ids("--agent", "other") == ids("--batch", batch_id) == {in_batch}
    assert ids("--customer", "globex") == {globex}
    assert ids("--since", "2099-01-01") == ids("--until", "2001-01-01") == set()


def test_task_shows_its_attempts_and_result(cli: Cli, conn: psycopg.Connection) -> None:
    """The detail holds the timeline, and the result only when asked for."""
    enqueue(conn)
    task_id = finish(conn)
    detail = cli("task", task_id, "--json").json
    assert (detail["task_id"], detail["status"]) == (task_id, "completed")
    assert [attempt["status"] for attempt in detail["attempts"]] == ["succeeded"]
    assert "result" not in detail
    assert cli("task", task_id, "--result", "--json").json["result"] == {"label": "invoice"}
    shown = cli("task", task_id, "--result").out
    assert "succeeded" in shown
    assert "invoice" in shown


def test_a_failed_task_shows_why(cli: Cli, conn: psycopg.Connection) -> None:
    """The error stands in the detail, and its kind in the list."""
    enqueue(conn)
    (claimed,) = worker.dequeue(conn, worker="w1")
    error = {"kind": "bad_input", "message": "encrypted \x1b[31m"}
    agent_calls.fail(conn, attempt_id=claimed.attempt_id, error=error, retryable=False)
    shown = cli("task", claimed.task_id).out
    assert "bad_input: encrypted" in shown
    assert "\x1b" not in shown
    assert "bad_input" in cli("tasks").out


def test_explain_says_why_a_task_waits(cli: Cli, conn: psycopg.Connection) -> None:
    """The explanation is a sentence; in JSON the reason is one word."""
    (task_id,) = enqueue(conn)
    operator.pause_agent(conn, agent="classify", reason="quota")
    found = cli("explain", task_id, "--json").json
    assert found["reason"] == "paused"
    assert found["explanation"] in cli("explain", task_id).out


@pytest.mark.parametrize("command", ["task", "explain", "batch"])
def test_unknown_ids_are_refused(cli: Cli, conn: psycopg.Connection, command: str) -> None:
    """An id that nothing has is exit code 1 and one sentence that repeats it."""
    answer = cli(command, 4711)
    assert (answer.code, answer.out) == (1, "")
    assert "4711" in answer.err


def test_acts_change_tasks_and_are_audited(cli: Cli, conn: psycopg.Connection) -> None:
    """Cancel, retry, reprioritize and reprocess do what they say, in the person's name."""
    (task_id,) = enqueue(conn)
    cancelled = cli("cancel", task_id, "--reason", "wrong file", "--json")
    assert cancelled.code == 0
    assert cancelled.json == [{"task_id": task_id, "status": "cancelled", "effect": "cancelled"}]
    retried = cli("retry", task_id, "--priority", "bulk", "--json").json
    assert [(row["status"], row["effect"]) for row in retried] == [("enqueued", "retried")]
    assert cli("tasks", "--json").json[0]["priority"] == -10
    assert cli("reprioritize", task_id, "--priority", "urgent", "--json").code == 0
    assert cli("tasks", "--json").json[0]["priority"] == 10
    finish(conn)
    (again,) = cli("reprocess", task_id, "--json").json
    assert again["effect"] == "reprocessed"
    assert cli("task", again["new_task_id"], "--json").json["reprocess_of"] == task_id
    audit = cli("task", task_id, "--json").json["audit"]
    assert audit[0]["reason"] == "wrong file"
    assert all(act["actor"] for act in audit)
    assert "wrong file" in cli("task", task_id).out


def test_a_note_stands_among_what_people_did(cli: Cli, conn: psycopg.Connection) -> None:
    """`annotate` writes it in the person's name, `task` shows it; an unknown task is named."""
    (task_id,) = enqueue(conn)
    answer = cli("annotate", task_id, 4711, "--note", "asked ann", "--json")
    assert answer.json[0] == {"task_id": task_id, "status": "enqueued", "effect": "annotated"}
    assert (answer.code, "no task 4711" in answer.err) == (1, True)
    (act,) = cli("task", task_id, "--json").json["audit"]
    assert (act["action"], act["details"], bool(act["actor"])) == (
        "annotate",
        {"note": "asked ann"},
        True,
    )
    assert "asked ann" in cli("task", task_id).out
    assert cli("annotate", task_id, "--note", " ").code == 1


def test_tasks_are_searched(cli: Cli, conn: psycopg.Connection) -> None:
    """A search finds a batch's tasks by its name; --max-confidence finds the unsure."""
    batch_id = submitter.open_batch(conn, name="october")
    (inside,) = enqueue(conn, batch_id=batch_id)
    (claimed,) = worker.dequeue(conn, worker="w")
    agent_calls.complete(conn, attempt_id=claimed.attempt_id, result={}, confidence=Decimal("0.4"))
    (outside,) = enqueue(conn)
    assert [row["task_id"] for row in cli("tasks", "--search", "tober", "--json").json] == [inside]
    assert [row["task_id"] for row in cli("tasks", "--search", outside, "--json").json] == [outside]
    unsure = cli("tasks", "--max-confidence", "0.4", "--json").json
    assert [row["task_id"] for row in unsure] == [inside]
    assert cli("tasks", "--max-confidence", "0.39", "--json").json == []


@pytest.mark.parametrize("act", ["cancel", "retry", "reprocess"])
def test_a_task_that_does_not_change_is_named(cli: Cli, conn: psycopg.Connection, act: str) -> None:
    """The others change all the same; the exit code is 1 and the sentence names each."""
    task_id, other = enqueue(conn, 2)
    if act != "cancel":
        operator.cancel(conn, task_ids=[task_id])
    answer = cli(act, task_id, 4711, "--json")
    assert answer.code == 1
    effects = {row["task_id"]: row["effect"] for row in answer.json}
    assert effects.pop(4711) == "unknown"
    assert effects[task_id] not in ("none", "unknown")
    assert "1 of 2" in answer.err
    assert "4711" in answer.err
    assert other not in effects


def test_batch_counts_and_watches_to_the_end(cli: Cli, conn: psycopg.Connection) -> None:
    """The counts are by status; --watch returns once nothing is left to do."""
    batch_id = submitter.open_batch(conn, name="october", customer="acme")
    enqueue(conn, 2, batch_id=batch_id)
    waiting = cli("batch", batch_id, "--json").json
    assert (waiting["name"], waiting["tasks"], waiting["enqueued"]) == ("october", 2, 2)
    assert set(waiting) >= STATUSES
    finish(conn)
    finish(conn)
    done = cli("batch", batch_id, "--watch", "--json")
    assert done.json["completed"] == 2
    assert done.json["finished_at"]
    assert "2 of 2 done: 2 completed" in done.err
    assert "october" in cli("batch", batch_id).out
