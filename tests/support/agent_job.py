"""The agent's job in a stand-in workspace: real processes, and accidents that befall them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from databricks.sdk import WorkspaceClient

from forebay.calls import agent as agent_calls
from forebay.calls import operator, submitter, worker
from forebay.databricks.client import workspace_client
from forebay_lab.model_server import CallLog, Simulation
from forebay_lab.workspace import Principal, Workspace
from forebay_lab.workspace.ai_functions import AiFunctions
from forebay_lab.workspace.apps import App, Apps
from forebay_lab.workspace.files import Files
from forebay_lab.workspace.jobs import Job, JobRun, Jobs
from forebay_lab.workspace.runs import Work
from forebay_lab.workspace.secrets import Secrets
from forebay_lab.workspace.serving import Serving
from forebay_lab.workspace.statements import Statements
from support.daemon import attempts, task
from support.forked import job
from support.receiver import SECRET, Receiver, receiving
from support.volumes import ROOT, VOLUME

AGENT = "documents"
MODEL = "databricks-simulated-model"
WAREHOUSE = "w1"
CLIENT_ID = "22222222-bbbb-4ccc-8ddd-333333333333"
"""The service principal that the job runs as."""


@dataclass(slots=True)
class Place:
    """A workspace with all that the job needs, and the agent that the job runs."""

    db: psycopg.Connection
    workspace: Workspace
    folder: Path
    serving: Serving
    functions: AiFunctions
    secrets: Secrets
    jobs: Jobs
    job: Job
    receiver: Receiver
    app: App
    client: WorkspaceClient
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    """What the task gives the job as parameters of their own names."""

    def submit(self, document: str = "document.pdf", **options: Any) -> int:
        """Enqueue a document of the Volume, or an absolute path, and return its task."""
        payload = {"document": os.path.join(ROOT, document)}
        return submitter.enqueue(self.db, agent=AGENT, payload=payload, **options)

    def run(self, accident: str = "", **environment: str) -> JobRun:
        """Claim the next attempt, run the job for it as the launcher does, and wait for its end."""
        (claimed,) = worker.dequeue(self.db, worker="w", agents=[AGENT])
        return self.launch(claimed, accident, **environment)

    def launch(self, claimed: Any, accident: str = "", **environment: str) -> JobRun:
        """Run the job for this attempt, and wait for its end."""
        self.job.work = self.work(accident, **environment)
        run = self.client.jobs.run_now(
            self.job.job_id,
            idempotency_token=claimed.launch_token,
            job_parameters={
                "forebay_task_id": str(claimed.task_id),
                "forebay_attempt_id": str(claimed.attempt_id),
                "forebay_launch_token": claimed.launch_token,
            },
        )
        return self.jobs.wait(run.run_id, 100)

    def work(self, accident: str = "", **environment: str) -> Work:
        """Return what a run of the job does: the job's own program, in a process."""
        arguments = [f"--{name}={value}" for name, value in self.settings.items()]
        return job(arguments, self.environment | environment, accident)

    def notice_end(self, task_id: int) -> None:
        """Report the current attempt as whoever sees its run ended does; nothing if it is over."""
        last = attempts(self.db, task_id)[-1]
        error = {"kind": "infrastructure", "message": "the run has ended"}
        agent_calls.fail(self.db, attempt_id=last["attempt_id"], error=error)

    def used(self, task_id: int) -> list[tuple[str, int | None, int | None]]:
        """Return the model and the tokens of each call that the database has of a task, by time."""
        query = (
            "select u.model, u.input_tokens, u.output_tokens from forebay.attempt_usage as u"
            " join forebay.task_attempts as a using (attempt_id)"
            " where a.task_id = %s and u.model <> 'ai_parse_document' order by u.started_at"
        )
        return self.db.execute(query, [task_id]).fetchall()

    def used_pages(self, task_id: int) -> list[int | None]:
        """Return the pages of each call to ai_parse_document, None where they are unknown."""
        query = (
            "select u.pages::integer from forebay.attempt_usage as u"
            " join forebay.task_attempts as a using (attempt_id)"
            " where a.task_id = %s and u.model = 'ai_parse_document' order by u.started_at"
        )
        return [pages for (pages,) in self.db.execute(query, [task_id])]

    def paid(self) -> list[tuple[str, int, int]]:
        """Return the model and the tokens of each call that the endpoint has answered."""
        log = self.serving.simulation.log
        assert log is not None
        ended = [one for one in log.records if one["event"] == "ended"]
        return [(MODEL, one["input"], one["output"]) for one in ended]

    def task(self, task_id: int) -> dict[str, Any]:
        """Return the row of a task."""
        return task(self.db, task_id)


