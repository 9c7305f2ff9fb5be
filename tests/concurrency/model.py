"""What an agent may start, worked out apart from the database, from the design's words alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple


class Waiting(NamedTuple):
    """A task in line; the order of the line is the order of these."""

    descending_priority: int
    created_at: datetime
    task_id: int
    tokens: int
    due_at: datetime


@dataclass
class Bucket:
    """A token bucket that begins full: it refills per_minute, and never holds more than burst."""

    per_minute: int
    burst: Fraction
    at: datetime
    level: Fraction = Fraction()

    def __post_init__(self) -> None:
        self.level = self.burst

    def add(self, amount: Fraction | int, now: datetime) -> None:
        """Refill until now, then charge (a negative amount) or give back."""
        passed = (now - self.at) // timedelta(microseconds=1)
        refilled = self.level + Fraction(passed * self.per_minute, 60_000_000)
        self.level = min(self.burst, min(self.burst, refilled) + amount)
        self.at = now


@dataclass
class AgentModel:
    """One agent: its limits, its line, and what it has running."""

    now: datetime
    max_concurrent_tasks: int | None = None
    max_tpm: int | None = None
    max_rpm: int | None = None
    reserve_after: timedelta = timedelta(seconds=60)
    line: list[Waiting] = field(default_factory=list)
    running: dict[int, Waiting] = field(default_factory=dict)
    expired: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        tpm, rpm = self.max_tpm, self.max_rpm
        self.tokens = Bucket(tpm, Fraction(tpm * 8, 10), self.now) if tpm is not None else None
        self.requests = (
            Bucket(rpm, max(Fraction(1), Fraction(rpm * 8, 10)), self.now)
            if rpm is not None
            else None
        )

    def move(self, now: datetime) -> None:
        """Let time pass."""
        self.now = now
        for bucket in (self.tokens, self.requests):
            if bucket:
                bucket.add(0, now)

    def room(self) -> int:
        """Return how many more may start, tokens aside."""
        rooms = [1_000_000]
        if self.max_concurrent_tasks is not None:
            rooms.append(self.max_concurrent_tasks - len(self.running))
        if self.requests:
            rooms.append(int(self.requests.level // 1))
        return max(0, min(rooms))

    def next_to_start(self) -> Waiting | None:
        """Return the first in line that the bucket admits: it passes those before it that are new.

        One above the burst needs the bucket full.
        """
        for waiting in self.line:
            if not self.tokens:
                return waiting
            need, level, burst = waiting.tokens, self.tokens.level, self.tokens.burst
            if need <= level or (need > burst and level == burst):
                return waiting
            if self.now - waiting.due_at >= self.reserve_after:
                return None
        return None

    def start_all(self) -> list[int]:
        """Start what can be started by any number of calls, and return the task ids in order."""
        started = []
        while True:
            room = self.room()
            if self.expired and (room == 0 or not self.line):
                back = [self.running.pop(task_id) for task_id in self.expired]
                self.line = sorted([*self.line, *(task._replace(due_at=self.now) for task in back)])
                self.expired.clear()
            elif room == 0 or not (waiting := self.next_to_start()):
                return started
            else:
                started.append(self.start(waiting))

    def start(self, waiting: Waiting) -> int:
        """Start a task and pay for it."""
        self.line.remove(waiting)
        self.running[waiting.task_id] = waiting
        if self.tokens:
            self.tokens.add(-waiting.tokens, self.now)
        if self.requests:
            self.requests.add(-1, self.now)
        return waiting.task_id

    def end(self, task_id: int, *, used: int | None, goes_back: bool) -> None:
        """End a task that runs: settle what it used (None: not known), perhaps put it back."""
        ended = self.running.pop(task_id)
        if self.tokens and used is not None:
            self.tokens.add(ended.tokens - used, self.now)
        if goes_back:
            self.line = sorted([*self.line, ended._replace(due_at=self.now)])
