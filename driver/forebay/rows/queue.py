"""The rows that the stored functions return: one dataclass per composite type, same field names.

Times are aware datetimes, None where there is none yet; 'infinity' is `datetime.max` in UTC.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

Document = dict[str, Any]
Launcher = Literal["pull", "local", "lakeflow"]
TaskStatus = Literal["enqueued", "processing", "completed", "failed", "cancelled"]
LeaseState = Literal["renewed", "cancel_requested", "lost", "finished"]
ReportEffect = Literal["completed", "retrying", "failed", "kept", "recorded", "none"]
TaskEffectWord = Literal["cancelled", "retried", "reprioritized", "annotated", "none", "unknown"]
ReprocessEffect = Literal["reprocessed", "none", "unknown"]
RunOutcome = Literal["renew", "requeue", "retry", "fail", "pause_agent", "none"]
AgentStateWord = Literal[
    "open",
    "paused",
    "held_up",
    "full",
    "out_of_tokens",
    "out_of_requests",
    "closed",
    "quota",
    "spend_cap",
]
CallDecision = Literal["go", "wait", "stop"]
LimitUnit = Literal["requests", "tokens", "input_tokens", "output_tokens", "concurrent_calls"]
LimitKind = Literal["bucket", "window", "count"]


@dataclass(frozen=True, slots=True)
class EnqueuedTask:
    """A row of `enqueue_many`: ordinal counts from 1; created is false when the key was known."""

    ordinal: int
    task_id: int
    created: bool


@dataclass(frozen=True, slots=True)
class ClaimedAttempt:
    """A row of `dequeue`: what a worker needs to do the work, and by when."""

    task_id: int
    attempt_id: int
    attempt_no: int
    agent: str
    launcher: Launcher
    job_id: int | None
    entry_point: str | None
    payload: Document
    priority: int
    batch_id: int | None
    customer: str | None
    estimated_tokens: int
    launch_token: str
    lease_expires_at: datetime
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class AdoptedAttempt:
    """A row of `adopt`: a claim taken over; run_id is None when no run was recorded."""

    task_id: int
    attempt_id: int
    attempt_no: int
    agent: str
    launcher: Launcher
    job_id: int | None
    entry_point: str | None
    payload: Document
    priority: int
    batch_id: int | None
    customer: str | None
    estimated_tokens: int
    launch_token: str
    lease_expires_at: datetime
    deadline_at: datetime
    run_id: str | None


@dataclass(frozen=True, slots=True)
class RenewedLease:
    """A row of `renew_leases`: any other state than renewed means that the work should stop."""

    attempt_id: int
    state: LeaseState
    lease_expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunToCancel:
    """A row of `runs_to_cancel`: a run whose attempt was ended from outside."""

    attempt_id: int
    task_id: int
    agent: str
    launcher: Launcher
    job_id: int | None
    run_id: str | None
    launch_token: str


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The answer of `sweep`: how many tasks went back in line, failed, and became due."""

    requeued: int
    failed: int
    woken: int


@dataclass(frozen=True, slots=True)
class ReportedAttempt:
    """A row of `complete_many`: the task's status after it; None for an unknown attempt."""

    attempt_id: int
    status: TaskStatus | None
    effect: ReportEffect


@dataclass(frozen=True, slots=True)
class TaskEffect:
    """What an act did to one task, and its status after it; None for an unknown task."""

    task_id: int
    status: TaskStatus | None
    effect: TaskEffectWord


@dataclass(frozen=True, slots=True)
class ReprocessedTask:
    """A row of `reprocess`: the new task that repeats the old one."""

    task_id: int
    status: TaskStatus | None
    effect: ReprocessEffect
    new_task_id: int | None


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The answer of `batch_progress`: counts by status; finished_at once nothing is left to do."""

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


@dataclass(frozen=True, slots=True)
class TaskCount:
    """A row of `task_counts`."""

    status: TaskStatus
    tasks: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The answer of `task_result`: what went in and came out of a task."""

    task_id: int
    status: TaskStatus
    payload: Document
    result: Document | None
    confidence: Decimal | None
    error: Document | None
    kept_results: list[Document]


