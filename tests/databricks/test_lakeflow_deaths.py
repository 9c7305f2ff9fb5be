"""Daemons that are killed at every step: one paid run per attempt, and none lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import Fault, Workspace
from forebay_lab.workspace.jobs import Jobs
from support.daemon import attempts, task
from support.lakeflow import (
    JOB,
    Fate,
    add_jobs,
    by_token,
    completing,
    enqueue,
    forget_tokens,
    lives,
    lose_leases,
    quick_launcher,
    register_job,
)
from support.waiting import until

Db = psycopg.Connection
Client = Callable[..., WorkspaceClient]

RUN_NOW = "POST /api/2.2/jobs/run-now"
LAST_LIVES = 60
STEPS = [
    f"{when} {step}"
    for step in ("adopt", "dequeue", "run_now", "record_run", "observe_run", "runs_to_cancel")
    for when in ("before", "after")
]
"""What a daemon does to an attempt, of which the launch is the one that costs money."""


@pytest.fixture
def jobs(workspace: Workspace, role_dsn: Callable[..., str]) -> Jobs:
    """Serve a job whose runs complete their attempt, and say which run it was."""
    return add_jobs(workspace, work=completing(role_dsn("agent"), 0.1))[0]


@pytest.fixture
def daemon_dsn(role_dsn: Callable[..., str]) -> str:
    return role_dsn("worker", "agent")


def live_and_die(
    deaths: int,
    seed: int,
    workspace: Workspace,
    launcher: LakeflowLauncher,
    db: Db,
    superuser: Db,
    dsn: str,
) -> tuple[list[int], Counter[str]]:
    """Have daemons die so often, at steps drawn by the seed; then let one live until all is done.

    Return the tasks, one for each death, and at which step how many died. Every third answer to a
    launch is lost before the death or without one.
    """
    draw = random.Random(seed)
    ids: list[int] = []
    died: Counter[str] = Counter()
    with lives(dsn, launcher) as life:
        while died.total() < deaths:
            if len(ids) < deaths:
                ids.append(enqueue(db))
            if draw.random() < 0.3:
                workspace.faults.add(Fault(draw.choice(("lost", "reset", "status")), on=RUN_NOW))
            step = draw.choice(STEPS)
            died[step] += not life.live(Fate(step))
            workspace.faults.clear()
            lose_leases(superuser)
        for _ in range(LAST_LIVES):
            life.live(Fate())
            if all(task(db, task_id)["status"] == "completed" for task_id in ids):
                break
            time.sleep(0.1)
            lose_leases(superuser)
    return ids, died


def check_one_run_an_attempt(
    db: Db, jobs: Jobs, ids: list[int], *, is_run_known: bool = True
) -> None:
    """Every task is completed, and each of its attempts was one run that was paid for."""
    rows = [row for task_id in ids for row in attempts(db, task_id)]
    statuses = Counter(task(db, task_id)["status"] for task_id in ids)
    assert statuses == {"completed": len(ids)}
    paid = by_token(jobs)
    assert {token: runs for token, runs in paid.items() if len(runs) != 1} == {}
    assert paid.keys() <= {row["launch_token"] for row in rows}
    for row in rows:
        known = {str(run) for run in paid.get(row["launch_token"], [])}
        assert {row["run_id"]} <= (known if is_run_known else known | {None})


@pytest.mark.parametrize(
    ("deaths", "tells_run"),
    [(60, False), (60, True), pytest.param(1000, False, marks=pytest.mark.long)],
)
@pytest.mark.timeout(1800)
def test_jl1_daemons_that_die_at_every_step_pay_for_one_run_an_attempt(
    deaths: int,
    tells_run: bool,
    workspace: Workspace,
    client: Client,
    jobs: Jobs,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    role_dsn: Callable[..., str],
) -> None:
    """Between the commit of a claim, the launch and record_run, and anywhere else.

    A run that ends before anybody recorded it is known only if it says which one it is.
    """
    jobs.jobs[JOB].work = completing(role_dsn("agent"), 0.1, tells_run=tells_run)
    register_job(db)
    launcher = quick_launcher(client)
    ids, died = live_and_die(deaths, 1, workspace, launcher, db, superuser, daemon_dsn)
    check_one_run_an_attempt(db, jobs, ids, is_run_known=tells_run)
    assert [len(attempts(db, task_id)) for task_id in ids] == [1] * len(ids)
    assert min(died[step] for step in STEPS) > 0


def test_without_the_idempotency_token_the_test_above_fails(
    workspace: Workspace,
    client: Client,
    jobs: Jobs,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
) -> None:
    """A launcher that leaves it out pays twice, and the check says so."""
    register_job(db)
    launcher = quick_launcher(client)
    forget_tokens(launcher)
    ids, _ = live_and_die(40, 1, workspace, launcher, db, superuser, daemon_dsn)
    assert max(len(runs) for runs in by_token(jobs).values()) > 1
    with pytest.raises(AssertionError):
        check_one_run_an_attempt(db, jobs, ids)


# Processes


@contextmanager
def daemon(dsn: str, workspace: Workspace, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `forebay run` against the workspace, in a process that is killed after the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "forebay.cli", "run", "--concurrency", "1"],
        env=os.environ
        | {
            "FOREBAY_DATABASE_URL": dsn,
            "FOREBAY_HOME": str(home),
            "DATABRICKS_HOST": workspace.url,
            "DATABRICKS_TOKEN": workspace.token,
        },
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.timeout(1200)
def test_jl1_processes_that_are_killed_pay_for_one_run_an_attempt(
    kills: int,
    workspace: Workspace,
    jobs: Jobs,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """SIGKILL reaches the real program around its launches: while one is asked for, or after."""
    register_job(db, max_concurrent_tasks=3, lease=timedelta(seconds=5))
    draw = random.Random(kills)
    ids: list[int] = []
    for _ in range(kills):
        ids += [enqueue(db) for _ in range(2)]
        kind = draw.choice(("hang", "lost", "slow"))
        workspace.faults.add(Fault(kind, on=RUN_NOW, seconds=1, skip=draw.randint(0, 1)))
        asked = len(workspace.log)
        with daemon(daemon_dsn, workspace, tmp_path) as process:
            until(lambda asked=asked: _launches(workspace, asked), 60)
            time.sleep(draw.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
        workspace.faults.clear()
        lose_leases(superuser)
    with daemon(daemon_dsn, workspace, tmp_path):
        until(lambda: all(task(db, task_id)["status"] == "completed" for task_id in ids), 120)
    check_one_run_an_attempt(db, jobs, ids)
    assert [len(attempts(db, task_id)) for task_id in ids] == [1] * len(ids)


def _launches(workspace: Workspace, since: int) -> bool:
    return any(one.path.endswith("run-now") for one in workspace.log[since:])


def test_a_deploy_restarts_nothing(
    workspace: Workspace, db: Db, superuser: Db, role_dsn: Callable[..., str], tmp_path: Path
) -> None:
    """SIGTERM leaves runs alone; the next daemon adopts them and sees them end."""
    jobs = add_jobs(workspace)[0]
    register_job(db)
    dsn = role_dsn("worker", "agent")
    ids = [enqueue(db) for _ in range(3)]

    def runs() -> list[Any]:
        return [row["run_id"] for task_id in ids for row in attempts(db, task_id)]

    with daemon(dsn, workspace, tmp_path) as first:
        until(lambda: len(runs()) == 3 and all(runs()), 60)
        launched = runs()
        workers = {attempts(db, task_id)[0]["worker"] for task_id in ids}
        first.send_signal(signal.SIGTERM)
        assert first.wait(20) == 0
    assert {run.life_cycle_state for run in jobs.runs.values()} == {"RUNNING"}
    lose_leases(superuser)
    completes = completing(role_dsn("agent"))
    with daemon(dsn, workspace, tmp_path):
        until(lambda: not {attempts(db, i)[0]["worker"] for i in ids} & workers, 60)
        for run in jobs.runs.values():
            completes(run)
            jobs.end(run.run_id)
        until(lambda: all(task(db, task_id)["status"] == "completed" for task_id in ids), 20)
    assert runs() == launched
    assert len(jobs.runs) == 3
    assert workspace.calls("POST", "/api/2.2/jobs/runs/cancel") == []
