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
from forebay_apps.web.errors import Slow

REUSE_SECONDS = 5.0  # at most; so those who poll at different times come to poll together
PATIENCE_SECONDS = 4.0  # then an older answer is given, if there is one
GIVE_UP_SECONDS = 30.0  # longer than any statement: the line is dead, and the next one may work
AT_ONCE = 8  # being made; further ones wait without a thread or a connection
KEPT = 500
AGO = re.compile(rb"(?<=>)[^<]*(?=</time>)")


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
        """The same for the same content; how long ago something was, pages count themselves."""
        return f'"{sha256(AGO.sub(b"", self.body)).hexdigest()[:20]}"'


class Flight:
    """One answer that is being made, or waits until the one before it is."""

    generation: int | None = None  # None: it has not asked yet
    task: asyncio.Task[Snapshot]


class Snapshots:
    """Keep the last answer of each key. Not for other threads than the loop's."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._kept: OrderedDict[Hashable, Snapshot] = OrderedDict()
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
        if older := self._kept.get(key):
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
        self._kept[key] = made
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)


def _noticed(task: asyncio.Task[Snapshot]) -> None:
    """Look at a failure that nobody waited for, so that it is not reported as forgotten."""
    if not task.cancelled():
        task.exception()
