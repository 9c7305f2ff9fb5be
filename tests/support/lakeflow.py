"""A workspace with jobs, launchers for it that lose no time, and daemons that die at any step."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from databricks.sdk import WorkspaceClient
from databricks.sdk.clock import RealClock

from forebay.calls import agent, operator, submitter, viewer
from forebay.calls._call import StoredFunction
from forebay.daemon.dispatch import Dispatch
from forebay.daemon.external import ExternalRuns, adopt
from forebay.daemon.runs import Caller, Run, Runs
from forebay.launchers import LaunchableAttempt
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay.pool import Database
from forebay.renewal import LeaseKeeper
from forebay.rows import ClaimedAttempt, RunToCancel
from forebay_lab.workspace import Workspace
from forebay_lab.workspace.jobs import Job, JobRun, Jobs
from support.daemon import attempts
from support.waiting import PATIENCE, until

Db = psycopg.Connection
MakeClient = Callable[..., WorkspaceClient]

JOB = 7


class QuickClock(RealClock):
    """Time in which the SDK waits a twentieth of what it means to between its tries."""

    def time(self) -> float:
        return time.time() * 20

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / 20)


def add_jobs(workspace: Workspace, **options: Any) -> tuple[Jobs, Job]:
    """Serve the Jobs API, with one job of which the id is JOB."""
    jobs = Jobs(workspace)
    workspace.add(jobs)
    return jobs, jobs.add("parse", job_id=JOB, **options)


def quick_launcher(client: MakeClient, **options: Any) -> LakeflowLauncher:
    """Return a launcher of 10 slots that tries for a second where it would for twenty."""
    given = {"clock": QuickClock(), "http_seconds": 1, "retry_seconds": 20}
    return LakeflowLauncher(10, lambda: client(**given | options))


def forget_tokens(launcher: LakeflowLauncher) -> None:
    """Have a launcher leave out the idempotency token."""
    api = launcher._workspace().api_client
    do = api.do

    def without(*asked: Any, body: Any = None, **options: Any) -> Any:
        kept = body and {name: one for name, one in body.items() if name != "idempotency_token"}
        return do(*asked, body=kept, **options)

    api.do = without  # type: ignore[method-assign]


def an_attempt(number: int = 1, *, job_id: int | None = JOB) -> ClaimedAttempt:
    """Return an attempt with ids and a token of this number."""
    return ClaimedAttempt(
        task_id=number,
        attempt_id=100 + number,
        attempt_no=1,
        agent="fake",
        launcher="lakeflow",
        job_id=job_id,
        entry_point=None,
        payload={"document": "secret.pdf"},
        priority=0,
        batch_id=None,
        customer="somebody",
        estimated_tokens=1,
        launch_token=f"fb-{number}",
        lease_expires_at=datetime.now(UTC),
        deadline_at=datetime.now(UTC),
    )


def register_job(db: Db, name: str = "fake", **definition: Any) -> None:
    """Register an agent whose attempts are runs of JOB."""
    operator.register_agent(
        db, agent=name, **{"launcher": "lakeflow", "job_id": JOB, "max_attempts": 3} | definition
    )


def enqueue(db: Db, name: str = "fake") -> int:
    return submitter.enqueue(db, agent=name, payload={"document": "a.pdf"})


def completing(
    dsn: str, seconds: float = 0.0, *, tells_run: bool = True
) -> Callable[[JobRun], None]:
    """Return work that fetches its attempt, takes so long, and completes it."""

    def work(run: JobRun) -> None:
        attempt_id = int(run.parameters["forebay_attempt_id"])
        token = run.parameters["forebay_launch_token"]
        run_id = str(run.run_id) if tells_run else None
        with psycopg.connect(dsn, autocommit=True) as db:
            agent.begin_attempt(db, attempt_id=attempt_id, launch_token=token, run_id=run_id)
            if not run.is_cancelled.wait(seconds):
                agent.complete(db, attempt_id=attempt_id, result={"run": run.run_id})

    return work


class Killed(BaseException):
    """The end of a daemon, at the point where it is raised."""


@dataclass
class Fate:
    """At which step a daemon dies, if it comes by it; None: at none."""

    step: str | None = None

    def meet(self, step: str) -> None:
        if step == self.step:
            raise Killed(step)


class MortalCaller(Caller):
    """A caller that may die before and after each call of a stored function."""

    fate: Fate

    def call(self, function: StoredFunction[Any, Any], *args: Any, **kwargs: Any) -> Any:
        self.fate.meet(f"before {function.__name__}")
        answer = super().call(function, *args, **kwargs)
        self.fate.meet(f"after {function.__name__}")
        return answer

    def call_cancellably(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        self.fate.meet(f"before {function.__name__}")
        answer = super().call_cancellably(function, *args, **kwargs)
        self.fate.meet(f"after {function.__name__}")
        return answer


@dataclass
class MortalLauncher:
    """A launcher whose daemon may die before and after each of its requests."""

    inner: LakeflowLauncher
    fate: Fate
    name: str = "lakeflow"
    slots: int = 10

    @property
    def place(self) -> str:
        return self.inner.place

    def check(self) -> None:
        self.inner.check()

    def launch(self, attempt: LaunchableAttempt | RunToCancel) -> str:
        self.fate.meet("before run_now")
        run_id = self.inner.launch(attempt)
        self.fate.meet("after run_now")
        return run_id

    def cancel(self, run_id: str, job_id: int | None) -> None:
        self.fate.meet("before cancel_run")
        self.inner.cancel(run_id, job_id)
        self.fate.meet("after cancel_run")

    def states(self, runs: Mapping[str, int | None]) -> dict[str, dict[str, Any]]:
        return self.inner.states(runs)


class Life:
    """A daemon's steps for Lakeflow, taken in its order and without its threads."""

    def __init__(self, caller: MortalCaller, launcher: LakeflowLauncher, dsn: str) -> None:
        self._caller = caller
        self._launcher = launcher
        self._database = Database(dsn)

    def live(self, fate: Fate, turns: int = 2) -> bool:
        """Take so many turns; return False if it died before the last one was over."""
        self._caller.fate = fate
        self._caller.worker = f"life-{random.getrandbits(60)}"
        launcher = MortalLauncher(self._launcher, fate)
        keeper = LeaseKeeper(self._database, self._caller.worker)
        runs = Runs(keeper)

        def over(run: Run) -> None:
            if run.is_recorded:
                runs.drop(run)

        def launch() -> None:
            dispatch.launch()
            if outside.make_way():
                dispatch.launch()

        dispatch = Dispatch(self._caller, runs, keeper, over, threading.Event(), None, launcher)
        outside = ExternalRuns(self._caller, runs, launcher)
        try:
            for _ in range(turns):
                adopt(self._caller, runs, [launcher])
                dispatch.record()
                outside.observe()
                launch()
                outside.cancel()
                if dispatch.claim():
                    launch()
        except Killed:
            return False
        finally:
            keeper._disconnect()  # what the kernel does for a process that dies
        return True


