"""Jobs and their runs as the workspace keeps them: started, queued, advanced, cancelled."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from forebay_lab.workspace.routing import ApiError, Area, Request
from forebay_lab.workspace.runs import USES_ROOM, JobRun, Work
from forebay_lab.workspace.server import Workspace

LONGEST_TOKEN = 64
CREATOR = "ada@example.com"


@dataclass(slots=True, eq=False)
class Job:
    """A job. Without `work` a run is RUNNING for `run_seconds`; None: until somebody ends it.

    `refusal` is what whoever wants to run it is answered, in place of a run.
    """

    job_id: int
    name: str
    max_concurrent_runs: int = 1000
    is_queueing: bool = True
    work: Work | None = None
    pending_seconds: float = 0.0
    run_seconds: float | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    refusal: ApiError | None = None


class JobStore(Area):
    """The jobs of a workspace; `runs` holds every run that was ever started, by its id.

    `instead` holds what is answered in place of the truth, by the last word of the path and the id
    of the job (run-now, list) or run (get, cancel) that it asks about: called if it can be, raised
    if it is an ApiError.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.RLock()
        self._ids = itertools.count(101)
        self.jobs: dict[int, Job] = {}
        self.runs: dict[int, JobRun] = {}
        self.deleted: set[int] = set()
        self.instead: dict[tuple[str, int], Any] = {}
        self._tokens: dict[tuple[int, str], int] = {}

    def add(self, name: str, *, job_id: int | None = None, **options: Any) -> Job:
        """Create a job; `options` are the fields of `Job`."""
        with self._lock:
            job = Job(job_id or next(self._ids), name, **options)
            self.jobs[job.job_id] = job
        return job

    def remove(self, job_id: int) -> None:
        """Delete a job; its runs stay."""
        with self._lock:
            del self.jobs[job_id]

    def put(
        self,
        run_id: int | str,
        life_cycle_state: str,
        result_state: str | None = None,
        code: str | None = None,
        message: str = "",
    ) -> None:
        """Have a run be in this state from now on."""
        with self._lock:
            run = self.runs[int(run_id)]
            run.put(life_cycle_state, result_state, code, message, self._workspace.now())
            self._advance()

    def end(self, run_id: int | str, result_state: str = "SUCCESS", **how: Any) -> None:
        """End a run, TERMINATED with this result."""
        self.put(run_id, "TERMINATED", result_state, **how)

    def of_token(self, token: str) -> list[JobRun]:
        """Return the runs that were started with a token, or for a launch token of ours."""
        with self._lock:
            return [
                run
                for run in self.runs.values()
                if token in (run.token, run.parameters.get("forebay_launch_token"))
            ]

    def _say_instead(self, word: str, number: Any) -> Any:
        """Return what is to be answered in place of the truth, None for nothing; may raise it."""
        said = self.instead.get((word, int(number or 0)))
        if callable(said):
            said = said()
        if isinstance(said, ApiError):
            raise said
        return said

    # Parts; each needs the lock

    def _job(self, job_id: Any) -> Job:
        job = self.jobs.get(int(job_id or 0))
        if job is None:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Job {job_id} does not exist.")
        return job

    def _shown(self, job: Job) -> dict[str, Any]:
        parameters = [{"name": name, "default": value} for name, value in job.parameters.items()]
        settings = {
            "name": job.name,
            "description": "Simulated: there is no Databricks behind it.",
            "max_concurrent_runs": job.max_concurrent_runs,
            "queue": {"enabled": job.is_queueing},
            "parameters": parameters,
        }
        run_as = next(iter((job.settings.get("run_as") or {"user_name": CREATOR}).values()))
        return {
            "job_id": job.job_id,
            "creator_user_name": CREATOR,
            "run_as_user_name": run_as,
            "settings": settings | job.settings,
        }

    def _run(self, request: Request, level: str, word: str, *, is_task: bool = False) -> JobRun:
        asked = request.query.get("run_id") or request.json().get("run_id")
        self._advance()
        by_id = {run.task_run_id: run for run in self.runs.values()} if is_task else self.runs
        run = by_id.get(int(asked or 0))
        if run is None or run.run_id in self.deleted:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Run {asked} does not exist.")
        self._require(request, run.job_id, level, word)
        return run

    def _may(self, request: Request, job_id: int, level: str) -> bool:
        return self._workspace.access.may(request.principal, f"jobs/{job_id}", level)

    def _require(self, request: Request, job_id: int, level: str, word: str) -> None:
        if not self._may(request, job_id, level):
            assert request.principal is not None
            raise ApiError(
                403,
                "PERMISSION_DENIED",
                f"{request.principal.name} does not have {word} permissions on job {job_id}.",
            )

    def _matching(self, request: Request, query: Mapping[str, str]) -> Iterator[JobRun]:
        """Give the runs that `runs/list` asks for, the latest first."""
        start_from = int(query.get("start_time_from", 0))
        start_to = int(query.get("start_time_to", 1 << 62))
        for run in reversed(self.runs.values()):
            if run.run_id in self.deleted or not self._may(request, run.job_id, "CAN_VIEW"):
                continue
            if query.get("job_id", str(run.job_id)) != str(run.job_id):
                continue
            if query.get("active_only") == "true" and run.has_ended:
                continue
            if query.get("completed_only") == "true" and not run.has_ended:
                continue
            if start_from <= int(1000 * run.created_at) <= start_to:
                yield run

    def _known(self, job: Job, token: str | None) -> JobRun | None:
        """Return the run of an idempotency token. Raises ApiError for one that was deleted."""
        if not token:
            return None
        if len(token) > LONGEST_TOKEN:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "idempotency_token is too long.")
        run_id = self._tokens.get((job.job_id, token))
        if run_id in self.deleted:
            raise ApiError(
                400,
                "INVALID_PARAMETER_VALUE",
                f"The idempotency token was used by run {run_id}, which was deleted.",
            )
        return self.runs[run_id] if run_id else None

    def _start(
        self, request: Request, job: Job, body: Mapping[str, Any], token: str | None
    ) -> JobRun:
        parameters = body.get("job_parameters") or {}
        if not all(isinstance(value, str) for value in parameters.values()):
            raise ApiError(400, "MALFORMED_REQUEST", "job_parameters must be strings.")
        assert request.principal is not None
        number = len(self._of(job)) + 1
        run = JobRun(
            run_id=1000 + len(self.runs) + 1,
            job_id=job.job_id,
            number=number,
            parameters=dict(parameters),
            defaults=dict(job.parameters),
            token=token,
            who=request.principal.name,
            created_at=self._workspace.now(),
        )
        is_queueing = bool((body.get("queue") or {}).get("enabled", job.is_queueing))
        if not is_queueing and not self._has_room(job):
            said = f"Skipped: job {job.job_id} runs as many as it may."
            run.put("SKIPPED", None, "MAX_CONCURRENT_RUNS_EXCEEDED", said, run.created_at)
        self.runs[run.run_id] = run
        if token:
            self._tokens[job.job_id, token] = run.run_id
        return run

    def _of(self, job: Job) -> list[JobRun]:
        return [run for run in self.runs.values() if run.job_id == job.job_id]

    def _has_room(self, job: Job) -> bool:
        busy = sum(run.life_cycle_state in USES_ROOM for run in self._of(job))
        return busy < job.max_concurrent_runs

    def _advance(self) -> None:
        """Move on what moves by itself: time passes, and room becomes free."""
        now = self._workspace.now()
        for run in self.runs.values():
            job = self.jobs.get(run.job_id)
            if job is None or run.has_ended:
                continue
            if run.life_cycle_state == "QUEUED" and self._has_room(job):
                run.put("PENDING", None, None, "", now)
                if job.work:
                    threading.Thread(target=self._work, args=(job, run), daemon=True).start()
            if job.work is None:
                self._pass(job, run, now)

    def _pass(self, job: Job, run: JobRun, now: float) -> None:
        """Have time pass for a run that works nothing."""
        if run.life_cycle_state == "PENDING" and now >= run.created_at + job.pending_seconds:
            run.put("RUNNING", None, None, "", now)
        over = job.run_seconds is not None and now >= run.started_at + job.run_seconds
        if run.life_cycle_state == "RUNNING" and over:
            run.put("TERMINATED", "SUCCESS", None, "", now)

    def _work(self, job: Job, run: JobRun) -> None:
        """Do a run's work, in a thread of its own."""
        assert job.work is not None
        if not run.is_cancelled.wait(job.pending_seconds):
            with self._lock:
                run.put("RUNNING", None, None, "", self._workspace.now())
            try:
                job.work(run)
                result, said = "SUCCESS", ""
            except Exception as error:
                result, said = "FAILED", str(error)
        if run.is_cancelled.is_set():
            result, said = "CANCELED", "Run cancelled."
        with self._lock:
            run.put("TERMINATED", result, None, said, self._workspace.now())
            self._advance()

    def _cancel(self, run: JobRun) -> None:
        if run.has_ended:
            return
        job = self.jobs.get(run.job_id)
        was_working = run.life_cycle_state != "QUEUED" and job is not None and job.work
        run.is_cancelled.set()
        if was_working:
            run.put("TERMINATING", None, None, "", self._workspace.now())
        else:
            run.put("TERMINATED", "CANCELED", None, "Run cancelled.", self._workspace.now())
        self._advance()

    def wait(self, run_id: int | str, seconds: float = 10.0) -> JobRun:
        """Wait until a run that works has ended, and return it. Raises TimeoutError."""
        give_up_at = time.monotonic() + seconds
        while not (run := self.runs[int(run_id)]).has_ended:
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"run {run_id} is {run.life_cycle_state}")
            time.sleep(0.02)
        return run
