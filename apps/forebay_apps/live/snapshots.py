"""Answers that many pages share: made one at a time, used again until something changed."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256

from forebay_apps.live.hub import Hub

REUSE_SECONDS = 5.0  # at most; so those who poll at different times come to poll together
PATIENCE_SECONDS = 4.0  # then an older answer is given, if there is one
GIVE_UP_SECONDS = 30.0  # longer than any statement: the line is dead, and the next one may work
AT_ONCE = 8  # being made; further ones wait without a thread or a connection
KEPT = 500
KEPT_BYTES = 64 * 1024**2
KEPT_SECONDS = 60.0  # so long an answer may stand in for one that takes too long
LOOK_EVERY = 10.0  # seconds between two looks at what is too old for that
AGO = re.compile(rb"(?<=>)[^<]*(?=</time>)")


class Slow(Exception):
    """The database has not answered in time; the call may still be going on."""


@dataclass(frozen=True)
class Snapshot:
    """What was found at one moment, and the version that this moment has."""

    body: bytes
    version: str
    generation: int
    as_of: datetime
    began: float  # on the monotonic clock

    @property
    def age(self) -> float:
        """How many seconds ago the database was asked."""
        return time.monotonic() - self.began

    @cached_property
    def tag(self) -> str:
        """What tag_of says of the body."""
        return tag_of(self.body)


def tag_of(body: bytes) -> str:
    """Return the same for the same content; how long ago something was, pages count themselves."""
    return f'"{sha256(AGO.sub(b"", body)).hexdigest()[:20]}"'


class Flight:
    """One answer that is being made, or waits until the one before it is."""

    generation: int | None = None  # None: it has not asked yet
    task: asyncio.Task[Snapshot]


class Snapshots:
    """Keep the last answer of each key, within bounds. Not for other threads than the loop's."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._kept: OrderedDict[Hashable, Snapshot] = OrderedDict()
        self._bytes = 0  # of the kept
        self._timer: asyncio.TimerHandle | None = None
        self._flights: dict[Hashable, Flight] = {}
        self._room = asyncio.Semaphore(AT_ONCE)

    async def answer(self, key: Hashable, make: Callable[[], Awaitable[bytes]]) -> Snapshot:
        """Return the key's answer as of its last change, or newer.

        However many ask, one is made at a time and at most one more waits for its turn. Raises what
        `make` raises, and Slow when it takes too long and there is no older answer.
        """
        kept = self._kept.get(key)
        if kept and kept.generation == self._hub.generation and kept.age < REUSE_SECONDS:
            return kept
        flight = self._flights.get(key)
        if flight is None or flight.generation not in (None, self._hub.generation):
            flight = self._started(key, make, flight)
        done, _ = await asyncio.wait({flight.task}, timeout=PATIENCE_SECONDS)
        if done:
            return flight.task.result()
        older = self._kept.get(key)
        if older and older.age < KEPT_SECONDS:
            return older
        raise Slow

    def _started(
        self, key: Hashable, make: Callable[[], Awaitable[bytes]], before: Flight | None
    ) -> Flight:
        flight = Flight()
        flight.task = asyncio.create_task(self._fly(key, make, flight, before))
        flight.task.add_done_callback(_noticed)
        self._flights[key] = flight
        return flight

    async def _fly(
        self,
        key: Hashable,
        make: Callable[[], Awaitable[bytes]],
        flight: Flight,
        before: Flight | None,
    ) -> Snapshot:
        if before:
            await asyncio.wait({before.task})
        try:
            async with self._room:
                flight.generation = self._hub.generation
                version, as_of = self._hub.next_version(), datetime.now(UTC)
                began = time.monotonic()
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    body = await make()
                made = Snapshot(body, version, flight.generation, as_of, began)
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]
        self._keep(key, made)
        return made

    def _keep(self, key: Hashable, made: Snapshot) -> None:
        self._drop(key)
        self._kept[key] = made
        self._bytes += len(made.body)
        while len(self._kept) > KEPT or self._bytes > KEPT_BYTES:
            self._drop(next(iter(self._kept)))
        if self._timer is None:
            self._tidy()

    def _drop(self, key: Hashable) -> None:
        if dropped := self._kept.pop(key, None):
            self._bytes -= len(dropped.body)

    def _tidy(self) -> None:
        """Drop what is too old to be given, and look again as long as anything is kept."""
        for key in [key for key, kept in self._kept.items() if kept.age >= KEPT_SECONDS]:
            self._drop(key)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(LOOK_EVERY, self._tidy) if self._kept else None


def _noticed(task: asyncio.Task[Snapshot]) -> None:
    """Look at a failure that nobody waited for, so that it is not reported as forgotten."""
    if not task.cancelled():
        task.exception()
