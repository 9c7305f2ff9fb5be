"""Numbers, amounts and durations as a person reads them in a table."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

PERIODS: dict[float, str] = {1: "a second", 60: "a minute", 3600: "an hour", 86400: "a day"}


def number(value: int | Decimal | None) -> str | None:
    """Return a whole number with its thousands apart; a fraction is cut off."""
    return None if value is None else f"{int(value):,}"


def of(part: int | Decimal | None, whole: int | Decimal | None) -> str | None:
    """Return `3 of 5`; without a whole the part alone."""
    return number(part) if part is None or whole is None else f"{number(part)} of {number(whole)}"


def usd(value: Decimal | None) -> str | None:
    """Return an amount of US dollars to the cent, and further where it is less than one."""
    if value is None:
        return None
    if not value.is_finite():
        return "no end"
    return f"{value:.2f}" if abs(value) >= 1 or not value else f"{value:.4f}"


def limit(amount: int | Decimal, unit: str, period: timedelta) -> str:
    """Return what a limit allows: `60,000 tokens a minute`."""
    words = f"{number(amount)} {unit.replace('_', ' ')}"
    seconds = period.total_seconds()
    return f"{words} {PERIODS.get(seconds, f'in {seconds:g} s')}" if seconds else words


def duration(value: timedelta | None) -> str | None:
    """Return the two largest parts: `2m 10s`, `3h 5m`, `2d 1h`."""
    if value is None:
        return None
    seconds = max(0, round(value.total_seconds()))
    parts = []
    for letter, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{letter}")
    return " ".join(parts[:2]) or "0s"
