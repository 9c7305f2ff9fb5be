"""What the viewer's functions must say of a model: agent_status, task_counts, explain_task."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from model.bucket import MICROSECOND
from model.line import LOWEST
from model.model import ADOPTION_GRACE, REPORT_GRACE, Model
from model.records import FOREVER, TERMINAL, Agent, Task

MOST_LOOKED_AT = 100
HALTS = [timedelta(seconds=4.0**n) for n in range(-1, 16)]  # where a start is looked for


def agent_state(model: Model, agent: Agent) -> str:
    """Say in one word whether the agent admits."""
    limits, desk = model.effective(agent), model.desk(agent)
    slots = limits.max_concurrent_tasks
    if limits.is_closed:
        return "closed"
    if model.paused_until(agent):
        return "paused"
    if model.is_held_up(agent):
        return "held_up"
    if slots is not None and len(model.open_attempts(agent.name)) >= slots:
        return "full"
    if desk.room == 0:
        return "out_of_requests"
    if desk.line and not desk.fitting(1, LOWEST):
        return "out_of_tokens"
    return "open"


def agent_status(model: Model, agent: Agent) -> dict[str, Any]:
    """Return the agent's row of agent_status."""
    definition, limits = agent.definition, model.effective(agent)
    flying = model.open_attempts(agent.name)
    enqueued = [t for t in model.tasks.values() if (t.agent, t.status) == (agent.name, "enqueued")]
    due = [t for t in enqueued if model.is_due(t)]
    tokens, requests = model.levels(agent)
    learned = model.learned(agent.name)
    refusal = agent.last_refusal
    return {
        "agent": agent.name,
        "launcher": definition.launcher,
        "state": agent_state(model, agent),
        "waiting": len(due),
        "delayed": len(enqueued) - len(due),
        "in_use": len(flying),
        "max_concurrent_tasks": definition.max_concurrent_tasks,
        "max_tpm": definition.max_tpm,
        "token_level": tokens,
        "token_burst": limits.token_limit and limits.token_limit.burst,
        "in_flight_tokens": sum(a.expected.tokens for a in flying),
        "max_rpm": definition.max_rpm,
        "request_level": requests,
        "request_burst": limits.request_limit and limits.request_limit.burst,
        "paused_until": model.paused_until(agent),
        "oldest_waiting_at": min((t.available_at for t in due), default=None),
        "max_attempts": definition.max_attempts,
        "effective_share": refusal.share_at(model.now) if refusal else Fraction(1),
        "effective_concurrent_tasks": limits.max_concurrent_tasks,
        "effective_tpm": limits.max_tpm,
        "effective_rpm": limits.max_rpm,
        "starts_last_minute": sum(
            a.agent == agent.name and a.started_at > model.now - timedelta(minutes=1)
            for a in model.attempts.values()
        ),
        "learned_samples": learned.samples,
        "learned_input_ratio": Fraction(learned.input_permille, 1000),
        "learned_output_ratio": Fraction(learned.output_permille, 1000),
        "typical_tokens": learned.typical and learned.typical.tokens,
        "typical_calls": learned.typical and learned.typical.calls,
    }


def task_counts(model: Model) -> dict[str, int]:
    """Return how many tasks there are of each status."""
    statuses = [t.status for t in model.tasks.values()]
    return {status: statuses.count(status) for status in ("enqueued", "processing", *TERMINAL)}


def reason(model: Model, task: Task) -> str:
    """Return the word by which explain_task says what became of a task, or what it waits for."""
    if task.status == "processing":
        assert task.attempt_id
        attempt = model.attempts[task.attempt_id]
        if attempt.lease_expires_at <= model.now:
            return "lease_expired"
        return "unlaunched" if model.is_failing(attempt) else "running"
    if task.status in TERMINAL:
        return task.status

    agent = model.agents[task.agent]
    state = agent_state(model, agent)
    if state not in ("closed", "paused", "held_up") and not model.is_due(task):
        return "deferred" if task.deferral_count else "delayed"
    if state not in ("open", "out_of_tokens"):
        return state
    desk = model.desk(agent)
    (waiting,) = (w for w in desk.line if w.task_id == task.task_id)
    if not desk.fits_alone(waiting):
        return "out_of_tokens"
    first = desk.fitting(1, LOWEST)
    if first:
        return "ready" if first[0] == waiting else "behind_others"
    reserves = [w for w in desk.ordered[:101] if w.waited >= desk.reserve_after]
    is_reserved = bool(reserves) and not desk.fits_alone(reserves[0])
    return "reserved" if is_reserved else "behind_others"


def ahead(model: Model, task: Task) -> int | None:
    """Return how many stand in line before an enqueued task; None where it has no place."""
    if reason(model, task) in ("delayed", "deferred"):
        return None
    agent = model.agents[task.agent]
    line = model.line(agent)
    if agent.definition.fair_by_customer:
        places = [w.task_id for w in line[:MOST_LOOKED_AT]]
        return places.index(task.task_id) if task.task_id in places else None
    place = model.waiting(task).place
    return sum(w.place < place for w in line)


def may_start(model: Model, task: Task, at: datetime) -> bool:
    """Whether a dequeue at that moment would take the task, if nothing else happened before."""
    now, model.now = model.now, at
    try:
        agent = model.agents[task.agent]
        desk = model.desk(agent)
        starting = desk.fitting(MOST_LOOKED_AT, LOWEST)
        is_among = task.task_id in [w.task_id for w in starting]
        is_served = model.paused_until(agent) is None and not model.is_held_up(agent)
        return is_served and is_among
    finally:
        model.now = now


def waits_until(model: Model, task: Task, told: datetime | None) -> bool:
    """Whether a task waits until the moment that was told: a no just before it, a yes from then."""
    if told is None:
        return not any(may_start(model, task, model.now + halt) for halt in HALTS)
    is_ahead = told > model.now
    before, then = (may_start(model, task, each) for each in (told - MICROSECOND, told))
    return is_ahead and then and not before


def moments(model: Model) -> list[datetime]:
    """Return the moments ahead at which something changes by itself, in order."""
    found: set[datetime] = set()
    for attempt in model.open_attempts():
        found |= {attempt.lease_expires_at, attempt.deadline_at}
        if attempt.is_external:
            found.add(attempt.lease_expires_at + ADOPTION_GRACE)
        if attempt.run_ended_at:
            found.add(attempt.run_ended_at + REPORT_GRACE)
    for task in model.tasks.values():
        if task.status == "enqueued":
            definition = model.agents[task.agent].definition
            found |= {task.available_at, task.available_at + definition.reserve_after}
            if definition.aging:
                found.add(task.created_at + definition.aging)
    for agent in model.agents.values():
        found.add(agent.paused_until or model.now)
        if agent.last_refusal:
            until = agent.last_refusal.paused_until
            found |= {until, until + timedelta(seconds=30), until + timedelta(minutes=5)}
    return sorted(moment for moment in found if model.now < moment < FOREVER)
