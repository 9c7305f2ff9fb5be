"""The process of one local attempt: `python -m forebay.launchers.child LIFELINE < DOCUMENT`.

LIFELINE is the number of an inherited pipe end, DOCUMENT what `RunningAttempt` is made of.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys


def main() -> None:
    """Run the agent and report what came of it; end as SIGTERM would if that stopped it."""
    die_with_parent(int(sys.argv[1]))
    stopped: list[int] = []  # no event: a handler must not take locks
    signal.signal(signal.SIGTERM, lambda number, _frame: stopped.append(number))
    document = json.load(sys.stdin)

    from forebay import logs
    from forebay.run_attempt import run_attempt
    from forebay.running_attempt import RunningAttempt

    logs.configure()
    is_reported = run_attempt(RunningAttempt(document, lambda: bool(stopped)))
    sys.stdout.flush()
    if not is_reported:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


def die_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process's group once the other end of the pipe is closed.

    No thread of ours takes part, so that an agent that never lets go of the interpreter dies too,
    and so do the processes that it started. The group must be this process's own.
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


if __name__ == "__main__":
    main()
