"""What a submitter calls (role forebay_submitter): open batches, enqueue, follow a batch."""

# mypy: disable-error-code="empty-body"

from datetime import datetime

from forebay.calls._call import AnyConnection, Integer, Json, JsonList, stored
from forebay.rows import BatchTask, EnqueuedTask, TaskEffect


@stored
def open_batch(
    connection: AnyConnection,
    *,
    name: str,
    customer: str | None = None,
    owner: str | None = None,
    metadata: Json = {},  # noqa: B006  never changed: it is only sent
) -> int:
    """Open the parent of many tasks and return its id; its tasks take its customer and owner."""


@stored
def enqueue(
    connection: AnyConnection,
    *,
    agent: str,
    payload: Json,
    priority: Integer = 0,
    batch_id: int | None = None,
    customer: str | None = None,
    idempotency_key: str | None = None,
    run_after: datetime | None = None,
    estimated_tokens: int | None = None,
    max_attempts: Integer | None = None,
) -> int:
    """Put one task in line and return its id; a known idempotency key returns the first task's id.

    Raises UnknownAgentError, UnknownBatchError, IdempotencyKeyReusedError, TooLargeError,
    LineFullError, and InvalidDocumentError for a payload that is not JSON.
    """


@stored
def enqueue_many(
    connection: AnyConnection, *, agent: str, tasks: JsonList, batch_id: int | None = None
) -> list[EnqueuedTask]:
    """Put many tasks in line, all or none; one row a task, in their order.

    A task is an object of payload (required), priority, customer, idempotency_key, run_after,
    estimated_tokens, max_attempts. An error names the ordinal of the bad one. Raises as `enqueue`.
    """


@stored
def batch_tasks(connection: AnyConnection, *, batch_id: int, actor: str) -> list[BatchTask]:
    """Return the tasks of the actor's batch; raises UnknownBatchError for somebody else's."""


@stored
def cancel_batch(
    connection: AnyConnection, *, batch_id: int, actor: str, reason: str | None = None
) -> list[TaskEffect]:
    """Cancel what is unfinished of the actor's batch; one row a task. Raises UnknownBatchError."""


@stored
def retry_batch(
    connection: AnyConnection, *, batch_id: int, actor: str, reason: str | None = None
) -> list[TaskEffect]:
    """Put the failed and cancelled tasks of the actor's batch back in line; one row a task.

    Raises UnknownBatchError.
    """
