"""Run a private Postgres in a folder: for the demo, for tests, and for a laptop.

    dsn = Server(default_data_dir()).start()

The server listens on a socket inside its data directory, which only its owner can enter; on TCP
only when a port is asked for, and then with a generated password that stands in the file `pgpass`
of the data directory. Postgres refuses to run as root: then it runs as the data directory's owner,
or for a new one as `postgres` or `nobody`. Linux only.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from forebay import postgres_binaries
from forebay.postgres_binaries import Binaries, EmbeddedPostgresError
from forebay.postgres_data_dir import DataDir

__all__ = ["EmbeddedPostgresError", "Server", "Status", "default_data_dir"]

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


def default_data_dir() -> Path:
    """Return where the embedded server of this user keeps its data; FOREBAY_HOME overrides."""
    if home := os.environ.get("FOREBAY_HOME"):
        return Path(home).expanduser().absolute() / "pg"
    if os.geteuid() == 0:
        return Path("/var/lib/forebay/pg")
    share = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
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
                user = postgres_binaries.server_user(self._dir.owner)
                pg_ctl = postgres_binaries.for_user(user).bindir / "pg_ctl"
                wait = str(START_SECONDS)
                self._run(user, pg_ctl, "-D", self.data_dir, "-m", "fast", "-t", wait, "-w", "stop")

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
        user = postgres_binaries.server_user(self._dir.owner)
        binaries = postgres_binaries.for_user(user)
        if self._dir.major:
            self._check_major(binaries)
            self._dir.drop_stale_locks()
        else:
            self._create(user, binaries)
        settings = self.settings | {
            "listen_addresses": "127.0.0.1" if self.port else "",
            "port": str(self.port or SOCKET_PORT),
            "unix_socket_directories": str(self.data_dir),
            "unix_socket_permissions": "0700",
        }
        options = " ".join(
            f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items()
        )
        log = self.data_dir / "server.log"
        pg_ctl = binaries.bindir / "pg_ctl"
        where = ("-D", self.data_dir, "-l", log, "-t", str(START_SECONDS), "-w")
        self._run(user, pg_ctl, *where, "-o", options, "start", log=log)
        maintenance = psycopg.connect(self._socket_dsn("postgres"), autocommit=True)
        with maintenance as conn, suppress(psycopg.errors.DuplicateDatabase):
            conn.execute(f"create database {DATABASE}")

    def _create(self, user: pwd.struct_passwd, binaries: Binaries) -> None:
        """Run initdb beside the data directory and move the result there, whole or not at all."""
        if self.data_dir.exists() and any(self.data_dir.iterdir()):
            raise EmbeddedPostgresError(
                f"{self.data_dir} holds files that are not a Postgres data directory:"
                " pass an empty or new folder."
            )
        if os.geteuid() == 0 and not postgres_binaries.reachable(
            self.data_dir.parent, user.pw_uid, user.pw_gid
        ):
            raise EmbeddedPostgresError(
                f"User {user.pw_name}, which runs Postgres for root, cannot enter"
                f" {self.data_dir.parent}: pass a folder such as /var/lib/forebay/pg."
            )
        draft = self._dir.beside(".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        pgpass = self._dir.beside(".pgpass")
        password = secrets.token_urlsafe(32)
        with open(os.open(pgpass, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(password)
        for path in (draft, pgpass):
            os.chown(path, user.pw_uid, user.pw_gid)
        initdb = (binaries.bindir / "initdb", "-D", draft, "-U", SUPERUSER, "--pwfile", pgpass)
        auth = ("--auth-local=trust", "--auth-host=scram-sha-256")
        self._run(user, *initdb, *auth, "-E", "UTF8", "--locale=C.UTF-8")
        pgpass.write_text(f"*:*:*:{SUPERUSER}:{password}\n")
        pgpass.rename(draft / "pgpass")
        draft.rename(self.data_dir)

    def _run(self, user: pwd.struct_passwd, *command: str | Path, log: Path | None = None) -> None:
        """Run one of Postgres's programs as that user; a failure becomes one sentence.

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
            raise EmbeddedPostgresError(
                f"{Path(command[0]).name} failed on {self.data_dir}: {_reason(said)}"
            )

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

    def _check_major(self, binaries: Binaries) -> None:
        if self._dir.major != str(binaries.major):
            raise EmbeddedPostgresError(
                f"{self.data_dir} was made by Postgres {self._dir.major} but the programs in"
                f" {binaries.bindir} are {binaries.version}: set FOREBAY_PG_BIN to Postgres"
                f" {self._dir.major}, or pass a new folder."
            )

    def _check_socket_path(self) -> None:
        longest = self.data_dir / f".s.PGSQL.{self.port or SOCKET_PORT}"
        if (size := len(os.fsencode(longest))) > SOCKET_PATH_LIMIT:
            raise EmbeddedPostgresError(
                f"{self.data_dir} is too long for a socket ({size} bytes with the socket's name,"
                f" {SOCKET_PATH_LIMIT} allowed): pass a shorter folder, or set FOREBAY_HOME to one."
            )


def _environment() -> dict[str, str]:
    """Return the environment of a server: the caller's PG* settings are about another one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C.UTF-8"}


def _reason(output: str) -> str:
    """Return the line of Postgres's output that says most about a failure."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    serious = [line for line in lines if "FATAL:" in line or "PANIC:" in line or "error:" in line]
    return (serious or lines or ["no output"])[-1]


def _check_platform() -> None:
    if not Path("/proc/self/cwd").exists():
        raise EmbeddedPostgresError(
            "The embedded server runs on Linux only: set FOREBAY_DATABASE_URL to a database."
        )
