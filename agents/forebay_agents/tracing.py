"""What an attempt's model calls used, as a trace for MLflow: a root span, and a leaf for each call.

No prompt, answer or document goes into it. A thread keeps the trace and talks to MLflow: whatever
it waits for costs the attempt bounded time, and what it fails with costs nothing.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from datetime import datetime
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from forebay.logs import EventLog, first_line
from forebay.rows import ClaimedAttempt
from forebay.settings import text
from forebay.traces.mlflow_settings import (
    EXPERIMENT,
    LAUNCH_KEY,
    bound_mlflow,
    launch_key,
    tracking_uri,
)
from forebay_agents.ai_parse.reader import MODEL as AI_PARSE

if TYPE_CHECKING:
    from mlflow.entities import LiveSpan

log = EventLog(__name__)

START_SECONDS = 10.0
"""How long the first model call waits for MLflow to give the trace its id."""

FLUSH_SECONDS = 20.0
"""How long the end of an attempt waits for its trace to be stored."""

ASYNC = "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"

NANOSECONDS = 1_000_000_000


class Trace:
    """The trace of one attempt, from now on until `end`; without an experiment it does nothing."""

    def __init__(self, work: ClaimedAttempt, environment: Mapping[str, str] = os.environ) -> None:
        self._work = work
        self._experiment = text(environment, EXPERIMENT)
        self._give_up_at = time.monotonic() + START_SECONDS
        self._id: Future[str | None] = Future()
        self._calls: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()
        self._error_kind: str | None = None
        self._has_ended = False
        self._thread = threading.Thread(target=self._keep, name="trace", daemon=True)
        if self._experiment:
            self._thread.start()
        else:
            self._id.set_result(None)

    def id(self) -> str | None:
        """Return the trace's id; None where there is no trace, or MLflow is too slow."""
        try:
            return self._id.result(max(0.0, self._give_up_at - time.monotonic()))
        except Late:
            return None

    def add(self, call: Mapping[str, Any]) -> None:
        """Take a call, as `report_usage` takes it; one that is only begun is left out."""
        if "latency_ms" in call:
            self._calls.put(dict(call))

    def end(self, error_kind: str | None = None, seconds: float = FLUSH_SECONDS) -> None:
        """Have the trace be stored, and wait for that; a second time does nothing."""
        if self._has_ended or not self._experiment:
            return
        self._has_ended, self._error_kind = True, error_kind
        self._calls.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive():
            log.warning("trace_not_flushed", attempt_id=self._work.attempt_id, seconds=seconds)

    def _keep(self) -> None:
        try:
            self._record()
        except Exception as error:  # whatever MLflow fails with, the attempt is not to know
            log.warning("trace_failed", reason=first_line(error))
        finally:
            if not self._id.done():
                self._id.set_result(None)

    def _record(self) -> None:
        bound_mlflow()
        os.environ.setdefault(ASYNC, "false")  # our thread waits in its place, and not for ever
        import mlflow

        if uri := tracking_uri(os.environ):
            mlflow.set_tracking_uri(uri)
        mlflow.set_experiment(self._experiment)
        with mlflow.start_span("attempt", span_type="AGENT") as root:
            mlflow.update_current_trace(
                client_request_id=str(self._work.attempt_id), tags=_tags(self._work)
            )
            self._id.set_result(root.trace_id)
            while (call := self._calls.get()) is not None:
                _add_leaf(root, call)
            if self._error_kind:
                root.set_attribute("forebay.error_kind", self._error_kind)
                root.set_status("ERROR")


def _tags(work: ClaimedAttempt) -> dict[str, str]:
    """Return what says whose work it was; what there is none of is left out."""
    named = {
        "task_id": work.task_id,
        "attempt_id": work.attempt_id,
        "agent": work.agent,
        "batch_id": work.batch_id,
        "customer": work.customer,
    }
    tags = {f"forebay.{name}": str(value) for name, value in named.items() if value is not None}
    return tags | {LAUNCH_KEY: launch_key(work.launch_token)}


def _add_leaf(root: LiveSpan, call: Mapping[str, Any]) -> None:
    """Add a span for a call that is over, at the time when it was made."""
    import mlflow

    began = datetime.fromisoformat(call["started_at"]).timestamp()
    start = round(began * NANOSECONDS)
    pages = call.get("pages")
    span = mlflow.start_span_no_context(
        str(call.get("model") or "model"),
        span_type="PARSER" if call.get("model") == AI_PARSE else "CHAT_MODEL",
        parent_span=root,
        start_time_ns=start,
    )
    span.set_attribute("forebay.call_id", call["call_id"])
    if pages is not None:
        span.set_attribute("forebay.pages", pages)
    else:
        span.set_attribute("mlflow.llm.model", call.get("model"))
        if used := _tokens(call):
            span.set_attribute("mlflow.chat.tokenUsage", used)
    span.end(end_time_ns=start + int(call.get("latency_ms", 0)) * 1_000_000)


def _tokens(call: Mapping[str, Any]) -> dict[str, int]:
    """Return the numbers that are known: what is not is left out, and never 0.

    Cached tokens are part of the input, and stand apart as well.
    """
    names = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_input_tokens": "cached_tokens",
    }
    used = {name: int(call[ours]) for name, ours in names.items() if call.get(ours) is not None}
    if "input_tokens" in used and "output_tokens" in used:
        used["total_tokens"] = used["input_tokens"] + used["output_tokens"]
    return used
