"""The rows of lists, one task, the machinery, acts on many, monitoring, and announcements."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar, Literal
from uuid import UUID

from forebay.rows.queue import Document, Launcher, TaskStatus

Act = Literal["cancel", "retry", "reprocess", "reprioritize", "annotate"]
ActEffect = Literal[
    "cancelled", "retried", "reprocessed", "reprioritized", "annotated", "none", "unknown"
]
AttemptStatus = Literal[
    "claimed", "running", "succeeded", "failed", "released", "lost", "superseded", "cancelled"
]
AnnouncementKind = Literal["agent.paused", "waiting.too_long", "spend_cap.reached", "batch.done"]


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """A row of `list_tasks`: tokens, cost and run_time are of all attempts, None where unknown.

    is_usage_known and is_cost_known say whether they are known of every attempt that has ended.
    """

    task_id: int
    agent: str
    status: TaskStatus
    priority: int
    batch_id: int | None
    customer: str | None
    locked_by: str | None
    available_at: datetime
    attempt_count: int
    attempt_id: int | None
    progress_done: int | None
    progress_total: int | None
    confidence: Decimal | None
    error_kind: str | None
    created_at: datetime
    finished_at: datetime | None
    reprocess_of: int | None
    batch_name: str | None
    used_input_tokens: int | None
    used_output_tokens: int | None
    used_cached_tokens: int | None
    is_usage_known: bool
    cost_usd: Decimal | None
    is_cost_known: bool
    run_time: timedelta | None


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """The answer of `task_detail`: attempts, usage and audit are oldest first.

    Times in these three are texts, and money with a fraction is Decimal. as_of is when it was read,
    by the clock of leases.
    """

    IS_EXACT: ClassVar[bool] = True

    task_id: int
    agent: str
    status: TaskStatus
    priority: int
    batch_id: int | None
    customer: str | None
    owner: str | None
    idempotency_key: str | None
    estimated_tokens: int | None
    max_attempts: int | None
    available_at: datetime
    locked_by: str | None
    attempt_id: int | None
    attempt_no: int
    attempt_count: int
    release_count: int
    deferral_count: int
    deferred_since: datetime | None
    confidence: Decimal | None
    error: Document | None
    reprocess_of: int | None
    reprocessed_by: list[int] | None
    created_at: datetime
    finished_at: datetime | None
    attempts: list[Document]
    usage: list[Document]
    audit: list[Document]
    batch_name: str | None
    used_input_tokens: int | None
    used_output_tokens: int | None
    used_cached_tokens: int | None
    is_usage_known: bool
    cost_usd: Decimal | None
    is_cost_known: bool
    compute_usd: Decimal | None
    run_time: timedelta | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A row of `list_batches`: llm_usd is of priced_attempts of all ended_attempts."""

    batch_id: int
    name: str
    customer: str | None
    owner: str | None
    created_at: datetime
    tasks: int
    enqueued: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    finished_at: datetime | None
    llm_usd: Decimal | None
    ended_attempts: int
    priced_attempts: int


@dataclass(frozen=True, slots=True)
class AttemptSummary:
    """A row of `list_attempts`: an attempt that did not end well, and what its task is now."""

    attempt_id: int
    task_id: int
    attempt_no: int
    agent: str
    launcher: Launcher
    status: AttemptStatus
    worker: str
    run_id: str | None
    trace_id: str | None
    started_at: datetime
    finished_at: datetime | None
    lease_expires_at: datetime
    error_kind: str | None
    error_message: str | None
    used_input_tokens: int | None
    used_output_tokens: int | None
    used_cached_tokens: int | None
    is_usage_known: bool
    cost_usd: Decimal | None
    is_cost_known: bool
    task_status: TaskStatus
    batch_id: int | None
    customer: str | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A row of `list_audit`: what somebody did to a task or an agent."""

    audit_id: int
    acted_at: datetime
    action: str
    task_id: int | None
    agent: str | None
    session_role: str
    actor: str | None
    reason: str | None
    details: Document | None


@dataclass(frozen=True, slots=True)
class TableSize:
    """A row of `table_sizes`: bytes has the indexes; row_estimate None: not counted yet."""

    name: str
    row_estimate: int | None
    bytes: int
    dead_rows: int
    last_autovacuum_at: datetime | None


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The answer of `health`: who claims, sweeps and listens, and what the database suffers from.

    oldest_transaction_of is the application name of the session that has it open.
    """

    schema_version: str
    installation_id: UUID
    is_branch: bool
    may_dispatch: bool
    dispatchers: list[Document]
    listeners: int
    last_claim_at: datetime | None
    last_sweep_at: datetime | None
    oldest_waiting_at: datetime | None
    expired_leases: int
    oldest_transaction_at: datetime | None
    notify_queue_usage: float
    oldest_transaction_of: str | None
    connections: int
    max_connections: int
    database_bytes: int
    server_version: str
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Gauge:
    """A row of `monitoring`: one metric with one set of labels, whose values are texts."""

    metric: str
    help: str
    labels: dict[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class EffectCount:
    """A row of `act_on_matching`: how many tasks an effect had."""

    effect: ActEffect
    tasks: int


@dataclass(frozen=True, slots=True)
class Announcement:
    """A row of `collect_announcements`: what to send now; tries counts this one too.

    details has what concerns the kind, ids as texts.
    """

    announcement_id: UUID
    kind: AnnouncementKind
    subject: str
    details: Document
    occurred_at: datetime
    tries: int
