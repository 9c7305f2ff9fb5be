"""What an agent calls (role forebay_agent): fetch the work, report usage, and how it ended."""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from forebay.calls._call import (
    AnyConnection,
    Integer,
    JsonOrList,
    SafeJson,
    SafeJsons,
    stored,
)
from forebay.rows import CallPermit, ClaimedAttempt, Document, ReportedAttempt, TaskStatus


@stored
def begin_attempt(
    connection: AnyConnection, *, attempt_id: int, launch_token: str, run_id: str | None = None
) -> ClaimedAttempt:
    """Fetch the work of the attempt that this run was launched for; the same run may ask again.

    run_id is the run's own id, to be recorded. Raises UnknownAttemptError also for a wrong launch
    token, AttemptEndedError (end the run), RunAlreadyRecordedError, InstallationClosedError.
    """


@stored
def known_attempts(
    connection: AnyConnection, *, attempt_ids: Sequence[int], launch_keys: Sequence[str]
) -> list[str]:
    """Return the launch keys of those attempts that are of this database, by id and launch key.

    `forebay.traces.mlflow_settings.launch_key` makes one of a launch token.
    """


@stored
def may_call(
    connection: AnyConnection,
    *,
    attempt_id: int,
    tokens: int,
    output_tokens: int | None = None,
    call_id: str | None = None,
) -> CallPermit:
    """Ask the agent's quotas for one model call: go (it is charged), wait until a time, or stop.

    tokens is all of the call, output_tokens how many of them are output (None: as the agent has
    learned). Ask again under the same call_id: an open call is charged once. Its usage, reported
    under that call_id, replaces the charge. Raises UnknownAttemptError.
    """


@stored
def report_usage(connection: AnyConnection, *, attempt_id: int, usage: JsonOrList) -> int:
    """Record model calls of the attempt and return how many were new or filled.

    A call is an object of call_id (required), source, model, input_tokens, output_tokens,
    cached_tokens (part of the input), pages, cost_usd, started_at, latency_ms, trace_id; what is
    missing is unknown, not zero. The same call again changes nothing. Raises UnknownAttemptError.
    """


@stored
def report_progress(
    connection: AnyConnection, *, attempt_id: int, done: Integer, total: Integer
) -> None:
    """Note that `done` of `total` steps are finished; shown to people, never a lease renewal.

    Raises UnknownAttemptError.
    """


@stored
def complete(
    connection: AnyConnection,
    *,
    attempt_id: int,
    result: SafeJson,
    confidence: Decimal | None = None,
) -> TaskStatus:
    """Report success and return the task's status after it, also when it had ended before.

    Raises UnknownAttemptError, TooLargeError (nothing was changed), InvalidDocumentError.
    """


@stored
def complete_many(
    connection: AnyConnection,
    *,
    attempt_ids: Sequence[int],
    results: SafeJsons,
    confidences: Sequence[Decimal | None] | None = None,
) -> list[ReportedAttempt]:
    """Report success of many attempts; one row per distinct attempt.

    A result that is too large fails its own attempt for good (effect failed), an unknown attempt
    has effect none; neither spoils the others.
    """


@stored
def fail(
    connection: AnyConnection,
    *,
    attempt_id: int,
    error: SafeJson,
    retryable: bool = True,
    retry_after: timedelta | None = None,
) -> TaskStatus:
    """Report failure and return the task's status after it: enqueued when it is tried again.

    error is an object of kind (see `forebay.agent.ErrorKind`), message and anything else. The kind
    decides whether it may be tried again, and whether an attempt is spent. None for retry_after
    leaves the waiting time to the kind, else to the agent's backoff. Raises UnknownAttemptError.
    """


@stored
def callback(connection: AnyConnection, *, event: SafeJson) -> Document:
    """Take in a webhook event, any number of times; returns its task_id, status and effect.

    Raises UnknownTaskError, UnknownAttemptError, TooLargeError, InstallationClosedError.
    """
