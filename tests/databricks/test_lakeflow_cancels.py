"""The daemon ends the runs of attempts that were ended from outside, before it launches others."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay.calls import operator, viewer, worker
from forebay.databricks.client import workspace_client
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import ApiError, Fault, Workspace
from forebay_lab.workspace.jobs import Jobs
from support.daemon import attempts, running
from support.lakeflow import (
    JOB,
    add_jobs,
    enqueue,
    launcher_faults,
    lose_leases,
    quick_launcher,
    register_job,
    run_of,
)
from support.waiting import until

Db = psycopg.Connection


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
            with superuser.transaction():  # nobody adopts or renews it in between
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


@pytest.fixture
def lost(
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> tuple[int, int]:
    """Return a task of which the only attempt was lost, and the run of that, which lives on."""
    register_job(db, timeout=timedelta(seconds=90))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        run_id = int(run_of(db, task_id))
    superuser.execute("update forebay.installation set adoption_grace = '0'")
    lose_leases(superuser)
    assert worker.sweep(superuser).requeued == 1
    superuser.execute("update forebay.installation set adoption_grace = '1 hour'")
    assert jobs.runs[run_id].life_cycle_state == "RUNNING"
    return task_id, run_id


def asked(workspace: Workspace) -> list[str]:
    """Return what was asked for of runs, looks left out."""
    return [one.path.split("/jobs/")[1] for one in list(workspace.log) if one.method == "POST"]


@pytest.mark.parametrize("is_adopted", [False, True], ids=["claimed", "adopted"])
@pytest.mark.parametrize("answer", [503, 500, 404])
def test_nothing_is_launched_anew_while_the_run_before_cannot_be_asked_to_end(
    answer: int,
    is_adopted: bool,
    lost: tuple[int, int],
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """Others go on; what waits so says why, and its time does not pass."""
    task_id, run_id = lost
    jobs.instead["cancel", run_id] = ApiError(answer, "NO_CANCEL", "Not this one.")
    if is_adopted:
        worker.dequeue(superuser, worker="dead", agents=["fake"], launchers=["lakeflow"])
        lose_leases(superuser)
    launcher.slots = 1
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: "Not this one" in viewer.explain_task(db, task_id=task_id).explanation, 20)
        run_of(db, enqueue(db))
        latest = attempts(db, task_id)[-1]
        assert (latest["attempt_no"], latest["run_id"]) == (2, None)
        until(lambda: attempts(db, task_id)[-1]["deadline_at"] > latest["deadline_at"], 20)
        assert len(jobs.runs) == 2
        del jobs.instead["cancel", run_id]
        run_of(db, task_id, 30)
    assert jobs.runs[run_id].result_state == "CANCELED"
    assert asked(workspace)[-2:] == ["runs/cancel", "run-now"]
    assert [row["status"] for row in attempts(db, task_id)] == ["lost", "running"]


def test_an_agent_whose_runs_we_may_not_cancel_is_paused_before_a_new_launch(
    lost: tuple[int, int],
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """As where we may not launch: somebody has to mend it, and nothing is spent by it."""
    task_id, run_id = lost
    jobs.instead["cancel", run_id] = ApiError(403, "PERMISSION_DENIED", "No Manage Run.")
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        status = until(
            lambda: [
                one for one in viewer.agent_status(db, agents=["fake"]) if one.state == "paused"
            ]
        )[0]
        said = str(status.pause_reason)
        assert "CAN_MANAGE_RUN" in said
        assert f"attempt {attempts(db, task_id)[0]['attempt_id']} may still run: No Man" in said
        assert "onfig" not in said
        assert "run-now" not in asked(workspace)[1:]
        del jobs.instead["cancel", run_id]
        operator.resume_agent(db, agent="fake")
        until(lambda: len(jobs.runs) == 2, 30)
    assert asked(workspace)[-2:] == ["runs/cancel", "run-now"]
    assert [row["status"] for row in attempts(db, task_id)] == ["lost", "released", "running"]


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
def test_what_waits_for_runs_that_cannot_be_asked_is_in_nobodys_way(
    is_known: bool,
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """However much of an agent is retried so: a few of it are claimed, and take no slot."""
    register_job(db)
    register_job(db, "other", job_id=jobs.add("other", job_id=8).job_id)
    ids = [enqueue(db) for _ in range(8)]
    for claim in worker.dequeue(
        superuser, worker="dead", agents=["fake"], batch_size=len(ids), launchers=["lakeflow"]
    ):
        if is_known:
            run_id = launcher.launch(claim)
            worker.record_run(superuser, attempt_id=claim.attempt_id, run_id=run_id)
            jobs.instead["cancel", int(run_id)] = ApiError(503, "NO_CANCEL", "Not this one.")
    jobs.jobs[JOB].refusal = ApiError(429, "REQUEST_LIMIT_EXCEEDED", "Not this one.")
    operator.cancel(db, task_ids=ids)
    operator.retry(db, task_ids=ids)
    launcher.slots = 2
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: viewer.agent_status(db, agents=["fake"])[0].state == "held_up", 30)
        for _ in range(launcher.slots):
            run_of(db, enqueue(db, "other"), 30)
        until(lambda: viewer.explain_task(db, task_id=ids[-1]).reason == "held_up", 30)
        why = viewer.explain_task(db, task_id=ids[-1])
        assert (why.reason, "Not this one" in why.explanation) == ("held_up", True)
        assert "onfig" not in why.explanation
    assert sum(len(attempts(db, task_id)) == 2 for task_id in ids) <= 2 * launcher.slots


def test_nothing_is_launched_anew_while_nobody_can_say_what_ran_before(
    lost: tuple[int, int],
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A step that raised is no reason to go on to the next."""
    failures: list[Any] = []
    runs_before = worker.runs_before

    def raises(connection: Any, **arguments: Any) -> Any:
        failures.append(arguments)
        raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")

    monkeypatch.setattr(worker, "runs_before", raises)
    monkeypatch.setattr(worker, "runs_to_cancel", lambda connection, **arguments: [])
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: len(failures) >= 3)
        run_of(db, enqueue(db))
        assert len(jobs.runs) == 2
        monkeypatch.setattr(worker, "runs_before", runs_before)
        run_of(db, lost[0])
    assert asked(workspace) == ["run-now", "run-now", "runs/cancel", "run-now"]


