"""Traces in a stand-in workspace: the real MLflow writes and reads them over HTTP, with OAuth."""

from __future__ import annotations

import base64
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import mlflow
import psycopg
import pytest
from databricks.sdk import WorkspaceClient
from mlflow import MlflowClient
from mlflow.environment_variables import MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT
from mlflow.exceptions import MlflowException
from mlflow.utils.rest_utils import get_workspace_client

from databricks.support_deployed import become, standing
from databricks.support_traces import EXPERIMENT, MODEL, SETTINGS, Seen, told
from databricks.test_job import write_statement
from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker
from forebay.databricks.bootstrap import Principal as Admitted
from forebay.databricks.bootstrap import admit
from forebay.errors import TracesError
from forebay.logs import FIELDS
from forebay.pool import Database
from forebay.rows import ClaimedAttempt
from forebay.traces import harvest, mlflow_store
from forebay.traces.harvest import refresh_traces
from forebay.traces.mlflow_settings import launch_key
from forebay.traces.mlflow_store import MlflowTraces
from forebay_agents.tracing import Trace
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.__main__ import ORCHESTRATOR_APP, variables
from forebay_lab.workspace.deployed import AGENT, CALLBACK_SECRET, ROOT, Deployed
from forebay_lab.workspace.experiments import Experiments
from forebay_lab.workspace.traces import Traces
from support.cli import Cli
from support.clock import Clock
from support.receiver import receiving
from support.server import TestServer

JOB = {"DATABRICKS_CLIENT_ID": "the-job", "DATABRICKS_CLIENT_SECRET": "job-secret"}


@pytest.fixture
def traces(workspace: Workspace) -> Traces:
    """Serve an experiment that the job may write to."""
    experiments = Experiments(workspace)
    traces = Traces(experiments)
    for area in (experiments, traces):
        workspace.add(area)
    experiments.add(EXPERIMENT)
    workspace.access.add(Principal("the-job", secret="job-secret"))
    workspace.access.grant("the-job", "experiments/1", "CAN_EDIT")
    return traces


@pytest.fixture
def seen(
    db: psycopg.Connection,
    clock: Clock,
    workspace: Workspace,
    traces: Traces,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Seen]:
    """Give a database with an agent and a price, and an MLflow that is the workspace's."""
    seen = Seen(db, clock, "databricks")
    named = SETTINGS | JOB | {"DATABRICKS_HOST": workspace.url} | seen.environment
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    before = mlflow.get_tracking_uri()
    clock.set(datetime.now(UTC))
    operator.register_agent(db, agent="a")
    operator.register_price(db, model=MODEL, usd_per_m_input=1, usd_per_m_output=10)
    yield seen
    mlflow.set_tracking_uri(before)


CALLS = (told("1", (100, 20), cached_tokens=40), told("2", (50, 10)))
USED = (150, 30, True)
USD = Decimal("0.00045")


def trace(work: ClaimedAttempt) -> str:
    """Do what the job does with two calls and its end, and return the trace's id."""
    trace = Trace(work)
    trace_id = trace.id()
    for call in CALLS:
        trace.add(call)
    trace.end()
    assert trace_id is not None
    return trace_id


def begun(seen: Seen) -> ClaimedAttempt:
    """Claim a task of a customer's batch."""
    batch = submitter.open_batch(seen.db, name="b", customer="acme")
    submitter.enqueue(seen.db, agent="a", payload={}, batch_id=batch)
    return seen.claim_again()


def test_a_trace_that_lacks_a_span_makes_nothing_known(seen: Seen, traces: Traces) -> None:
    """What is below that span may not be all; the root's sum is not counted beside it."""
    work = begun(seen)
    kept = traces.kept[trace(work)]
    seen.complete(work)
    stored = json.loads(kept.spans or b"")
    for span in stored["spans"]:
        if span["parent_span_id"]:
            span["parent_span_id"] = base64.b64encode(b"8 bytes!").decode()
        else:
            span["attributes"]["mlflow.chat.tokenUsage"] = json.dumps(
                {"input_tokens": 150, "output_tokens": 30}
            )
    kept.spans = json.dumps(stored).encode()
    assert dict(seen.read().states) == {"partial": 1}
    assert seen.used(work) == (150, 30, False)
    assert not seen.attempt(work)["is_cost_known"]


