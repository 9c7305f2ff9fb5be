"""The command line: a module per noun.

Modules import what is heavy (psycopg, rich, the driver) inside their commands, so that `--help`
answers at once. Exit codes: 0 done, 1 refused, 2 usage; an interrupt ends with 130.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from forebay import __version__
from forebay.cli import (
    acts,
    agent,
    batch,
    branch,
    cost,
    customer,
    databricks,
    db,
    demo,
    drill,
    model_server,
    parse,
    pg,
    price,
    psql,
    quota,
    run,
    serve,
    submit,
    tasks,
    user,
    workspace_server,
)
from forebay.cli.errors import sentence

__all__ = ["app", "main"]

WORK, AGENTS, DATABASE = "Work", "Running it", "The database"

app = typer.Typer(
    help="Forebay: the control plane of long-running agent work, in one Postgres database.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (
    submit.submit,
    parse.parse,
    tasks.tasks,
    tasks.task,
    tasks.explain,
    batch.batch,
    acts.cancel,
    acts.retry,
    acts.reprocess,
    acts.reprioritize,
    acts.annotate,
):
    app.command(rich_help_panel=WORK)(command)
app.add_typer(agent.app, name="agent", rich_help_panel=AGENTS)
app.add_typer(quota.app, name="quota", rich_help_panel=AGENTS)
app.add_typer(customer.app, name="customer", rich_help_panel=AGENTS)
app.add_typer(price.app, name="price", rich_help_panel=AGENTS)
app.add_typer(cost.app, name="cost", rich_help_panel=AGENTS)
app.command(rich_help_panel=AGENTS)(run.run)
app.add_typer(serve.app, name="serve", rich_help_panel=AGENTS)
app.add_typer(user.app, name="user", rich_help_panel=AGENTS)
app.command(rich_help_panel=AGENTS)(demo.demo)
app.command(rich_help_panel=AGENTS, context_settings=model_server.PASS_ON)(
    model_server.model_server
)
app.command(rich_help_panel=AGENTS)(workspace_server.workspace_server)
app.add_typer(databricks.app, name="databricks", rich_help_panel=DATABASE)
app.add_typer(drill.app, name="drill", rich_help_panel=AGENTS)
app.add_typer(db.app, name="db", rich_help_panel=DATABASE)
app.add_typer(pg.app, name="pg", rich_help_panel=DATABASE)
app.add_typer(branch.app, name="branch", rich_help_panel=DATABASE)
app.command(rich_help_panel=DATABASE, context_settings=psql.PASS_ON)(psql.psql)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"forebay {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


def main(args: Sequence[str] | None = None) -> None:
    """Run one command and exit. An error is one sentence on stderr; FOREBAY_DEBUG=1 raises it."""
    try:
        app(args, prog_name="forebay")
    except BrokenPipeError:  # the reader of our output left
        _drop_what_cannot_be_written()
        sys.exit(1)
    except Exception as error:
        if os.environ.get("FOREBAY_DEBUG") == "1":
            raise
        print(f"forebay: {sentence(error)}", file=sys.stderr)
        _drop_what_cannot_be_written()
        sys.exit(1)


def _drop_what_cannot_be_written() -> None:
    """Leave the interpreter nothing that it would fail to write at its end, and complain of."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
