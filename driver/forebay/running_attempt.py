"""The attempt as its agent sees it, with a line to the database of its own."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

import psycopg

from forebay.asking import known, wait_to_call
from forebay.calls import agent as calls
from forebay.errors import ConnectError, ForebayError
from forebay.launchers import LaunchableAttempt
from forebay.leases import read_clock
from forebay.logs import EventLog, first_line
from forebay.pool import Database
from forebay.traces.mlflow_settings import launch_key

log = EventLog(__name__)

PROGRESS_EVERY = 0.5  # seconds
PROGRESS_PAUSE = 5.0  # seconds without progress reports after one could not be made
AWAY = (psycopg.OperationalError, ConnectError)


def document_of(attempt: LaunchableAttempt, database: Database) -> dict[str, Any]:
    """Return what a `RunningAttempt` is made of, as JSON has it."""
    conninfo = database.conninfo
    return {
        "conninfo": conninfo if isinstance(conninfo, str) else conninfo(),
        "task_id": attempt.task_id,
        "attempt_id": attempt.attempt_id,
        "attempt_no": attempt.attempt_no,
        "agent": attempt.agent,
        "entry_point": attempt.entry_point,
        "payload": attempt.payload,
        "launch_key": launch_key(attempt.launch_token),
        "deadline_at": attempt.deadline_at.isoformat(),
    }


class RunningAttempt:
    """One attempt, made of what its launcher says of it; connected when first needed.

    Agents may call it from several threads.
    """

    def __init__(self, document: Mapping[str, Any], cancelled: Callable[[], bool]) -> None:
        self.task_id: int = document["task_id"]
        self.attempt_id: int = document["attempt_id"]
        self.attempt_no: int = document["attempt_no"]
        self.agent: str = document["agent"]
        self.payload: dict[str, Any] = document["payload"]
        self.entry_point: str = document["entry_point"]
        self.launch_key: str = document.get("launch_key") or uuid4().hex  # of an older daemon
        self._deadline_at = datetime.fromisoformat(document["deadline_at"])
        self._deadline = math.inf  # in time.monotonic(), once the database's clock is known
        self._database = Database(document["conninfo"], application_name="forebay attempt")
        self._cancelled = cancelled
        self._connection: psycopg.Connection[Any] | None = None
        self._no_progress_until = 0.0
        self._unsent: list[tuple[int, dict[str, Any]]] = []  # attempt, call
        self._sending = threading.Lock()  # taken before the other
        self._connecting = threading.Lock()

    def progress(self, done: int, total: int) -> None:
        """Say that `done` of `total` steps are finished: twice a second at most, or not at all."""
        if time.monotonic() < self._no_progress_until and done < total:
            return
        try:
            self.call(calls.report_progress, done=done, total=total)
            pause = PROGRESS_EVERY
        except (psycopg.Error, ForebayError) as error:
            log.warning("progress_not_reported", error=type(error).__name__)
            pause = PROGRESS_PAUSE
        self._no_progress_until = time.monotonic() + pause

    def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
        """Say what a model call used; while the database is away it is kept for later."""
        self._unsent.append((attempt_id or self.attempt_id, dict(call)))
        self.try_to_send_usage()

    def try_to_send_usage(self) -> bool:
        """Report the model calls that are not reported yet; False while the database is away."""
        try:
            self.send_usage()
        except AWAY as error:
            log.warning("usage_delayed", error=type(error).__name__)
            return False
        return True

    def send_usage(self) -> None:
        """Report the model calls that are not reported yet; what is refused is logged.

        Raises what AWAY names while the database is away: what is not reported is kept.
        """
        with self._sending:
            while self._unsent:
                attempt_id, call = self._unsent[0]
                try:
                    calls.report_usage(self.connection(), attempt_id=attempt_id, usage=call)
                except AWAY:
                    raise
                except (psycopg.Error, ForebayError) as error:
                    log.warning("usage_refused", reason=first_line(error))
                del self._unsent[0]

    def known(self, attempts: Collection[tuple[int, str]]) -> set[str] | None:
        """Return the launch keys of those attempts that are of this database; None: it is away."""
        return known(attempts, lambda **them: calls.known_attempts(self.connection(), **them))

    def wait_to_call(
        self, tokens: int, output_tokens: int | None = None, call_id: str | None = None
    ) -> None:
        """Wait until the agent's quotas let a model call begin; raises Retry on a stop."""
        self.try_to_send_usage()
        call = {"tokens": tokens, "output_tokens": output_tokens, "call_id": call_id}
        wait_to_call(self, lambda: self.call(calls.may_call, **call))

    def cancelled(self) -> bool:
        """Tell whether to stop: the task was cancelled, the lease lost, or the daemon stops."""
        return self._cancelled()

    def seconds_left(self) -> float:
        """Return the time until the deadline, on the database's clock; infinite until known."""
        return self._deadline - time.monotonic()

    def call(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """Call a stored function for this attempt, in a transaction of its own."""
        return function(self.connection(), attempt_id=self.attempt_id, **arguments)

    def connection(self) -> psycopg.Connection[Any]:
        """Return the connection, which commits each call; another one after it was lost."""
        with self._connecting:
            if self._connection is None or self._connection.closed:
                self._connection = self._database.connect()
                self._deadline = read_clock(self._connection)(self._deadline_at)
            return self._connection

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
