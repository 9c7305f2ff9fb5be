"""A worker in a process of its own, for tests that end, stop or kill it.

    python -m support.worker_process DSN AGENT CONCURRENCY GRACE

The payload says what the handler does: {"do": "sleep" | "exit" | "block", "seconds": 1.5}.
"""

import os
import sys
import time
from datetime import timedelta

from forebay import Task, Worker

dsn, agent, concurrency, grace = sys.argv[1:]
worker = Worker(
    dsn,
    agent=agent,
    concurrency=int(concurrency),
    batch_size=3,
    grace=timedelta(seconds=float(grace)),
    poll=timedelta(seconds=0.3),
    sweep_every=timedelta(seconds=0.3),
)


@worker.handler
def handle(task: Task) -> dict[str, bool]:
    """Do what the payload says, and tell whether the task was cancelled meanwhile."""
    seconds = float(task.payload.get("seconds", 0))
    match task.payload.get("do"):
        case "exit":
            os._exit(9)
        case "block":
            time.sleep(seconds)
        case "sleep":
            give_up_at = time.monotonic() + seconds
            while time.monotonic() < give_up_at and not task.cancelled():
                time.sleep(0.02)
    return {"cancelled": task.cancelled()}


print("ready", flush=True)
print("finished", worker.run(), flush=True)
