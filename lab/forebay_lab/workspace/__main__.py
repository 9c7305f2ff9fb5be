"""Run the stand-in: `forebay workspace-server`, or `python -m forebay_lab.workspace`."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from forebay.embedded import Server, default_data_dir
from forebay_lab.workspace.deployed import MODEL, ORCHESTRATOR, Deployed, deployed

ORCHESTRATOR_APP = "forebay-orchestrator-dev"

SIMULATED = (
    "This is a simulated workspace: there is no Databricks behind it, nothing costs anything, and"
    " no model reads."
)


def main(arguments: list[str] | None = None, program: str = "forebay workspace-server") -> None:
    """Serve until interrupted, after lines for a shell that say where; it is simulated."""
    options = _parser(program).parse_args(arguments)
    folder = options.folder.expanduser().absolute()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    print(SIMULATED, file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder / "pg")
    try:
        upstreams = {ORCHESTRATOR_APP: f"http://127.0.0.1:{options.orchestrator_port}"}
        with deployed(server.start(), folder, port=options.port, upstreams=upstreams) as here:
            _tell(variables(here, folder), options.env)
            stop.wait()
    finally:
        server.stop()


def variables(here: Deployed, folder: Path) -> dict[str, str]:
    """Return what somebody sets who works with it: as who deploys, and all by name."""
    return {
        **here.environment(),
        "FOREBAY_HOME": str(folder / "home"),
        "JOB": str(here.job.job_id),
        "MODEL": MODEL,
        "ORCHESTRATOR_URL": here.apps[ORCHESTRATOR_APP].url,
        "ORCHESTRATOR_ID": ORCHESTRATOR,
        "ORCHESTRATOR_SECRET": here.secret(ORCHESTRATOR),
    }


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


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="A simulated Databricks workspace on loopback, as the bundle's target dev"
        " leaves one: a database of Lakebase (an embedded Postgres), a Volume (a folder), a SQL"
        " warehouse, a serving endpoint, a job that really runs here, secrets, and the proxies"
        " before both apps. It prints what to set in a shell.",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=default_data_dir().parent / "workspace",
        help="where it keeps database and documents; FOREBAY_HOME/workspace by default",
    )
    parser.add_argument("--port", type=int, default=0, help="0 (default) takes a free one")
    parser.add_argument(
        "--orchestrator-port",
        type=int,
        default=8000,
        metavar="PORT",
        help="where the orchestrator's proxy looks for it; 8000 by default",
    )
    parser.add_argument("--env", type=Path, metavar="FILE", help="write the variables there")
    return parser


if __name__ == "__main__":
    main(program="python -m forebay_lab.workspace")
