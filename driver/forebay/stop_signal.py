"""SIGTERM as a process that runs an attempt takes it: finish what must be finished, then end by it."""

from __future__ import annotations

import os
import signal


class StopSignal:
    """Remember from now on that SIGTERM came."""

    def __init__(self) -> None:
        self._received: list[int] = []  # no event: a handler must not take locks
        signal.signal(signal.SIGTERM, lambda number, _frame: self._received.append(number))

    def was_received(self) -> bool:
        """Tell whether it came."""
        return bool(self._received)

    def obey(self) -> None:
        """End this process as SIGTERM would have."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
