"""Tie a process's life to its parent's: the kernel ends it, however the parent died."""

from __future__ import annotations

import fcntl
import os
import select
import signal


def die_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process's group once the other end of the pipe is closed.

    No thread of ours takes part, so that code that never lets go of the interpreter dies too, and
    so do the processes that it started. The group must be this process's own.
    """
    os.set_inheritable(lifeline, False)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)
    closed_before = select.poll()
    closed_before.register(lifeline, 0)
    if closed_before.poll(0):
        os.killpg(0, signal.SIGKILL)
