"""Print how long those wait whom others go before: `python bench/low_priority.py`.

First an agent with four places and as much urgent work as it can do, and some bulk work: strict
priority, then aging. Then an agent with a token budget, as many small tasks as that pays for, and a
large one now and then: for how long it may be passed. The database is real; its clock stands still
between two steps, so that hours take seconds and every run prints the same. docs/limits.md holds
the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from forebay.calls import agent, operator, submitter, worker
from forebay.schema import upgrade
from support.clock import Clock
from support.server import INSTALLER, running_server

TERM = timedelta(hours=2)
PLACES = 4
SERVICE = timedelta(seconds=10)
AGINGS = (None, timedelta(minutes=2), timedelta(minutes=1), timedelta(seconds=10))
RESERVATIONS = (TERM, timedelta(minutes=10), timedelta(minutes=1), timedelta(0))


@dataclass
class Line:
    """One agent's line, and how long each kind of task has waited in it."""

    db: psycopg.Connection
    clock: Clock
    agent: str
    since: dict[int, tuple[str, datetime]] = field(default_factory=dict)
    running: dict[int, datetime] = field(default_factory=dict)
    waits: dict[str, list[timedelta]] = field(default_factory=dict)

    def put_in(self, kind: str, **task: Any) -> None:
        """Enqueue a task of a kind."""
        tasks = [{"payload": {}, **task}]
        (row,) = submitter.enqueue_many(self.db, agent=self.agent, tasks=tasks)
        self.since[row.task_id] = kind, self.clock.now()

    def serve(self) -> None:
        """Complete what has run for its time, and start what may."""
        now = self.clock.now()
        done = [attempt_id for attempt_id, end in self.running.items() if end <= now]
        agent.complete_many(self.db, attempt_ids=done, results=[{}] * len(done))
        self.running = {key: end for key, end in self.running.items() if end > now}
        for row in worker.dequeue(self.db, worker="w", agents=[self.agent], batch_size=100):
            kind, since = self.since.pop(row.task_id)
            self.waits.setdefault(kind, []).append(now - since)
            self.running[row.attempt_id] = now + SERVICE

    def told(self, kind: str) -> str:
        """Say how many of a kind have started, and what the longest wait was."""
        waits = self.waits.get(kind, [])
        waiting = sum(other == kind for other, _ in self.since.values())
        longest = told(max(waits)) if waits else "all the time"
        return f"{len(waits)} of {len(waits) + waiting} | {longest}"


def told(time: timedelta) -> str:
    """Write a time as a person would."""
    seconds = time.total_seconds()
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


@contextmanager
def database() -> Iterator[tuple[psycopg.Connection, Clock]]:
    """Run a server of its own with the schema in it, and stop the clock there."""
    with running_server() as server:
        with server.superuser() as superuser:
            superuser.execute(f"create database bench owner {INSTALLER}")
        upgrade(server.dsn(INSTALLER, "bench"))
        with server.superuser("bench") as db:
            yield db, Clock.install(db)


def serve_urgent_work(line: Line, aging: timedelta | None) -> None:
    """Let an urgent task come whenever a place is free, and a bulk task every five minutes."""
    operator.register_agent(
        line.db, agent=line.agent, max_concurrent_tasks=PLACES, aging=aging, lease=TERM
    )
    step = SERVICE / PLACES
    for number in range(TERM // step):
        line.put_in("urgent", priority=10)
        if is_time(number * step, timedelta(minutes=5)):
            line.put_in("bulk", priority=-10)
        line.serve()
        line.clock.advance(step)


def serve_small_work(line: Line, reserve_after: timedelta) -> None:
    """Let a small task come whenever it is paid for, and a large one every ten minutes."""
    operator.register_agent(
        line.db, agent=line.agent, max_tpm=60_000, reserve_after=reserve_after, lease=TERM
    )
    step = timedelta(seconds=2)
    for _ in range(24):  # what the full bucket pays for
        line.put_in("small", estimated_tokens=2_000)
    for number in range(TERM // step):
        line.put_in("small", estimated_tokens=2_000)
        if is_time(number * step, timedelta(minutes=10)):
            line.put_in("large", estimated_tokens=40_000, priority=10)
        line.serve()
        line.clock.advance(step)


def is_time(passed: timedelta, every: timedelta) -> bool:
    """Tell whether the rare task is due: in the first half, so that the second can start it."""
    return timedelta(0) < passed < TERM / 2 and passed % every == timedelta(0)


def main() -> None:
    """Print both tables."""
    with database() as (db, clock):
        print("| aging | bulk started | longest wait | urgent started | longest wait |")
        print("|---|---|---|---|---|")
        for aging in AGINGS:
            line = Line(db, clock, f"aging {aging}")
            serve_urgent_work(line, aging)
            name = told(aging) if aging else "none: strict priority"
            print(f"| {name} | {line.told('bulk')} | {line.told('urgent')} |", flush=True)
        print("\n| passed for | large started | longest wait | small started | longest wait |")
        print("|---|---|---|---|---|")
        for after in RESERVATIONS:
            line = Line(db, clock, f"reserve {after}")
            serve_small_work(line, after)
            name = told(after) if after else "nobody passes it"
            print(f"| {name} | {line.told('large')} | {line.told('small')} |", flush=True)


if __name__ == "__main__":
    main()
