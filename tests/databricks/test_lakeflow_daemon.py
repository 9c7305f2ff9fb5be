"""The daemon with Lakeflow runs: what it sees of them, and what it does while it sees nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from forebay.calls import operator, viewer, worker
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_apps.orchestrator.signs import signs
from forebay_lab.workspace import ApiError, Fault, Principal, Workspace
from forebay_lab.workspace.jobs import Jobs
from support import daemon as support
from support.daemon import attempts, install_fake_agents, running, task, until
from support.lakeflow import (
    JOB,
    add_jobs,
    completing,
    enqueue,
    lose_leases,
    quick_launcher,
    register_job,
    short_grace,
)

Db = psycopg.Connection
Client = Callable[..., WorkspaceClient]

RUN_NOW = "POST /api/2.2/jobs/run-now"
LONG_AFTER = datetime(2999, 1, 1, tzinfo=UTC)
LOOKS = "GET /api/2.2/jobs/runs"


@pytest.fixture
def jobs(workspace: Workspace) -> Jobs:
    """Serve a job whose runs live until the test ends them."""
    return add_jobs(workspace)[0]


@pytest.fixture
def launcher(jobs: Jobs, client: Client) -> LakeflowLauncher:
    return quick_launcher(client)


@pytest.fixture
def daemon_dsn(role_dsn: Callable[..., str]) -> str:
    return role_dsn("worker", "agent")


def run_of(db: Db, task_id: int, seconds: float = 10) -> str:
    """Wait until the task's latest attempt has a run, and return it."""

    def run_id() -> Any:
        rows = attempts(db, task_id)
        return rows and rows[-1]["run_id"]

    return str(until(run_id, seconds))


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
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """Within one poll, and it is retried: what never started spends no attempt."""
    short_grace(superuser, timedelta(seconds=0.2))
    register_job(db)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_id = run_of(db, task_id)
        operator.pause_agent(db, agent="fake", until=LONG_AFTER)  # one attempt is enough here
        jobs.put(run_id, **{"life_cycle_state": "TERMINATED"} | how)
        until(lambda: attempts(db, task_id)[0]["status"] == attempt_status, 3)
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


# LE6


