"""Run a handler for one task after the other, each in a thread, and keep what came of it."""

import asyncio
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from forebay import jsonb
from forebay.agent import Result
from forebay.asking import known, wait_to_call
from forebay.failures import Failure
from forebay.leases import Lease
from forebay.rows import CallPermit, ClaimedAttempt
from forebay.traces.mlflow_settings import launch_key


class Notes(Protocol):
    """Keep what handlers say of their attempts, until it is reported; from any thread."""

    def note_progress(self, attempt_id: int, done: int, total: int) -> None: ...

    def note_usage(self, attempt_id: int, call: dict[str, Any]) -> None: ...


class Asking(Protocol):
    """Ask for handlers whether a model call may begin, and whose attempts are; from any thread."""

    def may_call(self, attempt_id: int, **call: Any) -> CallPermit: ...

    def known_attempts(self, **attempts: Any) -> list[str]: ...


class Task:
    """A claimed task as its handler sees it."""

    def __init__(self, claim: ClaimedAttempt, lease: Lease, notes: Notes, asking: Asking) -> None:
        self.task_id = claim.task_id
        self.attempt_id = claim.attempt_id
        self.attempt_no = claim.attempt_no
        self.agent = claim.agent
        self.payload = claim.payload
        self.launch_key = launch_key(claim.launch_token)
        self.priority = claim.priority
        self.batch_id = claim.batch_id
        self.customer = claim.customer
        self.lease = lease
        self.claimed_at = time.monotonic()
        self._notes = notes
        self._asking = asking

    def cancelled(self) -> bool:
        """Tell whether to stop: the task was cancelled, its lease lost, or its time is over."""
        return self.lease.is_over

    def seconds_left(self) -> float:
        """Return how long the task may still run, 0 or less when its time is over."""
        return self.lease.deadline - time.monotonic()

    def progress(self, done: int, total: int) -> None:
        """Say that `done` of `total` steps are finished; it is shown within about a second."""
        self._notes.note_progress(self.attempt_id, done, total)

    def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
        """Say what a model call used, as `report_usage` takes it; it is reported before the result.

        It is kept while the database is away. What is refused is logged: it costs no attempt.
        """
        self._notes.note_usage(attempt_id or self.attempt_id, dict(call))

    def known(self, attempts: Collection[tuple[int, str]]) -> set[str] | None:
        """Return the launch keys of those attempts that are of the same database.

        Each is an attempt's id and its launch key. None while the database is away.
        """
        return known(attempts, self._asking.known_attempts)

    def wait_to_call(
        self, tokens: int, output_tokens: int | None = None, call_id: str | None = None
    ) -> None:
        """Wait until the agent's quotas let a model call of so many tokens in all begin.

        output_tokens is what the answer may take of them; None: what the agent's usually take. Say
        with `usage` under the same call_id what it used as soon as it is over, also when it failed.
        Raises Retry when the task is to stop; the handler lets it through.

        It blocks: a coroutine calls it by `asyncio.to_thread`.
        """
        call = {"tokens": tokens, "output_tokens": output_tokens, "call_id": call_id}
        wait_to_call(self, lambda: self._asking.may_call(self.attempt_id, **call))


@dataclass(frozen=True, slots=True)
class Success:
    """What the handler returned, known to be JSON."""

    result: Any
    confidence: Decimal | None = None
    accepted: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The task was no longer wanted when its turn came."""


Outcome = Success | Failure | NotStarted
Handler = Callable[[Task], Any]


class Crew:
    """A number of threads that run the handler; coroutines share one event loop beside them.

    The threads are daemons: a handler that never returns does not keep the process alive.
    """

    def __init__(self, handler: Handler, size: int, done: Callable[[Task, Outcome], None]) -> None:
        self._handler = handler
        self._done = done
        self._waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._event_loop = asyncio.new_event_loop()
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(size)]
        threads.append(threading.Thread(target=self._event_loop.run_forever, daemon=True))
        self._size = size
        for thread in threads:
            thread.start()

    def submit(self, task: Task) -> None:
        self._waiting.put(task)

    def take_back(self) -> list[Task]:
        """Return the tasks that no thread has begun; they will not be run."""
        taken = []
        while not self._waiting.empty():
            try:
                task = self._waiting.get_nowait()
            except queue.Empty:
                break
            if task is not None:
                taken.append(task)
        return taken

    def dismiss(self) -> None:
        """Let the threads end, each after what it runs now."""
        for _ in range(self._size):
            self._waiting.put(None)
        self._event_loop.call_soon_threadsafe(self._event_loop.stop)

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            self._done(task, self._handle(task))

    def _handle(self, task: Task) -> Outcome:
        if task.cancelled():
            return NotStarted()
        try:
            answer = self._handler(task)
            if inspect.isawaitable(answer):
                running = asyncio.run_coroutine_threadsafe(_coroutine(answer), self._event_loop)
                answer = running.result()
        except BaseException as error:
            return Failure.of(error)
        return _success(answer)


async def _coroutine(answer: Awaitable[Any]) -> Any:
    return await answer


def _success(answer: Any) -> Success | Failure:
    """Return the answer as a result: None is an empty one."""
    given = answer if isinstance(answer, Result) else Result({} if answer is None else answer)
    try:
        jsonb.dump_safe("the result", given.data)
        confidence = None if given.confidence is None else Decimal(str(given.confidence))
    except (ValueError, ArithmeticError) as error:
        return Failure.of_result(error)
    return Success(given.data, confidence, given.accepted)
