"""Drills: Forebay's promises, measured from the outside."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import documents, output
from forebay.cli.options import Json

if TYPE_CHECKING:
    from forebay_lab.drills.quota.report import Outcome

app = typer.Typer(help="Measure what Forebay promises, from the outside.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command()
def quota(
    is_short: Annotated[
        bool, typer.Option("--short", help="One cell for each kind of provider.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed makes the same tasks.")] = 1,
    minute: Annotated[
        float, typer.Option(min=1, max=60, help="Seconds that a minute of the model takes.")
    ] = 10,
    minutes: Annotated[
        float, typer.Option(min=2, help="How long a cell runs, in minutes of the model.")
    ] = 6,
    lanes: Annotated[int, typer.Option(min=1, max=8, help="Cells that run at a time.")] = 4,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the page of the documents there.")
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(
            "--dsn",
            show_default="a server of its own",
            help="A database for the drill alone: agents, quotas and tasks stay in it.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Hold a simulated provider's quota with 1 to 8 dispatchers; the provider's log is the judge.

    Exits with 1 when a cell of Forebay misses a goal: over-admissions, refusals, budget used.
    """
    documents.require("lab", "The drill")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    from forebay_lab.drills.quota import cells, drill, report
    from forebay_lab.drills.quota.scale import Scale

    plan = cells.Plan(seed, Scale(minute), minutes, lanes)
    chosen = cells.short() if is_short else cells.full()
    output.note(f"{report.setting(plan)} {len(chosen)} cells.")

    def tell(outcome: Outcome) -> None:
        output.note(" | ".join(report.row(outcome, plan)))

    began = time.monotonic()
    outcomes = drill.run(chosen, plan, tell, dsn)
    if as_json:
        output.print_json(report.document(outcomes, plan))
    else:
        output.print_rows(outcomes, report.columns(plan), as_json=False)
    if page:
        page.write_text(report.page(outcomes, plan, time.monotonic() - began))
    if not report.is_met(outcomes):
        raise typer.Exit(1)
