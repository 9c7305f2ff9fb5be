"""The rows of the measures: what tasks used, cost and took."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class MetricsReport:
    """The row of `metrics`: sums are of what is known, and times are of completed tasks.

    Of `ended_attempts` the tokens of `measured_attempts` are known, the LLM cost of
    `priced_attempts`, the compute cost of `costed_attempts`. Medians are those of one task, of two
    in the middle the lower. `is_exact` False: times are at most 2.5 % off, or a millisecond.
    `confidence_counts` has 20 bins of 0.05.
    """

    enqueued: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    ended_attempts: int
    measured_attempts: int
    priced_attempts: int
    costed_attempts: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    llm_usd: Decimal
    compute_usd: Decimal
    compute_as_of: datetime | None
    is_compute_final: bool
    response_median: timedelta | None
    response_p95: timedelta | None
    queue_median: timedelta | None
    queue_p95: timedelta | None
    run_median: timedelta | None
    run_p95: timedelta | None
    is_exact: bool
    confidence_median: Decimal | None
    confidence_counts: list[int]
    without_confidence: int
    as_of: datetime


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """A row of `metric_series`: the tasks created in a step; times are at most 2.5 % off."""

    starts_at: datetime
    ends_at: datetime
    enqueued: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    llm_usd: Decimal
    compute_usd: Decimal
    response_median: timedelta | None
    response_p95: timedelta | None


@dataclass(frozen=True, slots=True)
class CostLine:
    """A row of `cost_by`; key None: tasks without one. compute_usd is None by model."""

    key: str | None
    tasks: int
    ended_attempts: int
    measured_attempts: int
    priced_attempts: int
    costed_attempts: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    llm_usd: Decimal
    compute_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class AttemptToCost:
    """A row of `attempts_to_cost`: an ended attempt whose compute cost nobody has told."""

    attempt_id: int
    task_id: int
    agent: str
    launcher: str
    run_id: str | None
    started_at: datetime
    finished_at: datetime
