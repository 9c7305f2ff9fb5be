"""One dispatcher of a drill: a process with a pull worker."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.synchronize import Barrier

from forebay.worker import Task, Worker
from forebay_lab.drills.quota.cells import Throttle
from forebay_lab.drills.quota.client import ModelClient
from forebay_lab.drills.quota.scale import Scale
from forebay_lab.drills.quota.throttles import Gate, Stop, run_asking, run_bold
from forebay_lab.drills.quota.workload import Call

POLL = 1.0
"""Model seconds between two looks for work."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a dispatcher is told at its start."""

    dsn: str
    base_url: str
    agent: str
    throttle: Throttle
    slots: int
    scale: Scale
    gate: Gate
    ready: Barrier
    stop: Stop


def main(order: Order) -> None:
    """Work for the agent until SIGTERM; the calls that are made then are finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the drill, which stops us
    client = ModelClient(order.base_url, order.scale, order.slots)
    worker = Worker(
        order.dsn,
        agent=order.agent,
        concurrency=order.slots,
        poll=timedelta(seconds=order.scale.real(POLL)),
        grace=timedelta(seconds=order.scale.minute),
    )

    @worker.handler
    def run(task: Task) -> None:
        calls = [Call(*call) for call in task.payload["calls"]]
        if order.throttle == "forebay":
            run_asking(task, calls, client, order.stop)
        elif order.throttle == "sum":
            with order.gate.admitted(task.payload["estimate"], order.stop):
                run_bold(task, calls, client, order.stop)
        else:
            run_bold(task, calls, client, order.stop)

    order.ready.wait()
    worker.run()
