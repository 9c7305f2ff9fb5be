"""Rounds of sessions that claim at the same moment, against a model that knows the answer.

A round: every session claims at a barrier, then some attempts complete, fail, are released,
cancelled, or lose their lease, and time moves on. After each round nothing is over its limit, and
what was claimed is exactly what there was room for, in the order of the line, save that a task
which does not fit is passed until it has waited long enough.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from concurrency.model import AgentModel, Waiting
from concurrency.stage import Stage, claimed, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker
from forebay.rows import ClaimedAttempt

Limits = dict[str, Any]

ENDS = ("complete", "complete with usage", "fail", "release", "cancel", "expire")
PRIORITIES = (-10, 0, 0, 0, 10)


class Rounds:
    """Some agents on a stage, and the model of each."""

    def __init__(self, stage: Stage, agents: dict[str, Limits], seed: int) -> None:
        self.stage, self.random = stage, random.Random(seed)
        self.now = stage.clock.now()
        self.models = {name: AgentModel(self.now, **limits) for name, limits in agents.items()}
        self.attempts: dict[int, int] = {}
        for name, limits in agents.items():
            stage.agent(name, **limits, max_releases=1_000_000)

    def play(self, sessions: int) -> None:
        """Play one round."""
        self.refill_lines(2 * sessions)
        models = self.models.values()
        has_expired = any(model.expired for model in models)
        sizes = [self.random.randint(1, 4) for _ in range(sessions)]
        taken = claimed(self.stage.at_once([dequeue(size) for size in sizes]))
        expected = {name: model.start_all() for name, model in self.models.items()}
        wanted = sum(map(len, expected.values()))
        if len(models) == 1 and not has_expired:
            assert len(taken) == wanted or sum(sizes) < wanted, "stuck under the room"
        # One call may leave an agent to another that is at work on it, or only find the expired.
        while more := worker.dequeue(self.stage.db, worker="last", batch_size=100):
            taken += more
        self.check(taken, expected)
        self.attempts |= {row.task_id: row.attempt_id for row in taken}
        self.end_some()
        self.now = self.stage.clock.set(
            self.now + timedelta(milliseconds=self.random.choice((0, 20, 300, 2000, 7000)))
        )
        for model in models:
            model.move(self.now)

    def refill_lines(self, length: int) -> None:
        """Enqueue until every line has work enough for the round."""
        for name, model in self.models.items():
            burst = model.tokens.burst if model.tokens else 1000
            while len(model.line) < length:
                tasks = [
                    {
                        "payload": {},
                        "priority": self.random.choice(PRIORITIES),
                        "estimated_tokens": self.random.choice(
                            (1, 7, int(burst) // 9 + 1, int(burst) // 3 + 1, int(burst) * 2)
                        ),
                    }
                    for _ in range(length)
                ]
                rows = submitter.enqueue_many(self.stage.db, agent=name, tasks=tasks)
                model.line += [
                    Waiting(
                        -task["priority"], self.now, row.task_id, task["estimated_tokens"], self.now
                    )
                    for task, row in zip(tasks, rows, strict=True)
                ]
                model.line.sort()

    def check(self, taken: Sequence[ClaimedAttempt], expected: dict[str, list[int]]) -> None:
        """Compare what was claimed, what is in use, and the levels, with each agent's model."""
        ids = defaultdict(list)
        for row in taken:
            ids[row.agent].append(row.task_id)
        for name, model in self.models.items():
            assert sorted(ids[name]) == sorted(expected[name])
            assert self.stage.in_use(name) == len(model.running)
            if model.max_concurrent_tasks is not None:
                assert len(model.running) <= model.max_concurrent_tasks
        for state in viewer.agent_status(self.stage.db, agents=list(self.models)):
            model = self.models[state.agent]
            assert state.in_use == len(model.running)
            assert state.token_level == (model.tokens and model.tokens.level)
            assert state.request_level == (model.requests and model.requests.level)

    def end_some(self) -> None:
        """End about half of what runs, each in one of the ways in which an attempt can end.

        Nothing is learned from how: a task is charged with its estimate throughout.
        """
        for model in self.models.values():
            for task_id in sorted(model.running.keys() - model.expired):
                if self.random.random() < 0.5:
                    self.end(model, task_id, self.random.choice(ENDS))
        self.stage.superuser.execute("update forebay.task_attempts set is_usage_known = false")

    def end(self, model: AgentModel, task_id: int, how: str) -> None:
        db, attempt_id = self.stage.db, self.attempts[task_id]
        if how == "expire":
            self.stage.expire(attempt_id)
            model.expired.add(task_id)
            return
        used: int | None = None
        if how == "complete with usage":
            used = self.random.choice((0, 3, model.running[task_id].tokens * 2))
            usage = {"call_id": "c", "input_tokens": used, "output_tokens": 0}
            report.report_usage(db, attempt_id=attempt_id, usage=usage)
        if how.startswith("complete"):
            report.complete(db, attempt_id=attempt_id, result={})
        elif how == "fail":
            report.fail(db, attempt_id=attempt_id, error={}, retry_after=timedelta())
        elif how == "release":
            used = 0
            worker.release(db, attempt_id=attempt_id, reason="shutting down")
        else:
            operator.cancel(db, task_ids=[task_id])
        model.end(task_id, used=used, goes_back=how in ("fail", "release"))