def test_le6_the_run_of_a_cancelled_task_is_cancelled(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    register_job(db)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_id = run_of(db, task_id)
        operator.cancel(db, task_ids=[task_id])
        until(lambda: not attempts(db, task_id)[0]["is_stop_pending"])
    assert jobs.runs[int(run_id)].result_state == "CANCELED"


def test_le6_the_run_of_a_lost_attempt_is_cancelled_before_the_next_is_launched(
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    superuser.execute("update forebay.installation set adoption_grace = '0'")
    register_job(db, lease=timedelta(seconds=0.5))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        first = run_of(db, task_id)
    until(lambda: db.execute("select (forebay.sweep()).requeued").fetchall() == [(1,)])
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: len(jobs.runs) == 2)
    paths = [one.path.split("/jobs/")[1] for one in workspace.log if one.method == "POST"]
    assert paths == ["run-now", "runs/cancel", "run-now"]
    assert jobs.runs[int(first)].result_state == "CANCELED"


def test_le6_so_it_is_when_the_attempt_is_lost_just_before_the_claim(
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody else's sweep may come between a look for runs to cancel and the claim."""
    superuser.execute("update forebay.installation set adoption_grace = '0'")
    register_job(db)
    task_id = enqueue(db)
    is_due: list[bool] = []
    dequeue = worker.dequeue

    def after_a_sweep(connection: Any, **arguments: Any) -> Any:
        if is_due and arguments["launchers"] == ["lakeflow"]:
            is_due.clear()
            lose_leases(superuser)
            assert worker.sweep(superuser).requeued == 1
        return dequeue(connection, **arguments)

    monkeypatch.setattr(worker, "dequeue", after_a_sweep)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_of(db, task_id)
        is_due.append(True)
        until(lambda: len(jobs.runs) == 2)
    paths = [one.path.split("/jobs/")[1] for one in workspace.log if one.method == "POST"]
    assert paths == ["run-now", "runs/cancel", "run-now"]


def test_a_cancel_that_is_refused_holds_up_nothing(
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    cancel = "POST /api/2.2/jobs/runs/cancel"
    refused = workspace.faults.add(
        Fault("status", on=cancel, status=403, code="PERMISSION_DENIED", times=None)
    )
    register_job(db)
    first = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_of(db, first)
        operator.cancel(db, task_ids=[first])
        until(lambda: workspace.calls("POST", "/api/2.2/jobs/runs/cancel"))
        run_of(db, enqueue(db))
        assert attempts(db, first)[0]["is_stop_pending"]
        workspace.faults.remove(refused)
        db.execute("set role forebay_owner")
        db.execute("update forebay.task_attempts set stop_asked_at = null")
        db.execute("reset role")
        until(lambda: not attempts(db, first)[0]["is_stop_pending"])


# The workspace is away


@pytest.mark.parametrize("kind", ["status", "reset", "hang", "lost"])
@pytest.mark.parametrize("seconds", [5, pytest.param(600, marks=pytest.mark.long)])
@pytest.mark.timeout(900)
def test_while_the_workspace_is_away_tasks_wait_and_nothing_fails(
    kind: Any,
    seconds: float,
    workspace: Workspace,
    client: Client,
    db: Db,
    daemon_dsn: str,
    role_dsn: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Longer than a lease and a timeout: dispatch resumes by itself, and other work goes on."""
    install_fake_agents(monkeypatch)
    jobs = add_jobs(workspace)[0]
    support.register(db, "here")
    register_job(
        db,
        lease=timedelta(seconds=seconds / 8),
        timeout=timedelta(seconds=seconds / 2),
        max_attempts=1,
    )
    register_job(db, "long", lease=timedelta(seconds=seconds / 8))
    launcher = quick_launcher(client)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        alive = enqueue(db, "long")
        run_of(db, alive)
        workspace.faults.add(Fault(kind, times=None, seconds=30))
        ids = [enqueue(db) for _ in range(15)]
        until(lambda: launcher_faults(db), 20)
        gone_at = time.monotonic()
        while time.monotonic() < gone_at + seconds:
            began = time.monotonic()
            assert support.ended(db, support.enqueue(db, agent="here"))["status"] == "completed"
            assert time.monotonic() - began < 5
            (fault,) = launcher_faults(db)
            assert fault["launcher"] == "lakeflow"
            reasons = {viewer.explain_task(db, task_id=task_id).reason for task_id in ids}
            assert reasons <= {"unreachable", "unlaunched"}
            assert viewer.explain_task(db, task_id=ids[-1]).reason == "unreachable"
            assert fault["reason"] in viewer.explain_task(db, task_id=ids[-1]).explanation
            time.sleep(seconds / 20)
        assert attempts(db, alive)[0]["status"] == "running"
        workspace.faults.clear()
        jobs.jobs[JOB].work = completing(role_dsn("agent"))
        for run in list(jobs.runs.values()):
            if run.parameters["forebay_task_id"] != str(alive) and not run.has_ended:
                completing(role_dsn("agent"))(run)  # begun while nobody could hear of it
                jobs.end(run.run_id)
        until(lambda: all(task(db, i)["status"] == "completed" for i in ids), 60)
        assert launcher_faults(db) == []
    rows = [task(db, task_id) for task_id in ids]
    assert {row["attempt_count"] for row in rows} == {1}
    assert max(row["release_count"] for row in rows) <= 2
    tokens = [run.token for run in jobs.runs.values()]
    assert len(tokens) == len(set(tokens)) == 16


def launcher_faults(db: Db) -> list[dict[str, Any]]:
    """Return what health says of launchers that dispatchers cannot use."""
    return [fault for one in viewer.health(db).dispatchers for fault in one["faults"]]


def test_a_daemon_starts_while_the_workspace_is_away(
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install_fake_agents(monkeypatch)
    support.register(db, "here")
    register_job(db)
    task_id = enqueue(db)
    with workspace.down(), running(daemon_dsn, tmp_path, external=(launcher,)):
        here = support.enqueue(db, agent="here")
        assert support.ended(db, here)["status"] == "completed"
        until(lambda: launcher_faults(db), 60)  # the SDK asks who the host is, for 20 s
        assert viewer.explain_task(db, task_id=task_id).reason == "unreachable"
        (sign,) = [one for one in signs(viewer.health(db), timedelta()) if "launcher" in one.name]
        assert (sign.name, sign.tone) == ("launcher lakeflow", "bad")
        assert "The service is not available." in sign.note
        assert attempts(db, task_id) == []
        began = time.monotonic()
    assert time.monotonic() - began < 10


def test_a_launch_that_always_fails_holds_up_no_other_job(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """An error 500 leaves open whether there is a run: it is tried again, until the deadline."""
    register_job(db, timeout=timedelta(seconds=3), max_attempts=1)
    register_job(db, "other", job_id=jobs.add("other", job_id=8).job_id)
    jobs.jobs[JOB].refusal = ApiError(500, "INTERNAL_ERROR", "It is broken.")
    ids = [enqueue(db) for _ in range(3)]
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: any(attempts(db, task_id) for task_id in ids))
        run_of(db, enqueue(db, "other"))
        assert viewer.explain_task(db, task_id=ids[0]).reason == "unlaunched"
        assert "It is broken." in viewer.explain_task(db, task_id=ids[0]).explanation
        until(lambda: all(task(db, task_id)["status"] == "failed" for task_id in ids))
    assert {task(db, task_id)["error"]["kind"] for task_id in ids} == {"timeout"}
    assert len(jobs.runs) == 1
