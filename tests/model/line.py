"""What one dequeue may claim, worked out from the agents' lines, their room and their levels.

The only thing left open is the order in which agents of equal priority take turns, so the answer is
a list of outcomes, one for each order that matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

NO_LIMIT = 10**9
LOWEST = -32768


@dataclass(frozen=True)
class Waiting:
    """A due task in an agent's line."""

    task_id: int
    place: tuple[int, object, int]  # sorts as the line does
    priority: int
    tokens: int


@dataclass(frozen=True)
class Desk:
    """An agent at the moment of a dequeue: what waits, what may come back, what there is room for.

    slots and requests are None without such a limit. returning has one entry for each attempt that
    has lost its right to its task: the task that goes back in line at once, or None. The best
    priority of all these tasks is expired_priority.
    """

    agent: str
    line: tuple[Waiting, ...]
    returning: tuple[Waiting | None, ...]
    slots: int | None
    requests: Fraction | None
    tokens: Fraction | None
    burst: Fraction | None
    expired_priority: int = LOWEST
    has_ended_expired: bool = False

    @property
    def room(self) -> int:
        """How many claims fit by concurrency and by claims a minute."""
        slots = NO_LIMIT if self.slots is None else self.slots
        requests = NO_LIMIT if self.requests is None else self.requests // 1
        return max(0, min(slots, int(requests)))

    @property
    def priority(self) -> int:
        """The priority of the best that waits, or would once expired leases were looked at."""
        waiting = self.line[0].priority if self.line else LOWEST
        return max(waiting, self.expired_priority) if self.must_take_back else waiting

    @property
    def must_take_back(self) -> bool:
        """Whether expired leases are looked at: only where the agent is full, or nothing waits."""
        return bool(self.returning) and (not self.line or self.room == 0)

    @property
    def can_start(self) -> bool:
        """Whether the agent takes part in a dequeue."""
        return self.must_take_back or bool(self.fitting(1, LOWEST))

    def fitting(self, limit: int, floor: int) -> tuple[Waiting, ...]:
        """Return the longest head of the line that is admitted; nothing overtakes."""
        head = [w for w in self.line if w.priority >= floor][: min(limit, self.room)]
        if self.tokens is None or self.burst is None:
            return tuple(head)
        left, admitted = self.tokens, []
        for waiting in head:
            is_oversize = waiting.tokens > self.burst
            if waiting.tokens > left and not (
                not admitted and is_oversize and self.tokens >= self.burst
            ):
                break
            admitted.append(waiting)
            left -= waiting.tokens
        return tuple(admitted)

    def taken_back(self) -> Desk:
        """Return the desk with its expired leases ended."""
        line = sorted([*self.line, *filter(None, self.returning)], key=lambda w: w.place)
        slots = None if self.slots is None else self.slots + len(self.returning)
        return replace(self, line=tuple(line), returning=(), slots=slots, has_ended_expired=True)

    def claim(self, limit: int, floor: int) -> tuple[tuple[Waiting, ...], Desk]:
        """Admit up to limit tasks of priority floor and above, and pay for them."""
        desk = self.taken_back() if self.must_take_back else self
        got = desk.fitting(limit, floor)
        return got, replace(
            desk,
            line=tuple(w for w in desk.line if w not in got),
            slots=None if desk.slots is None else desk.slots - len(got),
            requests=None if desk.requests is None else desk.requests - len(got),
            tokens=None if desk.tokens is None else desk.tokens - sum(w.tokens for w in got),
        )


@dataclass(frozen=True)
class Outcome:
    """What a dequeue claimed, in order, and the agents whose leases it had to end for it."""

    claimed: tuple[int, ...]
    ended: frozenset[str]


def outcomes(desks: list[Desk], batch_size: int) -> list[Outcome]:
    """Return everything that a dequeue of batch_size may do."""
    states = {desk.agent: desk for desk in desks}
    return list(dict.fromkeys(_rounds(states, frozenset(), batch_size, ())))


def _rounds(
    desks: dict[str, Desk], idle: frozenset[str], left: int, got: tuple[int, ...]
) -> Iterator[Outcome]:
    """Serve the agents of the best priority, then the next, until the batch is full."""
    able = [desk for desk in desks.values() if desk.agent not in idle and desk.can_start]
    if not left or not able:
        ended = frozenset(d.agent for d in desks.values() if d.has_ended_expired)
        yield Outcome(got, ended)
        return

    best = max(desk.priority for desk in able)
    equals = [desk.agent for desk in able if desk.priority == best]
    others = [desk.priority for desk in able if desk.priority < best]
    floor = best if len(equals) > 1 else max(others, default=LOWEST - 1) + 1
    for order in permutations(equals):
        yield from _serve(dict(desks), order, floor, idle, left, got)


def _serve(
    desks: dict[str, Desk],
    order: tuple[str, ...],
    floor: int,
    idle: frozenset[str],
    left: int,
    got: tuple[int, ...],
) -> Iterator[Outcome]:
    """Give each agent of the round its equal share of what is left."""
    for place, agent in enumerate(order):
        if not left:
            break
        claimed, desk = desks[agent].claim(-(-left // (len(order) - place)), floor)
        if claimed:
            desks[agent] = desk
        else:
            idle |= {agent}
        left -= len(claimed)
        got += tuple(w.task_id for w in claimed)
    yield from _rounds(desks, idle, left, got)
