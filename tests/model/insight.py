"""What the viewer's functions must say of a model: agent_status, task_counts, explain_task."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from model.model import ADOPTION_GRACE, REPORT_GRACE, Model
from model.records import FOREVER, TERMINAL, Agent, Task


def agent_state(model: Model, agent: Agent) -> str:
    """Say in one word whether the agent admits."""
    limit = agent.definition.max_concurrent_tasks
    line = model.line(agent.name)
    if agent.definition.is_closed:
        return "closed"
    if model.is_paused(agent):
        return "paused"
    if limit is not None and len(model.open_attempts(agent.name)) >= limit:
        return "full"
    if agent.requests and agent.requests.at(model.now) < 1:
        return "out_of_requests"
    if agent.tokens and line and not _fits(model, agent, line[0]):
        return "out_of_tokens"
    return "open"


def _fits(model: Model, agent: Agent, head: Task) -> bool:
    """Whether the bucket admits the first in line: one above the burst needs a full bucket."""
    assert agent.tokens
    return agent.tokens.at(model.now) >= min(model.charge_of(head), agent.tokens.burst)


def agent_status(model: Model, agent: Agent) -> dict[str, Any]:
    """Return the agent's row of agent_status."""
    definition = agent.definition
    flying = model.open_attempts(agent.name)
    enqueued = [t for t in model.tasks.values() if (t.agent, t.status) == (agent.name, "enqueued")]
    line = model.line(agent.name)
    return {
        "agent": agent.name,
        "launcher": definition.launcher,
        "state": agent_state(model, agent),
        "waiting": len(line),
        "delayed": len(enqueued) - len(line),
        "in_use": len(flying),
        "max_concurrent_tasks": definition.max_concurrent_tasks,
        "max_tpm": definition.max_tpm,
        "token_level": agent.tokens and agent.tokens.at(model.now),
        "token_burst": definition.token_burst,
        "in_flight_tokens": sum(a.estimated_tokens for a in flying),
        "max_rpm": definition.max_rpm,
        "request_level": agent.requests and agent.requests.at(model.now),
        "request_burst": definition.request_burst,
        "paused_until": agent.paused_until if model.is_paused(agent) else None,
        "oldest_waiting_at": min((t.created_at for t in line), default=None),
        "max_attempts": definition.max_attempts,
    }


def task_counts(model: Model) -> dict[str, int]:
    """Return how many tasks there are of each status."""
    statuses = [t.status for t in model.tasks.values()]
    return {status: statuses.count(status) for status in ("enqueued", "processing", *TERMINAL)}


def explain(model: Model, task: Task) -> tuple[str, datetime | None, int | None]:
    """Return the reason, the moment and the number before it that explain_task must give."""
    if task.status == "processing":
        assert task.attempt_id
        lease = model.attempts[task.attempt_id].lease_expires_at
        return ("running" if lease > model.now else "lease_expired"), lease, None
    if task.status in TERMINAL:
        return task.status, None, None

    agent = model.agents[task.agent]
    reason = agent_state(model, agent)
    if not model.is_due(task) and reason != "paused":
        return "delayed", task.available_at, None
    line = model.line(task.agent)
    ahead = sum(other.place < task.place for other in line)
    if reason == "open":
        return ("behind_others" if ahead else "ready"), None, ahead
    return reason, _until(model, agent, reason), ahead


def _until(model: Model, agent: Agent, reason: str) -> datetime | None:
    if reason == "paused":
        return None if agent.paused_until == FOREVER else agent.paused_until
    if reason == "out_of_requests" and agent.requests:
        return agent.requests.when(1, model.now)
    if reason == "out_of_tokens" and agent.tokens:
        return agent.tokens.when(model.charge_of(model.line(agent.name)[0]), model.now)
    return None


def moments(model: Model) -> list[datetime]:
    """Return the moments ahead at which something changes by itself, in order."""
    found: set[datetime] = set()
    for attempt in model.open_attempts():
        found |= {attempt.lease_expires_at, attempt.deadline_at}
        if attempt.is_external:
            found.add(attempt.lease_expires_at + ADOPTION_GRACE)
        if attempt.run_ended_at:
            found.add(attempt.run_ended_at + REPORT_GRACE)
    found |= {t.available_at for t in model.tasks.values() if t.status == "enqueued"}
    for agent in model.agents.values():
        found.add(agent.paused_until or model.now)
        if agent_state(model, agent) in ("out_of_requests", "out_of_tokens"):
            found.add(_until(model, agent, agent_state(model, agent)) or model.now)
    return sorted(moment for moment in found if model.now < moment < FOREVER)
