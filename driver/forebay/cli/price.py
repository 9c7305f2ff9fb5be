"""Prices: what models cost, by time."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import output
from forebay.cli.cost_tables import utc
from forebay.cli.database import connect, person
from forebay.cli.options import Dsn, Json, Reason, parse_usd, utc_option

if TYPE_CHECKING:
    import psycopg

app = typer.Typer(help="Set and list what models cost, in US dollars.", no_args_is_help=True)

Usd = Decimal | None
Time = datetime | None


def _usd(option: str, text: str, default: str | None = None) -> Any:
    shown = default or False
    return typer.Option(option, parser=parse_usd, metavar="USD", help=text, show_default=shown)


@app.command("set")
def set_(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="As calls name it.")],
    input_: Annotated[Usd, _usd("--input", "A million input tokens.")] = None,
    output_: Annotated[Usd, _usd("--output", "A million output tokens.")] = None,
    cached: Annotated[Usd, _usd("--cached", "A million tokens from a cache.", "as input")] = None,
    page: Annotated[Usd, _usd("--page", "A page.")] = None,
    call: Annotated[Usd, _usd("--call", "A call.")] = None,
    valid_from: Annotated[Time, utc_option("--from", "It holds from then on", "now")] = None,
    valid_until: Annotated[Time, utc_option("--until", "And before that", "without end")] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Set what a model costs from a time on; where prices overlap, the later one holds.

    Calls are priced when they are reported. With --from a time that is over, those made since then
    are priced too that have no cost yet, or a list price alone; no other is changed.
    """
    from forebay.calls import operator, viewer

    if all(usd is None for usd in (input_, output_, cached, page, call)):
        raise typer.BadParameter("say what costs how much, such as --input 3 --output 15.")
    with connect(dsn) as conn:
        operator.register_price(
            conn,
            model=model,
            valid_from=valid_from,
            valid_until=valid_until,
            usd_per_m_input=input_,
            usd_per_m_output=output_,
            usd_per_m_cached=cached,
            usd_per_page=page,
            usd_per_call=call,
            reason=reason,
            actor=person(),
        )
        found = viewer.list_prices(conn, models=[model])
        priced = _price_calls(conn, model, reason) if valid_from else None
    output.print_rows(found, PRICE, as_json)
    if priced is None:
        output.note("Calls made before keep what they have: --from prices those without a cost.")
    else:
        output.note(f"Attempts with calls that had no price, and have one now: {priced:,}.")


def _price_calls(conn: psycopg.Connection[Any], model: str, reason: str | None) -> int:
    """Price the calls of a model that were made before its price was set; return of how many."""
    from forebay.calls import operator

    count = after = 0
    while True:
        priced = operator.price_calls(
            conn, model=model, after_attempt_id=after, reason=reason, actor=person()
        )
        if not priced:
            return count
        count, after = count + len(priced), priced[-1]


@app.command("list")
def list_(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List prices by model and time, those of the past included."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        found = viewer.list_prices(conn, models=models or None)
    output.print_rows(found, PRICE, as_json)


PRICE: output.Columns = {
    "model": "model",
    "from (UTC)": utc("valid_from"),
    "until (UTC)": utc("valid_until"),
    "input/M": "usd_per_m_input",
    "output/M": "usd_per_m_output",
    "cached/M": "usd_per_m_cached",
    "page": "usd_per_page",
    "call": "usd_per_call",
}
