"""What a viewer calls (role forebay_viewer): counts, lists and reasons, never payloads or results.

The five filters are all optional: None does not filter. from_ and to are half-open, on created_at.
"""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from forebay.calls._call import AnyConnection, Integer, stored
from forebay.rows import (
    AgentState,
    AttemptSummary,
    AuditEntry,
    BatchProgress,
    BatchSummary,
    CostLine,
    CostSource,
    CostSummary,
    CustomerCost,
    CustomerState,
    Gauge,
    HealthReport,
    MetricPoint,
    MetricsReport,
    Price,
    QuotaState,
    SharedCost,
    TableSize,
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
def metrics(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
) -> MetricsReport:
    """Count tasks, and add up what they used, cost and took. A customer "" is none."""


@stored
def metric_series(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
    step: timedelta | None = None,
) -> list[MetricPoint]:
    """Return the same step by step, those without a task too; None chooses at most 120 points."""


@stored
def cost_by(
    connection: AnyConnection,
    *,
    dimension: str,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
    limit: Integer = 100,
) -> list[CostLine]:
    """Return what a task, agent, customer, batch, model, day or try cost, the dearest first."""


@stored
def cost_summary(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
) -> CostSummary:
    """Say what tasks cost together, and what one costs; first tries and retries apart."""


@stored
def cost_sources(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
    dimension: str | None = None,
    keys: Sequence[str] | None = None,
) -> list[CostSource]:
    """Say which source the figures of `cost_summary`, or `cost_by`, are from, and how it knows.

    dimension None: all together. keys are those of `cost_by`, "" its None; None: all.
    """


@stored
def customer_costs(
    connection: AnyConnection,
    *,
    from_: datetime,
    to: datetime,
    customers: Sequence[str] | None = None,
) -> list[CustomerCost]:
    """Return what tasks created in a range cost, by customer and agent; None comes last."""


@stored
def shared_costs(
    connection: AnyConnection, *, from_: datetime | None = None, to: datetime | None = None
) -> list[SharedCost]:
    """Return what no run has to itself, such as warehouses, by product, the dearest first."""


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
    search: str | None = None,
    max_confidence: Decimal | None = None,
) -> list[TaskSummary]:
    """Return a page of tasks, newest first; the next page has before_task_id = the last id.

    search is the number of a task, batch or attempt; a run, launch token or idempotency key; or
    part of a customer or of a batch's name.
    """


@stored
def count_matching(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
    batch_id: int | None = None,
    search: str | None = None,
    max_confidence: Decimal | None = None,
) -> int:
    """Count the tasks that `list_tasks` lists under these filters; 100,001 means over 100,000."""


@stored
def task_detail(connection: AnyConnection, *, task_id: int) -> TaskDetail:
    """Return all about a task but its payload and result. Raises UnknownTaskError."""


@stored
def batch_progress(connection: AnyConnection, *, batch_id: int) -> BatchProgress:
    """Return the counts of a batch. Raises UnknownBatchError."""


@stored
def list_batches(
    connection: AnyConnection,
    *,
    from_: datetime | None = None,
    to: datetime | None = None,
    customers: Sequence[str] | None = None,
    search: str | None = None,
    before_batch_id: int | None = None,
    limit: Integer = 50,
) -> list[BatchSummary]:
    """Return a page of batches, newest first; the next page has before_batch_id = the last id.

    search is a batch's number, or part of its name, customer or owner.
    """


@stored
def list_attempts(
    connection: AnyConnection,
    *,
    statuses: Sequence[str] = ["lost", "superseded"],
    agents: Sequence[str] | None = None,
    from_: datetime | None = None,
    to: datetime | None = None,
    before_attempt_id: int | None = None,
    limit: Integer = 100,
) -> list[AttemptSummary]:
    """Return a page of attempts, newest first; the next page has before_attempt_id = the last id.

    Statuses are failed, released, lost, superseded and cancelled; from_ and to are on started_at.
    """


@stored
def list_audit(
    connection: AnyConnection,
    *,
    task_id: int | None = None,
    agent: str | None = None,
    actor: str | None = None,
    before_audit_id: int | None = None,
    limit: Integer = 100,
) -> list[AuditEntry]:
    """Return a page of what people did, latest first; the next has before_audit_id = the last."""


@stored
def table_sizes(connection: AnyConnection) -> list[TableSize]:
    """Return how large each table is and when it was vacuumed, the largest first."""


@stored
def monitoring(connection: AnyConnection) -> list[Gauge]:
    """Return the gauges of monitoring, those of one metric together; no value, no row."""


@stored
def agent_names(connection: AnyConnection) -> list[str]:
    """Return the names of all agents, by name."""


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
def list_compute_sources(connection: AnyConnection) -> list[str]:
    """List the sources that told what machines cost, by name; "local" is Forebay's own estimate."""


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
def held_roles(connection: AnyConnection, *, logins: Sequence[str]) -> dict[str, list[str]]:
    """Return which forebay_* roles each login has that is there; every forebay_* role may ask."""


@stored
def server_time(connection: AnyConnection) -> datetime:
    """Read the database's clock, the one that decides about leases."""
