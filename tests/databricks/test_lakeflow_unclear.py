"""Launches whose first answer was lost and whose next one is no: what runs is ended, or kept."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from forebay.calls import operator, viewer, worker
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import ApiError, Fault, Workspace
from forebay_lab.workspace.jobs import Jobs
from support.daemon import attempts, running
from support.lakeflow import JOB, by_token, enqueue, lose_leases, register_job, run_of
from support.waiting import until

Db = psycopg.Connection
NOT_ALLOWED = ApiError(403, "PERMISSION_DENIED", "User does not have Manage Run permission")
NOT_SO = ApiError(400, "INVALID_PARAMETER_VALUE", "The job's parameters are wrong")


def alive(jobs: Jobs) -> list[str]:
    return [str(run.run_id) for run in list(jobs.runs.values()) if not run.has_ended]


def goes_on_with_one_run(jobs: Jobs, db: Db, task_id: int) -> None:
    """See the refused attempt end, then, once launches are taken again, one run live."""
    ended = until(lambda: attempts(db, task_id)[0]["finished_at"] and attempts(db, task_id)[0], 30)
    assert ended["compute_usd"] is None
    assert ended["is_stop_pending"] or not alive(jobs)  # one whose id is known may be over by now
    jobs.jobs[JOB].refusal = None
    operator.resume_agent(db, agent="fake")
    until(lambda: len(attempts(db, task_id)) == 2, 30)
    latest = run_of(db, task_id, 30)
    assert alive(jobs) == [latest]
    assert [len(runs) for runs in by_token(jobs).values()] == [1, 1]
    assert not attempts(db, task_id)[0]["is_stop_pending"]


@pytest.mark.parametrize("refusal", [NOT_ALLOWED, NOT_SO], ids=["403", "400"])
@pytest.mark.parametrize("is_known", [False, True], ids=["unknown", "known"])
def test_a_run_whose_launch_is_refused_the_next_time_is_ended_before_another_begins(
    refusal: ApiError,
    is_known: bool,
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """Also where the run has told its id itself."""
    register_job(db)
    lost = workspace.faults.add(Fault("lost", on="POST .*run-now", times=None))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: jobs.runs and attempts(db, task_id)[0]["run_state"], 30)
        if is_known:
            (run_id,) = jobs.runs
            attempt_id = attempts(db, task_id)[0]["attempt_id"]
            worker.record_run(superuser, attempt_id=attempt_id, run_id=str(run_id))
        jobs.jobs[JOB].refusal = refusal
        workspace.faults.remove(lost)
        goes_on_with_one_run(jobs, db, task_id)


def test_so_it_is_after_the_death_of_the_daemon_that_launched_it(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, superuser: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    register_job(db)
    task_id = enqueue(db)
    (claim,) = worker.dequeue(superuser, worker="dead", agents=["fake"], launchers=["lakeflow"])
    launcher.launch(claim)
    lose_leases(superuser)
    jobs.jobs[JOB].refusal = NOT_ALLOWED
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        goes_on_with_one_run(jobs, db, task_id)


def test_the_run_of_a_cancelled_attempt_is_looked_for_until_its_token_is_answered(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, superuser: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """A launch of the next attempt waits for that, and its agent is paused meanwhile."""
    register_job(db)
    task_id = enqueue(db)
    (claim,) = worker.dequeue(superuser, worker="dead", agents=["fake"], launchers=["lakeflow"])
    run_id = launcher.launch(claim)
    operator.cancel(db, task_ids=[task_id])
    operator.retry(db, task_ids=[task_id])
    jobs.jobs[JOB].refusal = NOT_ALLOWED
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: viewer.agent_status(db, agents=["fake"])[0].state == "paused", 30)
        assert alive(jobs) == [run_id]
        jobs.jobs[JOB].refusal = None
        operator.resume_agent(db, agent="fake")
        until(lambda: len(attempts(db, task_id)) == 3, 30)
        latest = run_of(db, task_id, 30)
    assert alive(jobs) == [latest]
    assert attempts(db, task_id)[0]["run_id"] == run_id


def test_a_launch_that_is_refused_at_once_has_no_run(
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    register_job(db)
    jobs.jobs[JOB].refusal = NOT_ALLOWED
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        ended = until(
            lambda: (
                attempts(db, task_id)
                and attempts(db, task_id)[0]["finished_at"]
                and attempts(db, task_id)[0]
            ),
            30,
        )
    assert (ended["is_stop_pending"], ended["compute_usd"]) == (False, 0)
    assert len(workspace.calls("POST", "/api/2.2/jobs/run-now")) == 1
