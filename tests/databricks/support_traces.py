"""An MLflow of a test's own, attempts whose traces are in it, and traces written by hand."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import mlflow
import psycopg
import pytest
from mlflow import MlflowClient
from mlflow.entities import LiveSpan

from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker
from forebay.rows import ClaimedAttempt, CostSource
from forebay.traces.harvest import Traced, refresh_traces
from forebay.traces.mlflow_settings import LAUNCH_KEY, launch_key
from forebay.traces.mlflow_store import MlflowTraces
from support.clock import Clock

EXPERIMENT = "forebay-tests"
MODEL = "m"
SETTINGS = {"MLFLOW_MODEL_CATALOG_URI": "", "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false"}


@dataclass(slots=True)
class Seen:
    """A database, an MLflow, and what the harvest makes of both."""

    db: psycopg.Connection[Any]
    clock: Clock
    uri: str

    @property
    def environment(self) -> dict[str, str]:
        """The settings with which traces are written and read."""
        return {"FOREBAY_MLFLOW_EXPERIMENT": EXPERIMENT, "MLFLOW_TRACKING_URI": self.uri}

    def claim(self, agent: str = "a") -> ClaimedAttempt:
        """Enqueue a task, and claim its first attempt."""
        submitter.enqueue(self.db, agent=agent, payload={})
        return self.claim_again(agent)

    def claim_again(self, agent: str = "a") -> ClaimedAttempt:
        """Claim what is to be tried now."""
        (work,) = worker.dequeue(self.db, worker="w", agents=[agent])
        return work

    def complete(self, work: ClaimedAttempt) -> None:
        """Report that an attempt succeeded."""
        report.complete(self.db, attempt_id=work.attempt_id, result={})

    def read(self) -> Traced:
        """Look for all traces that are due, two minutes after the look before."""
        traces = MlflowTraces.of(self.environment)
        assert traces is not None
        upkeep_role = nullcontext(self.db)
        return refresh_traces(lambda: upkeep_role, traces)

    def attempt(self, work: ClaimedAttempt) -> dict[str, Any]:
        """Return an attempt as task_detail shows it."""
        found = viewer.task_detail(self.db, task_id=work.task_id).attempts
        return next(one for one in found if one["attempt_id"] == work.attempt_id)

    def used(self, work: ClaimedAttempt) -> tuple[int, int, bool]:
        """Return the tokens in and out of an attempt, and whether that is all."""
        it = self.attempt(work)
        return it["used_input_tokens"], it["used_output_tokens"], it["is_usage_known"]

    def calls(self, work: ClaimedAttempt) -> list[dict[str, Any]]:
        """Return all that was told of the attempt's calls, by source and call."""
        found = viewer.task_detail(self.db, task_id=work.task_id).usage
        of_it = [call for call in found if call["attempt_id"] == work.attempt_id]
        return sorted(of_it, key=lambda call: (call["source"], call["started_at"] or ""))

    def sources(self, part: str = "llm") -> list[CostSource]:
        """Return where figures come from."""
        return [line for line in viewer.cost_sources(self.db) if line.part == part]

    def store(self, old: str, new: str) -> None:
        """Replace a text in all spans that are stored, as JSON in a JSON string has it."""
        quoted = json.dumps(new)[1:-1]
        self.store_sql("update spans set content = replace(content, ?, ?)", old, quoted)

    def store_sql(self, statement: str, *values: str) -> None:
        """Change what is stored, as somebody may who writes it in another way."""
        with sqlite3.connect(self.uri.removeprefix("sqlite:///")) as connection:
            connection.execute(statement, values)
        connection.close()

    def again(self) -> None:
        """Forget how often traces were looked for, so that all attempts are due."""
        self.db.execute("delete from forebay.attempt_traces")


@contextmanager
def traced(work: ClaimedAttempt, **tags: str | None) -> Iterator[LiveSpan]:
    """Write a trace of an attempt: its root is given; a tag that is None is left out."""
    named = {LAUNCH_KEY: launch_key(work.launch_token)} | tags
    with mlflow.start_span("attempt", span_type="AGENT") as root:
        mlflow.update_current_trace(
            client_request_id=str(work.attempt_id),
            tags={name: value for name, value in named.items() if value is not None},
        )
        yield root


def call(
    root: LiveSpan, used: object = None, kind: str = "CHAT_MODEL", **attributes: object
) -> LiveSpan:
    """Add a call of a model below a span; `used` is its usage, or the tokens in and out."""
    span = mlflow.start_span_no_context("call", span_type=kind, parent_span=root)
    if isinstance(used, tuple):
        used = {"input_tokens": used[0], "output_tokens": used[1]}
    if used is not None:
        span.set_attribute("mlflow.chat.tokenUsage", used)
    for name, value in attributes.items():
        span.set_attribute(name.replace("__", "."), value)
    span.end()
    return span


@pytest.fixture(scope="session")
def empty_mlflow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make MLflow's tables once, which takes seconds."""
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    MlflowClient(f"sqlite:///{path}").create_experiment(EXPERIMENT)
    return path


@pytest.fixture
def seen(
    db: psycopg.Connection,
    clock: Clock,
    empty_mlflow: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Seen]:
    """Give a database with an agent, a model with a price, and an MLflow that this process uses."""
    uri = f"sqlite:///{shutil.copy(empty_mlflow, tmp_path / 'mlflow.db')}"
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment(EXPERIMENT)
    clock.set(datetime.now(UTC))
    operator.register_agent(db, agent="a")
    operator.register_price(db, model=MODEL, usd_per_m_input=1, usd_per_m_output=10)
    yield Seen(db, clock, uri)
    mlflow.set_tracking_uri(before)


def told(call_id: str, tokens: tuple[int, int] | None = None, **more: Any) -> dict[str, Any]:
    """Return a call as an agent reports it, once it is over."""
    known = {"input_tokens": tokens[0], "output_tokens": tokens[1]} if tokens else {}
    began = datetime.fromtimestamp(time.time(), UTC).isoformat()
    return {"call_id": call_id, "model": MODEL, "started_at": began, "latency_ms": 5} | known | more


__all__ = ["EXPERIMENT", "MODEL", "Seen", "call", "empty_mlflow", "seen", "told", "traced"]
