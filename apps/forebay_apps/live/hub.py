"""The hub of a process: what the database's one listener hears, fanned out to every open page."""

import asyncio
import secrets
import threading
import time
from collections import Counter
from contextlib import suppress

from forebay.listen import CHANGES, Listener
from forebay.pool import Database

LEAST_SECONDS = 0.3  # between two hints
SECONDS_A_STREAM = 0.01  # more for every open page: their fetches have to be answered too
PROBE_SECONDS = 10.0  # a listener that hears nothing for so long is tried
BOOT = secrets.token_hex(4)  # versions of two processes do not compare


class Hub:
    """Tell open pages that something changed, and number what they are shown.

    `version` grows with every hint and every snapshot. A snapshot that began before the last hint
    may lack what the hint is about: `generation` says so.
    """

    def __init__(self, database: Database) -> None:
        self.generation = 0
        self.hints = 0  # sent so far
        self.streams_of: Counter[str] = Counter()  # open now, by the name of the person
        self.is_closing = False
        self._version = 0
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last = -LEAST_SECONDS
        self._is_heard = threading.Event()
        self._listener = Listener(
            database,
            self._hear,
            channels=(CHANGES,),
            probe_every=PROBE_SECONDS,
            lost=self._lose,
        )

    @property
    def is_listening(self) -> bool:
        """Tell whether changes are heard at once; without it pages only poll."""
        return self._listener.is_listening

    @property
    def streams(self) -> int:
        """How many are open now."""
        return self.streams_of.total()

    @property
    def version(self) -> str:
        """The version of now, as pages see it."""
        return f"{BOOT}.{self._version}"

    def start(self) -> None:
        """Begin to listen; call it in the loop that serves."""
        self._loop = asyncio.get_running_loop()
        self._listener.start()

    def stop(self) -> None:
        """End every stream and the listener."""
        self.begin_stop()
        self._listener.stop()

    def begin_stop(self) -> None:
        """Have every open stream end at once; safe to call in a signal handler."""
        self.is_closing = True
        self._listener.ask_to_stop()
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def next_version(self) -> str:
        """Return a version that is higher than every other."""
        self._version += 1
        return self.version

    def changed(self) -> None:
        """Say that something changed: snapshots made so far are old now, and pages are told soon.

        For the loop's thread; `_hear` is for others.
        """
        self.generation += 1
        self._hint()

    def changed_elsewhere(self) -> None:
        """Say the same from any thread."""
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.changed)

    async def wait(self, seconds: float) -> None:
        """Return at the next hint, when the listener is lost, at the end, or after the seconds."""
        changed = self._changed
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await changed.wait()

    def _hear(self) -> None:
        """Note a notification, in the listener's thread; many make one hint."""
        if not self._is_heard.is_set() and self._loop:
            self._is_heard.set()
            self._loop.call_soon_threadsafe(self._hint)

    def _lose(self) -> None:
        """Have every open stream say at once that nobody listens, in the listener's thread."""
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _hint(self) -> None:
        if self._timer is None:
            pause = max(LEAST_SECONDS, self.streams * SECONDS_A_STREAM)
            wait = self._last + pause - time.monotonic()
            assert self._loop
            self._timer = self._loop.call_later(max(0.0, wait), self._send)

    def _send(self) -> None:
        self._timer = None
        self._last = time.monotonic()
        self._is_heard.clear()
        self.generation += 1
        self.hints += 1
        self._version += 1
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
