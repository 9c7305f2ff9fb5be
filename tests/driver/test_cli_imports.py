"""What the command line loads before it knows what to do: so little that it answers at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"psycopg", "psycopg_pool", "structlog", "asyncio", "logging", "pdfplumber", "pypdfium2"}
HELP = """
from contextlib import suppress
from forebay.cli import main
with suppress(SystemExit):
    main({arguments})
"""


def loaded_by(program: str) -> set[str]:
    """Return the names of the modules that a new interpreter has after the program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(); print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


def beyond_the_commands(modules: set[str]) -> set[str]:
    """Return the modules of the driver that are no part of the command line."""
    of_the_driver = {name for name in modules if name.startswith("forebay.")}
    return {name for name in of_the_driver if not f"{name}.".startswith("forebay.cli.")}


def test_starting_loads_nothing_heavy() -> None:
    """Importing the command line loads neither the driver nor what draws tables or help."""
    modules = loaded_by("import forebay.cli")
    assert "typer" in modules
    assert not modules & (HEAVY | {"rich", "rich.table", "typer.rich_utils", "typer.testing"})
    assert not beyond_the_commands(modules)


@pytest.mark.parametrize("command", [[], ["run"], ["demo"], ["agent", "register"]])
def test_help_loads_only_what_draws_it(command: list[str]) -> None:
    """Help needs rich, and of rich nothing that moves; it needs no driver and no database."""
    modules = loaded_by(HELP.format(arguments=[*command, "--help"]))
    assert "typer.rich_utils" in modules
    assert not modules & (HEAVY - {"logging"} | {"rich.live", "rich.progress", "typer.testing"})
    assert not beyond_the_commands(modules)
