"""What several parts of a page are made of: asked of the database once for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from forebay_apps.live.hub import Hub

T = TypeVar("T")

SECONDS = 1.0  # the parts of a refresh are asked for together; a part calls itself no older than it


@dataclass(slots=True)
class _Kept(Generic[T]):
    lock: Lock = field(default_factory=Lock)  # held while it is asked for
    value: T | None = None
    generation: int | None = None  # of the hub, as it was asked for
    began: float = field(default_factory=time.monotonic)

    def is_fresh(self, generation: int) -> bool:
        return self.generation == generation and time.monotonic() - self.began < SECONDS


class Shared(Generic[T]):
    """Keep the last answer of each key while nothing has changed, for SECONDS at most.

    Safe in any thread: who asks for what is being asked for waits for it.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._kept: dict[Hashable, _Kept[T]] = {}
        self._lock = Lock()

    def get(self, key: Hashable, ask: Callable[[], T]) -> T:
        """Return the key's answer as of its last change, or newer. Raises what `ask` raises."""
        kept = self._place(key)
        with kept.lock:
            if kept.value is None or not kept.is_fresh(self._hub.generation):
                kept.generation, kept.began = self._hub.generation, time.monotonic()
                kept.value = None
                kept.value = ask()
            return kept.value

    def _place(self, key: Hashable) -> _Kept[T]:
        """Return where the key's answer is kept; those that nobody waits for any more go."""
        with self._lock:
            now = time.monotonic()
            for other, kept in list(self._kept.items()):
                if other != key and now - kept.began >= SECONDS and not kept.lock.locked():
                    del self._kept[other]
            return self._kept.setdefault(key, _Kept())
