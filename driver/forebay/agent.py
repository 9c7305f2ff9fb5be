"""What an agent is: a function of one attempt that returns a result, or raises what went wrong.

An agent is named in the entry-point group `forebay.agents` and is called as `run(attempt)`. It
knows nothing of the database: whoever runs it reports what it returned or raised.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, Protocol

ErrorKind = Literal[
    "rate_limited",
    "overloaded",
    "context_too_long",
    "content_filtered",
    "bad_input",
    "infrastructure",
    "timeout",
    "agent_bug",
]


class Attempt(Protocol):
    """Show an agent the attempt it runs for, and let it say how far it is."""

    @property
    def task_id(self) -> int: ...

    @property
    def attempt_id(self) -> int: ...

    @property
    def attempt_no(self) -> int: ...

    @property
    def agent(self) -> str: ...

    @property
    def launch_key(self) -> str:
        """What tells the attempt from that of another database with the same id; no secret."""
        ...

    @property
    def payload(self) -> dict[str, Any]: ...

    def progress(self, done: int, total: int) -> None:
        """Say that `done` of `total` steps are finished; shown to people, never a lease renewal."""
        ...

    def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
        """Say what a model call used, as `forebay.calls.agent.report_usage` describes a call.

        attempt_id is that of an earlier attempt that made it, and may have died before it said so.
        It is kept while the database is away. What is refused is logged: it costs no attempt.
        """
        ...

    def known(self, attempts: Collection[tuple[int, str]]) -> set[str] | None:
        """Return the launch keys of those attempts that are of the same database.

        Each is an attempt's id and its launch key. None while the database is away.
        """
        ...

    def wait_to_call(
        self, tokens: int, output_tokens: int | None = None, call_id: str | None = None
    ) -> None:
        """Wait until the agent's quotas let a model call of so many tokens in all begin.

        output_tokens is what the answer may take of them; None: what the agent's usually take.
        Say with `usage` under the same call_id what it used as soon as it is over, also when it
        failed: until then the quotas count what was asked for. Raises Retry when the attempt is to
        stop.
        """
        ...

    def cancelled(self) -> bool:
        """Tell whether the work is no longer wanted; the agent then stops as soon as it can."""
        ...

    def seconds_left(self) -> float:
        """Return how long the attempt may still run, 0 or less when its time is over.

        Infinite while the deadline is not known: without a database, or before the first report.
        """
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """Carry what an attempt found; a confidence of None means that the agent has no opinion.

    `accepted` is called once the result is stored: until then the next attempt may need what this
    one has kept.
    """

    data: dict[str, Any]
    confidence: Decimal | None = None
    accepted: Callable[[], None] | None = None


class Reject(Exception):
    """Fail the task for good: another attempt would end the same way."""

    def __init__(self, reason: str, kind: ErrorKind = "bad_input") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


class Retry(Exception):
    """Fail this attempt only; None for `after` leaves the waiting time to the error's kind.

    `quota` names whose refusal it was, for agents that draw on several.
    """

    def __init__(
        self,
        reason: str = "asked to be tried again",
        after: timedelta | None = None,
        kind: ErrorKind = "infrastructure",
        quota: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after
        self.kind = kind
        self.quota = quota
