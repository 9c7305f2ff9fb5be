"""The options that commands share, and the words that people write for numbers and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Generic, TypeVar

import typer

T = TypeVar("T")

STATUSES = ("enqueued", "processing", "completed", "failed", "cancelled")
PRIORITIES = {"urgent": 10, "normal": 0, "bulk": -10}
PRIORITY = "urgent|normal|bulk|NUMBER"
HIGHER_FIRST = "Higher goes first: urgent is 10, normal 0, bulk -10."
MAX_ID = (1 << 63) - 1
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
LONGEST = timedelta(days=36_500)  # so that what is so long ago has a date


def parse_priority(text: str) -> int:
    """Return the priority of a name, or the number itself; higher goes first."""
    try:
        priority = PRIORITIES[text] if text in PRIORITIES else int(text)
    except ValueError:
        priority = 1 << 15
    if not -(1 << 15) <= priority < 1 << 15:
        raise typer.BadParameter(
            f"{text!r} is not urgent, normal, bulk or a number from -32768 to 32767."
        )
    return priority


def parse_status(text: str) -> str:
    """Return the status itself, if it is one."""
    if text not in STATUSES:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(STATUSES)}.")
    return text


def parse_duration(text: str) -> timedelta:
    """Return the duration of 90s, 5m, 1.5h or 2d; nothing but 0 goes without a unit."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([smhd]?)", text.strip())
    if not found:
        raise typer.BadParameter(f"{text!r} is not a duration such as 90s, 5m, 1h or 2d.")
    if not found[2] and float(found[1]):
        units = ", ".join(f"{found[1]}{unit}" for unit in UNITS)
        raise typer.BadParameter(f"{text!r} is a duration without a unit: say one of {units}.")
    duration = timedelta(**{UNITS[found[2] or "s"]: float(found[1])})
    if duration > LONGEST:
        raise typer.BadParameter(f"{text.strip()} is longer than {LONGEST.days}d.")
    return duration


@dataclass(frozen=True, slots=True)
class Given(Generic[T]):
    """What was given for an option that may be none; None in its place: nothing was given."""

    value: T | None


def or_none(parse: Callable[[str], T]) -> Callable[[str], Given[T]]:
    """Return a parser that also takes the word none."""

    def parse_or_none(text: str) -> Given[T]:
        return Given(None if text.strip().lower() == "none" else parse(text))

    return parse_or_none


def parse_number(text: str) -> int:
    """Return a whole number."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number.") from None


def parse_usd(text: str) -> Decimal:
    """Return an amount of US dollars."""
    try:
        usd = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        usd = Decimal("nan")
    if not usd.is_finite():
        raise typer.BadParameter(f"{text!r} is not an amount of US dollars such as 5 or 0.25.")
    return usd


def parse_time(text: str) -> datetime:
    """Return the moment of an ISO 8601 text; one without an offset is in this computer's zone."""
    return _parse_moment(text, None)


def parse_utc(text: str) -> datetime:
    """Return the moment of an ISO 8601 text; a day, or a time without an offset, is in UTC."""
    return _parse_moment(text, UTC)


def _parse_moment(text: str, zone: tzinfo | None) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or zone).astimezone()
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a time such as 2026-11-29 or 2026-11-29T18:00:00+01:00."
        ) from None


def utc_option(name: str, text: str, default: str | bool = True) -> Any:
    """Make an option that takes a day or a time, and says that it is in UTC."""
    return typer.Option(
        name,
        parser=parse_utc,
        metavar="TIME",
        help=f"{text}; without an offset in UTC.",
        show_default=default,
    )


def duration_option(
    text: str | None = None, panel: str | None = None, default: str | bool = True
) -> Any:
    """Make an option that takes a duration; its help tells the default, if one is told."""
    return typer.Option(
        parser=parse_duration,
        metavar="90s|5m|1h|2d",
        help=text,
        rich_help_panel=panel,
        show_default=default,
    )


def limit_option(
    parse: Callable[[str], object], metavar: str, text: str, panel: str | None = None
) -> Any:
    """Make an option that takes what parse reads, or none; its parameter is a Given."""
    return typer.Option(
        parser=or_none(parse), metavar=f"{metavar}|none", help=text, rich_help_panel=panel
    )


Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        envvar="FOREBAY_DATABASE_URL",
        show_default="the embedded server, when it runs",
        help="The database, as a URL or as keywords.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for scripts.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, for the audit log.")]
TaskIds = Annotated[list[int], typer.Argument(metavar="ID...", min=1, max=MAX_ID, help="Tasks.")]
