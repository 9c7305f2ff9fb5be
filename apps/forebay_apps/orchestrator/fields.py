"""Read what a query string or a form says; what makes no sense is refused with a sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from forebay_apps.web.errors import Refusal
from forebay_apps.web.ids import MAX_ID


class Fields(Protocol):
    """A query string or a form that was sent."""

    def getlist(self, key: str) -> list[Any]: ...


def every(fields: Fields, name: str) -> tuple[str, ...]:
    """Return what was said under a name, once each, in the order in which it was said."""
    said = (value.strip() for value in fields.getlist(name) if isinstance(value, str))
    return tuple(dict.fromkeys(value for value in said if value))


def first(fields: Fields, name: str) -> str:
    """Return what was said first under a name; nothing is the empty string."""
    return next(iter(every(fields, name)), "")


def whole(said: str, name: str) -> int:
    """Return a whole number that can be an id or a count; `name` says which."""
    if not (said.isascii() and said.isdigit() and len(said) < 20 and int(said) <= MAX_ID):
        raise Refusal(400, f"This is no {name}: {said[:40]!r}.")
    return int(said)


def optional_whole(fields: Fields, name: str) -> int | None:
    """Return a whole number that need not be given."""
    said = first(fields, name)
    return whole(said, name) if said else None


def optional_time(fields: Fields, name: str) -> datetime | None:
    """Return a time that need not be given; without a zone it is UTC."""
    said = first(fields, name)
    if not said:
        return None
    try:
        moment = datetime.fromisoformat(said)
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refusal(400, f"{name.capitalize()} is no time: {said[:40]!r}.") from None


def optional_share(fields: Fields, name: str) -> Decimal | None:
    """Return a number from 0 to 1 that need not be given."""
    said = first(fields, name)
    if not said:
        return None
    try:
        if 0 <= (share := Decimal(said)) <= 1:
            return share
    except InvalidOperation:
        pass
    raise Refusal(400, f"The {name} is a number from 0 to 1, not {said[:40]!r}.")
