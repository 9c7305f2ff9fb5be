"""The agent's job end to end: a real process in a stand-in workspace, and a real database."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mlflow import MlflowClient
from mlflow.entities import TraceState
from psycopg.conninfo import make_conninfo
from reportlab.pdfgen.canvas import Canvas

from forebay.calls import operator, submitter, worker
from forebay.errors import ForebayError
from forebay.stop_signal import StopSignal
from forebay.traces.mlflow_settings import launch_key
from forebay_agents import job
from forebay_lab.model_server import Fault
from support.agent_job import AGENT, CLIENT_ID, MODEL, Place, placed
from support.daemon import attempts
from support.scans import write_scan
from support.waiting import until

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


@pytest.mark.timeout(300)
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
        "forebay.launch_key": launch_key(attempt["launch_token"]),
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


KILLS = {
    "before the work is fetched": "forebay.calls.agent:begin_attempt before 1",
    "after the work is fetched": "forebay.calls.agent:begin_attempt after 1",
    "before reading": "forebay.storage.volume:VolumeStorage.local before 1",
    "after the parse": "forebay.databricks.statements:rows after 1",
    "before the parse is kept": "forebay.storage.volume:VolumeStorage.write before 1",
    "before the usage of the parse": "forebay.calls.agent:report_usage before 2",
    "after the usage of the parse": "forebay.calls.agent:report_usage after 2",
    "after reading": "forebay_agents.parse_document:find_fields before 1",
    "after the first call was let go": "forebay.calls.agent:may_call after 1",
    "after the first answer": "forebay_agents.models.client:_send after 1",
    "after the second answer": "forebay_agents.models.client:_send after 2",
    "before the first answer is kept": "forebay.storage.volume:VolumeStorage.write before 2",
    "before the second answer is kept": "forebay.storage.volume:VolumeStorage.write before 3",
    "before the first usage": "forebay.calls.agent:report_usage before 3",
    "before the second usage": "forebay.calls.agent:report_usage before 4",
    "after the second usage": "forebay.calls.agent:report_usage after 4",
    "before the flush": "forebay_agents.tracing:Trace.end before 1",
    "after the flush": "forebay_agents.tracing:Trace.end after 1",
    "before the result": "forebay.calls.agent:complete before 1",
    "after the result": "forebay.calls.agent:complete after 1",
    "before what was kept is removed": "forebay.storage.volume:VolumeStorage.delete before 1",
    "after a part of it is removed": "forebay.storage.volume:VolumeStorage.delete after 1",
    "before the callback": "forebay.callbacks:Callbacks.send before 1",
    "after the callback": "forebay.callbacks:Callbacks.send after 1",
}
UNTOLD = {
    *("after the first answer", "after the second answer"),
    *("before the first answer is kept", "before the second answer is kept"),
}
"""Where an answer was paid for and not kept yet: nobody tells of it, and its call is made again."""
UNKEPT = {"after the parse", "before the parse is kept"}
"""The same of the parse, which is told of before: what it took is unknown."""
STORED = set(list(KILLS)[list(KILLS).index("after the result") :])
"""Where the result was stored before the end."""


@pytest.mark.timeout(600)
@pytest.mark.long
@pytest.mark.parametrize("when", KILLS)
def test_a_killed_job_loses_no_result_and_doubles_no_cost(
    when: str, place: Place, request: pytest.FixtureRequest
) -> None:
    """SIGKILL at each step: the task completes once, and each call that was paid is there once."""
    traces = request.getfixturevalue("traces") if "flush" in when else list
    write_statement(place.folder / "document.pdf", 2)
    task_id = place.submit()
    place.environment |= {"FOREBAY_MODEL_CONTEXT_TOKENS": "8000", "FOREBAY_WAREHOUSE_ID": "w1"}
    run = place.run(KILLS[when])
    assert (run.result_state, run.message[-3:]) == ("FAILED", " -9"), run.output
    assert (place.task(task_id)["status"] == "completed") == (when in STORED)
    if when in STORED or when == "before the result" or "flush" in when:
        assert len(place.used(task_id)) == 2  # usage goes first
    place.notice_end(task_id)
    if when not in STORED:
        place.db.execute("update forebay.tasks set available_at = now()")
        run = place.run()
        assert run.result_state == "SUCCESS", run.output
    row = place.task(task_id)
    assert (row["status"], row["result"]["page_count"]) == ("completed", 2)
    assert len(attempts(place.db, task_id)) == (1 if when in STORED else 2)

    used, paid = place.used(task_id), place.paid()
    assert len(paid) == (3 if when in UNTOLD else 2)
    assert len(untold(paid, used)) == (when in UNTOLD)
    parsed = [None, 2] if when in UNKEPT else [2]
    assert place.used_pages(task_id) == parsed
    assert place.functions.parsed == [2] * len(parsed)
    ended = [one for one in traces() if one.info.state != TraceState.IN_PROGRESS]
    assert len(ended) == {"before the flush": 1, "after the flush": 2}.get(when, 0)
    is_told = when not in STORED or when == "after the callback"
    assert len(place.receiver.messages) == is_told  # the callback goes last


def untold(paid: list[Any], used: list[Any]) -> list[Any]:
    """Return the calls that were paid for and are not among those used, which all were paid for."""
    left = list(paid)
    for call in used:
        left.remove(call)
    return left


DEATHS = (
    "forebay.calls.agent:begin_attempt after 1",
    "forebay.databricks.statements:rows after 1",
    "forebay.calls.agent:report_usage before 2",  # the first is that the parse begins
    "forebay_agents.models.client:_send after 1",
    "forebay.calls.agent:report_usage before 2",  # the first is that of the parse of before
    "forebay.callbacks:Callbacks.send before 1",
)
"""One after the other: an answer is lost at the second and at the fourth, before it was kept."""


@pytest.mark.timeout(600)
def test_a_job_that_dies_again_and_again_pays_once_for_what_it_kept(
    place: Place, traces: Callable[[], list[Any]]
) -> None:
    """Each attempt is killed a step later: all that was kept is there once, and paid for once."""
    operator.register_agent(place.db, agent=AGENT, launcher="lakeflow", max_attempts=len(DEATHS))
    write_statement(place.folder / "document.pdf", 2)
    task_id = place.submit()
    place.environment |= {"FOREBAY_MODEL_CONTEXT_TOKENS": "8000", "FOREBAY_WAREHOUSE_ID": "w1"}
    for death in DEATHS:
        place.db.execute("update forebay.tasks set available_at = now()")
        run = place.run(death)
        assert (run.result_state, run.message[-3:]) == ("FAILED", " -9"), (death, run.output)
        place.notice_end(task_id)
    row = place.task(task_id)
    assert (row["status"], row["result"]["page_count"]) == ("completed", 2)
    assert len(attempts(place.db, task_id)) == len(DEATHS)
    used, paid = place.used(task_id), place.paid()
    assert (len(paid), len(untold(paid, used))) == (3, 1)
    assert (place.used_pages(task_id), place.functions.parsed) == ([None, 2], [2, 2])
    assert traces()[0].info.client_request_id == str(attempts(place.db, task_id)[-1]["attempt_id"])
    assert place.receiver.messages == []


@pytest.mark.timeout(300)
def test_what_a_job_of_another_database_kept_is_left_alone(place: Place) -> None:
    """Its attempt has the id of one of ours: its answers are not taken, booked or removed."""
    write_statement(place.folder / "document.pdf", 2)
    task_id = place.submit()
    place.environment |= {"FOREBAY_MODEL_CONTEXT_TOKENS": "8000", "FOREBAY_WAREHOUSE_ID": "w1"}
    run = place.run(KILLS["before the second usage"])
    assert (run.result_state, run.message[-3:]) == ("FAILED", " -9"), run.output
    place.db.execute("delete from forebay.attempt_usage")
    place.db.execute("update forebay.task_attempts set launch_token = 'fb-of-another'")
    kept = {each: each.read_bytes() for each in (place.folder / "document.pdf.forebay").iterdir()}
    assert len(kept) == 3
    place.notice_end(task_id)
    place.db.execute("update forebay.tasks set available_at = now()")
    run = place.run()
    assert run.result_state == "SUCCESS", run.output
    assert place.task(task_id)["status"] == "completed"
    first, second = attempts(place.db, task_id)
    booked = place.db.execute("select distinct attempt_id from forebay.attempt_usage").fetchall()
    assert booked == [(second["attempt_id"],)] != [(first["attempt_id"],)]
    assert place.used(task_id) == place.paid()[2:]
    assert place.functions.parsed == [2, 2]
    left = {each: each.read_bytes() for each in (place.folder / "document.pdf.forebay").iterdir()}
    assert left == kept
    assert all(first["launch_token"] not in each.name for each in left)


@pytest.mark.timeout(300)
def test_a_bearer_that_is_refused_is_renewed(place: Place) -> None:
    """The workspace takes no old token any more: the next calls log in anew, and nothing fails."""
    write_statement(place.folder / "document.pdf", 2)
    task_id = place.submit(str(place.folder / "document.pdf"))
    complete = place.serving.simulation.complete

    def expire_and_complete(*arguments: Any) -> Any:
        place.workspace.access.expire_tokens()
        return complete(*arguments)

    place.serving.simulation.complete = expire_and_complete  # type: ignore[method-assign]
    run = place.run(FOREBAY_MODEL_CONTEXT_TOKENS="8000", FOREBAY_STORAGE_ROOTS=str(place.folder))
    assert run.result_state == "SUCCESS", run.output
    assert place.task(task_id)["status"] == "completed", run.output
    assert place.used(task_id) == place.paid()
    assert statuses(place, "/serving-endpoints/chat/completions") == [200, 401, 200]
    assert [one.status for one in place.app.log] == [401, 200]
    assert len(place.receiver.messages) == 1


@pytest.mark.timeout(300)
def test_bearers_that_end_soon_are_renewed_before(place: Place) -> None:
    """Tokens that last for a second, as the first call does: the second one has another."""
    place.workspace.access.token_seconds = 1
    place.serving.simulation.queued.append(Fault("slow", seconds=1.1))
    write_statement(place.folder / "document.pdf", 2)
    task_id = place.submit()
    run = place.run(FOREBAY_MODEL_CONTEXT_TOKENS="8000")
    assert place.task(task_id)["status"] == "completed", run.output
    assert statuses(place, "/serving-endpoints/chat/completions") == [200, 200]
    assert [one.status for one in place.app.log] == [200]
    paths = [one.path for one in place.workspace.log]
    first = paths.index("/serving-endpoints/chat/completions")
    assert "/oidc/v1/token" in paths[first : paths.index(paths[first], first + 1)]
    assert 401 not in {one.status for one in place.workspace.log}


def statuses(place: Place, path: str) -> list[int]:
    """Return how each request to this path was answered."""
    return [one.status for one in place.workspace.log if one.path == path]


@pytest.mark.timeout(300)
def test_refusals_of_an_endpoint_are_the_queues_to_wait_for(place: Place) -> None:
    """429 says when to come back, and spends no attempt."""
    write_statement(place.folder / "document.pdf", 1)
    place.serving.simulation.queued.append(Fault("rate_limited", headers=(("retry-after", "600"),)))
    task_id = place.submit()
    run = place.run()
    assert run.result_state == "SUCCESS", run.output
    row = place.task(task_id)
    assert (row["status"], row["error"]["kind"]) == ("enqueued", "rate_limited")
    assert row["attempt_count"] == 0
    (failed,) = [message.event for message in place.receiver.messages]
    assert failed["data"]["retry_after_seconds"] == 600
    assert place.used(task_id) == [(MODEL, 0, 0)]


@pytest.mark.timeout(300)
def test_a_missing_grant_is_named(place: Place) -> None:
    """403 of an endpoint is no fault of the document: it is tried again, and says what to grant."""
    write_statement(place.folder / "document.pdf", 1)
    place.workspace.access.revoke(CLIENT_ID, f"serving-endpoints/{MODEL}")
    task_id = place.submit()
    run = place.run()
    row = place.task(task_id)
    assert row["status"] == "enqueued", run.output
    assert "CAN_QUERY" in row["error"]["message"]
    assert place.used(task_id) == [(MODEL, 0, 0)]


@pytest.mark.timeout(300)
def test_a_scan_goes_to_a_vision_endpoint(place: Place) -> None:
    """The picture of a page without text is read by a serving endpoint, with the same bearer."""
    write_scan(place.folder / "document.pdf", 1)
    place.serving.add("vision-model")
    place.workspace.access.grant(CLIENT_ID, "serving-endpoints/vision-model", "CAN_QUERY")
    place.serving.simulation.transcript = ["Invoice", "Invoice no. V-1", "Total   7.00 EUR"]
    task_id = place.submit()
    run = place.run(
        FOREBAY_MODEL_BASE_URL="",
        FOREBAY_MODEL_NAME="",
        FOREBAY_VISION_BASE_URL="databricks",
        FOREBAY_VISION_MODEL_NAME="vision-model",
    )
    row = place.task(task_id)
    assert row["status"] == "completed", run.output
    assert row["result"]["fields"]["number"] == "V-1"
    assert row["result"]["pages"][0]["source"] == "vision"
    ((model, _, _),) = place.used(task_id)
    assert model == "vision-model"


@pytest.mark.timeout(300)
def test_nothing_runs_for_a_wrong_token_or_an_attempt_that_has_ended(place: Place) -> None:
    """A wrong launch token fails the run; one that nobody waits for ends well, and does nothing."""
    write_statement(place.folder / "document.pdf", 1)
    task_id = place.submit()
    (claimed,) = worker.dequeue(place.db, worker="w", agents=[AGENT])
    run = place.launch(replace(claimed, launch_token="fb-wrong"))
    assert (run.result_state, "UnknownAttemptError" in run.output) == ("FAILED", True)
    operator.cancel(place.db, task_ids=[task_id], reason="test")
    run = place.launch(claimed)
    assert (run.result_state, "attempt_ended" in run.output) == ("SUCCESS", True)
    assert place.paid() == []
    assert "fb-wrong" not in run.output


@pytest.mark.timeout(300)
def test_settings_come_as_parameters_and_secrets_from_a_scope(place: Place) -> None:
    """As for a serverless task, which has no environment of its own; the environment wins."""
    write_statement(place.folder / "document.pdf", 1)
    names = [name for name in place.environment if name.startswith("FOREBAY_")]
    passed = {name: place.environment.pop(name) for name in names}
    passed |= {
        "FOREBAY_CALLBACK_SECRETS": "secret:forebay/callback",
        "FOREBAY_CALLBACK_CLIENT_ID": CLIENT_ID,
        "FOREBAY_CALLBACK_CLIENT_SECRET": "secret:forebay/client",
    }
    place.secrets.add("forebay", "client", "job-secret")
    place.settings = passed
    task_id = place.submit()
    run = place.run()
    assert place.task(task_id)["status"] == "completed", run.output
    assert [one.status for one in place.app.log] == [200]
    place.workspace.access.revoke(CLIENT_ID, "secrets/forebay")
    place.submit()
    run = place.run()
    assert run.result_state == "FAILED"
    assert "READ on the scope" in run.output
    assert "job-secret" not in run.output


@pytest.mark.timeout(300)
@pytest.mark.parametrize("uri", ["http://127.0.0.1:9", "sqlite:////dev/null/none.db"])
def test_traces_that_fail_cost_the_attempt_nothing(uri: str, place: Place) -> None:
    """MLflow cannot be reached, or has no store: result, usage and callback are as ever."""
    write_statement(place.folder / "document.pdf", 1)
    task_id = place.submit()
    run = place.run(MLFLOW_TRACKING_URI=uri, FOREBAY_MLFLOW_EXPERIMENT=EXPERIMENT)
    assert place.task(task_id)["status"] == "completed", run.output
    assert "trace_failed" in run.output or "trace_not_flushed" in run.output
    assert place.used(task_id) == place.paid() != []
    assert len(place.receiver.messages) == 1


@pytest.mark.timeout(300)
def test_a_cancelled_run_tells_what_it_used(place: Place, traces: Callable[[], list[Any]]) -> None:
    """SIGTERM while the model answers: it ends by the signal, its usage and its trace are kept."""
    write_statement(place.folder / "document.pdf", 2)
    place.serving.simulation.queued.extend([Fault("slow", seconds=0.01), Fault("hang", seconds=60)])
    task_id = place.submit()
    (claimed,) = worker.dequeue(place.db, worker="w", agents=[AGENT])
    with ThreadPoolExecutor(1) as thread:
        launched = thread.submit(place.launch, claimed, FOREBAY_MODEL_CONTEXT_TOKENS="8000")
        until(lambda: len(place.serving.simulation.requests) == 2, 100)
        (run_id,) = place.jobs.runs
        operator.cancel(place.db, task_ids=[task_id], reason="test")
        place.client.jobs.cancel_run(run_id)
        run = launched.result(60)
    assert run.result_state == "CANCELED"
    assert place.task(task_id)["status"] == "cancelled"
    assert place.used(task_id) == place.paid()[:1]
    (trace,) = traces()
    assert trace.data.spans[0].attributes["forebay.error_kind"] == "not_reported"


def test_what_keeps_the_job_from_beginning_is_one_sentence(
    db: psycopg.Connection, role_dsn: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the person who reads the run's output: no traceback, and no token."""
    operator.register_agent(db, agent=AGENT, launcher="lakeflow", job_id=7)
    submitter.enqueue(db, agent=AGENT, payload={})
    (claimed,) = worker.dequeue(db, worker="w", agents=[AGENT])
    token = claimed.launch_token
    ids = {"forebay_attempt_id": str(claimed.attempt_id), "forebay_launch_token": token}
    empty = make_conninfo(role_dsn("agent"), dbname="postgres")
    for dsn, given, said in (
        (role_dsn("viewer"), {}, "grant it forebay_agent"),
        (empty, {}, "run forebay db upgrade"),
        (role_dsn("agent"), {"forebay_attempt_id": "9" * 30}, "no number of an attempt"),
        (role_dsn("agent"), {"forebay_launch_token": "ü"}, "not as it was given"),
    ):
        monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
        with pytest.raises(ForebayError, match=said):
            job.run(ids | given, StopSignal())
    given = {**ids, "run_id": "r" * 600}
    ended = subprocess.run(
        [sys.executable, "-m", "forebay_agents.job", *(f"--{n}={v}" for n, v in given.items())],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    (line,) = (ended.stdout + ended.stderr).splitlines()
    assert json.loads(line)["event"] == "job_failed"
    assert token not in line
