"""Three ways not to ask a provider for too much: none, a known one, and Forebay's.

Each is a way to run the calls of one task. The first two are what Forebay is compared with: they
try a refused call again when the provider says so, and go on with the task.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.context import SpawnContext

from forebay.agent import Retry
from forebay.worker import Task
from forebay_lab.drills.quota.client import ModelClient, Refused
from forebay_lab.drills.quota.measure import label
from forebay_lab.drills.quota.workload import Call

LOOK_AGAIN = 0.02
"""Seconds after which a task that does not fit looks again."""


class Stop:
    """When the drill is over, for all its processes: no lock, so that none can hold up another."""

    def __init__(self, context: SpawnContext) -> None:
        self._is_set = context.RawValue("b", 0)

    def set(self) -> None:
        self._is_set.value = 1

    def is_set(self) -> bool:
        return bool(self._is_set.value)

    def check(self) -> None:
        """Give the task back when the drill is over."""
        if self.is_set():
            raise Retry("the drill is over")


class Gate:
    """The known design: tasks in work share the budget, each with its estimate, first come first.

    It is the sum over the rows of tasks in work, kept as a number that all dispatchers share
    under one lock. A task that is larger than the budget goes alone.
    """

    def __init__(self, context: SpawnContext, budget: int) -> None:
        self._budget = budget
        self._first = context.Lock()
        self._sum = context.Value("q", 0)

    @contextmanager
    def admitted(self, estimate: int, stop: Stop) -> Iterator[None]:
        """Wait until the task fits, and count it while the block runs."""
        with self._first:
            while not self._take(estimate):
                stop.check()
                time.sleep(LOOK_AGAIN)
        try:
            yield
        finally:
            with self._sum.get_lock():
                self._sum.value -= estimate

    def _take(self, estimate: int) -> bool:
        with self._sum.get_lock():
            fits = self._sum.value == 0 or self._sum.value + estimate <= self._budget
            if fits:
                self._sum.value += estimate
            return bool(fits)


def run_bold(task: Task, calls: Sequence[Call], client: ModelClient, stop: Stop) -> None:
    """Make the calls without asking anybody; a refused one waits as the provider says."""
    for call in calls:
        while not _is_made(task, call, client, stop):
            pass


def _is_made(task: Task, call: Call, client: ModelClient, stop: Stop) -> bool:
    stop.check()
    try:
        client.call(_label(task), call)
    except Refused as refused:
        time.sleep(refused.retry_after)
        return False
    return True


def run_asking(task: Task, calls: Sequence[Call], client: ModelClient, stop: Stop) -> None:
    """Ask Forebay before each call, and say what it used; a refused one gives the task back."""
    for number, call in enumerate(calls):
        stop.check()
        call_id = f"{task.attempt_id}.{number}"
        task.wait_to_call(
            call.input_tokens + call.max_output_tokens, call.max_output_tokens, call_id
        )
        stop.check()
        try:
            client.call(_label(task), call)
        except Refused as refused:
            after = timedelta(seconds=refused.retry_after)
            raise Retry("refused by the provider", after, "rate_limited") from refused
        task.usage(
            {
                "call_id": call_id,
                "input_tokens": call.input_tokens,
                "output_tokens": call.output_tokens,
            }
        )


def _label(task: Task) -> str:
    return label(task.payload["number"], task.attempt_no)
