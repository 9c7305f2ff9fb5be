"""What a reader calls (role forebay_reader): the documents that go in and come out."""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence

from forebay.calls._call import AnyConnection, Integer, stored
from forebay.rows import BatchOutlook, BatchResult, BatchTask, TaskExplanation, TaskResult


@stored
def task_result(connection: AnyConnection, *, task_id: int) -> TaskResult:
    """Return a task's payload, result and error. Raises UnknownTaskError."""


@stored
def read_batch_tasks(
    connection: AnyConnection,
    *,
    batch_id: int,
    statuses: Sequence[str] | None = None,
    after_task_id: int | None = None,
    limit: Integer = 10000,
) -> list[BatchTask]:
    """Return the tasks of anybody's batch, as `submitter.batch_tasks`. Raises UnknownBatchError."""


@stored
def read_batch_tasks_by_confidence(
    connection: AnyConnection,
    *,
    batch_id: int,
    after_task_id: int | None = None,
    limit: Integer = 10000,
) -> list[BatchTask]:
    """Return the completed tasks of anybody's batch, as `submitter.batch_tasks_by_confidence`.

    Raises UnknownBatchError and UnknownTaskError.
    """


@stored
def read_batch_results(
    connection: AnyConnection,
    *,
    batch_id: int,
    task_ids: Sequence[int] | None = None,
    after_task_id: int | None = None,
    limit: Integer = 1000,
) -> list[BatchResult]:
    """Return payloads and results of anybody's batch, as `submitter.batch_results`.

    Raises UnknownBatchError.
    """


@stored
def read_batch_outlook(connection: AnyConnection, *, batch_id: int) -> BatchOutlook:
    """Return how far anybody's batch is, as `submitter.batch_outlook`. Raises UnknownBatchError."""


@stored
def read_batch_explanations(
    connection: AnyConnection, *, batch_id: int, task_ids: Sequence[int]
) -> list[TaskExplanation]:
    """Return why tasks of anybody's batch wait, as `submitter.batch_explanations`.

    Raises UnknownBatchError.
    """
