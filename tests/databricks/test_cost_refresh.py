"""`forebay cost refresh`: what is read where the environment says nothing of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.service.jobs import PythonWheelTask, Task

from databricks.support_billing import WAREHOUSE, Books, books
from forebay_lab.workspace import Workspace
from forebay_lab.workspace.jobs import Jobs
from support.cli import Cli
from support.daemon import register

__all__ = ["books"]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dsn: str) -> Cli:
    """Run commands as the installer."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
    return Cli(capsys)


@pytest.fixture
def settled(books: Books, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Books:
    """Let a run be on the bill of a workspace that the environment knows, and no more than that."""
    monkeypatch.setenv("DATABRICKS_HOST", workspace.url)
    monkeypatch.setenv("DATABRICKS_TOKEN", workspace.token)
    for name in ("FOREBAY_WAREHOUSE_ID", "FOREBAY_MLFLOW_EXPERIMENT"):
        monkeypatch.delenv(name, raising=False)
    _, run_id = books.run()
    books.rows.use("2", books.clock.now(), run_id=run_id)
    workspace.add(Jobs(workspace))
    return books


def test_the_job_of_an_agent_says_which_warehouse(
    settled: Books, client: Callable[..., WorkspaceClient], cli: Cli
) -> None:
    """As the bundle sets it there: nobody has to look it up."""
    wheel = PythonWheelTask(
        "forebay", "forebay-agent-job", named_parameters={"FOREBAY_WAREHOUSE_ID": WAREHOUSE}
    )
    job = client().jobs.create(name="j", tasks=[Task("attempt", python_wheel_task=wheel)])
    register(settled.db, "jobs", launcher="lakeflow", job_id=job.job_id)
    answer = cli("cost", "refresh", "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["bill"]["runs"], answer.json["traces"]) == (1, None)


def test_where_nothing_says_it_both_settings_are_named(settled: Books, cli: Cli) -> None:
    """Also where the job cannot be seen."""
    answer = cli("cost", "refresh")
    assert answer.code == 1
    assert "FOREBAY_WAREHOUSE_ID" in answer.err
    assert "FOREBAY_MLFLOW_EXPERIMENT" in answer.err