@dataclass(frozen=True, slots=True)
class TaskExplanation:
    """The answer of `explain_task`: why it waits; waiting_until None means not known.

    subject is the agent, quota or customer whose rule it is: of `amount` of its unit in a period it
    has `has` left, and the task needs `needs`.
    """

    task_id: int
    status: TaskStatus
    reason: str
    explanation: str
    waiting_until: datetime | None
    ahead: int | None
    subject: str | None
    unit: str | None
    needs: Decimal | None
    has: Decimal | None
    amount: Decimal | None
    period: timedelta | None


@dataclass(frozen=True, slots=True)
class AgentState:
    """A row of `agent_status`: levels are as of now; None means no such limit.

    Effective limits are the configured ones times effective_share; quotas is a list of the fields
    of `QuotaState`.
    """

    agent: str
    launcher: Launcher
    state: AgentStateWord
    waiting: int
    delayed: int
    in_use: int
    max_concurrent_tasks: int | None
    max_tpm: int | None
    token_level: Decimal | None
    token_burst: Decimal | None
    in_flight_tokens: int | None
    max_rpm: int | None
    request_level: Decimal | None
    request_burst: Decimal | None
    paused_until: datetime | None
    pause_reason: str | None
    oldest_waiting_at: datetime | None
    job_id: int | None
    entry_point: str | None
    lease: timedelta
    timeout: timedelta
    max_attempts: int
    effective_share: Decimal
    effective_concurrent_tasks: int | None
    effective_tpm: int | None
    effective_rpm: int | None
    projected_tpm: int
    starts_last_minute: int
    tokens_last_minute: int
    learned_samples: int
    learned_ratio: Decimal
    learned_input_ratio: Decimal
    learned_output_ratio: Decimal
    typical_tokens: int | None
    typical_calls: Decimal | None
    tokens_per_second: Decimal | None
    usd_today: Decimal
    usd_projected: Decimal
    max_usd_per_day: Decimal | None
    max_waiting: int | None
    aging: timedelta | None
    reserve_after: timedelta
    is_fair_by_customer: bool
    quotas: list[Document]
    tpm_burst: Decimal
    max_releases: int
    backoff_base: timedelta
    backoff_max: timedelta
    on_lost_lease: str
    late_results: str
    default_estimated_tokens: int
    retention: timedelta
    max_deferrals: int
    max_deferral_time: timedelta
    quota_names: list[str]
    hindrance: str | None


@dataclass(frozen=True, slots=True)
class QuotaState:
    """A row of `quota_status`: one limit of a quota, as of now; no unit when it has no limit.

    used is what counts against it, room what a call could take, projected what the tasks in flight
    will still use within its period, task_room what a new task could take.
    """

    quota: str
    unit: LimitUnit | None
    period: timedelta | None
    kind: LimitKind | None
    amount: int | None
    effective_amount: Decimal | None
    used: Decimal | None
    room: Decimal | None
    projected: Decimal
    open_calls: int
    waiting_calls: int
    paused_until: datetime | None
    agents: list[str]
    task_room: Decimal | None


@dataclass(frozen=True, slots=True)
class CallPermit:
    """The answer of `may_call`: wait means to ask again after `waits`, stop to end the attempt.

    While it waits, quota, unit, needs and has say for what; reason is the sentence.
    """

    decision: CallDecision
    wait_until: datetime | None
    waits: timedelta | None
    quota: str | None
    unit: LimitUnit | None
    needs: Decimal | None
    has: Decimal | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class CustomerState:
    """A row of `customer_status`: a customer with terms of its own, and what it spends today.

    extra_usd is what an operator allowed today beyond the cap.
    """

    customer: str
    priority_boost: int
    max_usd_per_day: Decimal | None
    extra_usd: Decimal | None
    usd_today: Decimal
    usd_projected: Decimal
    waiting: int
    in_use: int


@dataclass(frozen=True, slots=True)
class Price:
    """A row of `list_prices`: what a model costs within a range of time, in US dollars.

    Prices of tokens are by the million; None: nothing is paid by it. valid_until None: no end.
    """

    model: str
    valid_from: datetime
    valid_until: datetime | None
    usd_per_m_input: Decimal | None
    usd_per_m_output: Decimal | None
    usd_per_m_cached: Decimal | None
    usd_per_page: Decimal | None
    usd_per_call: Decimal | None
