"""Run attempts as runs of Databricks jobs: the one module that starts any."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import (
    BadRequest,
    NotFound,
    PermissionDenied,
)
from databricks.sdk.errors.base import DatabricksError
from databricks.sdk.errors.platform import STATUS_CODE_MAPPING
from databricks.sdk.service.jobs import QueueSettings

from forebay.databricks.client import workspace_client
from forebay.launchers import LaunchableAttempt, LauncherAway, LaunchFailed
from forebay.logs import EventLog

log = EventLog(__name__)

ASKED_ALONE = 3  # runs of one job that are asked one by one; more are looked for in its list
PAGE = 24  # runs: the most that a page of the list holds
MOST_PAGES = 50  # of the list of one job's active runs; what is not found there is asked alone
AWAY = (401, 429, 502, 503, 504)  # statuses that say nothing about a job or a run

Seen = dict[str, Any]


class LakeflowLauncher:
    """Start a run of the agent's job for each attempt, at most `slots` at a time.

    The run is given ids and the launch token, nothing of the task. The client is made when it is
    first needed, and again until that works: a workspace that is away holds up no start. For one
    thread.
    """

    name = "lakeflow"

    def __init__(
        self, slots: int, make_client: Callable[[], WorkspaceClient] = workspace_client
    ) -> None:
        self.slots = slots
        self._make_client = make_client
        self._client: WorkspaceClient | None = None

    def check(self) -> None:
        """Raise LauncherAway unless the workspace answers as it should."""
        try:
            self._get("/api/2.2/jobs/list", limit=1)
        except PermissionDenied:
            pass  # it answers
        except DatabricksError as error:
            raise _away(error) from error

    def launch(self, attempt: LaunchableAttempt) -> str:
        """Start a run and return its id; the same launch token again gives the same run.

        Queueing is on, so that a job which runs as many as it may takes the run nonetheless.
        """
        if attempt.job_id is None:
            raise LaunchFailed(f'agent "{attempt.agent}" has no job', _failed("NO_JOB"))
        try:
            with _reaching():
                waiter = self._workspace().jobs.run_now(
                    attempt.job_id,
                    job_parameters={
                        "forebay_task_id": str(attempt.task_id),
                        "forebay_attempt_id": str(attempt.attempt_id),
                        "forebay_launch_token": attempt.launch_token,
                    },
                    idempotency_token=attempt.launch_token,
                    queue=QueueSettings(enabled=True),
                )
        except DatabricksError as error:
            status = 404 if self._lacks_job(attempt.job_id, error) else status_of(error)
            said = f"job {attempt.job_id}: {_words(error)}"
            raise LaunchFailed(said, _failed(str(status), error.error_code, said)) from error
        return str(waiter.run_id)

    def cancel(self, run_id: str) -> None:
        """Ask for the end of a run; one that has ended or is not there is left alone."""
        try:
            with _reaching():
                self._workspace().jobs.cancel_run(int(run_id))
        except (BadRequest, NotFound) as error:
            log.info("run_not_cancelled", run_id=run_id, reason=_words(error))

    def states(self, runs: Mapping[str, int | None]) -> dict[str, Seen]:
        """Return the state of each run: from the lists of their jobs, else asked one by one."""
        found: dict[str, Seen] = {}
        for job_id, ids in _by_job(runs).items():
            if job_id is not None and len(ids) > ASKED_ALONE:
                found |= self._listed(job_id, ids)
        for run_id in runs.keys() - found.keys():
            found[run_id] = self._asked(run_id)
        return found

    def _listed(self, job_id: int, ids: set[str]) -> dict[str, Seen]:
        """Return what the pages of a job's active runs say of these; {} if there is no list."""
        found: dict[str, Seen] = {}
        token: dict[str, str] = {}
        try:
            for _ in range(MOST_PAGES):
                page = self._get(
                    "/api/2.2/jobs/runs/list",
                    job_id=job_id,
                    active_only="true",
                    limit=PAGE,
                    **token,
                )
                listed = {str(run.get("run_id")): run for run in page.get("runs", [])}
                found |= {run_id: seen_of(listed[run_id]) for run_id in ids & listed.keys()}
                if len(found) == len(ids) or not page.get("next_page_token"):
                    break
                token = {"page_token": page["next_page_token"]}
        except DatabricksError as error:
            log.warning("runs_not_listed", job_id=job_id, reason=_words(error))
        return found

    def _asked(self, run_id: str) -> Seen:
        """Return what the workspace says of one run, also that it does not."""
        try:
            return seen_of(self._get("/api/2.2/jobs/runs/get", run_id=run_id))
        except NotFound as error:
            return {"life_cycle_state": "NOT_FOUND", "message": _words(error)}
        except DatabricksError as error:
            log.warning("run_not_seen", run_id=run_id, reason=_words(error))
            said = _said(str(status_of(error)), error.error_code, _words(error))
            return {"life_cycle_state": "POLL_FAILED"} | said

    def _lacks_job(self, job_id: int, error: DatabricksError) -> bool:
        """Tell whether a launch was refused because its job is not there: a 400 may mean that."""
        if not isinstance(error, BadRequest):
            return False
        try:
            with _reaching():
                self._workspace().jobs.get(job_id)
        except NotFound:
            return True
        except DatabricksError:
            return False
        return False

    def _get(self, path: str, **query: Any) -> dict[str, Any]:
        """Return an answer as it was sent: the SDK's types drop the words that they do not know."""
        with _reaching():
            client = self._workspace()
            headers = {"Accept": "application/json"}
            if workspace_id := client.config.workspace_id:
                headers["X-Databricks-Workspace-Id"] = workspace_id
            answer = client.api_client.do("GET", path, query=query, headers=headers)
        return dict(answer) if isinstance(answer, dict) else {}

    def _workspace(self) -> WorkspaceClient:
        """Return the client. Raises LauncherAway where there are no credentials."""
        if self._client is None:
            try:
                self._client = self._make_client()
            except ValueError as error:
                raise LauncherAway(f"the workspace: {_words(error)}", _failed("401")) from error
        return self._client


