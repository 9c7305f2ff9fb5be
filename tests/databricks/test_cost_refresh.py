"""`forebay cost refresh`: what is read where the environment says nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import mlflow
import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.service.jobs import PythonWheelTask, Task

from databricks.support_billing import OURS, WAREHOUSE, Books, books
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
    for name in (
        "FOREBAY_WAREHOUSE_ID",
        "FOREBAY_BILLING_APPS",
        "FOREBAY_BILLING_TAG",
        "FOREBAY_BILLING_PRICE",
        "FOREBAY_MLFLOW_EXPERIMENT",
    ):
        monkeypatch.delenv(name, raising=False)
    _, run_id = books.run()
    books.rows.use("2", books.clock.now(), run_id=run_id)
    workspace.add(Jobs(workspace))
    return books


def add_job(books: Books, client: WorkspaceClient, **parameters: str) -> None:
    """Register an agent whose job has these parameters."""
    wheel = PythonWheelTask("forebay", "forebay-agent-job", named_parameters=parameters)
    job = client.jobs.create(name="j", tasks=[Task("attempt", python_wheel_task=wheel)])
    register(books.db, "of_a_job", launcher="lakeflow", job_id=job.job_id)


@pytest.fixture
def without_traces(settled: Books, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the traces be in an MLflow that is away."""
    monkeypatch.setenv("FOREBAY_MLFLOW_EXPERIMENT", "/Shared/forebay-dev")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    before = mlflow.get_tracking_uri()
    yield
    mlflow.set_tracking_uri(before)


def test_the_job_of_an_agent_says_which_warehouse(
    settled: Books, client: Callable[..., WorkspaceClient], cli: Cli
) -> None:
    """As the bundle sets it there: nobody has to look it up."""
    add_job(settled, client(), FOREBAY_WAREHOUSE_ID=WAREHOUSE)
    answer = cli("cost", "refresh", "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["bill"]["runs"], answer.json["traces"]) == (1, None)


def test_lists_are_lists_in_json(settled: Books, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is nothing in them."""
    monkeypatch.setenv("FOREBAY_WAREHOUSE_ID", WAREHOUSE)
    told = cli("cost", "refresh", "--json").json["bill"]
    assert (told["unpriced_skus"], told["left_out"]) == ([], [])
    _, run_id = settled.run()
    for sku in ("NEW", "ANOTHER"):
        settled.rows.use("2", settled.clock.now(), run_id=run_id, sku=sku)
    settled.rows.use("1e19", settled.clock.now(), run_id=run_id)
    told = cli("cost", "refresh", "--json").json["bill"]
    assert told["unpriced_skus"] == ["ANOTHER", "NEW"]
    [left_out] = told["left_out"]
    assert f"/{run_id}/" in left_out


def test_without_a_tag_it_says_that_runs_alone_are_read(
    settled: Books, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others of the workspace pay is no cost of ours."""
    settled.rows.use("6", settled.clock.now(), product="SQL", warehouse_id="other")
    monkeypatch.setenv("FOREBAY_WAREHOUSE_ID", WAREHOUSE)
    answer = cli("cost", "refresh", "--json")
    assert (answer.code, answer.json["bill"]["is_shared_read"]) == (0, False)
    assert answer.err == "What is shared was not read: FOREBAY_BILLING_TAG says which tag it has.\n"
    assert cli("cost", "refresh").err == answer.err
    assert settled.shared() == {}
    monkeypatch.setenv("FOREBAY_BILLING_TAG", "project=forebay")
    assert cli("cost", "refresh").err == ""


def test_where_nothing_says_it_both_settings_are_named(settled: Books, cli: Cli) -> None:
    """Also where the job cannot be seen."""
    answer = cli("cost", "refresh")
    assert answer.code == 1
    assert "FOREBAY_WAREHOUSE_ID" in answer.err
    assert "FOREBAY_MLFLOW_EXPERIMENT" in answer.err


def test_by_the_jobs_settings_the_dashboards_costs_stay(
    settled: Books, client: Callable[..., WorkspaceClient], cli: Cli
) -> None:
    """Tag, apps and price are the job's too: else another's would take the place of ours."""
    settled.rows.use("6", settled.clock.now(), product="SQL", tags=OURS)
    settled.rows.use("4", settled.clock.now(), product="APPS", tags={"project": "ours"})
    settled.rows.use("2", settled.clock.now(), product="APPS", app_name="intake")
    how = replace(settled.bill, tag=("project", "ours"), price="default", apps=("intake",))
    settled.bill = how
    settled.read()
    ours = settled.shared()
    assert list(ours) == ["APPS"]
    add_job(
        settled,
        client(),
        FOREBAY_WAREHOUSE_ID=WAREHOUSE,
        FOREBAY_BILLING_TAG="project=ours",
        FOREBAY_BILLING_PRICE="default",
        FOREBAY_BILLING_APPS="intake",
    )
    assert cli("cost", "refresh").code == 0
    assert settled.shared() == ours
    told = settled.db.execute("select settings from forebay.compute_sources").fetchall()
    assert told == [(settled.bill.settings,)]


@pytest.mark.usefixtures("without_traces")
def test_the_bill_is_read_where_traces_are_away(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read is told, and then what was not."""
    monkeypatch.setenv("FOREBAY_WAREHOUSE_ID", WAREHOUSE)
    answer = cli("cost", "refresh", "--json")
    assert answer.code == 1
    assert (answer.json["bill"]["runs"], answer.json["traces"]) == (1, None)
    assert "forebay: Traces cannot be read: " in answer.err
    assert answer.err.count("\n") == 2


@pytest.mark.usefixtures("without_traces")
def test_each_failure_is_a_sentence(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are tried, and nothing is printed where neither could be read."""
    monkeypatch.setenv("FOREBAY_WAREHOUSE_ID", "gone")
    answer = cli("cost", "refresh", "--json")
    assert (answer.code, answer.out) == (1, "")
    assert "Traces cannot be read: " in answer.err
    assert answer.err.endswith(" The bill cannot be read: SQL warehouse gone does not exist.\n")
