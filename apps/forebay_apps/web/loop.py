"""Work that an app does beside its pages, again and again, in a thread of its own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

from forebay.logs import EventLog, first_line

log = EventLog(__name__)

JOIN_SECONDS = 1.0


class Loop(ABC):
    """Call `step` until it is stopped: `every` seconds after its end, or after an error sooner or
    later. A part of an app."""

    name: str
    every: float
    after_an_error: float

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    @abstractmethod
    def step(self) -> object:
        """Do what there is to do now, and end early once `is_stopping`; its answer is ignored."""

    @property
    def is_stopping(self) -> bool:
        """Whether the app is to end."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin with the first step."""
        self._thread.start()

    def begin_stop(self) -> None:
        """Ask it to end."""
        self._stop.set()

    def stop(self) -> None:
        """Ask it to end, and wait a moment for that; what it is in the middle of is cut off."""
        self.begin_stop()
        self._thread.join(JOIN_SECONDS)

    def _run(self) -> None:
        while not self.is_stopping:
            pause = self.every
            try:
                self.step()
            except Exception as error:
                reason = first_line(error)
                log.error("step_failed", part=self.name, error=type(error).__name__, reason=reason)
                pause = self.after_an_error
            self._stop.wait(pause)
