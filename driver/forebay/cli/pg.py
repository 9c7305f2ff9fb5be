"""The embedded Postgres server of this user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import output
from forebay.cli.options import Json

if TYPE_CHECKING:
    from forebay.embedded import Server

app = typer.Typer(
    help="Start, stop and look at the embedded Postgres (in FOREBAY_HOME).", no_args_is_help=True
)

STATUS: output.Columns = {
    "data": "data_dir",
    "state": lambda row: "running" if row.is_running else "stopped",
    "pid": "pid",
    "dsn": "dsn",
}


@app.command()
def start(
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Also listen on this TCP port of 127.0.0.1."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start it, unless it runs, and print how to connect."""
    server = _server(port)
    server.start()
    output.print_row(server.status(), STATUS, as_json)


@app.command()
def stop(as_json: Json = False) -> None:
    """Stop it, ending open sessions; its data stays."""
    server = _server()
    server.stop()
    output.print_row(server.status(), STATUS, as_json)


@app.command()
def status(as_json: Json = False) -> None:
    """Tell whether it runs."""
    output.print_row(_server().status(), STATUS, as_json)


def _server(port: int | None = None) -> Server:
    from forebay.embedded import Server, default_data_dir

    return Server(default_data_dir(), port=port)
