"""How numbers, money and times are written. What is not known is "unknown", never 0."""

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from markupsafe import Markup

UNKNOWN = "unknown"
MINUS = "\N{MINUS SIGN}"


def number(value: int | Decimal | None) -> str:
    """12,345"""
    return UNKNOWN if value is None else f"{value:,.0f}".replace("-", MINUS)


def usd(value: Decimal | None) -> str:
    """$1,234.50, and $0.0123 below a dollar; less than a hundredth of a cent is <$0.0001."""
    if value is None:
        return UNKNOWN
    value = Decimal(value)
    if 0 < value < Decimal("0.0001"):
        return "<$0.0001"
    places = Decimal("0.0001") if 0 < abs(value) < 1 else Decimal("0.01")
    said = f"${abs(value).quantize(places, ROUND_HALF_UP):,}"
    return f"{MINUS}{said}" if value < 0 else said


def share(value: Decimal | float | None) -> str:
    """87 %"""
    return UNKNOWN if value is None else f"{float(value) * 100:.0f} %"


def confidence(value: Decimal | float | None) -> str:
    """0.93"""
    return UNKNOWN if value is None else f"{float(value):.2f}"


def duration(value: timedelta | float | None) -> str:
    """850 ms, 12.3 s, 1 m 20 s, 2 h 5 m, 3 d 4 h"""
    if value is None:
        return UNKNOWN
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    sign, seconds = (MINUS if seconds < 0 else ""), abs(seconds)
    if seconds < 0.9995:
        return f"{sign}{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{sign}{seconds:.1f}".removesuffix(".0") + " s"
    return sign + _two_units(round(seconds))


def size(value: int | None) -> str:
    """512 B, 1.4 MB"""
    if value is None:
        return UNKNOWN
    amount, units = float(value), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 999.5 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    return (
        f"{amount:.0f} {units[0]}"
        if amount >= 9.95 or units[0] == "B"
        else f"{amount:.1f} {units[0]}"
    )


def moment(value: datetime | None, missing: str = "\N{EN DASH}") -> Markup:
    """Write a time as how long ago it was, with the time itself in UTC for who points at it.

    live.js keeps the words up to date; without it they are true when the page was made.
    """
    if value is None:
        return Markup(missing)
    at = value.astimezone(UTC)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        at.isoformat(timespec="milliseconds"), f"{at:%Y-%m-%d %H:%M:%S}", _ago(at)
    )


def _ago(at: datetime) -> str:
    seconds = (datetime.now(UTC) - at).total_seconds()
    if abs(seconds) < 1:
        return "now"
    words = duration(round(abs(seconds)))
    return f"{words} ago" if seconds > 0 else f"in {words}"


def _two_units(seconds: int) -> str:
    for unit, size, smaller, smaller_size in (
        ("d", 86400, "h", 3600),
        ("h", 3600, "m", 60),
        ("m", 60, "s", 1),
    ):
        if seconds >= size:
            rest = seconds % size // smaller_size
            return f"{seconds // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{seconds} s"


FILTERS: dict[str, Any] = {
    "number": number,
    "usd": usd,
    "share": share,
    "duration": duration,
    "filesize": size,
    "moment": moment,
    "confidence": confidence,
}
