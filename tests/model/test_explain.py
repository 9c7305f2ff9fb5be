"""What explain_task says is what dequeue does, in situations that nobody thought of."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from forebay.calls import agent, operator, submitter, viewer, worker
from forebay.rows import TaskExplanation
from support.clock import MICROSECOND, Clock

Connect = Callable[..., psycopg.Connection]

STEPS = 25
LOOKS = 2
LONG = timedelta(days=1000)
SHARED = ("tokens", "input_tokens", "output_tokens", "requests")


@dataclass
class Situation:
    """A database in which things happen at random, and a connection to try dequeue on."""

    rng: random.Random
    clock: Clock
    db: psycopg.Connection
    trial: psycopg.Connection

    def begin(self) -> None:
        """Define prices, customers, quotas and agents."""
        operator.register_price(
            self.db, model="m", usd_per_m_input=Decimal(3), usd_per_m_output=Decimal(15)
        )
        operator.register_customer(self.db, customer="acme", max_usd_per_day=Decimal("0.1"))
        for name in ("gpt", "ocr"):
            operator.register_quota(self.db, quota=name, limits=self.limits())
        for name in ("a", "b"):
            self.define(name)

    def limits(self) -> list[dict[str, Any]]:
        """Return one to three limits of a quota."""
        units = self.rng.sample(SHARED, self.rng.randint(1, 2))
        limits: list[dict[str, Any]] = [
            {
                "unit": unit,
                "per": self.rng.choice(["minute", "minute", "hour", "10 seconds"]),
                "amount": 5 if unit == "requests" else self.rng.choice([9000, 30000]),
                "kind": self.rng.choice(["window", "bucket"]),
            }
            for unit in units
        ]
        if self.rng.random() < 0.3:
            limits.append({"unit": "concurrent_calls", "amount": self.rng.randint(1, 4)})
        return limits

    def define(self, name: str) -> None:
        """Give an agent a definition."""
        maybe = self.maybe
        operator.register_agent(
            self.db,
            agent=name,
            lease=LONG,
            timeout=LONG,
            max_concurrent_tasks=maybe(0.4, [0, 1, 3, 5, 5, 5]),
            max_tpm=maybe(0.5, [4000, 9000, 9000]),
            max_rpm=maybe(0.3, [1, 4]),
            max_usd_per_day=maybe(0.3, [Decimal("0.1"), Decimal("0.3")]),
            aging=maybe(0.3, [timedelta(seconds=20), timedelta(minutes=3)]),
            reserve_after=timedelta(seconds=self.rng.choice([0, 5, 60, 600])),
            fair_by_customer=self.rng.random() < 0.3,
            quotas=self.rng.sample(["gpt", "ocr"], self.rng.choice([0, 1, 1, 2])),
        )

    def maybe(self, chance: float, values: list[Any]) -> Any:
        """Return one of the values with this chance, else None."""
        return self.rng.choice(values) if self.rng.random() < chance else None

    def enqueue(self, count: int) -> None:
        """Put tasks of all kinds in line."""
        for _ in range(count):
            after = self.maybe(0.2, [timedelta(seconds=3), timedelta(minutes=2)])
            submitter.enqueue(
                self.db,
                agent=self.rng.choice("ab"),
                payload={},
                priority=self.rng.choice([-10, 0, 0, 0, 10]),
                customer=self.maybe(0.6, ["acme", "globex"]),
                estimated_tokens=self.maybe(0.8, [0, 100, 1000, 2500, 4000, 20000]),
                run_after=after and self.clock.now() + after,
            )

    def step(self) -> None:
        """Let one thing happen, and some time pass."""
        act = self.rng.choice(
            [self.claim, self.claim, self.report, self.report, self.ask, self.operate]
        )
        act()
        if self.rng.random() < 0.4:
            self.enqueue(self.rng.randint(1, 4))
        self.clock.advance(self.rng.choice([1, 1, 10, 50]) * timedelta(seconds=0.7))

    def claim(self) -> None:
        """Start what may start."""
        size = self.rng.choice([1, 2, 10])
        worker.dequeue(self.db, worker="w", agents=["a", "b"], batch_size=size)

    def flying(self) -> int | None:
        """Return an attempt that runs, if there is one."""
        rows = self.db.execute(
            "select attempt_id from forebay.task_attempts where finished_at is null"
        ).fetchall()
        return self.rng.choice(sorted(rows))[0] if rows else None

    def report(self) -> None:
        """Report usage, or an end, of something that runs."""
        attempt_id = self.flying()
        if attempt_id is None:
            return
        used = {
            "call_id": str(self.rng.random()),
            "model": "m",
            "input_tokens": self.rng.choice([10, 900, 4000]),
            "output_tokens": self.rng.choice([5, 300]),
        }
        agent.report_usage(self.db, attempt_id=attempt_id, usage=used)
        match self.rng.choice(["none", "complete", "complete", "fail", "refuse"]):
            case "complete":
                agent.complete(self.db, attempt_id=attempt_id, result={})
            case "fail":
                error = {"kind": "agent_bug", "message": "no"}
                agent.fail(self.db, attempt_id=attempt_id, error=error)
            case "refuse":
                error = {"kind": "rate_limited", "message": "429"}
                wait = timedelta(seconds=self.rng.choice([2, 45]))
                agent.fail(self.db, attempt_id=attempt_id, error=error, retry_after=wait)

    def ask(self) -> None:
        """Let something that runs ask for a call."""
        attempt_id = self.flying()
        if attempt_id is not None:
            agent.may_call(self.db, attempt_id=attempt_id, tokens=self.rng.choice([50, 2000]))

    def operate(self) -> None:
        """Let an operator do something."""
        name = self.rng.choice("ab")
        match self.rng.choice(["define", "pause", "resume", "lift"]):
            case "define":
                self.define(name)
            case "pause":
                until = self.clock.now() + timedelta(seconds=self.rng.choice([5, 90]))
                operator.pause_agent(self.db, agent=name, until=until)
            case "resume":
                operator.resume_agent(self.db, agent=name)
            case "lift":
                operator.lift_spend_cap(self.db, customer="acme", extra_usd=Decimal("0.1"))

    def waiting(self) -> list[tuple[int, str]]:
        """Return some of the tasks that wait, with their agents."""
        rows = viewer.list_tasks(self.db, statuses=["enqueued"], limit=1000)
        found = [(row.task_id, row.agent) for row in rows]
        return self.rng.sample(found, min(LOOKS, len(found)))

    def claims(self, name: str, *, all_of_them: bool) -> list[int]:
        """Return what a dequeue for the agent takes now; nothing comes of it."""
        size = 10_000 if all_of_them else 1
        rows = worker.dequeue(self.trial, worker="trial", agents=[name], batch_size=size)
        self.trial.rollback()
        return [row.task_id for row in rows]


def check(situation: Situation, said: TaskExplanation, name: str) -> None:
    """Compare what was said of a waiting task with what dequeue does, now and at that moment."""
    now = situation.clock.now()
    is_next = situation.claims(name, all_of_them=False) == [said.task_id]
    assert is_next == (said.reason == "ready"), said
    if said.waiting_until is None:
        return
    assert said.waiting_until > now, said
    try:
        situation.clock.set(said.waiting_until - MICROSECOND)
        assert said.task_id not in situation.claims(name, all_of_them=True), said
        situation.clock.set(said.waiting_until)
        assert said.task_id in situation.claims(name, all_of_them=True), said
    finally:
        situation.clock.set(now)


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 16))]


@pytest.mark.parametrize("seed", SEEDS)
def test_explain_says_what_dequeue_does(
    superuser: psycopg.Connection, clock: Clock, connect: Connect, seed: int
) -> None:
    """Ready is claimed next; and a moment is the first at which the task is claimed."""
    situation = Situation(random.Random(seed), clock, superuser, connect("all", autocommit=False))
    situation.begin()
    situation.enqueue(6)
    seen = set()
    for _ in range(STEPS):
        situation.step()
        for task_id, name in situation.waiting():
            said = viewer.explain_task(situation.db, task_id=task_id)
            seen.add(said.reason)
            check(situation, said, name)
    assert len(seen) > 2
