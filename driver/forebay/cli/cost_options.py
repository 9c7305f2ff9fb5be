"""What may be asked of costs: by what they are added up, of which month, and of which tasks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from forebay.cli.options import duration_option, parse_status, utc_option

DIMENSIONS = ("task", "agent", "customer", "batch", "model", "day", "try")


def parse_dimension(text: str) -> str:
    """Return the dimension itself, if it is one."""
    if text not in DIMENSIONS:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(DIMENSIONS)}.")
    return text


def parse_month(text: str) -> str:
    """Return the month itself, if it is one such as 2026-11."""
    if not re.fullmatch(r"(19|2[0-9])[0-9]{2}-(0[1-9]|1[0-2])", text):
        raise typer.BadParameter(f"{text!r} is not a month such as 2026-11.")
    return text


From = Annotated[datetime | None, utc_option("--from", "Created then or later")]
To = Annotated[datetime | None, utc_option("--to", "Created before that")]
UsedFrom = Annotated[datetime | None, utc_option("--from", "Used then or later")]
UsedTo = Annotated[datetime | None, utc_option("--to", "Used before that")]
Last = Annotated[timedelta | None, duration_option("Created so long ago at most.")]
Status = Annotated[
    list[str] | None,
    typer.Option(parser=parse_status, metavar="STATUS", help="Only these; repeatable."),
]
Agents = Annotated[list[str] | None, typer.Option("--agent", help="Only these; repeatable.")]
Customers = Annotated[
    list[str] | None,
    typer.Option("--customer", help="Only these; repeatable. '' is tasks of none."),
]
Dimension = Annotated[
    str,
    typer.Argument(
        parser=parse_dimension,
        metavar="|".join(DIMENSIONS),
        help="try tells first tries and retries apart.",
    ),
]
Month = Annotated[
    str, typer.Argument(parser=parse_month, metavar="YYYY-MM", help="A month, in UTC.")
]


def filters(
    from_: datetime | None,
    to: datetime | None,
    last: timedelta | None,
    statuses: list[str] | None,
    agents: list[str] | None,
    customers: list[str] | None,
) -> dict[str, Any]:
    """Return which tasks are meant, as the stored functions take it."""
    if last is not None and from_ is not None:
        raise typer.BadParameter("--from and --last both say where to begin: give one.")
    begins = from_ if last is None else datetime.now(UTC) - last
    return {
        "from_": begins,
        "to": to,
        "statuses": statuses or None,
        "agents": agents or None,
        "customers": customers or None,
    }
