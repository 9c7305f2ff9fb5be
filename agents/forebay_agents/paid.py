"""Answers that are paid for: each is kept before its usage is reported, so that neither is lost.

Whoever dies between the two leaves an answer that nobody told of; who takes it up tells of it, in
the name of the attempt that paid. Told twice is told once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from forebay.agent import Attempt
from forebay_agents.checkpoints import Checkpoints

T = TypeVar("T")


def keep(
    checkpoints: Checkpoints, key: str, answer: Any, usage: Mapping[str, Any], attempt: Attempt
) -> None:
    """Keep an answer, which is JSON, and then report what it used."""
    value = {"answer": answer, "usage": dict(usage), "attempt_id": attempt.attempt_id}
    checkpoints.put(key, value)
    attempt.usage(usage)


def kept(
    checkpoints: Checkpoints, key: str, decode: Callable[[Any], T], attempt: Attempt
) -> T | None:
    """Return what `decode` makes of a kept answer, whose usage is known now; None if none is kept.

    `decode` raises as that of `Checkpoints.get` does.
    """

    def read(value: dict[str, Any]) -> tuple[T, dict[str, Any], int]:
        return decode(value["answer"]), dict(value["usage"]), int(value["attempt_id"])

    found = checkpoints.get(key, read)
    if found is None:
        return None
    answer, usage, attempt_id = found
    attempt.usage(usage, attempt_id=attempt_id)
    return answer
