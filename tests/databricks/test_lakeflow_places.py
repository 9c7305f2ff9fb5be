"""Daemons of one workspace that could not all read the same of it: its runs stay in sight."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from forebay_lab.workspace import Fault, Workspace
from forebay_lab.workspace.jobs import Jobs
from support.daemon import attempts, running, task
from support.lakeflow import (
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

METADATA = "well-known/databricks-config"
ME = "scim/v2/Me"
LOOK = "/api/2.2/jobs/runs/get"


@pytest.mark.parametrize("status", [404, 503])
def test_a_run_is_adopted_by_whoever_is_in_its_workspace(
    status: int,
    workspace: Workspace,
    jobs: Jobs,
    client: Client,
    db: Db,
    superuser: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """Whatever the daemon that started it, and the next one, could read as they began."""
    register_job(db, lease=timedelta(seconds=3))
    workspace.faults.add(Fault("status", on=METADATA, status=status, times=None))
    task_id = enqueue(db)
    for turn in range(3):
        folder = tmp_path / str(turn)
        folder.mkdir()
        launcher = quick_launcher(client, retry_seconds=2)
        with running(daemon_dsn, folder, external=(launcher,)) as daemon:
            run_id = run_of(db, task_id, 20)
            looks = len(workspace.calls("GET", LOOK))
            until(lambda seen=looks: len(workspace.calls("GET", LOOK)) > seen, 20)
            assert task(db, task_id)["locked_by"] == daemon.worker
        lose_leases(superuser)
        workspace.faults.clear()
        if turn == 1:
            workspace.faults.add(Fault("status", on=METADATA, status=status, times=None))
    assert [one["run_id"] for one in attempts(db, task_id)] == [run_id]
    assert [str(run.run_id) for run in jobs.runs.values()] == [run_id]


def test_a_workspace_that_does_not_tell_its_id_is_away_until_it_does(
    workspace: Workspace,
    jobs: Jobs,
    client: Client,
    db: Db,
    daemon_dsn: str,
    tmp_path: Path,
) -> None:
    """Its runs could not be told from those of another one; `health` says what is missing."""
    register_job(db)
    workspace.faults.add(Fault("status", on=METADATA, status=404, times=None))
    workspace.faults.add(Fault("status", on=ME, status=403, times=None))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(quick_launcher(client),)):
        until(lambda: launcher_faults(db), 20)
        assert "DATABRICKS_WORKSPACE_ID" in launcher_faults(db)[0]["reason"]
        assert not jobs.runs
        workspace.faults.clear()
        run_of(db, task_id, 20)
    assert attempts(db, task_id)[0]["place"] == workspace.workspace_id
