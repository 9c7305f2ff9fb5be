"""What an operator calls (role forebay_operator): every act is audited with its reason and actor.

Acts on tasks return one row per distinct id; an id that is unknown or cannot change is reported
there, never raised.
"""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from forebay.calls._call import AnyConnection, Integer, JsonList, stored
from forebay.rows import EffectCount, ReprocessedTask, TaskEffect


@stored
def register_agent(
    connection: AnyConnection,
    *,
    agent: str,
    launcher: str = "pull",
    job_id: int | None = None,
    entry_point: str | None = None,
    max_concurrent_tasks: Integer | None = None,
    max_tpm: int | None = None,
    max_rpm: Integer | None = None,
    tpm_burst: Decimal = Decimal("0.8"),
    lease: timedelta = timedelta(seconds=60),
    timeout: timedelta = timedelta(hours=1),
    max_attempts: Integer = 3,
    max_releases: Integer = 20,
    backoff_base: timedelta = timedelta(seconds=5),
    backoff_max: timedelta = timedelta(hours=1),
    on_lost_lease: str = "retry",
    late_results: str = "accept",
    default_estimated_tokens: int = 2000,
    retention: timedelta = timedelta(days=90),
    max_waiting: Integer | None = None,
    aging: timedelta | None = None,
    reserve_after: timedelta = timedelta(seconds=60),
    fair_by_customer: bool = False,
    max_usd_per_day: Decimal | None = None,
    max_deferrals: Integer = 100,
    max_deferral_time: timedelta = timedelta(days=1),
    quotas: Sequence[str] = [],
    reason: str | None = None,
    actor: str | None = None,
) -> None:
    """Set the whole definition of an agent: what is left out takes its default.

    For the limits None is no limit and 0 admits nothing. entry_point is a name in the Python
    entry-point group forebay.agents. None for aging is strict priority. Raises UnknownQuotaError.
    """


@stored
def register_quota(
    connection: AnyConnection,
    *,
    quota: str,
    limits: JsonList,
    headroom: Decimal = Decimal("0.01"),
    reason: str | None = None,
    actor: str | None = None,
) -> None:
    """Set the whole definition of a provider's quota; what counts against it stays.

    A limit is an object of unit (requests, tokens, input_tokens, output_tokens, concurrent_calls),
    per (second, minute, hour, day or an interval's text), amount, kind (window, the default, or
    bucket) and burst, the size of a bucket as a factor of its amount (0.8). headroom is the share
    of each window that is left unused. No limits: none.
    """


@stored
def register_customer(
    connection: AnyConnection,
    *,
    customer: str,
    priority_boost: Integer = 0,
    max_usd_per_day: Decimal | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> None:
    """Set a customer's terms: what is added to the priority of its tasks, and its cap a day (UTC).

    None is no cap. The boost is for tasks that are enqueued from now on.
    """


@stored
def lift_spend_cap(
    connection: AnyConnection,
    *,
    agent: str | None = None,
    customer: str | None = None,
    extra_usd: Decimal | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> Decimal:
    """Allow an agent or a customer more than its cap, today (UTC) alone; None is without end.

    Lifts of one day add up; an amount after one without end replaces it. Returns today's cap with
    them, Infinity when it has no end. Raises UnknownAgentError.
    """


@stored
def register_price(
    connection: AnyConnection,
    *,
    model: str,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    usd_per_m_input: Decimal | None = None,
    usd_per_m_output: Decimal | None = None,
    usd_per_m_cached: Decimal | None = None,
    usd_per_page: Decimal | None = None,
    usd_per_call: Decimal | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> None:
    """Set what a model costs from a time (None: now), in US dollars; tokens by the million.

    Where ranges overlap, the later valid_from holds. None for usd_per_m_cached: cached tokens cost
    what input costs.
    """


@stored
def price_calls(
    connection: AnyConnection,
    *,
    model: str,
    after_attempt_id: int = 0,
    limit: Integer = 1000,
    reason: str | None = None,
    actor: str | None = None,
) -> list[int]:
    """Price calls that were made before their price was registered; return their attempts, by id.

    Fewer than limit: there are no others; else go on after the last. Costs that were reported, or
    that a registered price gave, stay.
    """


@stored
def cancel(
    connection: AnyConnection,
    *,
    task_ids: Sequence[int],
    reason: str | None = None,
    actor: str | None = None,
) -> list[TaskEffect]:
    """End tasks that are not finished; their workers are told at the next renewal."""


@stored
def retry(
    connection: AnyConnection,
    *,
    task_ids: Sequence[int],
    priority: Integer | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> list[TaskEffect]:
    """Put failed or cancelled tasks back in line, attempts afresh; None keeps the priority."""


@stored
def reprocess(
    connection: AnyConnection,
    *,
    task_ids: Sequence[int],
    agent: str | None = None,
    priority: Integer = 10,
    reason: str | None = None,
    actor: str | None = None,
) -> list[ReprocessedTask]:
    """Do finished tasks again as new ones; None for agent is the same agent, the old result stays.

    Raises UnknownAgentError.
    """


@stored
def reprioritize(
    connection: AnyConnection,
    *,
    task_ids: Sequence[int],
    priority: Integer,
    reason: str | None = None,
    actor: str | None = None,
) -> list[TaskEffect]:
    """Change the place in line of waiting tasks; higher goes first."""


@stored
def annotate(
    connection: AnyConnection,
    *,
    task_ids: Sequence[int],
    note: str,
    reason: str | None = None,
    actor: str | None = None,
) -> list[TaskEffect]:
    """Write a note of 1 to 2,000 characters on tasks; it stands in the audit log."""


@stored
def act_on_matching(
    connection: AnyConnection,
    *,
    act: str,
    expected: int,
    from_: datetime | None = None,
    to: datetime | None = None,
    statuses: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    customers: Sequence[str] | None = None,
    batch_id: int | None = None,
    search: str | None = None,
    max_confidence: Decimal | None = None,
    priority: Integer | None = None,
    note: str | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> list[EffectCount]:
    """Do one act to all tasks that `list_tasks` lists under these filters, if they are `expected`.

    act is cancel, retry, reprocess, reprioritize (with priority) or annotate (with note). Raises
    MatchChangedError, TooManyMatchError, UnknownAgentError, UnknownBatchError.
    """


@stored
def pause_agent(
    connection: AnyConnection,
    *,
    agent: str | None,
    until: datetime | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> int:
    """Stop claims for an agent (None: all) until a time (None: until resumed).

    Returns how many agents changed; what runs goes on. Raises UnknownAgentError.
    """


@stored
def resume_agent(
    connection: AnyConnection,
    *,
    agent: str | None,
    reason: str | None = None,
    actor: str | None = None,
) -> int:
    """Allow claims again for an agent (None: all) and return how many agents changed.

    Raises UnknownAgentError.
    """


@stored
def open_installation(
    connection: AnyConnection, *, reason: str | None = None, actor: str | None = None
) -> None:
    """Let a branch or a restored copy of the database dispatch work."""
