"""plpgsql_check reads every PL/pgSQL function against the real tables, and finds nothing.

The extension comes with Debian's PostgreSQL 15 (package postgresql-15-plpgsql-check), so the test
runs a cluster of that for itself, whatever the other tests run on; root gets it installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from forebay.embedded import Server
from forebay.schema import upgrade
from support.server import roomy_folder

PG = Path("/usr/lib/postgresql/15/bin")
EXTENSION = Path("/usr/share/postgresql/15/extension/plpgsql_check.control")

PACKAGES = ("postgresql-15", "postgresql-15-plpgsql-check")
INSTALL = ("install", "--quiet", "--yes", "--no-install-recommends", *PACKAGES)

pytestmark = pytest.mark.timeout(600)

# A trigger function is read with the table and the transition tables of one of its triggers.
FINDINGS = """
select f.function, r.lineno, r.level, r.sqlstate, r.message
from (
    select p.oid, p.oid::regprocedure::text as function
    from pg_proc as p
    inner join pg_language as l on l.oid = p.prolang and l.lanname = 'plpgsql'
    where p.pronamespace = 'forebay'::regnamespace
) as f
left join lateral (
    select t.tgrelid, t.tgoldtable, t.tgnewtable
    from pg_trigger as t
    where t.tgfoid = f.oid
    order by t.tgoldtable is null
    limit 1
) as t on true
cross join lateral chk.plpgsql_check_function_tb(
    f.oid, coalesce(t.tgrelid, 0), oldtable => t.tgoldtable, newtable => t.tgnewtable,
    fatal_errors => false, other_warnings => true, performance_warnings => true,
    extra_warnings => true, security_warnings => true
) as r
"""


@pytest.fixture(scope="module")
def packages() -> None:
    """Have both packages, or skip where they cannot be installed."""
    if EXTENSION.exists() and (PG / "initdb").exists():
        return
    needs = f"needs Debian's packages {' and '.join(PACKAGES)}"
    if os.geteuid() != 0:
        pytest.skip(f"{needs}, which only root can install")
    try:
        _apt_get("update")
        _apt_get(*INSTALL)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"{needs}: {getattr(error, 'stderr', None) or error}")


def _apt_get(*arguments: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(
        ["apt-get", *arguments], check=True, capture_output=True, text=True, env=environment
    )


@pytest.fixture(scope="module")
def checked(packages: None) -> Iterator[psycopg.Connection]:
    """Install the schema and plpgsql_check into a cluster of PostgreSQL 15."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-check-", dir=roomy_folder()))
    folder.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FOREBAY_PG_BIN", str(PG))
        server = Server(folder / "pg", durable=False)
        try:
            dsn = server.start()
            upgrade(dsn)
            with psycopg.connect(dsn, autocommit=True) as conn:
                conn.execute("create schema chk")
                conn.execute("create extension plpgsql_check schema chk")
                yield conn
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)


def test_no_finding(checked: psycopg.Connection) -> None:
    """No function has an error, a warning, an injection or a wrong volatility."""
    assert checked.execute(FINDINGS).fetchall() == []


def test_a_fault_is_found(checked: psycopg.Connection) -> None:
    """The check would see a column that is not there: it does read the functions."""
    with checked.transaction(force_rollback=True):
        checked.execute(
            "create function forebay._broken() returns bigint language plpgsql as"
            " $$ begin return (select t.no_such_column from forebay.tasks as t); end $$"
        )
        assert "42703" in [row[3] for row in checked.execute(FINDINGS)]
