"""How often a daemon does what, and how long it waits when there is nothing to do."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

SECOND_LOOK = 0.05  # seconds after a wake-up: a notification that followed it may have been dropped
WAKE_JITTER = 0.01  # seconds at most: daemons that are woken together do not ask together


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between the acts of a daemon, and those that it gives its processes to stop."""

    poll_first: float = 0.5
    poll_longest: float = 5.0
    error_longest: float = 10.0
    sweep: float = 3.0
    observe: float = 5.0
    stop_grace: float = 8.0


class Every:
    """Tell when something is due again, with jitter, so that daemons spread out."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due_at = time.monotonic()

    def is_due(self) -> bool:
        """Return True if it is due, and count from now."""
        if time.monotonic() < self._due_at:
            return False
        self._due_at = time.monotonic() + jittered(self._seconds)
        return True


class BackOff:
    """A wait that doubles from `first` up to `longest` until it is reset."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def next(self) -> float:
        """Return the next wait in seconds, with jitter."""
        wait, self._next = self._next, min(self._next * 2, self._longest)
        return jittered(wait)

    def reset(self) -> None:
        """Begin with the first wait again."""
        self._next = self._first


class Again:
    """When a thing that failed is due again: each time later, from `first` up to `longest`."""

    def __init__(self, first: float, longest: float) -> None:
        self._waits = BackOff(first, longest)
        self._due_at: float | None = None

    def put_off(self) -> None:
        """Note that it failed."""
        self._due_at = time.monotonic() + self._waits.next()

    def is_due(self) -> bool:
        """Return True if it may be tried now."""
        return self._due_at is None or time.monotonic() >= self._due_at

    def has_failed(self) -> bool:
        """Tell whether it has failed before."""
        return self._due_at is not None


def jittered(seconds: float) -> float:
    """Return seconds, a quarter more or less."""
    return seconds * random.uniform(0.75, 1.25)
