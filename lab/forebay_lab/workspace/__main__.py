"""Run the stand-in: `forebay workspace-server`, or `python -m forebay_lab.workspace`."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from forebay.embedded import Server
from forebay.errors import ForebayError
from forebay_lab.workspace.deployed import (
    APPS,
    EXPERIMENT,
    INTAKE,
    MODEL,
    ORCHESTRATOR,
    TAG,
    WAREHOUSE,
    Deployed,
    deployed,
)

ORCHESTRATOR_APP = "forebay-orchestrator-dev"

SIMULATED = (
    "This is a simulated workspace: there is no Databricks behind it, nothing costs anything, and"
    " no model reads."
)


class FolderInUseError(ForebayError):
    """Another stand-in keeps its database in the folder, and would lose it with this one's end."""


def serve(folder: Path, *, port: int = 0, orchestrator_port: int, env: Path | None = None) -> None:
    """Serve until interrupted, after lines for a shell that say where; it is simulated.

    The file `env` is there only while what it says is true.

    Raises FolderInUseError, and PortTakenError.
    """
    folder = folder.expanduser().absolute()
    print(SIMULATED, file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone_in(folder):
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        server = Server(folder / "pg")
        _forget(env)
        try:
            upstreams = {ORCHESTRATOR_APP: f"http://127.0.0.1:{orchestrator_port}"}
            with deployed(
                server.start(), folder, port=port, upstreams=upstreams, has_bill=True
            ) as here:
                _tell(variables(here, folder), env)
                stop.wait()
        finally:
            _forget(env)
            server.stop()


def variables(here: Deployed, folder: Path) -> dict[str, str]:
    """Return what somebody sets who works with it: as who deploys, and all by name."""
    return {
        **here.environment(),
        "FOREBAY_HOME": str(folder / "home"),
        "FOREBAY_WAREHOUSE_ID": WAREHOUSE,
        "FOREBAY_BILLING_TAG": TAG,
        "FOREBAY_BILLING_APPS": ",".join(APPS),
        "FOREBAY_MLFLOW_EXPERIMENT": EXPERIMENT,
        "JOB": str(here.job.job_id),
        "MODEL": MODEL,
        "ORCHESTRATOR_URL": here.apps[ORCHESTRATOR_APP].url,
        "ORCHESTRATOR_ID": ORCHESTRATOR,
        "ORCHESTRATOR_SECRET": here.secret(ORCHESTRATOR),
        "INTAKE_ID": INTAKE,
        "INTAKE_SECRET": here.secret(INTAKE),
    }


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep a second stand-in out of the folder; the lock ends with the process, however it does."""
    with open(folder / "workspace-server.lock", "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderInUseError(
                f"Another workspace server runs in {folder}: use that one, stop it, or pass another"
                " --folder."
            ) from error
        yield


def _forget(file: Path | None) -> None:
    """Remove what an earlier start wrote: no shell is to read the ports of that one."""
    if file is not None:
        file.unlink(missing_ok=True)


def _tell(said: Mapping[str, str], file: Path | None) -> None:
    lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in said.items())
    if file is None:
        print(lines, end="", flush=True)
        return
    written = file.with_name(f"{file.name}.new")
    written.touch(mode=0o600)
    written.write_text(lines)
    os.replace(written, file)
    print(f"Ready: read {file} into a shell with '. {file}'.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    from forebay.cli import main

    main(["workspace-server", *sys.argv[1:]])
