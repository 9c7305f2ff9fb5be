"""What a command runs beside itself and ends with itself: the embedded server, and a daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay.cli import output
from forebay.cli.database import find_dsn
from forebay.cli.errors import Refused

STOP_SECONDS = 15
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def database(dsn: str | None) -> Iterator[str]:
    """Give the DSN of that database, or without one of the embedded server.

    The server is left as it was found: stopped after the block unless it ran before.
    """
    if dsn:
        yield find_dsn(dsn)
        return
    from forebay.embedded import Server, default_data_dir

    server = Server(default_data_dir())
    was_running = server.status().is_running
    output.note(f"{'Using' if was_running else 'Starting'} the Postgres in {server.data_dir}")
    try:
        yield server.start()
    finally:
        if not was_running:
            with undisturbed():
                server.stop()


@contextmanager
def daemon(
    dsn: str, options: tuple[str, ...], log: Path, environment: dict[str, str]
) -> Iterator[Callable[[], None]]:
    """Run `forebay run` with these options and variables beside the block, its output in log.

    Gives a function that raises Refused once the daemon has died.
    """
    with open(log, "w") as file:
        process = subprocess.Popen(
            (sys.executable, "-m", "forebay.cli", "run", *options),
            env=os.environ | {"FOREBAY_DATABASE_URL": dsn} | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches us alone, and we stop it
        )

    def check() -> None:
        if (code := process.poll()) is not None:
            last = log.read_text(errors="replace").rstrip().rpartition("\n")[2]
            raise Refused(f"The daemon ended with exit code {code} ({log} has it all): {last}")

    try:
        yield check
    finally:
        with undisturbed():
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the block finish even if the person presses Ctrl-C once more."""
    previous = [(number, signal.signal(number, signal.SIG_IGN)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in previous:
            signal.signal(number, handler)
