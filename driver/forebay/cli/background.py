"""What a command runs beside itself and ends with itself: the embedded server, other commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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


class Program:
    """A command of ours that runs beside this one, on that database, its output in a log file."""

    def __init__(
        self, name: str, dsn: str, arguments: Sequence[str], log: Path, variables: Mapping[str, str]
    ) -> None:
        self.log = log
        self._name = name
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "w") as file:
            self._process = subprocess.Popen(
                (sys.executable, "-m", "forebay.cli", *arguments),
                env={**os.environ, "FOREBAY_DATABASE_URL": dsn, **variables},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches us alone, and we stop it
            )

    def check(self) -> None:
        """Raise Refused once it has ended by itself."""
        if (code := self._process.poll()) is not None:
            last = self.log.read_text(errors="replace").rstrip().rpartition("\n")[2]
            raise Refused(
                f"{self._name} ended with exit code {code} ({self.log} has it all): {last}"
            )

    def ask_to_stop(self) -> None:
        """Send it SIGTERM."""
        self._process.terminate()

    def stop(self) -> None:
        """End it, if need be by force, and wait until it is gone."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(programs: Sequence[Program]) -> Iterator[Callable[[], None]]:
    """Stop the programs after the block, all at the same time.

    Gives a function that raises Refused once one of them has died.
    """

    def check() -> None:
        for program in programs:
            program.check()

    try:
        yield check
    finally:
        with undisturbed():
            for program in programs:
                program.ask_to_stop()
            for program in programs:
                program.stop()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let the block finish even if the person presses Ctrl-C once more."""
    previous = [(number, signal.signal(number, signal.SIG_IGN)) for number in SIGNALS]
    try:
        yield
    finally:
        for number, handler in previous:
            signal.signal(number, handler)
