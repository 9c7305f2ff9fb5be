"""The Postgres server of one data directory: started, stopped, and asked how it is."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from forebay.embedded import binaries, initdb, programs
from forebay.embedded.binaries import Binaries, EmbeddedPostgresError
from forebay.embedded.data_dir import DataDir
from forebay.settings import text

SUPERUSER = "forebay_admin"  # never the schema's name: "$user" leads every search_path
DATABASE = "forebay"
SOCKET_PORT = 5432  # only names the socket file, which is alone in its folder
SOCKET_PATH_LIMIT = 107  # bytes of sun_path on Linux, less the closing zero
START_SECONDS = 60
DEFAULTS = {"max_connections": "200"}
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True)
class Status:
    """What the server in data_dir is doing; pid and dsn are None when it is stopped."""

    data_dir: Path
    is_running: bool
    pid: int | None
    dsn: str | None


def default_data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where the embedded server of this user keeps its data; FOREBAY_HOME overrides."""
    if home := text(environment, "FOREBAY_HOME"):
        return Path(home).expanduser().absolute() / "pg"
    if os.geteuid() == 0:
        return Path("/var/lib/forebay/pg")
    share = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(share).expanduser() / "forebay" / "pg"


class Server:
    """The Postgres server of one data directory. Start and stop are idempotent.

    settings are postgresql.conf parameters, and durable=False gives up crash safety for speed; both
    hold from the next launch, not for a server that already runs.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str],
        *,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        durable: bool = True,
    ) -> None:
        self.data_dir = Path(data_dir).expanduser().absolute()
        self.port = port
        self._dir = DataDir(self.data_dir)
        self.settings = DEFAULTS | ({} if durable else NOT_DURABLE) | dict(settings or {})

    def start(self) -> str:
        """Start the server unless it runs, and return a DSN of its superuser.

        The DSN names the socket, or the TCP port if one was asked for. Creates the data directory
        at the first start. Safe from several processes at once. Raises EmbeddedPostgresError.
        """
        _check_platform()
        self._check_socket_path()
        with self._dir.locked():
            if not self._answers():
                self._launch()
            elif self.port and self.port != self._dir.running_port:
                raise EmbeddedPostgresError(
                    f"The server in {self.data_dir} already runs without TCP port {self.port}:"
                    " stop it first with 'forebay pg stop'."
                )
            return self._dsn()

    def stop(self) -> None:
        """Stop the server, ending open sessions; nothing happens when it does not run."""
        _check_platform()
        if self._dir.running_pid is None:
            return
        with self._dir.locked():
            if self._dir.running_pid is not None:
                user = binaries.server_user(self._dir.owner)
                pg_ctl = binaries.for_user(user).bindir / "pg_ctl"
                how = ("-m", "fast", "-t", str(START_SECONDS), "-w", "stop")
                programs.run(user, pg_ctl, "-D", self.data_dir, *how, about=self.data_dir)

    def status(self) -> Status:
        """Tell whether the server runs, by its pid file and by the process that it names."""
        pid = self._dir.running_pid
        return Status(self.data_dir, pid is not None, pid, self._dsn() if pid else None)

    def _answers(self) -> bool:
        """Tell whether a server is there, waiting for one that is starting or going down."""
        give_up = time.monotonic() + START_SECONDS
        while self._dir.running_pid:
            if PGconn.ping(self._socket_dsn(DATABASE).encode()) == Ping.OK:
                return True
            if time.monotonic() > give_up:
                raise EmbeddedPostgresError(
                    f"The server in {self.data_dir} runs but does not answer: see server.log there."
                )
            time.sleep(0.05)
        return False

    def _launch(self) -> None:
        user = binaries.server_user(self._dir.owner)
        found = binaries.for_user(user)
        if self._dir.major:
            self._check_major(found)
            self._dir.drop_stale_locks()
        else:
            initdb.create(self._dir, found.bindir, user, SUPERUSER)
        log = self.data_dir / "server.log"
        where = ("-D", self.data_dir, "-l", log, "-t", str(START_SECONDS), "-w")
        command = (found.bindir / "pg_ctl", *where, "-o", self._options(), "start")
        programs.run(user, *command, about=self.data_dir, log=log)
        maintenance = psycopg.connect(self._socket_dsn("postgres"), autocommit=True)
        with maintenance as conn, suppress(psycopg.errors.DuplicateDatabase):
            conn.execute(f"create database {DATABASE}")

    def _options(self) -> str:
        """Return the options of the server's command line, for a shell."""
        settings = self.settings | {
            "listen_addresses": "127.0.0.1" if self.port else "",
            "port": str(self.port or SOCKET_PORT),
            "unix_socket_directories": str(self.data_dir),
            "unix_socket_permissions": "0700",
        }
        return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())

    def _dsn(self) -> str:
        if not self.port:
            return self._socket_dsn(DATABASE)
        passfile = str(self.data_dir / "pgpass")
        return make_conninfo(
            host="127.0.0.1", port=self.port, user=SUPERUSER, dbname=DATABASE, passfile=passfile
        )

    def _socket_dsn(self, dbname: str) -> str:
        port = self._dir.running_port or SOCKET_PORT
        return make_conninfo(host=str(self.data_dir), port=port, user=SUPERUSER, dbname=dbname)

    def _check_major(self, found: Binaries) -> None:
        if self._dir.major != str(found.major):
            raise EmbeddedPostgresError(
                f"{self.data_dir} was made by Postgres {self._dir.major} but the programs in"
                f" {found.bindir} are {found.version}: set FOREBAY_PG_BIN to Postgres"
                f" {self._dir.major}, or pass a new folder."
            )

    def _check_socket_path(self) -> None:
        longest = self.data_dir / f".s.PGSQL.{self.port or SOCKET_PORT}"
        if (size := len(os.fsencode(longest))) > SOCKET_PATH_LIMIT:
            raise EmbeddedPostgresError(
                f"{self.data_dir} is too long for a socket ({size} bytes with the socket's name,"
                f" {SOCKET_PATH_LIMIT} allowed): pass a shorter folder, or set FOREBAY_HOME to one."
            )


def _check_platform() -> None:
    if not Path("/proc/self/cwd").exists():
        raise EmbeddedPostgresError(
            "The embedded server runs on Linux only: set FOREBAY_DATABASE_URL to a database."
        )
