"""What an agent calls (role forebay_agent): report usage, progress, and how the attempt ended."""

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
from forebay.rows import Document, ReportedAttempt, TaskStatus


@stored
def report_usage(connection: AnyConnection, *, attempt_id: int, usage: JsonOrList) -> int:
    """Record model calls of the attempt and return how many were new or filled.

    A call is an object of call_id (required), source, model, input_tokens, output_tokens,
    cached_tokens (part of the input), cost_usd, started_at, latency_ms, trace_id; what is missing
    is unknown, not zero. The same call again changes nothing. Raises UnknownAttemptError.
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

    error is an object of kind (see `forebay.agent.ErrorKind`), message and anything else. None for
    retry_after leaves the waiting time to the agent's backoff. Raises UnknownAttemptError.
    """


@stored
def callback(connection: AnyConnection, *, event: SafeJson) -> Document:
    """Take in a webhook event, any number of times; returns its task_id, status and effect.

    Raises UnknownTaskError, UnknownAttemptError, TooLargeError, InstallationClosedError.
    """