@contextmanager
def lives(dsn: str, launcher: LakeflowLauncher) -> Iterator[Life]:
    """Give the lives of one daemon after the other, with connections that they share."""
    caller = MortalCaller(Database(dsn), "nobody")
    with caller.connected(patience=0):
        yield Life(caller, launcher, dsn)


def lose_leases(superuser: Db) -> None:
    """Have every lease run out now, as when a daemon has been dead for a while."""
    superuser.execute(
        "update forebay.task_attempts set lease_expires_at = clock_timestamp() - interval '1 s'"
        " where finished_at is null"
    )


def short_grace(superuser: Db, grace: timedelta) -> None:
    """Let so much time pass after the end of a run before it counts as lost without a report."""
    superuser.execute("update forebay.installation set report_grace = %s", [grace])


def by_token(jobs: Jobs) -> dict[str, list[int]]:
    """Return the runs that were paid for, by the launch token of our attempt."""
    found: dict[str, list[int]] = {}
    for run in jobs.runs.values():
        found.setdefault(run.parameters["forebay_launch_token"], []).append(run.run_id)
    return found


def run_of(db: Db, task_id: int, seconds: float = PATIENCE) -> str:
    """Wait until the task's latest attempt has a run, and return it."""

    def run_id() -> Any:
        rows = attempts(db, task_id)
        return rows and rows[-1]["run_id"]

    return str(until(run_id, seconds))


def launcher_faults(db: Db) -> list[dict[str, Any]]:
    """Return what health says of launchers that dispatchers cannot use."""
    return [fault for one in viewer.health(db).dispatchers for fault in one["faults"]]
