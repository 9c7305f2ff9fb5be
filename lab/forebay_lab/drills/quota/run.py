"""Run one cell: a model server, an agent, dispatchers, and tasks that arrive."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from datetime import timedelta
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import psycopg

from forebay.calls import operator, submitter
from forebay.pool import Database
from forebay_lab.drills.quota import dispatcher
from forebay_lab.drills.quota.cells import CONCURRENT_CALLS, MAX_TASKS, SLOTS, Cell, Plan
from forebay_lab.drills.quota.dispatcher import Order
from forebay_lab.drills.quota.measure import Limits, Measures, measure, read
from forebay_lab.drills.quota.throttles import Gate, Stop
from forebay_lab.drills.quota.workload import BUDGET, Task, tasks

FEED_EVERY = 0.05
"""Seconds between two looks for tasks that arrive."""

RESERVE_AFTER = 60.0
"""Model seconds after which nobody passes a task that does not fit."""

PATIENCE = 60.0
"""Real seconds for a process to start or to end."""


class DrillFailed(Exception):
    """A part of the drill died, so that there is nothing to measure."""


def run_cell(
    dsn: str, cell: Cell, plan: Plan, agent: str, log: Path, stop: threading.Event
) -> Measures:
    """Run a cell on a database that has the schema; agent is a name that is new there.

    Raises DrillFailed, also when `stop` is set before the end.
    """
    period = plan.scale.minute
    is_ours = cell.throttle == "forebay"
    limits = Limits(BUDGET, period, CONCURRENT_CALLS, MAX_TASKS if is_ours else CONCURRENT_CALLS)
    work = tasks(plan.seed, cell.largest, cell.bias, plan.minutes)
    arrivals: dict[int, float] = {}
    with Database(dsn).connect() as conn, _model_server(cell, limits, log) as url:
        _register(conn, cell, limits, agent, plan)
        with _dispatchers(dsn, url, cell, plan, agent) as check:
            began = time.monotonic()
            until = began + plan.scale.real(60 * plan.minutes)
            while time.monotonic() < until:
                check()
                if stop.wait(FEED_EVERY):
                    raise DrillFailed("The drill was stopped.")
                now = plan.scale.model(time.monotonic() - began)
                _send(conn, agent, [task for task in work if task.arrives_at <= now], arrivals)
    return measure(read(log), limits, arrivals, until)


@contextmanager
def _model_server(cell: Cell, limits: Limits, log: Path) -> Iterator[str]:
    """Run the simulated provider and give its base URL."""
    enforced = (
        f"tokens/{limits.period}s={limits.tokens}:{cell.provider}",
        f"concurrent_calls={limits.concurrent_calls}",
    )
    options = [option for limit in enforced for option in ("--limit", limit)]
    command = [sys.executable, "-m", "forebay_lab.model_server", "--port", "0", "--log", str(log)]
    server = subprocess.Popen(command + options, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        name, _, url = server.stdout.readline().strip().partition("=")
        if name != "FOREBAY_MODEL_BASE_URL":
            raise DrillFailed("The model server did not start; what it said stands above.")
        yield url
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _register(
    conn: psycopg.Connection[Any], cell: Cell, limits: Limits, agent: str, plan: Plan
) -> None:
    """Register the cell's agent, and for Forebay a quota that says what the provider enforces."""
    is_ours = cell.throttle == "forebay"
    if is_ours:
        tokens = {
            "unit": "tokens",
            "per": f"{limits.period} seconds",
            "amount": limits.tokens,
            "kind": cell.provider,
        }
        calls = {"unit": "concurrent_calls", "amount": limits.concurrent_calls}
        operator.register_quota(conn, quota=agent, limits=[tokens, calls])
    operator.register_agent(
        conn,
        agent=agent,
        max_concurrent_tasks=limits.max_tasks,
        reserve_after=timedelta(seconds=plan.scale.real(RESERVE_AFTER)),
        quotas=[agent] if is_ours else [],
        reason="forebay drill",
    )


@contextmanager
def _dispatchers(
    dsn: str, url: str, cell: Cell, plan: Plan, agent: str
) -> Iterator[Callable[[], None]]:
    """Run the dispatchers during the block; gives what raises DrillFailed once one has died."""
    context = multiprocessing.get_context("spawn")
    order = Order(
        dsn=dsn,
        base_url=url,
        agent=agent,
        throttle=cell.throttle,
        slots=SLOTS // cell.dispatchers,
        scale=plan.scale,
        gate=Gate(context, BUDGET),
        ready=context.Barrier(cell.dispatchers + 1),
        stop=Stop(context),
    )
    processes = [
        context.Process(target=dispatcher.main, args=(order,), daemon=True)
        for _ in range(cell.dispatchers)
    ]

    def check() -> None:
        if any(process.exitcode is not None for process in processes):
            raise DrillFailed("A dispatcher died; what it said stands above.")

    for process in processes:
        process.start()
    try:
        order.ready.wait(PATIENCE)
        yield check
    finally:
        order.stop.set()
        _end(processes)


def _end(processes: Sequence[SpawnProcess]) -> None:
    """Let the dispatchers finish the calls that they are in, and end those that do not."""
    give_up = time.monotonic() + PATIENCE
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(max(0.0, give_up - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _send(
    conn: psycopg.Connection[Any], agent: str, due: Sequence[Task], arrivals: dict[int, float]
) -> None:
    """Send the tasks that were not sent yet, and note when that was."""
    new = [task for task in due if task.number not in arrivals]
    if new:
        submitter.enqueue_many(conn, agent=agent, tasks=[_as_sent(task) for task in new])
        arrivals |= dict.fromkeys((task.number for task in new), time.monotonic())


def _as_sent(task: Task) -> dict[str, Any]:
    calls = [astuple(call) for call in task.calls]
    payload = {"number": task.number, "estimate": task.estimate, "calls": calls}
    return {"payload": payload, "estimated_tokens": task.estimate}
