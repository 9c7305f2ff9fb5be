"""The daemon on the command line."""

from __future__ import annotations

import os
import signal
import threading
from typing import Annotated

import typer

from forebay.cli.database import find_dsn
from forebay.cli.options import Dsn

PATIENCE = 30.0  # seconds that a database may take to come up before the daemon gives up


def run(
    agents: Annotated[
        list[str] | None,
        typer.Option("--agents", metavar="AGENT", help="Only these; repeatable."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=1000, show_default="one a CPU", help="Local processes at a time."),
    ] = None,
    lifeline: Annotated[
        int | None,
        typer.Option(hidden=True, help="Stop when the other end of this pipe is closed."),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Run the daemon: launch waiting tasks and see to them, until SIGTERM or Ctrl-C.

    It logs to stderr; what an attempt prints goes to a file of its own in FOREBAY_HOME/logs. Where
    a Databricks workspace is named, it also starts runs of the jobs of lakeflow agents.
    """
    from forebay import logs
    from forebay.cli import documents
    from forebay.daemon import Daemon, run_until_signalled
    from forebay.launchers.configured import external_launchers
    from forebay.launchers.local import LocalLauncher
    from forebay.pool import Database
    from forebay.settings import DATABASE_URL, Settings
    from forebay.storage import ROOTS, named_roots

    if lifeline is not None:
        _stop_with(lifeline)
    where = find_dsn(dsn)
    logs.configure(Settings.read(os.environ | {DATABASE_URL: where}).log_level)
    os.environ[ROOTS] = named_roots()
    database = Database(where, application_name="forebay daemon")
    local = LocalLauncher(database, documents.home() / "logs", concurrency)
    daemon = Daemon(database, local, external=external_launchers(os.environ), agents=agents or None)
    run_until_signalled(daemon, patience=PATIENCE)


def _stop_with(lifeline: int) -> None:
    """Stop as by SIGTERM when the other end of this pipe is closed; it is ours alone."""
    os.set_inheritable(lifeline, False)

    def wait() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
