"""Run the simulated model endpoint of the lab."""

from __future__ import annotations

import typer

from forebay.cli import documents

PASS_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def model_server(context: typer.Context) -> None:
    """Serve a simulated model at an OpenAI-compatible endpoint, with limits as providers have."""
    documents.require("lab", "The model server")
    from forebay_lab.model_server.__main__ import main

    main(context.args)