def test_runs_before_a_launch_are_named_also_while_somebody_holds_their_attempts(
    lost: tuple[int, int], superuser: Db, db: Db
) -> None:
    """A report in a transaction that takes long holds up no launch of others."""
    (attempt,) = attempts(db, lost[0])
    superuser.execute("set statement_timeout = '5s'")
    (claim,) = worker.dequeue(superuser, worker="w", agents=["fake"], launchers=["lakeflow"])
    with psycopg.connect(superuser.info.dsn) as holder:
        holder.execute(
            "select from forebay.task_attempts where attempt_id = %s for update",
            [attempt["attempt_id"]],
        )
        rows = worker.runs_before(superuser, worker="w", attempt_ids=[claim.attempt_id])
    assert [row.run_id for row in rows] == [str(lost[1])]


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


def test_a_cancel_that_is_not_answered_holds_up_no_other(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    register_job(db)
    ids = [enqueue(db) for _ in range(3)]
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        runs = [int(run_of(db, task_id)) for task_id in ids]
        jobs.instead["cancel", runs[0]] = ApiError(503, "TEMPORARILY_UNAVAILABLE", "No.")
        operator.cancel(db, task_ids=ids)
        until(lambda: all(jobs.runs[run].result_state == "CANCELED" for run in runs[1:]))
        assert attempts(db, ids[0])[0]["is_stop_pending"]
        assert launcher_faults(db) == []


def test_a_daemon_of_another_workspace_leaves_runs_alone(
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """Neither adopted, nor looked for, nor cancelled: it would find strangers, or nothing."""
    register_job(db)
    kept, unwanted = enqueue(db), enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        runs = [run_of(db, task_id) for task_id in (kept, unwanted)]
    operator.cancel(db, task_ids=[unwanted])
    lose_leases(superuser)
    with Workspace(workspace_id="another") as other:
        others = add_jobs(other)[0]
        client = workspace_client(host=other.url, token=other.token)
        strangers = [str(client.jobs.run_now(JOB).run_id) for _ in range(2)]
        assert strangers == runs
        theirs = quick_launcher(
            lambda **options: workspace_client(host=other.url, token=other.token, **options)
        )
        with running(daemon_dsn, tmp_path, external=(theirs,)):
            own = run_of(db, enqueue(db))
            until(lambda: any(one.query.get("run_id") == own for one in list(other.log)))
        assert not [one for one in other.log if one.query.get("run_id") in strangers]
        assert {run.life_cycle_state for run in others.runs.values()} == {"RUNNING"}
    assert attempts(db, kept)[0]["status"] == "running"
    assert {run.life_cycle_state for run in jobs.runs.values()} == {"RUNNING"}
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: jobs.runs[int(runs[1])].result_state == "CANCELED")
    assert len(attempts(db, kept)) == 1
