"""What one dequeue may claim, worked out from the agents' lines, their room and their levels.

The only thing left open is the order in which agents of equal priority take turns, so the answer is
a list of outcomes, one for each order that matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import permutations

NO_LIMIT = 10**9
LOWEST = -(10**9)
LOOKED_AT = 100  # so many tasks behind those that there is room for


@dataclass(frozen=True)
class Waiting:
    """A due task in an agent's line; its priority has what it gained by waiting."""

    task_id: int
    priority: int
    created_at: datetime
    tokens: int
    waited: timedelta
    customer: str = ""

    @property
    def place(self) -> tuple[int, datetime, int]:
        """Where it stands in line."""
        return -self.priority, self.created_at, self.task_id


@dataclass(frozen=True)
class Turns:
    """How far an agent has served each customer, and what a customer without a count stands at."""

    turn: int = 0
    served: frozenset[tuple[str, int]] = frozenset()

    def count(self, customer: str) -> int:
        """Return where a customer stands: nobody saves up."""
        return max(self.turn, dict(self.served).get(customer, self.turn))

    def order(self, line: tuple[Waiting, ...]) -> tuple[Waiting, ...]:
        """Return a line by priority, then by whose customer has had least once it is its turn."""
        counts: dict[str, int] = {}
        places = {}
        for waiting in sorted(line, key=lambda w: w.place):
            count = counts.get(waiting.customer, self.count(waiting.customer))
            places[waiting.task_id] = (-waiting.priority, count, *waiting.place[1:])
            counts[waiting.customer] = count + max(1, waiting.tokens)
        return tuple(sorted(line, key=lambda w: places[w.task_id]))

    def taken(self, got: tuple[Waiting, ...], line: tuple[Waiting, ...]) -> Turns:
        """Return the turns after some of a line have started."""
        served = dict(self.served)
        for waiting in got:
            served[waiting.customer] = self.count(waiting.customer)
        for waiting in got:
            served[waiting.customer] += max(1, waiting.tokens)
        counted = Turns(self.turn, frozenset(served.items()))
        turn = min(counted.count(w.customer) for w in line)
        if turn > self.turn:
            served = {customer: count for customer, count in served.items() if count > turn}
        return Turns(max(turn, self.turn), frozenset(served.items()))


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
    reserve_after: timedelta
    turns: Turns | None  # of an agent that serves its customers in turns
    expired_priority: int = LOWEST
    has_ended_expired: bool = False

    @property
    def room(self) -> int:
        """How many claims fit by concurrency and by claims a minute."""
        slots = NO_LIMIT if self.slots is None else self.slots
        requests = NO_LIMIT if self.requests is None else self.requests // 1
        return max(0, min(slots, int(requests)))

    @property
    def ordered(self) -> tuple[Waiting, ...]:
        """The line in the order in which it is served."""
        if self.turns:
            return self.turns.order(self.line)
        return tuple(sorted(self.line, key=lambda w: w.place))

    @property
    def priority(self) -> int | None:
        """The priority of the best that may start, or could once expired leases were looked at."""
        if self.must_take_back:
            heads = [w.priority for w in self.ordered[:1]]
            return max([self.expired_priority, *heads])
        return next((w.priority for w in self.fitting(1, LOWEST)), None)

    @property
    def must_take_back(self) -> bool:
        """Whether expired leases are looked at: only where the agent is full, or nothing waits."""
        return bool(self.returning) and (not self.line or self.room == 0)

    def fitting(self, limit: int, floor: int) -> tuple[Waiting, ...]:
        """Return who may start: one that does not fit is passed until it has waited long enough."""
        limit = min(limit, self.room)
        admitted: list[Waiting] = []
        left = self.tokens
        for waiting in [w for w in self.ordered if w.priority >= floor][: limit + LOOKED_AT]:
            if len(admitted) == limit:
                break
            if self._fits(waiting, left, not admitted):
                admitted.append(waiting)
                left = None if left is None else left - waiting.tokens
            elif waiting.waited >= self.reserve_after:
                break
        return tuple(admitted)

    def _fits(self, waiting: Waiting, left: Fraction | None, is_first: bool) -> bool:
        """Whether the bucket pays for a task; one above the burst needs it full, and goes first."""
        if left is None or self.burst is None or waiting.tokens <= left:
            return True
        return is_first and waiting.tokens > self.burst <= left

    def fits_alone(self, waiting: Waiting) -> bool:
        """Whether a task could start if it stood first in line."""
        return self._fits(waiting, self.tokens, True)

    def taken_back(self) -> Desk:
        """Return the desk with its expired leases ended."""
        line = (*self.line, *filter(None, self.returning))
        slots = None if self.slots is None else self.slots + len(self.returning)
        return replace(self, line=line, returning=(), slots=slots, has_ended_expired=True)

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
            turns=desk.turns.taken(got, desk.line) if desk.turns and got else desk.turns,
        )


@dataclass(frozen=True)
class Outcome:
    """What a dequeue claimed, in order, whose expired leases it ended, and the turns after it."""

    claimed: tuple[int, ...]
    ended: frozenset[str]
    turns: frozenset[tuple[str, Turns]]

    def agrees(self, claimed: tuple[int, ...], turns: dict[str, Turns]) -> bool:
        """Tell whether the tasks were claimed in this way, and left these turns behind."""
        return claimed == self.claimed and all(turns[a] == after for a, after in self.turns)


def outcomes(desks: list[Desk], batch_size: int) -> list[Outcome]:
    """Return everything that a dequeue of batch_size may do."""
    states = {desk.agent: desk for desk in desks}
    return list(dict.fromkeys(_rounds(states, frozenset(), batch_size, ())))


def _rounds(
    desks: dict[str, Desk], idle: frozenset[str], left: int, got: tuple[int, ...]
) -> Iterator[Outcome]:
    """Serve the agents of the best priority, then the next, until the batch is full."""
    priorities = {d.agent: d.priority for d in desks.values() if d.agent not in idle}
    able = {agent: p for agent, p in priorities.items() if p is not None}
    if not left or not able:
        yield Outcome(
            got,
            frozenset(d.agent for d in desks.values() if d.has_ended_expired),
            frozenset((d.agent, d.turns) for d in desks.values() if d.turns),
        )
        return

    best = max(able.values())
    equals = [agent for agent, priority in able.items() if priority == best]
    others = [priority for priority in able.values() if priority < best]
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
