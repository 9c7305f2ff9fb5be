"""The pull worker: run a function of this process for every task of an agent.

    worker = Worker("postgresql://…", agent="classify", concurrency=4)

    @worker.handler
    def classify(task: Task) -> dict[str, Any]:
        return {"kind": guess(task.payload["text"])}

    worker.run()

The login needs the roles forebay_worker and forebay_agent.
"""

import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from os import getpid
from typing import TypeVar

from forebay.pool import Database
from forebay.settings import Settings
from forebay.worker.handling import Handler, Task
from forebay.worker.loop import Terms, WorkLoop

__all__ = ["Task", "Worker"]

PATIENCE = 30.0  # seconds to wait at the start for a database that is not up yet

H = TypeVar("H", bound=Handler)


class Worker:
    """Claim tasks of one agent and run the handler for each, up to `concurrency` at a time.

    batch_size is how many tasks each of them may have in hand: 1 claims only what starts at once,
    more saves round trips when the handler is quick. `dsn` may be a function, for credentials that
    rotate; None asks the settings: FOREBAY_DATABASE_URL, or the running embedded server. At SIGTERM
    or SIGINT, or `stop()`, running handlers get `grace` to end; a second signal ends the grace.
    """

    def __init__(
        self,
        dsn: str | Callable[[], str] | None = None,
        *,
        agent: str,
        concurrency: int = 4,
        batch_size: int = 1,
        grace: timedelta = timedelta(seconds=30),
        poll: timedelta = timedelta(seconds=1),
        sweep_every: timedelta = timedelta(seconds=5),
    ) -> None:
        if concurrency < 1 or batch_size < 1 or concurrency * batch_size > 10_000:
            raise ValueError(
                "concurrency and batch_size must be at least 1, and their product at most 10,000"
            )
        self._database = Database(
            dsn or Settings.read().database_url, application_name=f"forebay worker {agent}"[:63]
        )
        self._terms = Terms(
            name=f"{socket.gethostname()}:{getpid()}:{secrets.token_hex(4)}",
            agent=agent,
            concurrency=concurrency,
            batch_size=batch_size,
            grace=grace.total_seconds(),
            poll=poll.total_seconds(),
            sweep_every=sweep_every.total_seconds(),
        )
        self._handler: Handler | None = None
        self._loop: WorkLoop | None = None

    @property
    def name(self) -> str:
        """Return the name that this worker claims under: host, process and a random part."""
        return self._terms.name

    def handler(self, function: H) -> H:
        """Register what runs for each task: it gets a Task and returns the result, a JSON object.

        It may be a coroutine function, and return a `Result` with a confidence. What it raises
        fails the attempt: `Reject` for good, `Retry` and anything else to be tried again.
        """
        self._handler = function
        return function

    def run(self, *, until_empty: bool = False) -> int:
        """Work until told to stop, or until nothing can start; return how many tasks it finished.

        A task is finished when it completed or failed for good, not when it waits for a retry. That
        nothing can start may pass: a pause ends, a quota or a cap has room again.
        Raises ConnectError, SchemaError, UnknownAgentError, InstallationClosedError, RefusedError
        when it cannot begin; later it logs what goes wrong and goes on.
        """
        if self._handler is None:
            raise RuntimeError("No handler: decorate a function with @worker.handler first.")
        with self._database.open_pool(max_size=2, patience=PATIENCE) as pool:
            self._loop = WorkLoop(self._terms, self._handler, self._database, pool)
            with self._signals():
                return self._loop.run(until_empty)

    def stop(self) -> None:
        """Ask `run` to end as SIGTERM does; from any thread."""
        if self._loop is not None:
            self._loop.ask_to_stop()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT; only the main thread can be told of signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = [signal.signal(number, self._on_signal) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

    def _on_signal(self, *_: object) -> None:
        # In a thread, since the interrupted code may hold the lock of the event that stop() sets.
        threading.Thread(target=self.stop).start()
