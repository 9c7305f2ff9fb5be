"""Fixtures: a real Postgres for the session, a fresh database with the schema for every test.

`db` is the installer's connection to that database, `connect("worker")` a caller's; both commit at
once. `clock` stops the time. Set FOREBAY_PG_BIN to run the same tests on another Postgres.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from pytest_pgtap.plugin import PgTapFile
from pytest_postgresql import factories
from pytest_postgresql.executors import NoopExecutor
from pytest_postgresql.janitor import DatabaseJanitor

from support import pgtap
from support.clock import Clock
from support.server import INSTALLER, TestServer, drop_database, login_role, running_server
from support.wheel import built, install

SQL_TESTS = Path(__file__).parent / "sql"

Connect = Callable[..., psycopg.Connection]


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> PgTapFile | None:
    """Collect every file of tests/sql, which are named for the function that they test."""
    if file_path.suffix == ".sql" and file_path.is_relative_to(SQL_TESTS):
        return PgTapFile.from_parent(parent, path=file_path)
    return None


@pytest.fixture(scope="session")
def server() -> Iterator[TestServer]:
    """Run the session's Postgres server."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout, in a folder of its own."""
    return built(tmp_path_factory.mktemp("dist") / "app")


@pytest.fixture(scope="session")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a folder: with it as PYTHONPATH, it is what runs."""
    folder = tmp_path_factory.mktemp("site")
    install(wheel, folder)
    return folder


def _install(*, host: str, port: int, user: str, dbname: str, **_: object) -> None:
    """Install the schema into a new database as its owner, who is not a superuser."""
    from forebay.schema import upgrade

    server = TestServer(host, port)
    with server.superuser(dbname) as conn:
        conn.execute(f"alter database {dbname} owner to {INSTALLER}")
    upgrade(server.dsn(INSTALLER, dbname))
    with server.superuser(dbname) as conn:  # the clones of tests are to be originals
        conn.execute("update forebay.installation set home = null")


template = factories.postgresql_noproc(depends_on="server", dbname="forebay_test", load=[_install])


@pytest.fixture
def superuser(server: TestServer, template: NoopExecutor) -> Iterator[psycopg.Connection]:
    """Connect as the cluster's superuser to the test's database. For set-up, not for assertions."""
    name, source = map(sql.Identifier, (template.dbname, template.template_dbname))
    create = sql.SQL("create database {} template {} owner {}")
    with server.superuser() as conn:
        conn.execute(create.format(name, source, sql.Identifier(INSTALLER)))
    with server.superuser(template.dbname) as superuser:
        yield superuser
    with server.superuser() as conn:
        drop_database(conn, template.dbname)


@pytest.fixture
def dsn(server: TestServer, superuser: psycopg.Connection) -> str:
    """Return the installer's DSN of the test's database."""
    return server.dsn(INSTALLER, superuser.info.dbname)


@pytest.fixture
def role_dsn(server: TestServer, superuser: psycopg.Connection) -> Callable[..., str]:
    """Return a function: role_dsn("worker") is the DSN of a member of forebay_worker alone.

    Several names make a member of several roles; "all" makes a member of every caller's role.
    """

    def role_dsn(*callers: str) -> str:
        return server.dsn(login_role(superuser, *callers), superuser.info.dbname)

    return role_dsn


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection]:
    """Connect as the installer, who may act as the schema's owner, in autocommit."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        yield conn


@pytest.fixture
def connect(role_dsn: Callable[..., str]) -> Iterator[Connect]:
    """Return a function: connect("worker") is a new connection as role_dsn says, in autocommit.

    autocommit=False gives one whose transaction the test ends itself. All close with the test.
    """
    with ExitStack() as stack:

        def connect(*callers: str, autocommit: bool = True) -> psycopg.Connection:
            conn = psycopg.connect(role_dsn(*callers), autocommit=autocommit)
            stack.callback(conn.close)
            return conn

        yield connect


@pytest.fixture
def clock(superuser: psycopg.Connection) -> Clock:
    """Stop the time of the test's database at noon; the test moves it."""
    return Clock.install(superuser)


@pytest.fixture(scope="session")
def pgtap_connection(server: TestServer, template: NoopExecutor) -> Iterator[psycopg.Connection]:
    """Connect pytest-pgtap to a database of its own, as a role that can become every caller."""
    janitor = DatabaseJanitor(
        host=server.host,
        port=server.port,
        user=server.user,
        dbname="forebay_pgtap",
        template_dbname=template.template_dbname,
    )
    with janitor:
        with server.superuser(janitor.dbname) as conn:
            pgtap.load(conn)
        with psycopg.connect(server.dsn(pgtap.ROLE, janitor.dbname), autocommit=True) as conn:
            yield conn
