"""What stands in a Postgres data directory, and which processes work in it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forebay.embedded.binaries import EmbeddedPostgresError

ORPHAN_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class DataDir:
    """A data directory, which may not exist yet."""

    path: Path

    @property
    def major(self) -> str | None:
        """The major version of the Postgres that made it, or None before initdb."""
        try:
            return (self.path / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            return None

    @property
    def owner(self) -> int | None:
        """The user id that it belongs to, or None before initdb."""
        return self.path.stat().st_uid if self.major else None

    @property
    def running_pid(self) -> int | None:
        """The process of its server, or None: a number in the pid file alone proves nothing."""
        pid = self._pid_file_line(1)
        return pid if pid in self._processes() else None

    @property
    def running_port(self) -> int | None:
        """The port of the running server."""
        return self._pid_file_line(4)

    def beside(self, suffix: str) -> Path:
        """Return the path next to the data directory that has this suffix."""
        return self.path.with_name(self.path.name + suffix)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock that serialises starts and stops, whichever process asks for them."""
        try:
            _make_folders(self.path.parent)
            with open(self.beside(".lock"), "a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise EmbeddedPostgresError(
                f"Cannot use {self.path} ({error.strerror}: {error.filename}):"
                " run as its owner, or pass another folder."
            ) from error

    def drop_stale_locks(self) -> None:
        """Remove the locks of a server that was killed, once none of its processes is left.

        Postgres would refuse to start while the process number in them exists, be it a zombie that
        nothing reaps (a container without init) or a stranger's after a reboot.
        """
        give_up = time.monotonic() + ORPHAN_SECONDS
        while orphans := self._processes():
            if time.monotonic() > give_up:
                raise EmbeddedPostgresError(
                    f"The server in {self.path} was killed but its processes"
                    f" {', '.join(map(str, sorted(orphans)))} are still there: end them first."
                )
            time.sleep(0.05)
        for lock in (self.path / "postmaster.pid", *self.path.glob(".s.PGSQL.*.lock")):
            lock.unlink(missing_ok=True)

    def _pid_file_line(self, number: int) -> int | None:
        try:
            return int((self.path / "postmaster.pid").read_text().splitlines()[number - 1])
        except (OSError, IndexError, ValueError):
            return None

    def _processes(self) -> set[int]:
        """Return the live Postgres processes of this data directory: they all work inside it."""
        path, found = str(self.path.resolve()), set()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                is_postgres = (process / "comm").read_text().startswith("postgres")
                if is_postgres and os.readlink(process / "cwd") == path:
                    found.add(int(process.name))
            except OSError:  # ended, a zombie, or another user's
                continue
        return found


def _make_folders(folder: Path) -> None:
    """Create folder and those above it, open to all whatever the umask: Postgres enters them."""
    if not folder.exists():
        _make_folders(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
