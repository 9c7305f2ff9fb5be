"""What a daemon's threads do again and again: every step in its turn, then a wait."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable

import psycopg

from forebay.daemon.pace import SECOND_LOOK, WAKE_JITTER, BackOff, Pace
from forebay.logs import EventLog

log = EventLog(__name__)

Step = Callable[[], int | None]
"""A step returns how much work it found, if that is a reason to look again at once."""


class Turns:
    """Take turns until stopped; a wake-up ends the wait between two of them early."""

    def __init__(self, pace: Pace, stop: threading.Event) -> None:
        self._stop = stop
        self._wake = threading.Event()
        self._poll = BackOff(pace.poll_first, pace.poll_longest)
        self._errors = BackOff(pace.poll_first, pace.error_longest)
        self._looks_again = False

    def wake(self) -> None:
        """Have the next turn begin at once."""
        self._wake.set()

    def wait(self, seconds: float) -> None:
        """Wait for so long, or for what wakes it."""
        self._wake.wait(seconds)
        self._wake.clear()

    def take(self, steps: Iterable[Step]) -> None:
        """Do each step once, whatever became of those before it; then wait for the next turn."""
        found, is_done = 0, True
        for step in steps:
            if not self._stop.is_set():
                try:
                    found += step() or 0
                except Exception as error:
                    is_done = False
                    self._tell(step, error)
        self._rest(self._pause(found, is_done))

    def attempt(self, step: Step) -> None:
        """Do a step once; log what it raises."""
        try:
            step()
        except Exception as error:
            self._tell(step, error)

    def _tell(self, step: Step, error: Exception) -> None:
        if not self._stop.is_set() or not isinstance(error, psycopg.errors.QueryCanceled):
            name = getattr(step, "__name__", "step").strip("_")
            log.error("step_failed", step=name, error=type(error).__name__, reason=str(error))

    def _pause(self, found: int, is_done: bool) -> float:
        """Return how many seconds may pass before the next turn."""
        if not is_done:
            return self._errors.next()
        self._errors.reset()
        if found:
            self._poll.reset()
            return 0
        if self._looks_again:
            self._looks_again = False
            return SECOND_LOOK
        return self._poll.next()

    def _rest(self, seconds: float) -> None:
        """Wait for the time, or for what wakes it.

        What woke it is looked for until nothing is found, and then once more.
        """
        is_woken = self._wake.wait(seconds)
        self._wake.clear()
        self._looks_again |= is_woken
        if is_woken and not self._stop.is_set():
            time.sleep(random.uniform(0, WAKE_JITTER))
