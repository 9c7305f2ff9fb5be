"""What went wrong with an attempt, as `fail` takes it: one rule, wherever the agent runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from forebay.agent import ErrorKind, Reject, Retry

LONGEST_MESSAGE = 2000  # characters of an exception's text


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of an attempt, whether another attempt makes sense, and when.

    None for retry_after leaves the waiting time to the error's kind.
    """

    error: dict[str, Any]
    is_retryable: bool = True
    retry_after: timedelta | None = None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Say what an agent meant by raising this: what it did not mean to raise is its bug."""
        match error:
            case Reject():
                return cls(_error(error.kind, error.reason), is_retryable=False)
            case Retry():
                said = {"quota": error.quota} if error.quota else {}
                return cls(_error(error.kind, error.reason) | said, retry_after=error.after)
        name = type(error).__name__
        return cls(_error("agent_bug", f"{name}: {error}") | {"type": name})

    @classmethod
    def of_result(cls, error: Exception) -> Failure:
        """Fail for good because of the result: another attempt would return the like of it."""
        message = f"the result cannot be stored: {error}"
        return cls(_error("bad_input", message), is_retryable=False)

    def without_wait(self) -> Failure:
        """Return it without a waiting time that the database does not take."""
        return replace(self, retry_after=None)


def _error(kind: ErrorKind, message: str) -> dict[str, Any]:
    return {"kind": kind, "message": message[:LONGEST_MESSAGE]}
