"""SIGTERM as a process that runs an attempt takes it: finish what must be, then end by it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress


class StopSignal:
    """Remember from now on that SIGTERM came.

    Where somebody else's program calls us from another thread than its main one, signals stay its
    own affair, and none is ever seen here.
    """

    def __init__(self) -> None:
        self._received: list[int] = []  # no event: a handler must not take locks
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGTERM, lambda number, _frame: self._received.append(number))

    def was_received(self) -> bool:
        """Tell whether it came."""
        return bool(self._received)

    def obey(self) -> None:
        """End this process as SIGTERM would have."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
