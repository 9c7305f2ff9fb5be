"""What can go wrong between a client and the workspace, to be had on demand."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Literal

FaultKind = Literal["status", "lost", "reset", "break", "slow", "hang", "drip"]
Coding = Literal["length", "close", "gzip"]


@dataclass(slots=True)
class Fault:
    """Something that befalls requests whose "METHOD /path" contains a match of `on`.

    status  answers with `status`, `code` and `message`, or as a gateway does with `page` or to
            another `location`, and carries nothing out
    lost    carries the request out and breaks the connection before it answers
    reset   breaks the connection and carries nothing out
    break   breaks the connection after `after` bytes of a body: of the answer to a GET, else of the
            request, which is then not carried out
    slow    waits `seconds`, then carries it out and answers
    hang    carries it out, and answers after `seconds`
    drip    carries it out, and answers with a byte each of `seconds`; where the answer ends tells
            its `coding`: its length, or that the line is closed, with gzip too

    It befalls `times` requests (None: all), after it let `skip` pass. `retry_after` is sent with
    a status.
    """

    kind: FaultKind
    on: str = "."
    status: int = 503
    code: str = "TEMPORARILY_UNAVAILABLE"
    message: str = "The service is not available."
    page: str | None = None
    location: str | None = None
    seconds: float = 1.0
    times: int | None = 1
    skip: int = 0
    after: int = 0
    retry_after: int | None = None
    coding: Coding = "length"


@dataclass(slots=True)
class Faults:
    """The faults to come, in their order; threads share them."""

    _waiting: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> Fault:
        """Have a fault befall what comes; `remove` ends it."""
        with self._lock:
            self._waiting.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """End a fault; one that has ended is left alone."""
        with self._lock:
            self._waiting = [one for one in self._waiting if one is not fault]

    def clear(self) -> None:
        """End every fault."""
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """Return the fault that befalls this request, and count it."""
        with self._lock:
            for fault in self._waiting:
                if not re.search(fault.on, f"{method} {path}"):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                if fault.times is not None:
                    fault.times -= 1
                    if fault.times <= 0:
                        self._waiting.remove(fault)
                return fault
        return None
