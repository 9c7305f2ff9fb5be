"""Branches: masked copies of the database to debug with."""

from __future__ import annotations

import shlex
import signal
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import output
from forebay.cli.database import find_dsn, person
from forebay.cli.options import Dsn, Json, Reason, duration_option

if TYPE_CHECKING:
    from forebay.branches import Branch

app = typer.Typer(
    help="Make masked copies of the database to debug with; connect as who installed the schema.",
    no_args_is_help=True,
)

BRANCH: output.Columns = {
    "branch": "name",
    "state": "state",
    "made": "branched_at",
    "masked": "masked_at",
    "FOREBAY_DATABASE_URL": lambda branch: shlex.quote(branch.url),  # as a shell takes it
    "why": "said",
}

LISTED = {
    heading: column for heading, column in BRANCH.items() if heading != "FOREBAY_DATABASE_URL"
}

Name = Annotated[str, typer.Argument(metavar="NAME", help="What the branch is called.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
def create(
    name: Name,
    ttl: Annotated[
        timedelta | None,
        duration_option("How long it lives; on Lakebase only.", default="7d on Lakebase"),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Copy the database, mask the copy, and then say how to connect to it; it starts nothing."""
    from forebay.branches import Branches

    # Ended by anybody, it takes back what it has made, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    branch = Branches(find_dsn(dsn)).create(name, life=ttl, actor=person(), note=output.note)
    output.print_row(branch, BRANCH, as_json)
    _say_how_to_connect(branch)


@app.command("list")
def list_(dsn: Dsn = None, as_json: Json = False) -> None:
    """List the branches of the database; an unfinished one is not masked."""
    from forebay.branches import Branches

    found = Branches(find_dsn(dsn)).all()
    output.print_rows(found, output.filled(found, LISTED), as_json)
    if not as_json:
        for branch in found:
            if branch.state in ("closed", "open"):
                _say_how_to_connect(branch)


@app.command("open")
def open_(
    name: Name, yes: Yes = False, reason: Reason = None, dsn: Dsn = None, as_json: Json = False
) -> None:
    """Let a branch start tasks, after asking; its agents stay paused until they are resumed.

    As all of these commands, it is asked of the database that the branch was made of.
    """
    from forebay.branches import Branches

    branches = Branches(find_dsn(dsn))
    branches.get(name)
    if not yes:
        typer.confirm(
            f"Let {output.show(name)} start runs, which cost as much as any?", abort=True, err=True
        )
    branch = branches.open(name, reason=reason, actor=person())
    output.print_row(branch, BRANCH, as_json)


@app.command()
def delete(name: Name, yes: Yes = False, dsn: Dsn = None) -> None:
    """Delete a branch with all that is in it, after asking; who is connected to it is cut off."""
    from forebay.branches import Branches

    branches = Branches(find_dsn(dsn))
    branch = branches.get(name)
    if not yes:
        typer.confirm(
            f"Delete {output.show(name)} ({branch.state}) with all that is in it, whoever is"
            " connected?",
            abort=True,
            err=True,
        )
    branches.delete(name)
    output.note(f"Deleted {output.show(name)}.")


def _say_how_to_connect(branch: Branch) -> None:
    url = shlex.quote(branch.url)  # as a shell takes it
    output.note(f"To look into {output.show(branch.name)}: FOREBAY_DATABASE_URL={url} forebay psql")
