"""The agent's job end to end: a real process in a stand-in workspace, and a real database."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mlflow import MlflowClient
from reportlab.pdfgen.canvas import Canvas

from support.agent_job import AGENT, MODEL, Place, placed
from support.daemon import attempts

EXPERIMENT = "forebay-tests"


@pytest.fixture
def place(db: psycopg.Connection, role_dsn: Callable[..., str], tmp_path: Path) -> Iterator[Place]:
    """Give a workspace in which the job can run, without traces."""
    with placed(db, role_dsn("agent"), tmp_path) as place:
        yield place


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make MLflow's tables once, which takes seconds."""
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    MlflowClient(f"sqlite:///{path}").create_experiment(EXPERIMENT)
    return path


@pytest.fixture
def traces(place: Place, empty_store: Path, tmp_path: Path) -> Callable[[], list[Any]]:
    """Have the job write traces; return a function that gives those that were stored."""
    path = shutil.copy(empty_store, tmp_path / "mlflow.db")
    uri = f"sqlite:///{path}"
    place.environment |= {"MLFLOW_TRACKING_URI": uri, "FOREBAY_MLFLOW_EXPERIMENT": EXPERIMENT}

    def traces() -> list[Any]:
        client = MlflowClient(uri)
        experiment = client.get_experiment_by_name(EXPERIMENT)
        return list(client.search_traces(locations=[experiment.experiment_id]))

    return traces


def write_statement(path: Path, pages: int) -> None:
    """Write a bank statement that is too long for one prompt."""
    canvas = Canvas(str(path))
    for page in range(pages):
        canvas.drawString(72, 800, "Account statement")
        for line in range(45):
            canvas.drawString(
                72, 780 - 16 * line, f"2026-03-{line % 28 + 1:02} Payment to firm {line}"
            )
            canvas.drawRightString(500, 780 - 16 * line, f"{page * 100 + line}.50")
        canvas.showPage()
    canvas.save()


def test_a_document_of_the_volume_becomes_a_result(
    place: Place, traces: Callable[[], list[Any]]
) -> None:
    """Result and usage are in the database, the trace in MLflow, the callback at the app."""
    write_statement(place.folder / "document.pdf", 2)
    task_id = place.submit(customer="acme")
    run = place.run()
    assert run.result_state == "SUCCESS", run.output
    row = place.task(task_id)
    assert row["status"] == "completed", run.output
    assert row["result"]["page_count"] == 2
    assert row["result"]["notes"][0].startswith(f"Read by the model {MODEL}")
    assert place.used(task_id) == place.paid() != []
    (attempt,) = attempts(place.db, task_id)
    assert attempt["run_id"] == str(run.run_id)

    (trace,) = traces()
    assert trace.info.client_request_id == str(attempt["attempt_id"])
    tags = {name: value for name, value in trace.info.tags.items() if name.startswith("forebay.")}
    assert tags == {
        "forebay.task_id": str(task_id),
        "forebay.attempt_id": str(attempt["attempt_id"]),
        "forebay.agent": AGENT,
        "forebay.customer": "acme",
    }
    root, leaf = trace.data.spans
    assert (root.span_type, leaf.span_type, leaf.parent_id) == ("AGENT", "CHAT_MODEL", root.span_id)
    ((_, input_tokens, output_tokens),) = place.paid()
    assert leaf.attributes["mlflow.chat.tokenUsage"] == {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "cache_read_input_tokens": 0,
    }
    assert attempt["launch_token"] not in str(trace.to_dict())
    assert "Payment to firm" not in str(trace.to_dict())
    recorded = place.db.execute("select distinct trace_id from forebay.attempt_usage").fetchall()
    assert recorded == [(trace.info.trace_id,)]

    (message,) = place.receiver.messages
    assert message.event["data"]["result"]["page_count"] == 2
    assert place.receiver.paths == ["/api/callbacks"]
    assert [one.status for one in place.app.log] == [200]
