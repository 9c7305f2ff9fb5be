"""Jobs that take no run now: what waits for them is in nobody's way, and not forgotten."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from forebay.calls import viewer, worker
from forebay.daemon import dispatch as dispatching
from forebay.daemon.dispatch import Dispatch
from forebay.daemon.runs import Caller, Runs
from forebay.launchers import JobAway, LaunchableAttempt
from forebay.launchers import lakeflow_answers as answers
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay.pool import Database
from forebay.renewal import LeaseKeeper
from forebay.rows import RunToCancel
from forebay_lab.workspace import ApiError, Workspace
from forebay_lab.workspace.jobs import Jobs
from support import daemon as support
from support.daemon import attempts, running, task
from support.lakeflow import JOB, completing, enqueue, quick_launcher, register_job
from support.waiting import until

Db = psycopg.Connection
RUN_NOW = "/api/2.2/jobs/run-now"
REFUSAL = ApiError(429, "REQUEST_LIMIT_EXCEEDED", "Not so fast.")


class TellingCaller(Caller):
    """A caller that counts, by attempt, how often the database was told how a launch failed."""

    def __init__(self, dsn: str) -> None:
        super().__init__(Database(dsn), "hands")
        self.told: Counter[int] = Counter()

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        if function is worker.observe_run:
            self.told[kwargs["attempt_id"]] += 1
        return super().call(function, *args, **kwargs)


@contextmanager
def dispatching_by_hand(
    dsn: str, launcher: LakeflowLauncher
) -> Iterator[tuple[Dispatch, TellingCaller]]:
    """Give the dispatch of a daemon whose turns the test takes."""
    caller = TellingCaller(dsn)
    keeper = LeaseKeeper(Database(dsn), caller.worker)
    runs = Runs(keeper)
    with caller.connected(patience=0):
        yield (
            Dispatch(caller, runs, keeper, runs.drop, threading.Event(), None, launcher),
            caller,
        )
    keeper._disconnect()


def launch_until(dispatch: Dispatch, condition: Callable[[], Any]) -> None:
    """Take turns of launching until the condition is true."""

    def is_true() -> Any:
        dispatch.launch()
        return condition()

    until(is_true, 30)


def tries(workspace: Workspace) -> int:
    return len(workspace.calls("POST", RUN_NOW))


def test_jobs_that_take_no_run_keep_no_other_from_being_claimed(
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> None:
    """However many tasks there are for them: most wait in line, and begin as soon as they may."""
    away = {"fake": JOB, "second": 9}
    for name, job_id in (away | {"other": 8}).items():
        job = jobs.jobs.get(job_id) or jobs.add(name, job_id=job_id)
        job.work = completing(role_dsn("agent"))
        register_job(db, name, job_id=job_id)
    for job_id in away.values():
        jobs.jobs[job_id].refusal = REFUSAL
    ids = [enqueue(db, name) for name in away for _ in range(25)]
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: {one.state for one in viewer.agent_status(db, agents=[*away])} == {"held_up"})
        for _ in range(5):  # between them more could be claimed for the jobs that are away
            support.ended(db, enqueue(db, "other"))
        waiting = [task_id for task_id in ids if task(db, task_id)["status"] == "enqueued"]
        assert len(waiting) >= len(ids) - 2 * launcher.slots
        why = viewer.explain_task(db, task_id=waiting[0])
        assert (why.reason, why.waiting_until) == ("held_up", None)
        assert "Not so fast" in why.explanation
        for job_id in away.values():
            jobs.jobs[job_id].refusal = None
        until(lambda: all(task(db, i)["status"] == "completed" for i in ids), 60)
    assert {(task(db, i)["attempt_count"], task(db, i)["release_count"]) for i in ids} == {(1, 0)}


class OddLauncher(LakeflowLauncher):
    """A launcher that cannot launch one task, whatever becomes of the others of its job."""

    odd: int

    def launch(self, attempt: LaunchableAttempt | RunToCancel) -> str:
        if isinstance(attempt, LaunchableAttempt) and attempt.task_id == self.odd:
            raise JobAway("no", answers.failed("500"))
        return super().launch(attempt)


def test_a_launch_that_fails_by_itself_lets_the_others_of_its_job_pass(
    jobs: Jobs, client: Callable[..., WorkspaceClient], db: Db, daemon_dsn: str
) -> None:
    """Of those that wait another one is tried each time, and others are claimed."""
    register_job(db)
    quick = quick_launcher(client)
    launcher = OddLauncher(quick.slots, quick._make_client)
    launcher.odd = enqueue(db)
    ids = [enqueue(db) for _ in range(3)]
    with dispatching_by_hand(daemon_dsn, launcher) as (dispatch, _):
        assert dispatch.claim() == 4
        launch_until(dispatch, lambda: all(attempts(db, i)[0]["run_id"] for i in ids))
        later = enqueue(db)
        assert dispatch.claim() == 1
        launch_until(dispatch, lambda: attempts(db, later)[0]["run_id"])
    assert attempts(db, launcher.odd)[0]["run_id"] is None


def test_a_job_that_is_away_is_told_when_it_was_tried(
    workspace: Workspace,
    jobs: Jobs,
    client: Callable[..., WorkspaceClient],
    db: Db,
    daemon_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each attempt at first, then the one that was tried; the others again after a while."""
    register_job(db)
    ids = [enqueue(db) for _ in range(10)]
    jobs.jobs[JOB].refusal = REFUSAL
    launcher = quick_launcher(client, retry_seconds=1)
    with dispatching_by_hand(daemon_dsn, launcher) as (dispatch, caller):
        assert dispatch.claim() == 10
        turns = 0
        while not (done := tries(workspace)) >= 3 or turns < 100:
            dispatch.launch()
            turns += 1
        assert set(caller.told) == {attempts(db, i)[0]["attempt_id"] for i in ids}
        assert caller.told.total() <= len(ids) + done
        caller.told.clear()
        monkeypatch.setattr(dispatching, "TOLD_AGAIN", 0.0)
        dispatch.launch()
        assert len(caller.told) == 10
        jobs.jobs[JOB].refusal = None
        launch_until(dispatch, lambda: all(attempts(db, i)[0]["run_id"] for i in ids))


def test_what_may_begin_is_launched_before_jobs_that_took_no_run(
    workspace: Workspace,
    jobs: Jobs,
    client: Callable[..., WorkspaceClient],
    db: Db,
    daemon_dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whose requests take longer than a turn of launching; one of them is made all the same."""
    monkeypatch.setattr(dispatching, "LONGEST_LAUNCHING", 0.1)
    register_job(db)
    register_job(db, "other", job_id=jobs.add("other", job_id=8).job_id)
    jobs.jobs[JOB].refusal = REFUSAL
    for _ in range(3):
        enqueue(db)
    launcher = quick_launcher(client, retry_seconds=10)
    with dispatching_by_hand(daemon_dsn, launcher) as (dispatch, _):
        assert dispatch.claim() == 3
        dispatch.launch()
        other = enqueue(db, "other")
        assert dispatch.claim() == 1
        until(lambda: not dispatch._jobs.is_left_alone(JOB))
        before = tries(workspace)
        dispatch.launch()
        assert attempts(db, other)[0]["run_id"]
        assert tries(workspace) > before + 1
