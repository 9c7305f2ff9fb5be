"""What a submitter calls (role forebay_submitter): upload, open batches, enqueue, follow a batch.

`actor` is the person on whose behalf it is called: somebody else's batches and uploads answer as if
they did not exist.
"""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from forebay.calls._call import AnyConnection, Integer, Json, JsonList, stored
from forebay.rows import (
    BatchOutlook,
    BatchProgress,
    BatchResult,
    BatchTask,
    EnqueuedTask,
    StoredUpload,
    TaskEffect,
    TaskExplanation,
)


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
def registered_agents(connection: AnyConnection, *, agents: Sequence[str]) -> list[str]:
    """Return those of these agents that are registered, in the order given."""


@stored
def own_batches(
    connection: AnyConnection,
    *,
    actor: str,
    before_batch_id: int | None = None,
    limit: Integer = 50,
) -> list[BatchProgress]:
    """Return the actor's batches, the newest first; the next page is before this one's last id."""


@stored
def batch_tasks(
    connection: AnyConnection,
    *,
    batch_id: int,
    actor: str,
    statuses: Sequence[str] | None = None,
    after_task_id: int | None = None,
    limit: Integer = 10000,
) -> list[BatchTask]:
    """Return the tasks of the actor's batch, by id; the next page is after this one's last id.

    Raises UnknownBatchError for somebody else's.
    """


@stored
def batch_tasks_by_confidence(
    connection: AnyConnection,
    *,
    batch_id: int,
    actor: str,
    after_task_id: int | None = None,
    limit: Integer = 10000,
) -> list[BatchTask]:
    """Return the completed tasks of the actor's batch, the least sure first; unknown comes last.

    Paged as `batch_tasks`. Raises UnknownBatchError, and UnknownTaskError where after_task_id is no
    completed task of the batch.
    """


@stored
def batch_results(
    connection: AnyConnection,
    *,
    batch_id: int,
    actor: str,
    task_ids: Sequence[int] | None = None,
    after_task_id: int | None = None,
    limit: Integer = 1000,
) -> list[BatchResult]:
    """Return what went into tasks of the actor's batch and came out, by id, paged as `batch_tasks`.

    A result has up to 1 MiB: ask for few at a time. Raises UnknownBatchError.
    """


@stored
def batch_outlook(connection: AnyConnection, *, batch_id: int, actor: str) -> BatchOutlook:
    """Return how far the actor's batch is, and how long it will take. Raises UnknownBatchError."""


@stored
def batch_explanations(
    connection: AnyConnection, *, batch_id: int, actor: str, task_ids: Sequence[int]
) -> list[TaskExplanation]:
    """Return why those of up to 200 tasks of the actor's batch wait that do, by id.

    Raises UnknownBatchError.
    """


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


@stored
def retry_batch_tasks(
    connection: AnyConnection,
    *,
    batch_id: int,
    actor: str,
    statuses: Sequence[str] | None = None,
    task_ids: Sequence[int] | None = None,
    reason: str | None = None,
) -> list[TaskEffect]:
    """Put those of the batch's failed or cancelled tasks back that have these statuses and ids.

    One row a task that is meant. None lets every one through. Raises UnknownBatchError.
    """


@stored
def open_upload(connection: AnyConnection, *, upload_id: UUID, name: str, actor: str) -> str:
    """Take note of a file before it is written, and return its name in the storage.

    Commit before the first byte. The same id again begins it anew. Raises UploadSubmittedError, and
    UnknownUploadError for one that was dropped or is somebody else's.
    """


@stored
def finish_upload(
    connection: AnyConnection,
    *,
    upload_id: UUID,
    bytes_: int,
    pages: Integer | None,
    estimated_tokens: int | None,
    actor: str,
) -> None:
    """Take note that the whole file is stored: it can be submitted from now on.

    Raises UploadSubmittedError and UnknownUploadError; after the latter the file must not stay.
    """


@stored
def drop_upload(connection: AnyConnection, *, upload_id: UUID, actor: str) -> str:
    """Give a file up and return its name in the storage, for it to be removed after the commit.

    Raises UploadSubmittedError and UnknownUploadError.
    """


@stored
def list_uploads(connection: AnyConnection, *, actor: str) -> list[StoredUpload]:
    """Return what the actor has stored and neither submitted nor dropped, the oldest first."""


@stored
def submit_uploads(
    connection: AnyConnection,
    *,
    submission_key: str,
    upload_ids: Sequence[UUID],
    agent: str,
    name: str,
    actor: str,
    customer: str | None = None,
    priority: Integer = 0,
) -> int:
    """Submit uploads as one batch, all or none, and return its id; the same key gets it again.

    Raises UnknownUploadError or UploadSubmittedError, which name the upload, UnknownAgentError,
    LineFullError, and IdempotencyKeyReusedError for a key that other uploads were submitted under.
    """
