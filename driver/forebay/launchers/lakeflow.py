"""Run attempts as runs of Databricks jobs: the one module that starts any."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import BadRequest, NotFound, PermissionDenied

from forebay.databricks.answers import FAILURES, NoAnswer
from forebay.databricks.client import id_of, workspace_client
from forebay.databricks.login import LoginError
from forebay.launchers import (
    CancelFailed,
    JobAway,
    LaunchableAttempt,
    LauncherAway,
    LaunchFailed,
)
from forebay.launchers import lakeflow_answers as answers
from forebay.launchers.lakeflow_answers import Seen
from forebay.logs import EventLog
from forebay.rows import RunToCancel
from forebay.side_by_side import side_by_side

log = EventLog(__name__)

ASKED_ALONE = 3  # runs of one job that are asked one by one; more are looked for in its list
PAGE = 24  # runs: the most that a page of the list holds
MOST_PAGES = 50  # of the list of one job's active runs; what is not found there is asked alone
LONGEST_LISTING = 3.0  # seconds after which no other page of it is asked for
HTTP_SECONDS = 5  # for one answer: a launch whose answer is late is made again, with its token
RETRY_SECONDS = 3  # in which the SDK tries again: the daemon comes back to what has failed then

Answer = TypeVar("Answer")


def _patient_for_a_moment() -> WorkspaceClient:
    return workspace_client(http_seconds=HTTP_SECONDS, retry_seconds=RETRY_SECONDS)


class LakeflowLauncher:
    """Start a run of the agent's job for each attempt, at most `slots` at a time.

    The run is given ids and the launch token, nothing of the task. What is answered to one request
    concerns its job or run alone: the workspace is away when it gives no answer to it, nor to a
    look at anything else. The client is made when it is first needed, and again until that works.
    """

    name = "lakeflow"

    def __init__(
        self, slots: int, make_client: Callable[[], WorkspaceClient] = _patient_for_a_moment
    ) -> None:
        self.slots = slots
        self._make_client = make_client
        self._client: WorkspaceClient | None = None
        self._lock = threading.Lock()  # of the client's making

    @property
    def place(self) -> str:
        """Return which workspace it is: its id, and in another line its address.

        The address was its name for older versions, where the host told no id.
        """
        client = self._workspace()
        try:
            return f"{id_of(client)}\n{client.config.host}"
        except FAILURES as error:
            raise _away(error, said="the workspace's id (DATABRICKS_WORKSPACE_ID)") from error

    def check(self) -> None:
        """Raise LauncherAway unless the workspace answers as it should."""
        try:
            self._send("GET", "/api/2.2/jobs/list", query={"limit": 1})
        except FAILURES as error:
            if not isinstance(error, PermissionDenied) or not answers.is_answer(error):
                raise _away(error) from error

    def launch(self, attempt: LaunchableAttempt | RunToCancel) -> str:
        """Start a run and return its id; the same launch token again gives the same run.

        Queueing is on, so that a job which runs as many as it may takes the run nonetheless.
        """
        job_id = attempt.job_id
        if job_id is None:
            raise LaunchFailed(f'agent "{attempt.agent}" has no job', answers.failed("NO_JOB"))
        asked = {
            "job_id": job_id,
            "job_parameters": {
                "forebay_task_id": str(attempt.task_id),
                "forebay_attempt_id": str(attempt.attempt_id),
                "forebay_launch_token": attempt.launch_token,
            },
            "idempotency_token": attempt.launch_token,
            "queue": {"enabled": True},
        }
        try:
            run = self._reach(
                lambda: answers.about_run(self._send("POST", "/api/2.2/jobs/run-now", body=asked))
            )
        except FAILURES as error:
            raise self._launch_failed(job_id, error) from error
        return str(run["run_id"])

    def cancel(self, run_id: str, job_id: int | None = None) -> None:
        """Ask for the end of a run; one that has ended, is not there or is another job's is not.

        Raises LaunchFailed where it is another job's, else CancelFailed.
        """
        is_seen = False
        try:
            seen = answers.seen_of(self._get_run(run_id), job_id)
            if seen.get("result_state") == "OTHER_JOB":
                raise LaunchFailed(seen["message"], seen)
            is_seen = True
            asked = {"run_id": int(run_id)}
            self._reach(lambda: self._send("POST", "/api/2.2/jobs/runs/cancel", body=asked))
        except FAILURES as error:
            said, is_answer = answers.words(error), answers.is_answer(error)
            has_ended = is_seen and is_answer and isinstance(error, BadRequest)
            if not has_ended and not answers.is_missing(error, "Run", run_id):
                is_forbidden = is_answer and isinstance(error, PermissionDenied)
                raise CancelFailed(said, is_forbidden=is_forbidden) from error
            log.info("run_not_cancelled", run_id=run_id, reason=said)

    def states(self, runs: Mapping[str, int | None]) -> dict[str, Seen]:
        """Return the state of each run: from the lists of their jobs, else asked one by one.

        Raises LauncherAway when nothing was seen of any.
        """
        found: dict[str, Seen] = {}
        crowds = [one for one in _by_job(runs).items() if len(one[1]) > ASKED_ALONE]
        lists = side_by_side(lambda one: self._listed(*one), crowds, end_at=LauncherAway)
        for _, listed in lists:
            found |= listed if isinstance(listed, dict) else {}
        left = [] if _aways(lists) else list(runs.keys() - found.keys())
        random.shuffle(left)  # of many that take long, others come first the next time
        asked = side_by_side(lambda one: self._asked(one, runs[one]), left, end_at=LauncherAway)
        found |= {run_id: seen for run_id, seen in asked if isinstance(seen, dict)}
        if not found and (aways := _aways([*lists, *asked])):
            raise aways[0]
        return found

    def _listed(self, job_id: int, ids: set[str]) -> dict[str, Seen]:
        """Return what the pages of a job's active runs say of these; {} if there is no list."""
        found: dict[str, Seen] = {}
        query: dict[str, Any] = {"job_id": job_id, "active_only": "true", "limit": PAGE}
        give_up_at = time.monotonic() + LONGEST_LISTING
        try:
            for _ in range(MOST_PAGES):
                page = self._reach(
                    lambda: self._send("GET", "/api/2.2/jobs/runs/list", query=query)
                )
                runs = page.get("runs")
                listed = [run for run in runs if isinstance(run, dict)] if runs else []
                by_id = {str(run.get("run_id")): run for run in listed}
                found |= {one: answers.seen_of(by_id[one], job_id) for one in ids & by_id.keys()}
                is_over = len(found) == len(ids) or not page.get("next_page_token")
                if is_over or time.monotonic() > give_up_at:
                    break
                query["page_token"] = page["next_page_token"]
        except FAILURES as error:
            log.warning("runs_not_listed", job_id=job_id, reason=answers.words(error))
        return found

    def _asked(self, run_id: str, job_id: int | None) -> Seen:
        """Return what the workspace says of one run, also that it does not."""
        try:
            return answers.seen_of(self._get_run(run_id), job_id)
        except FAILURES as error:
            log.warning("run_not_seen", run_id=run_id, reason=answers.words(error))
            return answers.not_seen(error, run_id)

    def _launch_failed(self, job_id: int, error: Exception) -> LaunchFailed:
        """Return what to raise for a launch that failed, of a workspace that is there."""
        said = f"job {job_id}: {answers.words(error)}"
        is_missing = self._lacks_job(job_id, error)
        status = "404" if is_missing else answers.result_of(error)
        seen = answers.failed(status, answers.code_of(error), said)
        is_refused = answers.is_answer(error) and not isinstance(error, NotFound)
        return LaunchFailed(said, seen) if is_missing or is_refused else JobAway(said, seen)

    def _lacks_job(self, job_id: int, error: Exception) -> bool:
        """Tell whether a launch was refused because its job is not there: a 400 may mean that.

        So may a 404 that does not say what is not there.
        """
        if not isinstance(error, BadRequest | NotFound) or not answers.is_answer(error):
            return False
        if isinstance(error, NotFound) and answers.is_missing(error, "Job", job_id):
            return True
        try:
            self._reach(lambda: self._workspace().jobs.get(job_id))
        except FAILURES as found:
            return answers.is_missing(found, "Job", job_id)
        return False

    def _get_run(self, run_id: str) -> dict[str, Any]:
        asked = {"run_id": run_id}
        return self._reach(
            lambda: answers.about_run(
                self._send("GET", "/api/2.2/jobs/runs/get", query=asked), run_id
            )
        )

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return an answer as it was sent: the SDK's types drop the words that they do not know.

        Raises NoAnswer where it is no object.
        """
        client = self._workspace()
        headers = {"Accept": "application/json"}
        if workspace_id := client.config.workspace_id:
            headers["X-Databricks-Workspace-Id"] = workspace_id
        answer = client.api_client.do(method, path, query=query, body=body, headers=headers)
        if not isinstance(answer, dict):
            raise NoAnswer("the workspace's answer is no object")
        return answer

    def _reach(self, request: Callable[[], Answer]) -> Answer:
        """Return what a request gives. Raises LauncherAway where nothing else is answered either.

        What it raises otherwise, of FAILURES, concerns this request alone.
        """
        try:
            return request()
        except FAILURES as error:
            if not answers.is_answer(error):
                self._look_for(error)
            raise

    def _look_for(self, error: Exception) -> None:
        """Raise LauncherAway, in the words of the error, unless the workspace answers others."""
        try:
            self.check()
        except LauncherAway:
            raise _away(error) from error

    def _workspace(self) -> WorkspaceClient:
        """Return the client. Raises LauncherAway where there are no credentials."""
        with self._lock:
            if self._client is None:
                try:
                    self._client = self._make_client()
                except LoginError as error:
                    raise _away(error, "401") from error
            return self._client


def _by_job(runs: Mapping[str, int | None]) -> dict[int, set[str]]:
    by_job = sorted(runs.items(), key=lambda one: (one[1] or 0, one[0]))
    return {
        job_id: {run_id for run_id, _ in group}
        for job_id, group in itertools.groupby(by_job, key=lambda one: one[1])
        if job_id is not None
    }


def _aways(outcomes: list[tuple[Any, Any]]) -> list[LauncherAway]:
    return [one for _, one in outcomes if isinstance(one, LauncherAway)]


def _away(
    error: BaseException, otherwise: str = "UNREACHABLE", *, said: str = "the workspace"
) -> LauncherAway:
    """Return what to raise for an error that says nothing about a job or a run."""
    result = answers.result_of(answers.cause_of(error))
    result = result if result in map(str, answers.HELD_UP) else otherwise
    said = f"{said}: {answers.words(error)}"
    code = answers.code_of(answers.cause_of(error))
    return LauncherAway(said, answers.failed(result, code, said))
