"""What work cost: by agent, customer and the like, in sum, and by month for finance."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import output, words
from forebay.cli.database import connect
from forebay.cli.options import Dsn, Json, duration_option, parse_status, parse_time

if TYPE_CHECKING:
    from forebay.finance import Line
    from forebay.rows import CostLine, CostSource, CostSummary

DIMENSIONS = ("task", "agent", "customer", "batch", "model", "day", "try")

app = typer.Typer(
    help="Show what work cost, as far as it is known: calls of models (LLM) and machines"
    " (compute). Tasks are chosen by when they were created.",
    no_args_is_help=True,
)


def parse_dimension(text: str) -> str:
    """Return the dimension itself, if it is one."""
    if text not in DIMENSIONS:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(DIMENSIONS)}.")
    return text


def parse_month(text: str) -> str:
    """Return the month itself, if it is one such as 2026-11."""
    if not re.fullmatch(r"[1-9]\d{3}-(0[1-9]|1[0-2])", text):
        raise typer.BadParameter(f"{text!r} is not a month such as 2026-11.")
    return text


From = Annotated[
    datetime | None,
    typer.Option("--from", parser=parse_time, metavar="TIME", help="Created then or later."),
]
To = Annotated[
    datetime | None,
    typer.Option("--to", parser=parse_time, metavar="TIME", help="Created before that."),
]
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
Month = Annotated[
    str, typer.Argument(parser=parse_month, metavar="YYYY-MM", help="A month, in UTC.")
]


@app.command()
def by(
    dimension: Annotated[
        str,
        typer.Argument(
            parser=parse_dimension,
            metavar="task|agent|customer|batch|model|day|try",
            help="try tells first tries and retries apart.",
        ),
    ],
    from_: From = None,
    to: To = None,
    last: Last = None,
    status: Status = None,
    agent: Agents = None,
    customer: Customers = None,
    limit: Annotated[int, typer.Option(min=1, max=10000, help="So many lines at most.")] = 100,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show what tasks cost by one of seven, the dearest first."""
    from forebay.calls import viewer

    chosen = _filters(from_, to, last, status, agent, customer)
    with connect(dsn) as conn:
        found = viewer.cost_by(conn, dimension=dimension, **chosen, limit=limit)
    output.print_rows(found, {dimension: lambda row: row.key or "none", **LINE}, as_json)


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

    chosen = _filters(from_, to, last, status, agent, customer)
    with connect(dsn) as conn:
        found = viewer.cost_summary(conn, **chosen)
        sources = viewer.cost_sources(conn, **chosen)
    if as_json:
        output.print_json({"summary": found, "sources": sources})
        return
    output.print_row(found, SUMMARY, as_json)
    output.print_rows(sources, SOURCE, as_json)


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
        output.print_rows(lines, MONTH, as_json)
    else:
        _write(csv, lines)
    _tell_open_ends(lines, ends)


