"""The nouns of the model: agents, tasks, attempts and what an attempt's calls used."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from model.bucket import Bucket

FOREVER = datetime.max.replace(tzinfo=UTC)
TERMINAL = ("completed", "failed", "cancelled")
Json = dict[str, Any]


@dataclass(frozen=True)
class Definition:
    """What register_agent sets: the fields are its parameters."""

    launcher: str
    max_concurrent_tasks: int | None
    max_tpm: int | None
    max_rpm: int | None
    lease: timedelta
    timeout: timedelta
    max_attempts: int
    max_releases: int
    backoff_base: timedelta
    backoff_max: timedelta
    on_lost_lease: str
    late_results: str
    default_estimated_tokens: int

    @property
    def token_burst(self) -> Fraction | None:
        """0.8 of max_tpm."""
        return None if self.max_tpm is None else Fraction(self.max_tpm * 4, 5)

    @property
    def request_burst(self) -> Fraction | None:
        """0.8 of max_rpm and at least one claim, but none where none is allowed."""
        if not self.max_rpm:
            return None if self.max_rpm is None else Fraction(0)
        return max(Fraction(1), Fraction(self.max_rpm * 4, 5))

    @property
    def is_closed(self) -> bool:
        """A limit of 0 admits nothing."""
        return 0 in (self.max_concurrent_tasks, self.max_tpm, self.max_rpm)


@dataclass
class Agent:
    """An agent: its definition, its buckets (None without the limit), its pause."""

    name: str
    definition: Definition
    tokens: Bucket | None = None
    requests: Bucket | None = None
    paused_until: datetime | None = None


@dataclass(frozen=True)
class Between:
    """A moment that the database draws: its least and its greatest value."""

    least: datetime
    greatest: datetime


@dataclass
class Task:
    """A task; its fields but the last four are columns of forebay.tasks."""

    task_id: int
    agent: str
    priority: int
    created_at: datetime
    available_at: Any  # a datetime, or Between until it was read
    status: str = "enqueued"
    attempt_id: int | None = None
    locked_by: str | None = None
    attempt_no: int = 0
    attempt_count: int = 0
    release_count: int = 0
    result: Json | None = None
    confidence: Any = None
    finished_at: datetime | None = None
    reprocess_of: int | None = None
    idempotency_key: str | None = None
    estimated_tokens: int | None = None
    max_attempts: int | None = None
    error_kind: str | None = None
    payload: Json = field(default_factory=dict)

    @property
    def place(self) -> tuple[int, datetime, int]:
        """Where it stands in line."""
        return (-self.priority, self.created_at, self.task_id)


@dataclass
class Attempt:
    """An attempt; its fields but the last four are columns of forebay.task_attempts."""

    attempt_id: int
    task_id: int
    agent: str
    launcher: str
    attempt_no: int
    worker: str
    lease_expires_at: datetime
    deadline_at: datetime
    started_at: datetime
    estimated_tokens: int
    charged_tokens: int | None
    launch_token: str
    status: str = "claimed"
    finished_at: datetime | None = None
    reported_at: datetime | None = None
    is_stop_pending: bool = False
    run_id: str | None = None
    run_ended_at: datetime | None = None
    result: Json | None = None
    error: Json | None = None
    bucket: Bucket | None = None  # the one that the claim was charged to
    usage: dict[tuple[str, str], dict[str, int | None]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether it still holds its task."""
        return self.finished_at is None

    @property
    def is_external(self) -> bool:
        """Whether its run may live on outside of the driver."""
        return self.launcher == "lakeflow"

    def used(self) -> tuple[int, bool] | None:
        """Return the tokens of the more complete source, and whether all are known."""
        sources: dict[str, list[dict[str, int | None]]] = {}
        for (source, _), call in sorted(self.usage.items()):
            sources.setdefault(source, []).append(call)
        if not sources:
            return None
        calls = max(sources.values(), key=lambda calls: sum(_is_known(call) for call in calls))
        tokens = sum(number or 0 for call in calls for number in call.values())
        return tokens, all(map(_is_known, calls))


def _is_known(call: dict[str, int | None]) -> bool:
    return None not in call.values()
