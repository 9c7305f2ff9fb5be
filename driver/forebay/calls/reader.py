"""What a reader calls (role forebay_reader): the documents that go in and come out."""

# mypy: disable-error-code="empty-body"

from forebay.calls._call import AnyConnection, stored
from forebay.rows import TaskResult


@stored
def task_result(connection: AnyConnection, *, task_id: int) -> TaskResult:
    """Return a task's payload, result and error. Raises UnknownTaskError."""
