"""Quotas: the limits of a provider that agents share."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any

import typer

from forebay.cli import output, words
from forebay.cli.database import connect, person
from forebay.cli.options import Dsn, Json, Reason

app = typer.Typer(
    help="Define and list quotas: a provider's limits, which agents share.", no_args_is_help=True
)
LIMIT = "UNIT/PERIOD=NUMBER[:bucket[:BURST]]|none"
LIMIT_TEXT = re.compile(
    r"([a-z_]+)(?:/([^=:]+))?=(\d{1,18})(?::(bucket|window)(?::(\d{1,3}(?:\.\d{1,6})?))?)?"
)


def parse_limit(text: str) -> dict[str, Any]:
    """Return the limit that `tokens/minute=60000:bucket` or `concurrent_calls=8` says."""
    if text.strip() == "none":
        return {}
    found = LIMIT_TEXT.fullmatch(text.strip())
    if not found:
        raise typer.BadParameter(
            f"{text!r} is not a limit such as tokens/minute=60000, requests/hour=1000:bucket"
            " or concurrent_calls=8."
        )
    unit, period, amount, kind, burst = found.groups()
    limit = {"unit": unit, "per": period, "amount": int(amount), "kind": kind}
    limit["burst"] = float(burst) if burst else None
    return {name: value for name, value in limit.items() if value is not None}


@app.command("set")
def set_(
    quota: Annotated[str, typer.Argument(metavar="NAME", help="The quota's name.")],
    limit: Annotated[
        list[str],
        typer.Option(
            parser=parse_limit,
            metavar=LIMIT,
            help="One of its limits, or none; repeatable. Units: requests, tokens, input_tokens,"
            " output_tokens, concurrent_calls. Periods: second, minute, hour, day, 6s. A bucket"
            " refills all the time, and holds 0.8 (BURST) of its amount; else it is a window.",
        ),
    ],
    headroom: Annotated[
        float | None, typer.Option(min=0, max=0.99, help="Share of each window left unused.")
    ] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Define a quota, whole: these limits and no others. What counts against them goes on."""
    from forebay.calls import operator, viewer

    limits: list[Any] = [each for each in limit if each]
    more = {} if headroom is None else {"headroom": Decimal(str(headroom))}
    with connect(dsn) as conn:
        operator.register_quota(
            conn, quota=quota, limits=limits, reason=reason, actor=person(), **more
        )
        found = viewer.quota_status(conn, quotas=[quota])
    output.print_rows(found, output.filled(found, QUOTA), as_json)


@app.command("list")
def list_(
    quotas: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List quotas: each limit, what counts against it, and what a call or a new task could take.

    In force is the limit without its headroom, and as refusals of the provider have lowered it.
    """
    from forebay.calls import viewer

    with connect(dsn) as conn:
        found = viewer.quota_status(conn, quotas=quotas or None)
    output.print_rows(found, output.filled(found, QUOTA), as_json)


QUOTA: output.Columns = {
    "quota": "quota",
    "limit": lambda row: words.limit(row.amount, row.unit, row.period) if row.unit else "none",
    "kind": "kind",
    "in force": lambda row: words.number(row.effective_amount),
    "used": lambda row: words.number(row.used),
    "left for a call": lambda row: words.number(row.room),
    "in flight will use": lambda row: words.number(row.projected),
    "left for a task": lambda row: words.number(row.task_room),
    "calls": lambda row: words.number(row.open_calls or None),
    "asking": lambda row: words.number(row.waiting_calls or None),
    "paused until": "paused_until",
    "agents": lambda row: ", ".join(row.agents),
}