@pytest.mark.parametrize("has_long_search", [False, True])
def test_the_trace_of_a_job_arrives_whole_and_is_read(
    has_long_search: bool, seen: Seen, workspace: Workspace, traces: Traces
) -> None:
    """All tags and spans are there, by OAuth; the harvest reads the same tokens and cost."""
    traces.has_long_search = has_long_search
    work = begun(seen)
    trace_id = trace(work)
    seen.complete(work)
    assert list(traces.kept) == [trace_id]
    kept = traces.kept[trace_id]
    assert kept.info["client_request_id"] == str(work.attempt_id)
    assert {name: value for name, value in kept.tags.items() if name.startswith("forebay.")} == {
        "forebay.task_id": str(work.task_id),
        "forebay.attempt_id": str(work.attempt_id),
        "forebay.agent": "a",
        "forebay.batch_id": str(work.batch_id),
        "forebay.customer": "acme",
        "forebay.launch_key": launch_key(work.launch_token),
    }
    assert work.batch_id is not None
    assert {one.who for one in workspace.log if one.path.startswith("/api/")} == {"the-job"}
    done = seen.read()
    assert (done.calls, dict(done.states)) == (2, {"found": 1})
    assert seen.used(work) == USED
    attempt = seen.attempt(work)
    assert (attempt["cost_usd"], attempt["is_cost_known"]) == (USD, True)
    assert attempt["used_cached_tokens"] == 40
    assert {one["trace_id"] for one in seen.calls(work)} == {trace_id}


ROUTES = {
    "trace": "POST .*/mlflow/traces$",
    "spans": "PUT /trace-storage",
    "search": "POST .*3.0.*/search$",
    "download": "GET /trace-storage",
}


@pytest.mark.parametrize("on", ROUTES.values(), ids=ROUTES)
def test_an_answer_that_is_lost_costs_nothing(
    on: str, seen: Seen, workspace: Workspace, traces: Traces
) -> None:
    """The client asks again, and what is sent twice is there once."""
    workspace.faults.add(Fault("lost", on=on))
    work = seen.claim()
    trace_id = trace(work)
    seen.complete(work)
    assert dict(seen.read().states) == {"found": 1}
    assert (list(traces.kept), seen.used(work)) == ([trace_id], USED)
    assert [one.status for one in workspace.log].count(0) == 1


def test_a_late_trace_is_found_by_a_later_look(seen: Seen, traces: Traces) -> None:
    """It is awaited until then."""
    work, other = seen.claim(), seen.claim()
    trace(other)
    seen.complete(work)
    assert dict(seen.read().states) == {"awaited": 1}
    trace(work)
    seen.clock.advance(timedelta(minutes=10))
    assert dict(seen.read().states) == {"found": 1}
    assert seen.used(work) == USED


@pytest.mark.parametrize("has_reported", [True, False])
def test_an_upload_that_fails_leaves_the_attempt_as_it_was(
    has_reported: bool, seen: Seen, workspace: Workspace, traces: Traces
) -> None:
    """The trace is there without its spans: what was reported counts; unknown stays unknown."""
    workspace.faults.add(Fault("status", on="PUT /trace-storage", status=403, times=None))
    work = seen.claim()
    if has_reported:
        report.report_usage(seen.db, attempt_id=work.attempt_id, usage=list(CALLS))
    trace_id = trace(work)
    assert traces.kept[trace_id].spans is None
    seen.complete(work)
    before = seen.attempt(work)
    assert dict(seen.read().states) == {"partial": 1}
    after = seen.attempt(work)
    assert {name for name in after if after[name] != before[name]} <= {"trace_state"}
    assert seen.used(work) == (USED if has_reported else (0, 0, False))


def test_no_request_to_a_workspace_takes_long(seen: Seen, workspace: Workspace) -> None:
    """Left to itself, MLflow would try one that is away for 500 seconds, whatever is to be done."""
    assert MlflowTraces.of(seen.environment)
    its_own = get_workspace_client(False, workspace.url, None, None)
    assert its_own.config.retry_timeout_seconds == 20
    assert MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT.get() == 20


