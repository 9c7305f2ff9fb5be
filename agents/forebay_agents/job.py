"""The task of the Lakeflow job: run one attempt, which its parameters name by ids alone.

`forebay-agent-job --forebay_task_id=1 --forebay_attempt_id=2 --forebay_launch_token=… --run_id=3`.
A parameter in capitals is a setting, such as `--FOREBAY_STORAGE_ROOTS=/Volumes/…`, for tasks that
have no environment of their own; `secret:SCOPE/KEY` stands for what the workspace keeps there.

In this order: the work is fetched, the agent runs and reports each model call, the trace is
flushed, the result is stored, and the report is repeated as a callback.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from forebay import logs
from forebay.calls import agent as calls
from forebay.databricks.secrets import fetched, is_kept
from forebay.errors import (
    AttemptEndedError,
    ConnectError,
    ForebayError,
    MissingSettingError,
    SettingError,
    lacks_right,
)
from forebay.failures import Failure
from forebay.logs import EventLog, first_line
from forebay.pool import Database
from forebay.rows import ClaimedAttempt
from forebay.run_attempt import Outcome, run_attempt
from forebay.running_attempt import AWAY, RunningAttempt, document_of
from forebay.schema import check_compatible
from forebay.settings import DATABASE_URL, text
from forebay.stop_signal import StopSignal
from forebay_agents.tracing import FLUSH_SECONDS, Trace

log = EventLog(__name__)

ENTRY_POINT = "parse_document"
"""What runs for an agent that was registered without an entry point."""

SETTING = re.compile(r"(FOREBAY|MLFLOW|DATABRICKS)_[A-Z0-9_]+")

BEGIN_SECONDS = 120
"""How long the work is asked for while the database is away: it may have to wake up."""

BEGIN_EVERY = 1.0


def main() -> None:
    """Run the attempt; the exit code is 0 once it is reported, or is not wanted any more."""
    stop = StopSignal()
    logs.configure()
    try:
        parameters = take_settings(read_parameters(sys.argv[1:]))
        is_done = run(parameters, stop)
    except (ForebayError, psycopg.Error) as error:
        log.error("job_failed", error=type(error).__name__, reason=first_line(error))
        sys.exit(1)
    sys.stdout.flush()
    if not is_done:
        stop.obey()


def read_parameters(arguments: Sequence[str]) -> dict[str, str]:
    """Return parameters given as --name=value. Raises SettingError for anything else."""
    parameters = {}
    for argument in arguments:
        found = re.fullmatch(r"--(\w+)=(.*)", argument, re.DOTALL)
        if not found:
            raise SettingError(f"A parameter is written --name=value, not {argument[:40]!r}.")
        parameters[found[1]] = found[2]
    return parameters


def take_settings(parameters: Mapping[str, str]) -> dict[str, str]:
    """Put the settings into the environment, which wins, and return the other parameters.

    Raises SettingError for a secret that cannot be read.
    """
    settings = {name: value for name, value in parameters.items() if SETTING.fullmatch(name)}
    missing = {name: value for name, value in settings.items() if not text(os.environ, name)}
    secrets = {name: value for name, value in missing.items() if is_kept(value)}
    os.environ.update((name, missing[name]) for name in missing.keys() - secrets.keys())
    os.environ.update(fetched(secrets))
    return {name: value for name, value in parameters.items() if name not in settings}


def run(parameters: Mapping[str, str], stop: StopSignal) -> bool:
    """Fetch the work and do it; False if it was stopped, and nothing is reported.

    Raises ForebayError where the work is not to be had: UnknownAttemptError, ConnectError and so
    on. An attempt that has ended is nobody's work any more, and is done.
    """
    database = Database(text(os.environ, DATABASE_URL), application_name="forebay job")
    if not database.conninfo:
        raise MissingSettingError(f"{DATABASE_URL} is not set: pass it to the job's task.")
    try:
        work = _begun(database, parameters)
    except AttemptEndedError as error:
        log.info("attempt_ended", reason=first_line(error))
        return True
    trace = Trace(work)
    attempt = TracedAttempt(document_of(work, database), stop, trace)
    try:
        return run_attempt(attempt, lambda outcome: attempt.end_trace(_error_kind(outcome)))
    finally:
        trace.end("not_reported")  # what was paid for is told all the same


class TracedAttempt(RunningAttempt):
    """An attempt whose model calls go into its trace too."""

    def __init__(self, document: Mapping[str, Any], stop: StopSignal, trace: Trace) -> None:
        super().__init__(document, stop.was_received)
        self._trace = trace

    def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
        if attempt_id is not None:  # not of this trace
            super().usage(call, attempt_id)
            return
        trace_id = self._trace.id()
        self._trace.add(call)
        super().usage(call if trace_id is None else {**call, "trace_id": trace_id})

    def end_trace(self, error_kind: str | None) -> None:
        """Have the trace be stored, in half of the time that is left for the report at most."""
        seconds = min(FLUSH_SECONDS, self.seconds_left() / 2)
        self._trace.end(error_kind, max(seconds, 0.0))


def _begun(database: Database, parameters: Mapping[str, str]) -> ClaimedAttempt:
    """Return the work of the attempt, asked for until the database is there."""
    ids = _ids(parameters)
    give_up_at = time.monotonic() + BEGIN_SECONDS
    while True:
        try:
            with database.connect() as connection:
                work = _begin(connection, ids)
                return replace(work, entry_point=work.entry_point or ENTRY_POINT)
        except AWAY as error:
            may_pass = not isinstance(error, ConnectError) or error.is_transient
            if not may_pass or time.monotonic() > give_up_at:
                raise
            log.warning("begin_delayed", reason=first_line(error))
        time.sleep(BEGIN_EVERY)


def _begin(connection: psycopg.Connection[Any], ids: Mapping[str, Any]) -> ClaimedAttempt:
    try:
        return calls.begin_attempt(connection, **ids)
    except psycopg.errors.InsufficientPrivilege as error:
        raise lacks_right("job", error, "forebay_agent") from error
    except (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedFunction):
        check_compatible(connection)
        raise


def _ids(parameters: Mapping[str, str]) -> dict[str, Any]:
    names = ("forebay_attempt_id", "forebay_launch_token")
    missing = [name for name in names if not parameters.get(name)]
    if missing:
        raise SettingError(f"The parameter {missing[0]} is missing: it names the attempt.")
    attempt_id, launch_token = (parameters[name] for name in names)
    if not re.fullmatch("[0-9]{1,18}", attempt_id):
        raise SettingError("The parameter forebay_attempt_id is no number of an attempt.")
    if not launch_token.isascii():
        raise SettingError("The parameter forebay_launch_token is not as it was given.")
    run_id = parameters.get("run_id") or None
    return {"attempt_id": int(attempt_id), "launch_token": launch_token, "run_id": run_id}


def _error_kind(outcome: Outcome) -> str | None:
    return str(outcome.error.get("kind")) if isinstance(outcome, Failure) else None


if __name__ == "__main__":
    main()
