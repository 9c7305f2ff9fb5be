"""The nouns of the model: agents, tasks, attempts, refusals and what an attempt's calls used."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

from model.bucket import Bucket, Limit
from model.line import Turns

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
    max_waiting: int | None
    aging: timedelta | None
    reserve_after: timedelta
    fair_by_customer: bool
    max_deferrals: int
    max_deferral_time: timedelta

    @property
    def token_limit(self) -> Limit | None:
        """max_tpm, with a burst of 0.8 of it."""
        return None if self.max_tpm is None else Limit(Fraction(self.max_tpm * 4, 5), self.max_tpm)

    @property
    def request_limit(self) -> Limit | None:
        """max_rpm, with a burst of 0.8 of it and at least one claim, but none where none may be."""
        if not self.max_rpm:
            return None if self.max_rpm is None else Limit(Fraction(0), 0)
        return Limit(max(Fraction(1), Fraction(self.max_rpm * 4, 5)), self.max_rpm)

    @property
    def is_closed(self) -> bool:
        """A limit of 0 admits nothing."""
        return 0 in (self.max_concurrent_tasks, self.max_tpm, self.max_rpm)


@dataclass
class Refusal:
    """A provider's refusal: until when nothing starts, and what the limits were lowered to."""

    in_flight: int
    paused_until: datetime
    share: Fraction
    lowered_at: datetime

    def share_at(self, now: datetime) -> Fraction:
        """Return the share of the limits: a tenth more every 30 seconds after the pause."""
        steps = max(timedelta(0), now - self.paused_until) // timedelta(seconds=30)
        return min(Fraction(1), self.share + Fraction(steps, 10))


@dataclass
class Agent:
    """An agent: its definition, its buckets (None without the limit), its pauses, its turns."""

    name: str
    definition: Definition
    tokens: Bucket | None = None
    requests: Bucket | None = None
    paused_until: datetime | None = None  # as an operator said
    refusals: list[Refusal] = field(default_factory=list)
    turns: Turns = field(default_factory=Turns)

    @property
    def last_refusal(self) -> Refusal | None:
        """The refusal that counts: the one whose pause ends last, of equal ones the latest."""
        return max(reversed(self.refusals), key=lambda r: r.paused_until, default=None)


class Expected(NamedTuple):
    """What an attempt is expected to use."""

    calls: int
    input: int
    output: int

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input + self.output


class Used(NamedTuple):
    """What an attempt's calls used as far as they said so, and whether they all did."""

    input: int
    output: int
    calls: int
    is_known: bool

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input + self.output


class Learned(NamedTuple):
    """What an agent's finished attempts say of the next ones; ratios are in thousandths."""

    samples: int
    input_permille: int = 800
    output_permille: int = 200
    typical: Expected | None = None


@dataclass(frozen=True)
class Between:
    """A moment that the database draws: its least and its greatest value."""

    least: datetime
    greatest: datetime


@dataclass
class Task:
    """A task; its fields but the last two are columns of forebay.tasks."""

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
    customer: str | None = None
    deferral_count: int = 0
    deferred_since: datetime | None = None
    error_kind: str | None = None
    payload: Json = field(default_factory=dict)


@dataclass
class Attempt:
    """An attempt: columns of task_attempts, and expected, run_state, bucket and usage."""

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
    expected: Expected
    status: str = "claimed"
    finished_at: datetime | None = None
    reported_at: datetime | None = None
    is_stop_pending: bool = False
    run_id: str | None = None
    run_state: str | None = None  # the life cycle's
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

    def used(self) -> Used:
        """Return what the calls of the more complete source used."""
        sources: dict[str, list[dict[str, int | None]]] = {}
        for (source, _), call in sorted(self.usage.items()):
            sources.setdefault(source, []).append(call)
        if not sources:
            return Used(0, 0, 0, False)
        calls = max(sources.values(), key=lambda calls: sum(_is_known(call) for call in calls))
        return Used(
            sum(call["input_tokens"] or 0 for call in calls),
            sum(call["output_tokens"] or 0 for call in calls),
            sum(not _is_refused(call) for call in calls),
            all(map(_is_known, calls)),
        )


def _is_known(call: dict[str, int | None]) -> bool:
    return None not in call.values()


def _is_refused(call: dict[str, int | None]) -> bool:
    """Whether the provider refused the call: it is known to have used nothing."""
    return call["input_tokens"] == call["output_tokens"] == 0