AGENTS: dict[str, dict[str, Limits]] = {
    "one at a time": {"a": {"max_concurrent_tasks": 1}},
    "three": {"a": {"max_concurrent_tasks": 3}},
    "ten": {"a": {"max_concurrent_tasks": 10}},
    "tokens": {"a": {"max_tpm": 6000}},
    "tokens in strict order": {"a": {"max_tpm": 6000, "reserve_after": timedelta(0)}},
    "tokens with short reserve": {"a": {"max_tpm": 6000, "reserve_after": timedelta(seconds=4)}},
    "requests": {"a": {"max_rpm": 60}},
    "three and tokens": {"a": {"max_concurrent_tasks": 3, "max_tpm": 6000}},
    "ten and tokens": {"a": {"max_concurrent_tasks": 10, "max_tpm": 12000}},
    "ten and requests": {"a": {"max_concurrent_tasks": 10, "max_rpm": 120}},
    "all three limits": {"a": {"max_concurrent_tasks": 10, "max_tpm": 12000, "max_rpm": 120}},
    "three agents": {
        "a": {"max_concurrent_tasks": 3},
        "b": {"max_tpm": 6000},
        "c": {"max_concurrent_tasks": 1, "max_rpm": 60},
    },
}
ROUNDS = 100
SESSIONS = (2, 4, 4, 8, 8, 8, 16, 32)


@pytest.mark.parametrize("agents", AGENTS.values(), ids=AGENTS)
def test_claims_are_exactly_the_room(stage: Stage, agents: dict[str, Limits]) -> None:
    """Never over a limit, never stuck under it, and always the head of the line."""
    rounds = Rounds(stage, agents, seed=1)
    for number in range(ROUNDS):
        rounds.play(SESSIONS[number % len(SESSIONS)])


MATRIX = [
    {"max_concurrent_tasks": tasks, "max_tpm": tokens, "max_rpm": requests}
    for tasks, tokens, requests in product(
        (None, 1, 3, 10), (None, 600, 6000, 60000), (None, 60, 600)
    )
]


@pytest.mark.long
@pytest.mark.parametrize("sessions", [2, 8, 32])
@pytest.mark.parametrize("limits", MATRIX, ids=str)
def test_claims_are_exactly_the_room_in_every_mode(
    stage: Stage, limits: dict[str, Any], sessions: int
) -> None:
    """The same for every combination of the three limits, and none."""
    rounds = Rounds(stage, {"a": limits}, seed=sessions)
    for _ in range(ROUNDS):
        rounds.play(sessions)
