"""Run the simulated Databricks workspace of the lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forebay.cli import documents


def workspace_server(
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Where it keeps database and documents.", show_default="FOREBAY_HOME/workspace"
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The workspace's own; 0 takes a free one.")
    ] = 0,
    orchestrator_port: Annotated[
        int, typer.Option(min=1, max=65535, help="Where the orchestrator's proxy looks for it.")
    ] = 8000,
    env: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what to set in a shell there, and not to stdout.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve a simulated Databricks workspace to try things in, as the bundle leaves one.

    On loopback: a database of Lakebase (an embedded Postgres), a Volume (a folder), a SQL
    warehouse, a serving endpoint, a job that really runs here, secrets, and the proxy before the
    orchestrator. It prints what to set in a shell.
    """
    documents.require("workspace", "The workspace server")
    from forebay_lab.workspace.__main__ import serve

    serve(
        folder or documents.home() / "workspace",
        port=port,
        orchestrator_port=orchestrator_port,
        env=env,
    )
