"""The whole way: daemon, run of the job, Lakebase, Volume, warehouse, model, orchestrator's app."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from apps.support.serving import served
from forebay.calls import operator, viewer
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace.jobs import JobRun
from support.agent_job import AGENT, CLIENT_ID, MODEL, Place, placed
from support.daemon import attempts, ended, running
from support.lakebase import lakebase, make_role
from support.lakeflow import short_grace
from support.receiver import SECRET
from support.server import TestServer

from .test_job import write_statement


@pytest.fixture
def place(
    db: psycopg.Connection,
    superuser: psycopg.Connection,
    server: TestServer,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> Iterator[Place]:
    """Serve all of it: the job logs in to Lakebase as its own service principal."""
    settings = {
        "FOREBAY_DATABASE_URL": role_dsn("all"),
        "FOREBAY_LOGIN": "password",
        "FOREBAY_CALLBACK_SECRETS": SECRET,
    }
    with (
        lakebase(server, superuser.info.dbname, seconds=5) as lake,
        served("orchestrator", settings, tmp_path / "app") as app,
        placed(db, lake.url, tmp_path, workspace=lake.workspace, upstream=app.url) as place,
    ):
        make_role(superuser, CLIENT_ID)
        lake.workspace.access.grant(CLIENT_ID, "postgres/projects/forebay", "CAN_USE")
        place.environment["FOREBAY_WAREHOUSE_ID"] = "w1"
        yield place


@pytest.mark.timeout(600)
def test_a_document_survives_the_death_of_its_first_run(
    place: Place,
    db: psycopg.Connection,
    superuser: psycopg.Connection,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> None:
    """The first run is killed before its report; the second one's result and cost are all there."""
    short_grace(superuser, timedelta(seconds=0.2))
    operator.register_agent(
        db,
        agent=AGENT,
        launcher="lakeflow",
        job_id=place.job.job_id,
        backoff_base=timedelta(seconds=0.1),
    )
    operator.register_price(db, model="ai_parse_document", usd_per_page=Decimal("0.01"))
    price = {"usd_per_m_input": Decimal(1), "usd_per_m_output": Decimal(2)}
    operator.register_price(db, model=MODEL, **price)
    write_statement(place.folder / "document.pdf", 2)
    killed, sound = place.work("forebay.calls.agent:complete before 1"), place.work()
    place.job.work = lambda run: (killed if run.number == 1 else sound)(run)
    task_id = place.submit(customer="acme")
    launcher = LakeflowLauncher(10, lambda: place.client)
    with running(role_dsn("worker", "agent"), tmp_path / "logs", external=(launcher,)):
        row = ended(db, task_id, 300)
    first, second = [place.jobs.wait(run_id, 100) for run_id in list(place.jobs.runs)]
    assert (row["status"], row["result"]["page_count"]) == ("completed", 2), outputs(first, second)
    assert row["result"]["evidence"] is not None
    tried = attempts(db, task_id)
    assert [one["run_id"] for one in tried] == [str(first.run_id), str(second.run_id)]
    assert (first.result_state, second.result_state) == ("FAILED", "SUCCESS")

    assert place.used(task_id) == place.paid()
    assert (place.used_pages(task_id), place.functions.parsed) == ([2], [2])
    usd = sum(used + 2 * got for _, used, got in place.paid()) / Decimal(1_000_000)
    summary = viewer.cost_by(db, dimension="customer")
    assert [(one.key, one.llm_usd) for one in summary] == [("acme", usd + Decimal("0.02"))]
    assert [(one.path, one.status) for one in place.app.log] == [("/api/callbacks", 200)]


def outputs(*runs: JobRun) -> str:
    return "\n".join(run.output for run in runs)
