"""A token bucket in exact numbers: what it holds at a moment, and when it will hold enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_A_MINUTE = 60_000_000


@dataclass
class Bucket:
    """It refills per_minute a minute on the clock, and never holds more than its burst."""

    burst: Fraction
    per_minute: int
    level: Fraction
    since: datetime

    @classmethod
    def full(cls, burst: Fraction, per_minute: int, now: datetime) -> Bucket:
        """Return a new bucket: it is full."""
        return cls(burst, per_minute, burst, now)

    def at(self, now: datetime) -> Fraction:
        """Return the level at a moment that is not before the last change."""
        refilled = Fraction((now - self.since) // MICROSECOND * self.per_minute)
        return min(self.burst, self.level + refilled / MICROSECONDS_A_MINUTE)

    def add(self, amount: int, now: datetime) -> None:
        """Pay back an amount, or charge a negative one, which may take the bucket into debt."""
        self.level, self.since = min(self.burst, self.at(now) + amount), now

    def resize(self, burst: Fraction, per_minute: int, now: datetime) -> None:
        """Take another limit: the level stays, cut to the new burst."""
        self.level, self.since = min(burst, self.at(now)), now
        self.burst, self.per_minute = burst, per_minute

    def when(self, amount: int, now: datetime) -> datetime:
        """Return when it holds the amount, or is full if it never can; to the next microsecond."""
        missing = min(Fraction(amount), self.burst) - self.at(now)
        return now - (-missing * MICROSECONDS_A_MINUTE // self.per_minute) * MICROSECOND
