"""An app served by `forebay serve` in a process of its own, which signals can reach."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.waiting import until


@contextmanager
def serving(
    which: str, home: Path, *options: str, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `forebay serve` on a free port; give the process and the address."""
    own = {"FOREBAY_HOME": str(home), "FOREBAY_STORAGE_ROOTS": str(home)}
    with open(home / "log", "w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "forebay.cli", "serve", which, "--port", "0", *options],
            env=os.environ | own | variables,
            stderr=log,
            text=True,
        )
        try:
            until(lambda: "startup complete" in said(home) or process.poll() is not None, 60)
            assert process.poll() is None, said(home)
            (at,) = [line for line in lines(home) if line["event"] == "serving"]
            yield process, f"http://127.0.0.1:{at['port']}"
        finally:
            process.kill()
            process.wait()


def said(home: Path) -> str:
    """Return what the process has logged."""
    return (home / "log").read_text()


def lines(home: Path) -> list[dict[str, str]]:
    """Return the lines that are whole."""
    return [json.loads(line) for line in said(home).splitlines(keepends=True) if line[-1] == "\n"]


def daemons(parent: int) -> list[int]:
    """Return the process ids of the daemons that this process has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            is_ours = int(stat[1]) == parent and stat[0] != "Z"
            if is_ours and "--lifeline" in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except OSError:  # it has ended
            continue
    return found
