"""The rows of the measures: what tasks used, cost and took."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
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
    """A row of `cost_by`; key None: tasks without one.

    Tokens and amounts are sums of what is known, and None where nothing is known of any attempt;
    compute_usd is None by model. Of `costed_attempts` the cost of `provisional_attempts` may still
    change.
    """

    key: str | None
    tasks: int
    running_attempts: int
    ended_attempts: int
    measured_attempts: int
    priced_attempts: int
    costed_attempts: int
    provisional_attempts: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    llm_usd: Decimal | None
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


@dataclass(frozen=True, slots=True)
class AttemptToTrace:
    """A row of `attempts_to_trace`: an ended attempt whose traces are to be looked for.

    They have `launch_key` as their tag `forebay.launch_key`; `trace_id` is what it told itself.
    """

    attempt_id: int
    task_id: int
    launch_key: str
    trace_id: str | None
    started_at: datetime
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class BillReading:
    """The row of `begin_bill`: rows that came on that day (UTC) or later are to be read.

    None: none are. What is shared of `shared_days` is to be read again too. What ran until
    `settled_until` is final. At most `batch_size` records are recorded at once.
    """

    day: date | None
    began_at: datetime
    settled_until: datetime
    shared_days: list[date]
    batch_size: int


@dataclass(frozen=True, slots=True)
class RunToBill:
    """A row of `runs_to_bill`: an attempt whose run a bill may tell of.

    `is_settled`: it ended so long ago that all rows should be there.
    """

    attempt_id: int
    run_id: str
    started_at: datetime
    finished_at: datetime | None
    is_settled: bool


@dataclass(frozen=True, slots=True)
class CostSummary:
    """The row of `cost_summary`: llm is calls, compute machines.

    Sums are of what is known, and None where nothing is known of any attempt. Medians and 95th
    percentiles are those of one task, over the `llm_tasks`, `compute_tasks` and `whole_tasks` that
    are over and whose cost is known; None without such a task.
    """

    tasks: int
    running_attempts: int
    ended_attempts: int
    measured_attempts: int
    priced_attempts: int
    costed_attempts: int
    provisional_attempts: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    pages: Decimal | None
    llm_usd: Decimal | None
    compute_usd: Decimal | None
    provisional_usd: Decimal | None
    is_final: bool
    first_tries: int
    first_llm_usd: Decimal | None
    first_compute_usd: Decimal | None
    retries: int
    retry_llm_usd: Decimal | None
    retry_compute_usd: Decimal | None
    llm_tasks: int
    llm_median: Decimal | None
    llm_p95: Decimal | None
    compute_tasks: int
    compute_median: Decimal | None
    compute_p95: Decimal | None
    whole_tasks: int
    whole_median: Decimal | None
    whole_p95: Decimal | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class CostSource:
    """A row of `cost_sources`: how much of a part (llm, trace, compute) which source told, and how.

    `key` is that of `cost_by`, None without a dimension; `usd` is None where it is unknown.
    """

    key: str | None
    part: str
    source: str | None
    basis: str
    attempts: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class CustomerCost:
    """A row of `customer_costs`; customer None: tasks of none.

    The six amounts hold nothing twice: calls and machines (final, provisional) of first tries and
    of retries; each is None where nothing was told. `llm_sources` and `compute_sources` say where
    they are from; the latter were last read at `compute_as_of`.
    """

    customer: str | None
    agent: str
    tasks: int
    running_attempts: int
    ended_attempts: int
    retries: int
    measured_attempts: int
    priced_attempts: int
    costed_attempts: int
    provisional_attempts: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    pages: Decimal | None
    llm_usd: Decimal | None
    retry_llm_usd: Decimal | None
    compute_usd: Decimal | None
    retry_compute_usd: Decimal | None
    provisional_usd: Decimal | None
    retry_provisional_usd: Decimal | None
    llm_sources: list[str]
    compute_sources: list[str]
    compute_as_of: datetime | None


@dataclass(frozen=True, slots=True)
class SharedCost:
    """A row of `shared_costs`: what no run has to itself, by product as the bill calls it.

    `usd` is None where something of it has no known price. Its source was last read at `as_of`.
    """

    source: str
    product: str
    usd: Decimal | None
    is_final: bool
    from_at: datetime | None
    to_at: datetime | None
    as_of: datetime | None