FAILURES = {
    "denied": ("GET .*/mlflow/traces/{}", {"status": 403, "code": "PERMISSION_DENIED"}),
    "broken": ("GET .*/mlflow/traces/{}", {"status": 500, "code": "INTERNAL_ERROR"}),
    "spans denied": ("GET .*/mlflow/traces/{}/cred", {"status": 403, "code": "PERMISSION_DENIED"}),
    "storage refuses": ("GET /trace-storage/{}", {"status": 403, "code": "AccessDenied"}),
    "storage away": ("GET /trace-storage/{}", {"kind": "reset"}),
    "storage hangs": ("GET /trace-storage/{}", {"kind": "hang", "seconds": 60}),
}


@pytest.mark.parametrize(("on", "how"), FAILURES.values(), ids=FAILURES)
def test_traces_that_cannot_be_read_hold_up_no_others(
    on: str,
    how: dict[str, Any],
    seen: Seen,
    workspace: Workspace,
    traces: Traces,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """However many come first: each is partial, has had its look, and keeps what was seen of it."""
    works = [seen.claim() for _ in range(4)]
    ids = [trace(work) for work in works]
    seen.complete(works[0])
    assert dict(seen.read().states) == {"found": 1}
    seen.db.execute("update forebay.attempt_traces set next_look_at = forebay._now()")
    for work in works[1:]:
        seen.complete(work)
    for trace_id in ids[:3]:
        workspace.faults.add(
            Fault(**{"kind": "status", "times": None, "on": on.format(trace_id)} | how)
        )
    monkeypatch.setattr(mlflow_store, "READ_SECONDS", 2)
    with caplog.at_level(logging.WARNING):
        assert dict(seen.read().states) == {"partial": 3, "found": 1}
    workspace.faults.clear()
    assert seen.used(works[3]) == USED
    assert [seen.used(work)[:2] for work in works[:3]] == [USED[:2], (0, 0), (0, 0)]
    looks = seen.db.execute("select looks from forebay.attempt_traces order by attempt_id")
    assert looks.fetchall() == [(2,), (1,), (1,), (1,)]
    said = [getattr(record, FIELDS, {}) for record in caplog.records]
    assert {each["trace_id"] for each in said if "trace_id" in each} == set(ids[:3])
    assert "X-Signature" not in str(said)


def test_a_storage_that_hangs_holds_up_no_harvest_for_ever(
    seen: Seen, workspace: Workspace, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow itself would wait without a bound; the attempt is looked for again."""
    hang = workspace.faults.add(Fault("hang", on="GET /trace-storage", seconds=60, times=None))
    work = seen.claim()
    trace(work)
    seen.complete(work)
    with monkeypatch.context() as short:
        short.setattr(mlflow_store, "READ_SECONDS", 0.3)
        assert dict(seen.read().states) == {"partial": 1}
    workspace.faults.remove(hang)
    seen.clock.advance(timedelta(minutes=2))
    assert dict(seen.read().states) == {"found": 1}
    assert seen.used(work) == USED


def test_a_storage_that_hangs_outlasts_no_lease(
    seen: Seen, workspace: Workspace, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look would wait; those for which no time is left are made after the lease."""
    hang = workspace.faults.add(Fault("hang", on="GET /trace-storage", seconds=60, times=None))
    works = [seen.claim() for _ in range(5)]
    for work in works:
        trace(work)
        seen.complete(work)
    looks = "select count(*)::integer from forebay.attempt_traces where looks > 0"
    with monkeypatch.context() as short:
        short.setattr(mlflow_store, "READ_SECONDS", 1.0)
        short.setattr(harvest, "LOOK_SECONDS", 1.5)
        began = time.monotonic()
        done = seen.read()
        assert time.monotonic() - began < 4
    assert 1 <= done.attempts <= 2
    assert dict(done.states) == {"partial": done.attempts}
    assert seen.db.execute(looks).fetchone() == (done.attempts,)
    assert seen.read().attempts == 0, "all are lent"
    workspace.faults.remove(hang)
    seen.clock.advance(timedelta(minutes=2))
    assert dict(seen.read().states) == {"found": 5}
    assert [seen.used(work) for work in works] == [USED] * 5


def test_a_search_that_hangs_is_given_up(
    seen: Seen, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes longer than the attempts are lent for is an MLflow that is away."""
    hang = workspace.faults.add(Fault("hang", on=ROUTES["search"], seconds=60, times=None))
    work = seen.claim()
    trace(work)
    seen.complete(work)
    with monkeypatch.context() as short:
        short.setattr(harvest, "LOOK_SECONDS", 0.5)
        with pytest.raises(TracesError, match="no answer within"):
            seen.read()
    workspace.faults.remove(hang)
    seen.clock.advance(timedelta(minutes=2))
    assert dict(seen.read().states) == {"found": 1}


def test_an_experiment_that_was_made_anew_is_found(
    seen: Seen, workspace: Workspace, traces: Traces
) -> None:
    """Under the same name it has another id, which a process that goes on looks up again."""
    found = MlflowTraces.of(seen.environment)
    assert found is not None
    work, later = seen.claim(), seen.claim()
    trace(work)
    seen.complete(work)
    assert dict(refresh_traces(lambda: nullcontext(seen.db), found).states) == {"found": 1}
    traces.experiments.remove(EXPERIMENT)
    workspace.access.grant(
        "the-job", f"experiments/{traces.experiments.add(EXPERIMENT)}", "CAN_EDIT"
    )
    trace(later)
    seen.complete(later)
    assert dict(refresh_traces(lambda: nullcontext(seen.db), found).states) == {"found": 1}
    assert seen.used(later) == USED


def test_who_may_not_write_is_refused(seen: Seen, workspace: Workspace, traces: Traces) -> None:
    """CAN_READ reads and searches; it neither sends a trace nor tags one."""
    work = seen.claim()
    trace_id = trace(work)
    client = MlflowClient("databricks")
    client.set_trace_tag(trace_id, "seen", "yes")
    workspace.access.grant("the-job", "experiments/1", "CAN_READ")
    with pytest.raises(MlflowException, match="does not have Edit"):
        client.set_trace_tag(trace_id, "seen", "no")
    trace(work)
    found = client.search_traces(locations=["1"], filter_string="tags.seen = 'yes'")
    assert [(one.info.trace_id, len(one.data.spans)) for one in found] == [(trace_id, 3)]
    workspace.access.revoke("the-job", "experiments/1")
    with pytest.raises(MlflowException, match="does not have View"):
        client.get_trace(trace_id)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


@pytest.fixture
def here(
    server: TestServer,
    superuser: psycopg.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployed]:
    """Serve what `forebay workspace-server` does, and set what its file of variables says."""
    with (
        receiving(CALLBACK_SECRET) as receiver,
        standing(
            server,
            superuser,
            tmp_path,
            latency=0,
            upstreams={ORCHESTRATOR_APP: receiver.url.removesuffix("/hook")},
        ) as deployed,
    ):
        before = mlflow.get_tracking_uri()
        become(monkeypatch, variables(deployed, tmp_path))
        monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
        admit(Database(deployed.url), [Admitted("agent", AGENT)])
        yield deployed
        mlflow.set_tracking_uri(before)


@pytest.mark.timeout(120)
def test_whoever_has_the_variables_reads_the_traces_of_jobs(
    here: Deployed, superuser: psycopg.Connection, tmp_path: Path, cli: Cli
) -> None:
    """The job really runs; `forebay cost refresh` finds experiment and trace by itself."""
    operator.register_agent(
        superuser, agent="parse_document", launcher="lakeflow", job_id=here.job.job_id
    )
    write_statement(tmp_path / "documents" / "document.pdf", 1)
    task_id = submitter.enqueue(
        superuser, agent="parse_document", payload={"document": f"{ROOT}/document.pdf"}
    )
    (work,) = worker.dequeue(superuser, worker="w", agents=["parse_document"])
    run = WorkspaceClient().jobs.run_now(
        here.job.job_id,
        idempotency_token=work.launch_token,
        job_parameters={
            "forebay_task_id": str(task_id),
            "forebay_attempt_id": str(work.attempt_id),
            "forebay_launch_token": work.launch_token,
        },
    )
    ended = here.jobs.wait(run.run_id, 100)
    assert ended.result_state == "SUCCESS", ended.output
    answer = cli("cost", "refresh", "--json")
    assert answer.code == 0, answer.err
    found = answer.json["traces"]
    assert found["states"] == {"found": 1}, ended.output
    assert found["calls"] == 2, "of ai_parse_document and of the model"
    told = Counter(
        (one["model"], one["input_tokens"], one["output_tokens"])
        for one in viewer.task_detail(superuser, task_id=task_id).usage
    )
    assert list(told.values()) == [2, 2], "the agent and the trace tell the same"
