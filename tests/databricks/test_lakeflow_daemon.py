"""The daemon with Lakeflow runs: what it sees of them, and what follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from forebay.calls import operator, viewer
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.jobs import Jobs
from support import daemon as support
from support.daemon import attempts, running, task
from support.lakeflow import (
    JOB,
    completing,
    enqueue,
    quick_launcher,
    register_job,
    run_of,
    short_grace,
)
from support.waiting import until

Db = psycopg.Connection
Client = Callable[..., WorkspaceClient]

LONG_AFTER = datetime(2999, 1, 1, tzinfo=UTC)
LOOKS = "GET /api/2.2/jobs/runs"


# What a run that ended means


@pytest.mark.parametrize(
    ("how", "attempt_status", "spent"),
    [
        ({"result_state": "SUCCESS"}, "lost", 1),
        ({"result_state": "FAILED"}, "lost", 1),
        ({"result_state": "CANCELED"}, "lost", 1),
        ({"life_cycle_state": "INTERNAL_ERROR", "code": "CLUSTER_ERROR"}, "lost", 1),
        (
            {"life_cycle_state": "INTERNAL_ERROR", "code": "WORKSPACE_RUN_LIMIT_EXCEEDED"},
            "released",
            0,
        ),
        ({"life_cycle_state": "SKIPPED"}, "released", 0),
        ({"result_state": "FAILED", "code": "CLUSTER_REQUEST_LIMIT_EXCEEDED"}, "released", 0),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else str(value),
)
def test_a_run_that_ended_without_a_report_is_noticed(
    how: dict[str, str],
    attempt_status: str,
    spent: int,
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """By the next look, and it is retried: what never started spends no attempt."""
    short_grace(superuser, timedelta(seconds=0.2))
    register_job(db)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_id = run_of(db, task_id)
        operator.pause_agent(db, agent="fake", until=LONG_AFTER)  # one attempt is enough here
        jobs.put(run_id, **{"life_cycle_state": "TERMINATED"} | how)
        workspace.faults.add(Fault("status", on=LOOKS, skip=1, times=None))
        until(lambda: attempts(db, task_id)[0]["status"] == attempt_status, 30)
    row = task(db, task_id)
    assert (row["status"], row["attempt_count"]) == ("enqueued", spent)
    assert row["release_count"] == 1 - spent


def test_a_report_within_the_grace_is_taken(
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> None:
    """A run that is seen to have ended may still report: nothing is started again meanwhile."""
    register_job(db)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run = jobs.runs[int(run_of(db, task_id))]
        jobs.end(run.run_id)
        until(lambda: attempts(db, task_id)[0]["run_ended_at"])
        completing(role_dsn("agent"))(run)
        assert support.ended(db, task_id)["status"] == "completed"
    assert len(jobs.runs) == 1


def test_an_unknown_state_renews_until_the_deadline(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """What no row names keeps the lease; after the deadline its run is cancelled, and retried."""
    register_job(db, lease=timedelta(seconds=0.6), timeout=timedelta(seconds=2.5), max_attempts=1)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_id = run_of(db, task_id)
        jobs.put(run_id, "MARTIAN")
        time.sleep(1.2)
        assert attempts(db, task_id)[0]["status"] == "running"
        until(lambda: task(db, task_id)["status"] == "failed")
        until(lambda: jobs.runs[int(run_id)].result_state == "CANCELED")
    assert task(db, task_id)["error"]["kind"] == "timeout"


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", on=LOOKS, status=503, times=None),
        Fault("status", on=LOOKS, status=500, code="INTERNAL_ERROR", times=None),
        Fault("reset", on=LOOKS, times=None),
        Fault("hang", on=LOOKS, seconds=30, times=None),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_jl4_looks_that_fail_cost_no_attempt(
    fault: Fault,
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """However a look at runs fails, and for longer than a lease: they go on."""
    register_job(db, lease=timedelta(seconds=0.8))
    ids = [enqueue(db) for _ in range(5)]
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        for task_id in ids:
            run_of(db, task_id)
        workspace.faults.add(fault)
        time.sleep(4)
        assert [attempts(db, i)[0]["status"] for i in ids] == ["running"] * 5
        workspace.faults.clear()
        jobs.end(run_of(db, ids[0]))
        until(lambda: attempts(db, ids[0])[0]["run_ended_at"], 20)
    assert [len(attempts(db, i)) for i in ids] == [1] * 5
    assert len(jobs.runs) == 5


# What an operator has to mend


def test_se5_a_permission_that_was_taken_away_pauses_the_agent(
    workspace: Workspace, jobs: Jobs, client: Client, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """A second deploy removed CAN_MANAGE_RUN: the pause says what to do, and nothing was spent."""
    workspace.access.add(Principal("an-app"), "app-token")
    workspace.access.grant("an-app", f"jobs/{JOB}", "CAN_MANAGE_RUN")
    register_job(db)
    first = enqueue(db)
    launcher = quick_launcher(client, token="app-token")
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_of(db, first)
        workspace.access.revoke("an-app", f"jobs/{JOB}")
        until(lambda: paused(db))
        assert "give our service principal CAN_MANAGE_RUN" in paused(db)
        assert attempts(db, first)[0]["status"] == "running"
        waiting = enqueue(db)
        assert paused(db) in viewer.explain_task(db, task_id=waiting).explanation
        workspace.access.grant("an-app", f"jobs/{JOB}", "CAN_MANAGE_RUN")
        operator.resume_agent(db, agent="fake")
        run_of(db, waiting)
    assert task(db, waiting)["attempt_count"] == 1
    assert task(db, waiting)["release_count"] == 0


def test_a_launch_that_is_forbidden_pauses_the_agent(
    workspace: Workspace, jobs: Jobs, client: Client, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    workspace.access.add(Principal("an-app"), "app-token")
    register_job(db)
    register_job(db, "other", job_id=jobs.add("other", job_id=8).job_id)
    workspace.access.grant("an-app", "jobs/8", "CAN_MANAGE_RUN")
    ids = [enqueue(db) for _ in range(3)]
    launcher = quick_launcher(client, token="app-token")
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: paused(db))
        run_of(db, enqueue(db, "other"))
        until(lambda: all(task(db, i)["status"] == "enqueued" for i in ids))
    assert "an-app does not have Manage Run permissions on job 7" in paused(db)
    assert [task(db, i)["attempt_count"] for i in ids] == [0, 0, 0]
    assert len(jobs.runs) == 1


def test_a_job_that_is_not_there_pauses_the_agent(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    register_job(db, job_id=9)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: paused(db))
        until(lambda: task(db, task_id)["status"] == "enqueued")
    assert "Job 9 does not exist" in paused(db)
    assert "the workspace does not know the job" in paused(db)
    assert task(db, task_id)["attempt_count"] == 0


def paused(db: Db) -> str:
    """Return why the agent is paused; empty when it is not."""
    (row,) = db.execute("select pause_reason from forebay.agents where agent = 'fake'").fetchall()
    return row[0] or ""


def test_the_token_of_a_deleted_run_costs_that_attempt_alone(
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """A new attempt has a new token."""
    register_job(db)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_of(db, task_id)
    (attempt,) = attempts(db, task_id)
    superuser.execute("update forebay.task_attempts set run_id = null, lease_expires_at = now()")
    jobs.end(attempt["run_id"])
    jobs.deleted.add(int(attempt["run_id"]))
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: len(attempts(db, task_id)) == 2, 20)
        run_of(db, task_id)
    assert paused(db) == ""
    assert [row["status"] for row in attempts(db, task_id)] == ["lost", "running"]
