"""What must hold between the database and the model after every step, and in the tables alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from model import insight
from model.line import Turns
from model.model import Model
from model.records import TERMINAL, Attempt, Between, Task
from model.stage import moment

Row = dict[str, Any]

TASK_COLUMNS = (
    "task_id",
    "agent",
    "status",
    "priority",
    "idempotency_key",
    "payload",
    "estimated_tokens",
    "max_attempts",
    "attempt_id",
    "locked_by",
    "attempt_no",
    "attempt_count",
    "release_count",
    "customer",
    "deferral_count",
    "result",
    "confidence",
    "error_kind",
    "reprocess_of",
)
TASK_TIMES = ("available_at", "created_at", "finished_at", "deferred_since")
ATTEMPT_COLUMNS = (
    "attempt_id",
    "task_id",
    "agent",
    "launcher",
    "attempt_no",
    "status",
    "worker",
    "launch_token",
    "run_id",
    "estimated_tokens",
    "charged_tokens",
    "is_stop_pending",
    "result",
)
ATTEMPT_TIMES = (
    "lease_expires_at",
    "deadline_at",
    "started_at",
    "reported_at",
    "finished_at",
    "run_ended_at",
)
USE_COLUMNS = (
    "expected_calls",
    "expected_input_tokens",
    "expected_output_tokens",
    "used_input_tokens",
    "used_output_tokens",
    "used_calls",
    "is_usage_known",
)
SUMS = ("used_input_tokens", "used_output_tokens", "used_cached_tokens")
MEASURED = {
    *SUMS,
    "cost_usd",
    "ended_attempts",
    "measured_attempts",
    "priced_attempts",
    "costed_attempts",
    "provisional_attempts",
    "run_time",
    "compute_usd",
}
"""What a task's row has of its attempts: usage may be reported after the task has ended."""
REFUSAL_COLUMNS = ("in_flight", "share")
REFUSAL_TIMES = ("paused_until", "lowered_at")


def effects(rows: list[Row], expected: Iterable[tuple[int, str | None, str]]) -> None:
    """An act on tasks answers with one row a distinct id, by id."""
    assert [(r["task_id"], r["status"], r["effect"]) for r in rows] == list(expected)


def claim(row: Row, attempt: Attempt, task: Task) -> None:
    """A claimed or adopted row shows the attempt and its task."""
    columns = ("task_id", "attempt_id", "attempt_no", "agent", "launcher", "estimated_tokens")
    assert {c: row[c] for c in columns} == {c: getattr(attempt, c) for c in columns}
    assert (row["payload"], row["priority"]) == (task.payload, task.priority)
    assert row["launch_token"] == attempt.launch_token
    assert moment(row["lease_expires_at"]) == attempt.lease_expires_at
    assert moment(row["deadline_at"]) == attempt.deadline_at


def tables(look: Row, model: Model) -> None:
    """Every row of every table is what the model holds; drawn moments are taken over from it."""
    for row in look["tasks"]:
        task = model.tasks[row["task_id"]]
        if isinstance(task.available_at, Between):
            available_at = moment(row["available_at"])
            assert available_at
            assert task.available_at.least <= available_at <= task.available_at.greatest
            task.available_at = available_at
    same(look["tasks"], model.tasks.values(), TASK_COLUMNS, TASK_TIMES)
    same(look["attempts"], model.attempts.values(), ATTEMPT_COLUMNS, ATTEMPT_TIMES)
    assert {
        (u["attempt_id"], u["source"], u["call_id"], u["input_tokens"], u["output_tokens"])
        for u in look["usage"]
    } == {
        (a.attempt_id, *key, call["input_tokens"], call["output_tokens"])
        for a in model.attempts.values()
        for key, call in a.usage.items()
    }
    for row in look["attempts"]:
        attempt = model.attempts[row["attempt_id"]]
        wanted = (*attempt.expected, *attempt.used())
        assert tuple(row[column] for column in USE_COLUMNS) == wanted
    refusals = [
        (agent.name, *(getattr(r, c) for c in (*REFUSAL_COLUMNS, *REFUSAL_TIMES)))
        for agent in model.agents.values()
        for r in agent.refusals
    ]
    assert sorted(refusals) == sorted(
        (r["agent"], *(r[c] for c in REFUSAL_COLUMNS), *(moment(r[c]) for c in REFUSAL_TIMES))
        for r in look["refusals"]
    )
    assert turns(look["turns"]) == {agent.name: agent.turns for agent in model.agents.values()}
    assert Counter(map(tuple, look["acts"])) == Counter(model.acts)


