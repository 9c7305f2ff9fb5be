"""Run attempts as processes on this machine, by the names of entry points."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from forebay.errors import ForebayError
from forebay.launchers import LaunchableAttempt, LaunchRefused
from forebay.launchers.process import AttemptProcess
from forebay.pool import Database
from forebay.running_attempt import document_of

ENTRY_POINTS = "forebay.agents"
MAX_LOG_BYTES = 10 * 1024 * 1024
LOG_DAYS = 14
CANCEL_GRACE = 0.5  # seconds from SIGTERM to SIGKILL when the work is no longer wanted


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: exit_code is minus the signal's number if by one.

    was_asked says that somebody told it to stop: the daemon, or whoever sent it SIGTERM.
    """

    exit_code: int
    was_asked: bool
    log_path: Path

    def error(self) -> dict[str, Any]:
        """Return it as the error of an attempt that nobody reported."""
        if self.exit_code < 0:
            name = signal.Signals(-self.exit_code).name
            how = {"signal": name}
            message = f"the agent's process was ended by {name} before it reported"
            kind = "infrastructure"
        else:
            how = {"exit_code": str(self.exit_code)}
            message = f"the agent's process ended with code {self.exit_code} before it reported"
            kind = "agent_bug"
        return {"kind": kind, "message": message, "log": str(self.log_path), **how}


class LocalLauncher:
    """Give each attempt a process of its own, at most `slots` at a time.

    The process reports over a connection of its own to `database`. `slots` None means one a
    processor. `on_end` is called, from another thread, when a process has ended.
    Its output goes to `attempt-ID.log` in `log_dir`, 10 MiB at most; a launcher that starts
    removes what is older than 14 days. A run id is the machine's name, the process id and the
    attempt. Linux only.
    """

    name = "local"

    def __init__(self, database: Database, log_dir: Path, slots: int | None = None) -> None:
        self.slots = (os.cpu_count() or 1) if slots is None else slots
        self.on_end: Callable[[], None] = lambda: None
        self._database = database
        self._log_dir = log_dir
        self._host = socket.gethostname()
        self._known = _entry_point_names()
        self._processes: dict[str, AttemptProcess] = {}  # by run id
        self._run_ids: dict[str, str] = {}  # by launch token
        _check(log_dir)
        _remove_old_logs(log_dir)

    def launch(self, attempt: LaunchableAttempt) -> str:
        """Start the attempt's process and return its run id; the same token gives the same run."""
        if run_id := self._run_ids.get(attempt.launch_token):
            return run_id
        self._check_entry_point(attempt)
        log_path = self._log_dir / f"attempt-{attempt.attempt_id}.log"
        document = json.dumps(document_of(attempt, self._database)).encode()
        try:
            process = AttemptProcess(document, log_path, MAX_LOG_BYTES, lambda: self.on_end())
        except (OSError, RuntimeError) as error:
            raise LaunchRefused(f"this machine could not start a process: {error}") from error
        run_id = f"{self._host}/{process.pid}/{attempt.attempt_id}"
        self._processes[run_id] = process
        self._run_ids[attempt.launch_token] = run_id
        return run_id

    def cancel(self, run_id: str, grace: float = CANCEL_GRACE) -> None:
        """End a process: SIGTERM now, SIGKILL `grace` seconds later."""
        if process := self._processes.get(run_id):
            process.end(grace)

    def exits(self) -> Mapping[str, Exit]:
        """Return how each process ended that has ended and was not forgotten yet, by run id."""
        return {
            run_id: Exit(
                code, process.was_asked_to_end or code == -signal.SIGTERM, process.log_path
            )
            for run_id, process in self._processes.items()
            if (code := process.exit_code) is not None
        }

    def forget(self, run_id: str) -> None:
        """Drop an ended process, once what it means was reported."""
        del self._processes[run_id]
        self._run_ids = {token: run for token, run in self._run_ids.items() if run != run_id}

    def _check_entry_point(self, attempt: LaunchableAttempt) -> None:
        if attempt.entry_point not in self._known:
            self._known = _entry_point_names()  # a package may have been installed since
        if attempt.entry_point not in self._known:
            raise LaunchRefused(
                f'agent "{attempt.agent}" wants the entry point "{attempt.entry_point}", which is'
                f' not in the group "{ENTRY_POINTS}" on {self._host}: install the package that has'
                f" it, or register the agent with one of {', '.join(sorted(self._known)) or 'none'}"
            )


def _check(log_dir: Path) -> None:
    if not hasattr(os, "pidfd_open") or not hasattr(fcntl, "F_SETSIG"):
        raise ForebayError("The local launcher runs on Linux only: use pull workers elsewhere.")
    try:
        log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ForebayError(
            f"Agents' output cannot be kept in {log_dir} ({error.strerror}): pass another folder."
        ) from error


def _remove_old_logs(log_dir: Path) -> None:
    oldest = time.time() - timedelta(days=LOG_DAYS).total_seconds()
    for log in log_dir.glob("attempt-*.log"):
        with suppress(OSError):  # another launcher's, or removed by one
            if log.stat().st_mtime < oldest:
                log.unlink()


def _entry_point_names() -> frozenset[str]:
    return frozenset(entry_points(group=ENTRY_POINTS).names)
