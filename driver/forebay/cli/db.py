"""The schema in the database: plan, upgrade, verify, and the scripts for psql."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import output
from forebay.cli.database import find_dsn
from forebay.cli.options import Dsn, Json

if TYPE_CHECKING:
    from forebay.schema import Step

Verbose = Annotated[bool, typer.Option("--verbose", help="Name each function and trigger.")]

app = typer.Typer(help="Install, upgrade and check schema forebay.", no_args_is_help=True)

STEPS: output.Columns = {"why": "why", "step": "name"}
SUMMED = {"functions/": "functions", "triggers/": "files of triggers"}  # by folder
HISTORY: output.Columns = {
    "name": "name",
    "release": "release",
    "applied": "applied_at",
    "by": "applied_by",
    "times": "runs",
}


@app.command()
def plan(
    as_sql: Annotated[
        bool, typer.Option("--sql", help="Print a script that psql can run instead.")
    ] = False,
    from_empty: Annotated[
        bool, typer.Option("--from-empty", help="For a database without the schema; asks none.")
    ] = False,
    verbose: Verbose = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Tell what upgrade would do; changes nothing."""
    from forebay import schema

    if as_sql and as_json:
        raise typer.BadParameter("pass --sql or --json, not both.")
    target = None if from_empty else find_dsn(dsn)
    if as_sql:
        print(schema.script(target), end="")
        return
    _print_steps(schema.plan(target), verbose, as_json)


@app.command()
def upgrade(verbose: Verbose = False, dsn: Dsn = None, as_json: Json = False) -> None:
    """Install the schema or bring it up to date, in one transaction; safe to run again."""
    from forebay import schema

    _print_steps(schema.upgrade(find_dsn(dsn)), verbose, as_json)


@app.command()
def verify(dsn: Dsn = None, as_json: Json = False) -> None:
    """Compare functions, triggers and grants with the files; exit code 1 when they differ."""
    from forebay import schema

    problems = schema.verify(find_dsn(dsn))
    if as_json:
        output.print_json(problems)
    else:
        print("\n".join(map(output.show, problems)) or "The database is as the files say.")
    if problems:
        raise typer.Exit(1)


@app.command()
def status(dsn: Dsn = None, verbose: Verbose = False, as_json: Json = False) -> None:
    """Show the installed release, this driver's, and when which files were applied."""
    from forebay import schema

    found = schema.status(find_dsn(dsn))
    if as_json:
        output.print_json(found)
        return
    print(f"installed  {found.installed or 'nothing'}")
    print(f"driver     {found.driver}")
    print(f"to do      {found.pending} steps")
    shown = [one for one in found.history if verbose or one.name.startswith("migrations/")]
    if shown:
        output.print_rows(shown, HISTORY, as_json)


@app.command("install-script")
def install_script() -> None:
    """Print db/install.sql for the files as they are."""
    from forebay import schema

    print(schema.install_script(), end="")


def _print_steps(steps: Sequence[Step], verbose: bool, as_json: bool) -> None:
    if as_json:
        output.print_json([{"name": s.name, "kind": s.kind, "why": s.why} for s in steps])
    elif steps:
        output.print_rows(steps if verbose else _summed(steps), STEPS, as_json)
    else:
        print("Nothing to do.")


def _summed(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with one for all functions, and one for all triggers, of the same why."""
    groups: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        folder = next((each for each in SUMMED if step.name.startswith(each)), step.name)
        groups.setdefault((step.why, folder), []).append(step)
    return [
        replace(group[0], name=f"{len(group)} {SUMMED[folder]}") if len(group) > 1 else group[0]
        for (_, folder), group in groups.items()
    ]