def turns(rows: dict[str, Row]) -> dict[str, Turns]:
    """Return how far each agent has served its customers."""
    return {
        agent: Turns(int(row["turn"]), frozenset((c, int(n)) for c, n in row["served"].items()))
        for agent, row in rows.items()
    }


def same(
    rows: list[Row], items: Iterable[Any], columns: tuple[str, ...], times: tuple[str, ...]
) -> None:
    """Table rows equal the model's records in these columns."""
    got = [{c: r[c] for c in columns} | {c: moment(r[c]) for c in times} for r in rows]
    wanted = [{c: getattr(item, c) for c in (*columns, *times)} for item in items]
    key = columns[0]
    for row, want in zip(
        sorted(got, key=lambda r: r[key]), sorted(wanted, key=lambda r: r[key]), strict=True
    ):
        assert row == want


def insight_agrees(look: Row, model: Model) -> None:
    """agent_status, task_counts and explain_task tell what the model knows."""
    for row in look["agents"]:
        wanted = insight.agent_status(model, model.agents[row["agent"]])
        assert {name: _read(row[name], value) for name, value in wanted.items()} == wanted
    assert look["counts"] == insight.task_counts(model)
    for row in look["explained"]:
        task = model.tasks[row["task_id"]]
        wanted = (task.task_id, task.status, insight.reason(model, task))
        assert (row["task_id"], row["status"], row["reason"]) == wanted
        told = moment(row["waiting_until"])
        if task.status == "processing":
            assert task.attempt_id
            assert told == model.attempts[task.attempt_id].lease_expires_at
        else:
            assert row["ahead"] == insight.ahead(model, task)
            is_of_time = row["reason"] not in ("closed", "held_up", "behind_others", "ready")
            assert insight.waits_until(model, task, told) if is_of_time else told is None


def _read(value: Any, like: Any) -> Any:
    """Read a value out of JSON as the model has it."""
    if isinstance(like, datetime):
        return moment(value)
    return Fraction(value) if isinstance(value, Decimal) else value


def rules(before: Row, after: Row) -> None:
    """Hold the tables to what is true whatever was called, by themselves and against before."""
    attempts = after["attempts"]
    is_open = Counter(a["task_id"] for a in attempts if a["finished_at"] is None)
    claims = Counter(a["task_id"] for a in attempts)
    for task in after["tasks"]:
        assert is_open[task["task_id"]] == (task["status"] == "processing")
        assert task["attempt_count"] <= task["attempt_no"] == claims[task["task_id"]]
        of_task = [a for a in attempts if a["task_id"] == task["task_id"]]
        for column in SUMS:
            assert task[column] == sum(a[column] for a in of_task)
        assert task["ended_attempts"] == len([a for a in of_task if a["finished_at"] is not None])
    old = {t["task_id"]: t for t in before["tasks"]}
    for task in after["tasks"]:
        was = old.get(task["task_id"])
        if was and was["status"] in TERMINAL and _decided(was) != _decided(task):
            assert was["status"] != "completed"
            assert (task["status"], task["attempt_count"]) == ("enqueued", 0)

    had = Counter(a["agent"] for a in before["attempts"] if a["finished_at"] is None)
    has = Counter(a["agent"] for a in attempts if a["finished_at"] is None)
    for agent in after["agents"]:
        limit = agent["effective_concurrent_tasks"]
        assert limit is None or has[agent["agent"]] <= max(limit, had[agent["agent"]])


def _decided(task: Row) -> Row:
    """Return a task's row without what it has of its attempts."""
    return {column: value for column, value in task.items() if column not in MEASURED}
