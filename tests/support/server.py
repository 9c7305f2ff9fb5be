"""The Postgres server of a test session, and the roles that its databases have in common."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import DuplicateObject

from forebay.embedded import SUPERUSER, Server

SHARED_MEMORY = Path("/dev/shm")
ROOM_WANTED = 512 * 1024**2
INSTALLER = "forebay_dba"
LOOKS = 1000
CALLERS = ("submitter", "worker", "agent", "operator", "viewer", "reader", "upkeep")
SETTINGS = {
    "max_connections": "200",
    "autovacuum": "off",  # a worker in the template database would hold up its clones
    "track_functions": "all",
    "timezone": "UTC",
}


@dataclass(frozen=True, slots=True)
class TestServer:
    """Where the session's server is; the field names are those that pytest-postgresql asks for."""

    __test__ = False

    host: str
    port: int
    user: str = SUPERUSER
    password: str | None = None
    options: str = ""
    maintenance_dbname: str = "postgres"
    template_dbname: str | None = None

    def dsn(self, user: str, dbname: str) -> str:
        """Return the DSN of a role; everybody is trusted on the socket of a test server."""
        return make_conninfo("", host=self.host, port=self.port, user=user, dbname=dbname)

    def superuser(self, dbname: str = "postgres") -> psycopg.Connection:
        """Connect as the cluster's superuser, in autocommit."""
        return psycopg.connect(self.dsn(SUPERUSER, dbname), autocommit=True)


@contextmanager
def running_server() -> Iterator[TestServer]:
    """Run a server without durability, in shared memory where there is room, and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-tests-", dir=roomy_folder()))
    folder.chmod(0o755)
    server = Server(folder / "pg", settings=SETTINGS, durable=False)
    try:
        where = conninfo_to_dict(server.start())
        test_server = TestServer(host=str(where["host"]), port=int(str(where["port"])))
        with test_server.superuser() as conn:
            conn.execute(f"create role {INSTALLER} login createrole createdb")
        yield test_server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def drop_database(conn: psycopg.Connection, name: str) -> None:
    """Drop a database, unless a test has done so, and end what is still connected to it."""
    if conn.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
        return
    database = sql.Identifier(name)
    conn.execute(sql.SQL("alter database {} allow_connections false").format(database))
    connected = sql.SQL(" from pg_stat_activity where datname = {}").format(sql.Literal(name))
    conn.execute(sql.SQL("select pg_terminate_backend(pid)") + connected)
    for _ in range(LOOKS):  # while a session ends, the server's own `force` looks every 100 ms
        if conn.execute(sql.SQL("select") + connected).fetchone() is None:
            break
        time.sleep(0.002)
    conn.execute(sql.SQL("drop database {} with (force)").format(database))


def login_role(conn: psycopg.Connection, *callers: str) -> str:
    """Create, unless it is there, and name the login role that is a member of these callers.

    ("worker",) gives test_worker, a member of forebay_worker; ("all",) a member of every caller.
    """
    name = "test_" + "_".join(callers)
    members = CALLERS if callers == ("all",) else callers
    if unknown := set(members) - set(CALLERS):
        raise ValueError(f"no such caller: {', '.join(sorted(unknown))}; there are {CALLERS}")
    create = sql.SQL("create role {} login in role {}").format(
        sql.Identifier(name),
        sql.SQL(", ").join(sql.Identifier(f"forebay_{member}") for member in members),
    )
    with suppress(DuplicateObject):
        conn.execute(create)
    return name


def roomy_folder() -> Path | None:
    """Return shared memory when it has room for a server, or None for the default folder."""
    has_room = SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > ROOM_WANTED
    return SHARED_MEMORY if has_room else None