@app.command()
def shared(from_: From = None, to: To = None, dsn: Dsn = None, as_json: Json = False) -> None:
    """Show what no task has to itself, such as warehouses, apps and the database."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        found = viewer.shared_costs(conn, from_=from_, to=to)
    output.print_rows(found, SHARED, as_json)


@app.command()
def refresh(dsn: Dsn = None, as_json: Json = False) -> None:
    """Read the Databricks workspace's bill through FOREBAY_WAREHOUSE_ID, and the traces of
    FOREBAY_MLFLOW_EXPERIMENT, as the dashboard does."""
    import os

    from forebay.cli.refreshing import refresh_costs

    refresh_costs(dsn, os.environ, as_json)


def _filters(
    from_: datetime | None,
    to: datetime | None,
    last: timedelta | None,
    statuses: list[str] | None,
    agents: list[str] | None,
    customers: list[str] | None,
) -> dict[str, Any]:
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


def _write(path: Path, lines: list[Line]) -> None:
    from forebay.finance import as_csv

    if str(path) == "-":
        print(*as_csv(lines), sep="", end="")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(as_csv(lines))
    output.note(f"Wrote {len(lines)} lines to {path}.")


def _tell_open_ends(lines: list[Line], ends: datetime) -> None:
    """Say what may still change: the month, provisional amounts, and what is unknown."""
    total = next(line for line in lines if line.line == "total")
    if datetime.now(UTC) < ends:
        output.note("The month is not over.")
    if total.provisional_usd:
        output.note(f"{total.provisional_usd} of the compute cost may still change.")
    for name, count in (
        ("LLM", total.attempts_without_llm_cost),
        ("compute", total.attempts_without_compute_cost),
    ):
        if count:
            output.note(f"Of {count} attempts the {name} cost is not known: it is in no amount.")


def _usd(name: str) -> Callable[[Any], object]:
    return lambda row: words.usd(getattr(row, name))


def _cents(name: str) -> Callable[[Any], object]:
    """Return a column of an amount that is in whole cents."""
    return lambda row: None if getattr(row, name) is None else f"{getattr(row, name):.2f}"


def _known(name: str) -> Callable[[Any], object]:
    """Return a column that says of how many ended attempts something is known."""
    return lambda row: words.of(getattr(row, name), row.ended_attempts)


def _compute(row: CostLine) -> str | None:
    return words.usd(row.compute_usd) if row.costed_attempts else None


def _llm(row: CostLine) -> str | None:
    known = row.priced_attempts or row.llm_usd or not row.ended_attempts
    return words.usd(row.llm_usd) if known else None


def _one(part: str) -> Callable[[CostSummary], str | None]:
    """Return a column that says what one task costs."""

    def told(row: CostSummary) -> str | None:
        tasks, median = getattr(row, f"{part}_tasks"), getattr(row, f"{part}_median")
        if not tasks:
            return None
        p95 = words.usd(getattr(row, f"{part}_p95"))
        return f"{words.usd(median)} (95 % at most {p95}; {words.of(tasks, row.tasks)} tasks)"

    return told


def _tries(count: str, llm: str, compute: str) -> Callable[[CostSummary], str]:
    def told(row: CostSummary) -> str:
        amounts = f"LLM {words.usd(getattr(row, llm))}, compute {words.usd(getattr(row, compute))}"
        return f"{words.number(getattr(row, count))}: {amounts}"

    return told


def _provisional(row: CostSummary) -> str:
    return "nothing will change" if row.is_final else f"{words.usd(row.provisional_usd)} of compute"


def _known_usd(row: CostSource) -> str | None:
    if row.part == "trace":
        return None
    return "unknown" if row.usd is None else str(words.usd(row.usd))


LINE: output.Columns = {
    "tasks": "tasks",
    "LLM usd": _llm,
    "known of": _known("priced_attempts"),
    "compute usd": _compute,
    "compute known of": _known("costed_attempts"),
    "provisional": "provisional_attempts",
    "input tokens": "input_tokens",
    "output tokens": "output_tokens",
    "cached tokens": "cached_tokens",
}
SUMMARY: output.Columns = {
    "tasks": "tasks",
    "LLM usd": _llm,
    "of attempts": _known("priced_attempts"),
    "compute usd": _compute,
    "of them": _known("costed_attempts"),
    "provisional": _provisional,
    "a task, median": _one("whole"),
    "LLM of a task": _one("llm"),
    "compute of a task": _one("compute"),
    "first tries": _tries("first_tries", "first_llm_usd", "first_compute_usd"),
    "retries": _tries("retries", "retry_llm_usd", "retry_compute_usd"),
    "input tokens": lambda row: words.number(row.input_tokens),
    "output tokens": lambda row: words.number(row.output_tokens),
    "cached tokens": lambda row: words.number(row.cached_tokens),
    "pages": lambda row: words.number(row.pages) if row.pages else None,
}
SOURCE: output.Columns = {
    "part": "part",
    "source": lambda row: row.source or "none",
    "basis": lambda row: row.basis.replace("_", " "),
    "attempts": "attempts",
    "usd": _known_usd,
}
MONTH: output.Columns = {
    "customer": lambda row: row.customer or ("none" if row.line == "customer" else row.line),
    "agent": "agent",
    "tasks": "tasks",
    "input tokens": "input_tokens",
    "output tokens": "output_tokens",
    "pages": lambda row: f"{row.pages:f}" if row.pages else None,
    "LLM usd": _cents("llm_usd"),
    "compute usd": _cents("compute_usd"),
    "total usd": _cents("total_usd"),
    "provisional usd": _cents("provisional_usd"),
    "retries usd": _cents("retries_usd"),
    "LLM unknown": "attempts_without_llm_cost",
    "compute unknown": "attempts_without_compute_cost",
}
SHARED: output.Columns = {
    "product": "product",
    "usd": _usd("usd"),
    "source": "source",
    "final": lambda row: "yes" if row.is_final else "no",
    "from": "from_at",
    "to": "to_at",
}
