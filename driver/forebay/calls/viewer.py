"""What a viewer calls (role forebay_viewer): counts, lists and reasons, never payloads or results.

The five filters are all optional: None does not filter. from_ and to are half-open, on created_at.
"""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import datetime

from forebay.calls._call import AnyConnection, Integer, stored
from forebay.rows import (
    AgentState,
    BatchProgress,
    CustomerState,
    HealthReport,
    Price,
    QuotaState,
    TaskCount,
    TaskDetail,
    TaskExplanation,
    TaskSummary,
)


@stored
def task_counts(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
) -> list[TaskCount]:
    """Count tasks by status; one row for each of the five, also when it is 0."""


@stored
def list_tasks(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
    batch_id: int | None = None,
    before_task_id: int | None = None,
    limit: Integer = 100,
) -> list[TaskSummary]:
    """Return a page of tasks, newest first; the next page has before_task_id = the last id."""


@stored
def task_detail(connection: AnyConnection, *, task_id: int) -> TaskDetail:
    """Return all about a task but its payload and result. Raises UnknownTaskError."""


@stored
def batch_progress(connection: AnyConnection, *, batch_id: int) -> BatchProgress:
    """Return the counts of a batch. Raises UnknownBatchError."""


@stored
def agent_status(
    connection: AnyConnection, *, agents: Sequence[str] | None = None
) -> list[AgentState]:
    """Return what agents do and how much room they have; None is all agents."""


@stored
def quota_status(
    connection: AnyConnection, *, quotas: Sequence[str] | None = None
) -> list[QuotaState]:
    """Return how much of each quota is used, one row a limit; None is all quotas.

    Raises UnknownQuotaError.
    """


@stored
def customer_status(
    connection: AnyConnection, *, customers: Sequence[str] | None = None
) -> list[CustomerState]:
    """Return the customers that have terms of their own, and what they spend; None is all."""


@stored
def list_prices(connection: AnyConnection, *, models: Sequence[str] | None = None) -> list[Price]:
    """Return the prices by model and time, those of the past included; None is all models."""


@stored
def explain_task(connection: AnyConnection, *, task_id: int) -> TaskExplanation:
    """Say why a task is where it is, and until when. Raises UnknownTaskError."""


@stored
def health(connection: AnyConnection) -> HealthReport:
    """Return whether anything claims, sweeps and listens, and what holds the database back."""


@stored
def schema_version(connection: AnyConnection) -> str:
    """Return the release of the installed schema; every forebay_* role may ask."""


@stored
def server_time(connection: AnyConnection) -> datetime:
    """Read the database's clock, the one that decides about leases."""
