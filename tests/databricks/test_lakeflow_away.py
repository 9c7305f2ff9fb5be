"""The daemon while the workspace, or one job of it, cannot be used: tasks wait, nothing fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from forebay.calls import viewer, worker
from forebay.daemon import external
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_apps.orchestrator.signs import signs
from forebay_lab.workspace import ApiError, Fault, Workspace
from forebay_lab.workspace.jobs import Jobs
from support import daemon as support
from support.daemon import attempts, install_fake_agents, running, task
from support.lakeflow import (
    JOB,
    add_jobs,
    completing,
    enqueue,
    launcher_faults,
    lose_leases,
    quick_launcher,
    register_job,
    run_of,
)
from support.waiting import until

Db = psycopg.Connection
Client = Callable[..., WorkspaceClient]


@pytest.mark.parametrize("kind", ["status", "reset", "hang", "lost"])
@pytest.mark.parametrize("seconds", [10, pytest.param(600, marks=pytest.mark.long)])
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
        assert "The service is not available" in sign.note
        assert attempts(db, task_id) == []
        began = time.monotonic()
    assert time.monotonic() - began < 10


def test_a_launch_whose_answer_names_no_run_spends_no_attempt(
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """As of a gateway that answers {}: its time is put off, and its token is sent again."""
    register_job(db, timeout=timedelta(seconds=10), max_attempts=1)
    workspace.faults.add(Fault("status", on="run-now", status=200, page="{}", times=None))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        claimed = until(lambda: attempts(db, task_id))[0]
        until(lambda: attempts(db, task_id)[0]["deadline_at"] > claimed["deadline_at"], 20)
        assert "names no run" in viewer.explain_task(db, task_id=task_id).explanation
        workspace.faults.clear()
        assert run_of(db, task_id) == str(*jobs.runs)
    assert [one["attempt_no"] for one in attempts(db, task_id)] == [1]


def test_a_daemon_that_reaches_no_workspace_holds_up_no_other(
    jobs: Jobs,
    launcher: LakeflowLauncher,
    client: Client,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> None:
    """Also once it has adopted what a dead one had claimed, and launches none of it."""
    register_job(db)
    jobs.jobs[JOB].work = completing(role_dsn("agent"))
    first = [enqueue(db) for _ in range(3)]
    worker.dequeue(superuser, worker="dead", agents=["fake"], batch_size=3, launchers=["lakeflow"])
    lose_leases(superuser)
    nowhere = quick_launcher(lambda **options: client(host="http://127.0.0.1:9", **options))
    places = [tmp_path / name for name in ("nowhere", "here")]
    for place in places:
        place.mkdir()
    with running(daemon_dsn, places[0], external=(nowhere,)):
        until(lambda: all(attempts(db, task_id)[0]["run_state"] for task_id in first), 30)
        with running(daemon_dsn, places[1], external=(launcher,)):
            assert support.ended(db, enqueue(db))["status"] == "completed"
        assert {attempts(db, task_id)[0]["run_id"] for task_id in first} == {None}


@pytest.mark.parametrize("is_adopted", [False, True], ids=["claimed", "adopted"])
def test_a_run_that_waits_in_the_queue_waits_on_while_the_workspace_is_away(
    is_adopted: bool,
    workspace: Workspace,
    jobs: Jobs,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For longer than its timeout; one that was seen to run ends at its deadline."""
    monkeypatch.setattr(external, "MISSED_EVERY", 0.3)
    register_job(db, timeout=timedelta(seconds=60), max_attempts=1)
    jobs.jobs[JOB].max_concurrent_runs = 1
    alive, queued = enqueue(db), enqueue(db)

    def away() -> None:
        rows = superuser.execute(
            "update forebay.task_attempts set deadline_at = clock_timestamp() + interval '10 s'"
            " where finished_at is null returning deadline_at"
        ).fetchall()
        near = max(row[0] for row in rows)
        until(lambda: attempts(db, queued)[-1]["deadline_at"] > near, 9.9)
        assert seen(db, queued) == "POLL_FAILED"
        until(lambda: task(db, alive)["status"] == "failed", 20)
        workspace.faults.clear()
        until(lambda: seen(db, queued) in ("QUEUED", "RUNNING"), 20)

    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: [seen(db, one) for one in (queued, alive)] == ["QUEUED", "RUNNING"])
        workspace.faults.add(Fault("status", times=None))
        until(lambda: launcher_faults(db), 20)
        if not is_adopted:
            away()
    if is_adopted:
        lose_leases(superuser)
        with running(daemon_dsn, tmp_path, external=(launcher,)):
            away()
    assert task(db, alive)["error"]["kind"] == "timeout"
    assert [row["status"] for row in attempts(db, queued)] == ["running"]


def seen(db: Db, task_id: int) -> Any:
    """Return the word for what the last look at the run of the task's latest attempt said."""
    rows = attempts(db, task_id)
    return rows and (rows[-1]["run_state"] or {}).get("life_cycle_state")


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
        assert "It is broken" in viewer.explain_task(db, task_id=ids[0]).explanation
        until(lambda: all(task(db, task_id)["status"] == "failed" for task_id in ids))
    assert {task(db, task_id)["error"]["kind"] for task_id in ids} == {"timeout"}
    assert len(jobs.runs) == 1


def test_a_job_that_the_workspace_does_not_take_now_holds_up_no_other(
    jobs: Jobs, launcher: LakeflowLauncher, db: Db, daemon_dsn: str, tmp_path: Path
) -> None:
    """It takes more attempts than there are slots, and their time does not pass."""
    register_job(db, timeout=timedelta(seconds=3), max_attempts=1)
    register_job(db, "other", job_id=jobs.add("other", job_id=8).job_id)
    jobs.jobs[JOB].refusal = ApiError(429, "REQUEST_LIMIT_EXCEEDED", "Not so fast.")
    ids = [enqueue(db) for _ in range(launcher.slots)]
    with running(daemon_dsn, tmp_path, external=(launcher,)):
        until(lambda: any(attempts(db, task_id) for task_id in ids))
        began = time.monotonic()
        run_of(db, enqueue(db, "other"))
        time.sleep(max(0.0, began + 4 - time.monotonic()))
        assert "Not so fast" in viewer.explain_task(db, task_id=ids[0]).explanation
        assert launcher_faults(db) == []
        jobs.jobs[JOB].refusal = None
        for task_id in ids:
            run_of(db, task_id)
    assert {task(db, task_id)["attempt_count"] for task_id in ids} == {1}
