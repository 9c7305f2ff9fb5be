"""A token bucket in exact numbers: what it holds at a moment, under the limit that holds then."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_A_MINUTE = 60_000_000


class Limit(NamedTuple):
    """How much a bucket holds when it is full, and how much runs into it a minute."""

    burst: Fraction
    per_minute: int


@dataclass
class Bucket:
    """A level as of a moment, and what was given back since: it counts when somebody looks.

    The limit is told at each look, since a provider's refusals lower it for a while: all that ran
    in since the last payment did so under the limit of the look.
    """

    level: Fraction
    since: datetime
    given_back: list[tuple[datetime, int]] = field(default_factory=list)

    def at(self, now: datetime, limit: Limit) -> Fraction:
        """Return the level at a moment that is not before the last change."""
        level, since = self.level, self.since
        for moment, amount in [*self.given_back, (now, 0)]:
            microseconds = max(timedelta(0), moment - since) // MICROSECOND
            refilled = Fraction(microseconds * limit.per_minute, MICROSECONDS_A_MINUTE)
            level = min(limit.burst, min(limit.burst, level + refilled) + amount)
            since = max(since, moment)
        return level

    def pay(self, amount: int, now: datetime, limit: Limit) -> None:
        """Take an amount out, which may take the bucket into debt."""
        self.level, self.since, self.given_back = self.at(now, limit) - amount, now, []

    def resize(self, old: Limit, new: Limit, now: datetime) -> None:
        """Take another limit: the level stays, cut to the new burst."""
        self.level, self.since, self.given_back = min(new.burst, self.at(now, old)), now, []
