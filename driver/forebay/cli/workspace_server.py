"""Run the simulated Databricks workspace of the lab."""

from __future__ import annotations

import typer

from forebay.cli import documents

PASS_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def workspace_server(context: typer.Context) -> None:
    """Serve a simulated Databricks workspace to try things in, with a job that really runs."""
    documents.require("workspace", "The workspace server")
    from forebay_lab.workspace.__main__ import main

    main(context.args)
