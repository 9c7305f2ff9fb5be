"""The two web apps on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import documents
from forebay.cli.database import find_dsn
from forebay.cli.errors import Refused
from forebay.cli.options import Dsn

if TYPE_CHECKING:
    from fastapi import FastAPI

app = typer.Typer(help="Serve a web app, until SIGTERM or Ctrl-C.", no_args_is_help=True)

PATIENCE = 30.0  # seconds that a database may take to come up before serving is given up

Host = Annotated[str, typer.Option(help="The address to listen on.", envvar="FOREBAY_HOST")]
HERE = "0.0.0.0" if os.environ.get("DATABRICKS_APP_NAME") else "127.0.0.1"
PORT = "DATABRICKS_APP_PORT"
LARGEST_PORT = 65535
Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=LARGEST_PORT,
        help=f"0 takes a free one; {PORT}, or 8001 for intake and 8000 for the orchestrator,"
        " where it is not given.",
    ),
]


@app.command()
def intake(host: Host = HERE, port: Port = None, dsn: Dsn = None) -> None:
    """Serve intake, where people hand in documents and follow them."""
    documents.require("apps", "Serving it")
    from forebay_apps.intake.app import create_app

    _serve(create_app, host, _port(port, 8001), dsn)


@app.command()
def orchestrator(
    host: Host = HERE,
    port: Port = None,
    daemon: Annotated[bool, typer.Option(help="Run the daemon beside it.")] = True,
    dsn: Dsn = None,
) -> None:
    """Serve the orchestrator: the operators' dashboard and the callbacks."""
    documents.require("apps", "Serving it")
    from forebay_apps.orchestrator.app import create_app

    _serve(partial(create_app, with_daemon=daemon), host, _port(port, 8000), dsn)


def _port(given: int | None, default: int) -> int:
    """Return the port that was given, or the environment's. Raises SettingError."""
    from forebay.settings import whole_number

    if given is not None:
        return given
    return whole_number(os.environ, PORT, default, least=0, most=LARGEST_PORT)


def _serve(
    create_app: Callable[[Mapping[str, str]], FastAPI], host: str, port: int, dsn: str | None
) -> None:
    from forebay import logs
    from forebay.databricks import secrets
    from forebay.memberships import lacking
    from forebay.pool import Database
    from forebay.settings import DATABASE_URL, Settings
    from forebay_apps.serve import listening, serve

    variables = secrets.resolved(os.environ | {DATABASE_URL: find_dsn(dsn)})
    settings = Settings.read(variables)
    logs.configure(settings.log_level)
    made = create_app(variables)
    at = listening(host, port)
    database = Database(settings.database_url)
    database.check(patience=PATIENCE)
    if said := lacking(database, made.state.site.roles):
        raise Refused(said)
    _look_around(made.state.site.name, variables)
    serve(made, at)


def _look_around(part: str, variables: Mapping[str, str]) -> None:
    """Within a Databricks app, log beside the serving what the app lacks in its workspace."""
    from forebay.extras import has

    if not variables.get("DATABRICKS_APP_NAME") or not has("databricks"):
        return
    from forebay.databricks.doctor import watch_start

    watch_start("orchestrator" if part == "orchestrator" else "intake", variables)
