"""Run Postgres's programs as the user who owns the server, root or not."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

from forebay.embedded.binaries import EmbeddedPostgresError


def run(
    user: pwd.struct_passwd, *command: str | Path, about: Path, log: Path | None = None
) -> None:
    """Run one of Postgres's programs as that user; a failure becomes one sentence about a folder.

    A program that leaves a server behind says why it failed in log: a pipe would stay open
    for as long as the server runs.
    """
    is_root = os.geteuid() == 0
    done = subprocess.run(
        command,
        env=_environment(),
        check=False,
        cwd="/",
        user=user.pw_uid if is_root else None,
        group=user.pw_gid if is_root else None,
        extra_groups=[] if is_root else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if log else subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        said = log.read_text() if log and log.exists() else done.stdout or ""
        raise EmbeddedPostgresError(f"{Path(command[0]).name} failed on {about}: {_reason(said)}")


def _environment() -> dict[str, str]:
    """Return the environment of a server: the caller's PG* settings are about another one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C.UTF-8"}


def _reason(output: str) -> str:
    """Return the line of Postgres's output that says most about a failure."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    serious = [line for line in lines if "FATAL:" in line or "PANIC:" in line or "error:" in line]
    return (serious or lines or ["no output"])[-1]
