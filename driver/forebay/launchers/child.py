"""The process of one local attempt: `python -m forebay.launchers.child LIFELINE < DOCUMENT`.

LIFELINE is the number of an inherited pipe end, DOCUMENT what `RunningAttempt` is made of.
"""

from __future__ import annotations

import json
import sys

from forebay.lifeline import die_with_parent
from forebay.stop_signal import StopSignal


def main() -> None:
    """Run the agent and report what came of it; end as SIGTERM would if that stopped it."""
    die_with_parent(int(sys.argv[1]))
    stop = StopSignal()
    document = json.load(sys.stdin)

    from forebay import logs
    from forebay.run_attempt import run_attempt
    from forebay.running_attempt import RunningAttempt

    logs.configure()
    is_reported = run_attempt(RunningAttempt(document, stop.was_received))
    sys.stdout.flush()
    if not is_reported:
        stop.obey()


if __name__ == "__main__":
    main()