@contextmanager
def placed(
    db: psycopg.Connection,
    database_url: str,
    folder: Path,
    *,
    workspace: Workspace | None = None,
    upstream: str | None = None,
) -> Iterator[Place]:
    """Serve a workspace whose Volume is below the folder, and the proxy before an app.

    The app is `upstream`, or else the receiver. A workspace that is given is served already.
    """
    with (
        receiving() as receiver,
        nullcontext(workspace) if workspace else Workspace() as workspace,
        App(workspace, "orchestrator", upstream or receiver.url.removesuffix("/hook")) as app,
    ):
        files, statements, jobs = Files(workspace), Statements(workspace), Jobs(workspace)
        serving, secrets = Serving(workspace, Simulation(log=CallLog())), Secrets(workspace)
        apps = Apps(workspace)
        for area in (files, statements, jobs, serving, secrets, apps):
            workspace.add(area)
        files.add_volume(VOLUME, folder / "inbox")
        statements.add_warehouse(WAREHOUSE)
        serving.add(MODEL)
        secrets.add("forebay", "callback", SECRET)
        apps.add(app, client_id="app")
        _grant(workspace)
        lakeflow_job = jobs.add("forebay-agent")
        operator.register_agent(
            db,
            agent=AGENT,
            launcher="lakeflow",
            job_id=lakeflow_job.job_id,
            entry_point="parse_document",
        )
        yield Place(
            db=db,
            workspace=workspace,
            folder=folder / "inbox",
            serving=serving,
            functions=AiFunctions(statements, files),
            secrets=secrets,
            jobs=jobs,
            job=lakeflow_job,
            receiver=receiver,
            app=app,
            client=workspace_client(host=workspace.url, token=workspace.token),
            environment=_environment(workspace, app, database_url),
        )


def _grant(workspace: Workspace) -> None:
    workspace.access.add(Principal(CLIENT_ID, secret="job-secret"))
    granted = {
        f"volumes/{VOLUME}": "WRITE_VOLUME",
        f"sql/warehouses/{WAREHOUSE}": "CAN_USE",
        f"serving-endpoints/{MODEL}": "CAN_QUERY",
        "apps/orchestrator": "CAN_USE",
        "secrets/forebay": "READ",
    }
    for thing, level in granted.items():
        workspace.access.grant(CLIENT_ID, thing, level)


def _environment(workspace: Workspace, app: App, database_url: str) -> dict[str, str]:
    return {
        "DATABRICKS_HOST": workspace.url,
        "DATABRICKS_CLIENT_ID": CLIENT_ID,
        "DATABRICKS_CLIENT_SECRET": "job-secret",
        "FOREBAY_DATABASE_URL": database_url,
        "FOREBAY_STORAGE_ROOTS": ROOT,
        "FOREBAY_MODEL_BASE_URL": "databricks",
        "FOREBAY_MODEL_NAME": MODEL,
        "FOREBAY_CALLBACK_URL": f"{app.url}/api/callbacks",
        "FOREBAY_CALLBACK_AUTH": "databricks",
        "FOREBAY_CALLBACK_SECRETS": SECRET,
        "FOREBAY_CALLBACK_SECONDS": "10",
    }
