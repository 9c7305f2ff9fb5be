"""Customers: the terms of those who have some of their own."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import typer

from forebay.cli import output, words
from forebay.cli.agent import HOW_MUCH, print_cap
from forebay.cli.database import connect, person
from forebay.cli.options import Dsn, Given, Json, Reason, limit_option, parse_usd

app = typer.Typer(
    help="Set and list customers' terms: who goes first, and who may spend how much.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="CUSTOMER", help="The customer's name.")]


@app.command("set")
def set_(
    customer: Name,
    priority_boost: Annotated[
        int | None, typer.Option(help="Added to the priority of what is enqueued from now on.")
    ] = None,
    max_usd_per_day: Annotated[
        Given[Decimal] | None,
        limit_option(parse_usd, "USD", "What its tasks may cost on a day (UTC)."),
    ] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Set a customer's terms; what is left out stays as it is."""
    from forebay.calls import operator, viewer

    with connect(dsn) as conn:
        known = next(iter(viewer.customer_status(conn, customers=[customer])), None)
        boost = known.priority_boost if known else 0
        cap = known.max_usd_per_day if known else None
        operator.register_customer(
            conn,
            customer=customer,
            priority_boost=boost if priority_boost is None else priority_boost,
            max_usd_per_day=cap if max_usd_per_day is None else max_usd_per_day.value,
            reason=reason,
            actor=person(),
        )
        found = viewer.customer_status(conn, customers=[customer])
    output.print_rows(found, CUSTOMER, as_json)


@app.command("list")
def list_(
    customers: Annotated[
        list[str] | None, typer.Argument(metavar="[CUSTOMER]...", help="Only these.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List the customers that have terms of their own, and what they spend today."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        found = viewer.customer_status(conn, customers=customers or None)
    output.print_rows(found, CUSTOMER, as_json)


@app.command()
def lift(
    customer: Name,
    usd: Annotated[Decimal | None, HOW_MUCH] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Let a customer spend more than its cap, for the rest of the day (UTC)."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        cap = operator.lift_spend_cap(
            conn, customer=customer, extra_usd=usd, reason=reason, actor=person()
        )
    print_cap(customer, cap, as_json)


CUSTOMER: output.Columns = {
    "customer": "customer",
    "boost": "priority_boost",
    "waiting": "waiting",
    "running": "in_use",
    "usd today": lambda row: words.usd(row.usd_today),
    "in flight": lambda row: words.usd(row.usd_projected),
    "cap": lambda row: words.usd(row.max_usd_per_day),
    "lifted by": lambda row: words.usd(row.extra_usd) if row.extra_usd else None,
}
