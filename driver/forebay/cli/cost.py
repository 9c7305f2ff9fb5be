"""What work cost: by agent, customer and the like, in sum, and by month for finance."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import cost_tables, output
from forebay.cli.cost_options import (
    Agents,
    Customers,
    Dimension,
    From,
    Last,
    Month,
    Status,
    To,
    UsedFrom,
    UsedTo,
    filters,
)
from forebay.cli.database import connect
from forebay.cli.options import Dsn, Json

if TYPE_CHECKING:
    from forebay.finance import Line

MOST_LINES = 9_999
"""One more is asked for, to know whether there are others."""

NO_TASK = "No task matches."

app = typer.Typer(
    help="Show what work cost, as far as it is known: calls of models (LLM) and machines"
    " (compute). Tasks are chosen by when they were created; days and months are UTC.",
    no_args_is_help=True,
)


@app.command()
def by(
    dimension: Dimension,
    from_: From = None,
    to: To = None,
    last: Last = None,
    status: Status = None,
    agent: Agents = None,
    customer: Customers = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LINES, help="So many lines at most.")] = 100,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show what tasks cost by one of seven, the dearest first, and from where that is known."""
    from forebay.calls import viewer

    chosen = filters(from_, to, last, status, agent, customer)
    with connect(dsn) as conn:
        found = viewer.cost_by(conn, dimension=dimension, **chosen, limit=limit + 1)
        lines = found[:limit]
        keys = [line.key or "" for line in lines]
        sources = viewer.cost_sources(conn, **chosen, dimension=dimension, keys=keys)
    if as_json:
        told = [
            asdict(line) | {"sources": [one for one in sources if one.key == line.key]}
            for line in lines
        ]
        output.print_json(told)
    else:
        output.print_rows(lines, cost_tables.lines(dimension, sources), as_json, NO_TASK)
    if len(found) > limit:
        output.note(f"There are more lines than {limit}: --limit shows up to {MOST_LINES:,}.")


@app.command()
def summary(
    from_: From = None,
    to: To = None,
    last: Last = None,
    status: Status = None,
    agent: Agents = None,
    customer: Customers = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show what tasks cost together, what one costs, and where the figures come from."""
    from forebay.calls import viewer

    chosen = filters(from_, to, last, status, agent, customer)
    with connect(dsn) as conn:
        found = viewer.cost_summary(conn, **chosen)
        sources = viewer.cost_sources(conn, **chosen)
    if as_json:
        output.print_json({"summary": found, "sources": sources})
        return
    if not found.tasks:
        output.note(NO_TASK)
        return
    output.print_row(found, cost_tables.SUMMARY, as_json)
    output.print_rows(sources, cost_tables.SOURCE, as_json, "No task was tried.")


@app.command()
def month(
    month: Month,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it as a CSV file for finance; - is stdout."),
    ] = None,
    customer: Customers = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show what the tasks of a month cost, by customer and agent, to the cent.

    A task counts in the month that it was created in. Lines add up to their total; what is shared,
    such as warehouses, is in none.
    """
    from forebay.calls import viewer
    from forebay.finance import month_bounds, month_lines

    begins, ends = month_bounds(*map(int, month.split("-")))
    with connect(dsn) as conn:
        costs = viewer.customer_costs(conn, from_=begins, to=ends, customers=customer or None)
        shared = [] if customer else viewer.shared_costs(conn, from_=begins, to=ends)
    lines = month_lines(month, costs, shared)
    if csv is None:
        output.print_rows(lines, cost_tables.MONTH, as_json)
    else:
        _write(csv, lines)
    if not costs:
        output.note(f"No task of {month} matches.")
    _tell_open_ends(lines, ends)


@app.command()
def shared(
    from_: UsedFrom = None, to: UsedTo = None, dsn: Dsn = None, as_json: Json = False
) -> None:
    """Show what no task has to itself, such as warehouses, apps and the database."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        found = viewer.shared_costs(conn, from_=from_, to=to)
    output.print_rows(found, cost_tables.SHARED, as_json, "No bill told of any.")


@app.command()
def refresh(dsn: Dsn = None, as_json: Json = False) -> None:
    """Read the bill and the traces of a Databricks workspace, as the dashboard does.

    The bill is read through the SQL warehouse FOREBAY_WAREHOUSE_ID, the traces are those of
    FOREBAY_MLFLOW_EXPERIMENT.
    """
    import os

    from forebay.cli.refreshing import refresh_costs

    refresh_costs(dsn, os.environ, as_json)


def _write(path: Path, lines: list[Line]) -> None:
    from forebay.finance import as_csv

    if str(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.writelines(line.encode() for line in as_csv(lines))
        sys.stdout.buffer.flush()
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(as_csv(lines))
    output.note(f"Wrote {len(lines)} lines to {path}.")


def _tell_open_ends(lines: list[Line], ends: datetime) -> None:
    """Say what may still change: the month, provisional amounts, and what is unknown."""
    total = next(line for line in lines if line.line == "total")
    if datetime.now(UTC) < ends:
        output.note("The month is not over.")
    if total.provisional_attempts:
        said = f"Of {total.provisional_attempts} attempts the compute cost may still change"
        output.note(f"{said}: {total.provisional_usd} together.")
    for name, count in (
        ("LLM", total.attempts_without_llm_cost),
        ("compute", total.attempts_without_compute_cost),
    ):
        if count:
            output.note(f"Of {count} attempts the {name} cost is not known: it is in no amount.")
    if total.running_attempts:
        output.note(f"Attempts still running, of which more may come: {total.running_attempts}.")
