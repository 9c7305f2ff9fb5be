"""The traces of an attempt in MLflow, through a client of it: searched by tag, read one by one."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Span
from mlflow.exceptions import MlflowException

from forebay.errors import TracesError
from forebay.logs import EventLog, first_line
from forebay.rows import AttemptToTrace
from forebay.settings import text
from forebay.traces.harvest import FoundTrace
from forebay.traces.mlflow_settings import EXPERIMENT, LAUNCH_KEY, bound_mlflow, tracking_uri
from forebay.traces.spans import (
    COST,
    FORMAT,
    MODEL,
    OWN_CALL,
    OWN_COST,
    PAGES,
    PROVIDER,
    USAGE,
    SpanSeen,
    has_all,
)

log = EventLog(__name__)

PAGE = 20
MOST_TRACES = 100  # of one attempt that are read
READ_SECONDS = 30.0  # that the search may take, and each that is read
SLACK = timedelta(days=1)  # by which clocks may differ, and a trace may begin before its attempt
GONE = ("RESOURCE_DOES_NOT_EXIST", "NOT_FOUND", "ENDPOINT_NOT_FOUND")
UNREADABLE = ("BAD_REQUEST", "INVALID_PARAMETER_VALUE", "INVALID_STATE")  # also: without spans yet
ENDED = ("OK", "ERROR")
READ = (USAGE, COST, MODEL, PROVIDER, FORMAT, OWN_COST, OWN_CALL, PAGES)
TRACE_ID = re.compile(r"tr-[0-9a-f]{1,64}|trace:/[\w.]{1,300}/[0-9a-f]{1,64}")

T = TypeVar("T")


@dataclass(slots=True)
class MlflowTraces:
    """The traces of one experiment. Every request ends some time: `bound_mlflow`, `_in_time`."""

    client: MlflowClient
    experiment: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> MlflowTraces | None:
        """Return what the settings name; None without an experiment. Asks nobody yet."""
        experiment = text(environment, EXPERIMENT)
        if not experiment:
            return None
        bound_mlflow()
        uri = tracking_uri(environment)
        if uri:
            mlflow.set_tracking_uri(uri)  # where spans are files, their storage asks for it too
        with _said_as_one():
            return cls(MlflowClient(uri), experiment)

    def find(self, attempt: AttemptToTrace, seconds: float) -> list[FoundTrace]:
        """Return the traces of an attempt; those beyond MOST_TRACES are not read.

        Nor is one that cannot be, and after one that took too long, or after so many seconds, no
        other. Raises TracesError where they cannot be searched.
        """
        ends_at = time.monotonic() + seconds
        with _said_as_one():
            ids = _in_time(lambda: list(self._search(attempt)), ends_at)
            told = attempt.trace_id
            if told and told not in ids and TRACE_ID.fullmatch(told):
                ids.append(told)
        found: list[FoundTrace] = []
        most = MOST_TRACES
        for number, key in enumerate(ids):
            trace: FoundTrace | None = FoundTrace(key)
            try:
                if number < most:
                    trace = self._read(key, attempt.launch_key, ends_at)
            except Exception as error:  # of this trace: that MLflow answers, the search has shown
                log.warning(
                    "trace_not_read",
                    attempt_id=attempt.attempt_id,
                    trace_id=key,
                    reason=first_line(error).split("?")[0],  # an address may hold a signature
                )
                most = number if isinstance(error, TimeoutError) else most
            if trace:
                found.append(trace)
        return found

    def _search(self, attempt: AttemptToTrace) -> Iterator[str]:
        """Yield the ids of traces tagged as this attempt's, up to a page more than are read."""
        begins, ends = attempt.started_at - SLACK, attempt.finished_at + SLACK
        wanted = (
            f"tags.`{LAUNCH_KEY}` = '{attempt.launch_key}'"
            f" AND trace.timestamp_ms >= {_ms(begins)} AND trace.timestamp_ms <= {_ms(ends)}"
        )
        token: str | None = None
        location = self._location()
        for _ in range(MOST_TRACES // PAGE + 1):
            page = self.client.search_traces(
                locations=[location],
                filter_string=wanted,
                max_results=PAGE,
                order_by=["timestamp_ms ASC"],
                page_token=token,
                include_spans=False,
            )
            yield from (trace.info.trace_id for trace in page)
            token = page.token
            if not token:
                break

    def _location(self) -> str:
        """Return the experiment's id, which is another one once it was deleted and made anew."""
        experiment = self.client.get_experiment_by_name(self.experiment)
        if experiment is None:
            raise TracesError(f"There is no MLflow experiment {self.experiment!r}.")
        return str(experiment.experiment_id)

    def _read(self, trace_id: str, launch_key: str, ends_at: float) -> FoundTrace | None:
        """Return a trace with its spans; None where it is gone, or another attempt's.

        Raises whatever MLflow does where that may not be read, or its storage does not answer.
        """
        try:
            trace = _in_time(lambda: self.client.get_trace(trace_id, display=False), ends_at)
            if trace.info.tags.get(LAUNCH_KEY, launch_key) != launch_key:
                return None
            spans = [_seen(span) for span in trace.data.spans]  # which MLflow reads only now
        except MlflowException as error:
            if error.error_code in GONE:
                return None
            if error.error_code in UNREADABLE:
                return FoundTrace(trace_id)
            raise
        except OSError:  # a request's error may be a ValueError too
            raise
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return FoundTrace(trace_id)  # what is stored there is no trace
        has_ended = str(getattr(trace.info.state, "value", trace.info.state)) in ENDED
        have_ended = bool(spans) and all(span.ended is not None for span in spans)
        return FoundTrace(trace_id, spans, has_ended and have_ended and has_all(spans))


def _in_time(ask: Callable[[], T], ends_at: float) -> T:
    """Return what is asked for: MLflow itself waits for the storage of spans without a bound."""
    told: Future[T] = Future()
    seconds = max(0.0, min(READ_SECONDS, ends_at - time.monotonic()))

    def work() -> None:
        try:
            told.set_result(ask())
        except BaseException as error:
            told.set_exception(error)

    thread = threading.Thread(target=work, name="trace reader", daemon=True)
    thread.start()
    thread.join(seconds)
    if not told.done():
        raise TimeoutError(f"MLflow gave no answer within {seconds:.0f} s.")
    return told.result()


@contextmanager
def _said_as_one() -> Iterator[None]:
    """Raise TracesError for whatever keeps MLflow from answering, login included."""
    try:
        yield
    except TracesError:
        raise
    except Exception as error:  # of the SDK, of requests, of a database: MLflow lets all through
        raise TracesError(f"Traces cannot be read: {first_line(error)}") from error


def _seen(span: Span) -> SpanSeen:
    values = {name: _attribute(span, name) for name in READ}
    return SpanSeen(
        span_id=str(span.span_id),
        parent_id=str(span.parent_id) if span.parent_id else None,
        kind=str(span.span_type),
        attributes={name: value for name, value in values.items() if value is not None},
        name=str(span.name),
        started=span.start_time_ns,
        ended=span.end_time_ns or None,
    )


def _attribute(span: Span, name: str) -> Any:
    """Return what a span has under a name; None where that cannot be read."""
    try:
        return span.get_attribute(name)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
