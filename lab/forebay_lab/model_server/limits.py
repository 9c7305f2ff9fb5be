"""What an endpoint allows: limits as text, and the gauge that enforces each.

Shares no code and no rounding with the queue's SQL, so that what the queue makes of it proves
something. Gauges know no lock and no clock: the ledger holds the one and reads the other.
"""

import math
import re
from collections import deque
from dataclasses import dataclass
from typing import Literal, Protocol, cast, get_args

Unit = Literal["requests", "tokens", "input_tokens", "output_tokens", "concurrent_calls"]
UNITS: tuple[Unit, ...] = get_args(Unit)

PERIODS = {"second": 1.0, "minute": 60.0, "hour": 3_600.0, "day": 86_400.0}
SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0}

TEXT = re.compile(
    r"(?P<name>(?P<unit>[a-z_]+)(?:/(?P<period>[a-z]+|(?P<number>\d+(?:\.\d+)?)(?P<letter>[smh])))?)"
    r"=(?P<amount>\d+)(?::(?P<kind>window|bucket(?::(?P<burst>\d+(?:\.\d+)?))?))?"
)


@dataclass(frozen=True, slots=True)
class Limit:
    """So much of a unit in so many seconds; `burst` makes a bucket of that size of it.

    Without a burst it is a strict window: what was admitted in the last `period` seconds never
    exceeds the amount. Concurrent calls have no period.
    """

    name: str
    unit: Unit
    amount: int
    period: float = 0.0
    burst: float | None = None

    @classmethod
    def parse(cls, text: str) -> "Limit":
        """Read "requests/minute=60", "tokens/6s=4000:bucket", "concurrent_calls=8".

        A bucket holds the amount, or so many times as much: "tokens/minute=4000:bucket:0.8".
        Raises ValueError with a sentence.
        """
        match = TEXT.fullmatch(text)
        if not match or match["unit"] not in UNITS:
            raise ValueError(
                f"{text!r} is no limit: write it as requests/minute=60,"
                " input_tokens/6s=4000:bucket or concurrent_calls=8."
            )
        unit, amount = cast(Unit, match["unit"]), int(match["amount"])
        period = _period(match)
        if (unit == "concurrent_calls") != (period == 0 and match["kind"] is None):
            raise ValueError(f"{text!r}: concurrent_calls have no period and no kind, others do.")
        is_bucket = (match["kind"] or "").startswith("bucket")
        burst = amount * float(match["burst"] or 1) if is_bucket else None
        return cls(match["name"], unit, amount, period, burst)

    def gauge(self, now: float) -> "Gauge":
        """Return what enforces it, with nothing used."""
        if self.unit == "concurrent_calls":
            return Count(self.amount)
        if self.burst is None:
            return Window(self.amount, self.period)
        return Bucket(self.burst, self.amount / self.period, now)


def _period(match: re.Match[str]) -> float:
    """Return the period in seconds, 0 where none is named."""
    if match["number"]:
        period = float(match["number"]) * SECONDS[match["letter"]]
    else:
        period = PERIODS.get(match["period"] or "", 0.0)
    if match["period"] and not period:
        raise ValueError(
            f"{match['period']!r} is no period: write second, minute, hour, day, or such as 6s."
        )
    return period


class Charge:
    """What one call takes of one gauge; a window dates it."""

    __slots__ = ("amount", "at")

    def __init__(self, at: float, amount: float) -> None:
        self.at = at
        self.amount = amount


class Gauge(Protocol):
    """Hold what is used of one limit; times never go back."""

    def left(self, now: float) -> float:
        """Return what a call may take now."""
        ...

    def wait(self, now: float, need: float) -> float:
        """Return the seconds until that much is left if nothing else comes; infinite: never."""
        ...

    def take(self, now: float, need: float) -> Charge: ...

    def correct(self, now: float, charge: Charge, amount: float) -> None:
        """Let a charge count as so much instead."""
        ...

    def end(self, charge: Charge) -> None:
        """Take note that the call is over."""
        ...


class Window:
    """Sum up what was taken in the last `period` seconds, each call at its own time."""

    def __init__(self, amount: int, period: float) -> None:
        self._amount = amount
        self._period = period
        self._charges: deque[Charge] = deque()
        self._used = 0.0

    def left(self, now: float) -> float:
        while self._charges and self._charges[0].at <= now - self._period:
            self._used -= self._charges.popleft().amount
        return self._amount - self._used

    def wait(self, now: float, need: float) -> float:
        left = self.left(now)
        if need <= left:
            return 0.0
        for charge in self._charges:
            left += charge.amount
            if need <= left:
                return charge.at + self._period - now
        return math.inf

    def take(self, now: float, need: float) -> Charge:
        charge = Charge(now, need)
        self._charges.append(charge)
        self._used += need
        return charge

    def correct(self, now: float, charge: Charge, amount: float) -> None:
        if charge.at > now - self._period:
            self.left(now)  # what has left the window is not in the sum any more
            self._used += amount - charge.amount
            charge.amount = amount

    def end(self, charge: Charge) -> None:
        """Nothing: a call counts for its period, however short it was."""


class Bucket:
    """Hold a level that refills continuously up to `burst`."""

    def __init__(self, burst: float, rate: float, now: float) -> None:
        self._burst = burst
        self._rate = rate
        self._level = burst
        self._at = now

    def left(self, now: float) -> float:
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        return self._level

    def wait(self, now: float, need: float) -> float:
        lacking = need - self.left(now)
        if lacking <= 0:
            return 0.0
        return lacking / self._rate if need <= self._burst and self._rate else math.inf

    def take(self, now: float, need: float) -> Charge:
        self._level = self.left(now) - need
        return Charge(now, need)

    def correct(self, now: float, charge: Charge, amount: float) -> None:
        self._level = min(self._burst, self.left(now) + charge.amount - amount)
        charge.amount = amount

    def end(self, charge: Charge) -> None:
        """Nothing: time alone refills it."""


class Count:
    """Count the calls that are not over."""

    def __init__(self, amount: int) -> None:
        self._amount = amount
        self._in_flight = 0.0

    def left(self, now: float) -> float:
        return self._amount - self._in_flight

    def wait(self, now: float, need: float) -> float:
        return 0.0 if need <= self.left(now) else math.inf

    def take(self, now: float, need: float) -> Charge:
        self._in_flight += need
        return Charge(now, need)

    def correct(self, now: float, charge: Charge, amount: float) -> None:
        """Nothing: a call is one call."""

    def end(self, charge: Charge) -> None:
        self._in_flight -= charge.amount
