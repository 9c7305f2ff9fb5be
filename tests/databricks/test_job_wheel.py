"""The job as it is deployed: the program of the wheel, with the parameters of the bundle."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay.calls import operator, submitter, worker
from forebay.databricks.client import workspace_client
from forebay_lab.workspace.deployed import AGENT, MODEL, ROOT, WAREHOUSE, Deployed
from forebay_lab.workspace.jobs import JobRun
from support.daemon import task
from support.lakebase import make_role
from support.server import TestServer

from .support_bundle import filled, joined
from .support_deployed import standing
from .test_job import write_statement


@pytest.fixture
def here(server: TestServer, superuser: psycopg.Connection, tmp_path: Path) -> Iterator[Deployed]:
    """Serve the workspace as the bundle leaves it; the job's principal has its login."""
    with standing(server, superuser, tmp_path) as deployed:
        make_role(superuser, AGENT)
        yield deployed


def wheel_task() -> dict[str, Any]:
    """Return what the bundle says of the job's one task."""
    (job_task,) = joined("dev")["resources"]["jobs"]["agent"]["tasks"]
    task_of_wheel: dict[str, Any] = job_task["python_wheel_task"]
    return task_of_wheel


def parameters_of(here: Deployed, run: JobRun) -> dict[str, str]:
    """Return the task's named parameters, with the values that a deploy and a run put into them."""
    endpoint, _, where = here.url.removeprefix("lakebase:").partition("?")
    named: dict[str, Any] = filled(
        wheel_task()["named_parameters"],
        {
            "resources.postgres_endpoints.primary.id": endpoint,
            "resources.sql_warehouses.forebay.id": WAREHOUSE,
        },
    )
    assert named["FOREBAY_DATABASE_URL"] == f"lakebase:{endpoint}?dbname=forebay"
    named["FOREBAY_DATABASE_URL"] = f"lakebase:{endpoint}?{where}"  # the stand-in's own
    known = {f"job.parameters.{name}": value for name, value in run.parameters.items()}
    known["job.run_id"] = str(run.run_id)
    return {
        name: re.sub(r"\{\{(.*?)\}\}", lambda found: known[found[1]], value)
        for name, value in named.items()
    }


@pytest.mark.timeout(300)
def test_the_wheels_program_takes_the_bundles_parameters(
    here: Deployed, db: psycopg.Connection, site: Path, tmp_path: Path
) -> None:
    """Nothing but the parameters and the login tells it what to do, and nothing is missing."""
    ours = ("FOREBAY_", "DATABRICKS_", "MLFLOW_", "PYTHONPATH")
    environment = {n: v for n, v in os.environ.items() if not n.startswith(ours)}
    environment |= {**here.login(AGENT), "PYTHONPATH": str(site)}

    def work(run: JobRun) -> None:
        given = [f"--{name}={value}" for name, value in parameters_of(here, run).items()]
        done = subprocess.run(
            [site / "bin" / wheel_task()["entry_point"], *given],
            check=False,
            cwd="/",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        run.output = done.stdout
        assert done.returncode == 0, done.stdout

    here.job.work = work
    write_statement(tmp_path / "documents" / "document.pdf", 1)
    operator.register_agent(db, agent="documents", launcher="lakeflow", job_id=here.job.job_id)
    payload = {"document": f"{ROOT}/document.pdf"}
    task_id = submitter.enqueue(db, agent="documents", payload=payload)
    (claimed,) = worker.dequeue(db, worker="w", agents=["documents"])
    client = workspace_client(host=here.workspace.url, token=here.workspace.token)
    started = client.jobs.run_now(
        here.job.job_id,
        job_parameters={
            "forebay_task_id": str(task_id),
            "forebay_attempt_id": str(claimed.attempt_id),
            "forebay_launch_token": claimed.launch_token,
        },
    )
    run = here.jobs.wait(started.run_id, 200)
    row = task(db, task_id)
    assert (run.result_state, row["status"]) == ("SUCCESS", "completed"), run.output
    assert row["result"]["notes"][0].startswith(f"Read by the model {MODEL}")
    assert row["result"]["pages"][0]["source"] == "ai_parse", run.output
