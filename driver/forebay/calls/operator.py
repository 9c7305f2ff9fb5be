"""What an operator calls (role forebay_operator): every act is audited with its reason and actor.

Acts on tasks return one row per distinct id; an id that is unknown or cannot change is reported
there, never raised.
"""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from forebay.calls._call import AnyConnection, Integer, stored
from forebay.rows import ReprocessedTask, TaskEffect


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
    reason: str | None = None,
    actor: str | None = None,
) -> None:
    """Set the whole definition of an agent: what is left out takes its default.

    For the limits None is no limit and 0 admits nothing. entry_point is a name in the Python
    entry-point group forebay.agents.
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