def seen_of(run: Mapping[str, Any]) -> Seen:
    """Return what `observe_run` takes, from a run as the Jobs API sends it: its words untouched."""
    state, status = run.get("state") or {}, run.get("status") or {}
    ended, queued = status.get("termination_details") or {}, status.get("queue_details") or {}
    message = (
        state.get("state_message")
        or ended.get("message")
        or queued.get("message")
        or state.get("queue_reason")
    )
    return {
        "life_cycle_state": state.get("life_cycle_state") or status.get("state") or "UNKNOWN",
        "state": state,
        "status": status,
        "run_page_url": run.get("run_page_url"),
    } | _said(state.get("result_state"), ended.get("code"), message)


def status_of(error: DatabricksError) -> int:
    """Return the HTTP status of an SDK error; one that has no class of its own is a gateway's."""
    for status, kind in STATUS_CODE_MAPPING.items():
        if isinstance(error, kind):
            return status
    return 502


def _by_job(runs: Mapping[str, int | None]) -> dict[int | None, set[str]]:
    by_job = sorted(runs.items(), key=lambda one: (one[1] or 0, one[0]))
    return {
        job_id: {run_id for run_id, _ in group}
        for job_id, group in itertools.groupby(by_job, key=lambda one: one[1])
    }


def _said(result: str | None, code: str | None, message: str | None) -> Seen:
    told = {"result_state": result, "termination_code": code, "message": message}
    return {name: word for name, word in told.items() if word}


def _failed(status: str, code: str | None = None, message: str | None = None) -> Seen:
    return {"life_cycle_state": "LAUNCH_FAILED"} | _said(status, code, message)


def _words(error: BaseException) -> str:
    """Return an error's message without the client's settings, which the SDK adds to some."""
    return str(error).split(" Config: ")[0]


def _away(error: BaseException) -> LauncherAway:
    """Return what to raise for an error, with the one behind it: the SDK says how long it tried."""
    cause = error.__cause__ if isinstance(error, TimeoutError) else None
    status = next((str(status_of(e)) for e in (cause, error) if isinstance(e, DatabricksError)), "")
    said = f"the workspace: {_words(error)}" + (f" ({_words(cause)})" if cause else "")
    code = getattr(cause or error, "error_code", None)
    return LauncherAway(said, _failed(status or "UNREACHABLE", code, said))


@contextmanager
def _reaching() -> Iterator[None]:
    """Raise LauncherAway for what says that the workspace cannot be used, for no run at all.

    The SDK raises TimeoutError once it has tried for as long as it may.
    """
    try:
        yield
    except DatabricksError as error:
        if status_of(error) in AWAY:
            raise _away(error) from error
        raise
    except OSError as error:  # TimeoutError is one, and what requests raises
        raise _away(error) from error
