"""Open psql on the configured database."""

from __future__ import annotations

import os
import shutil

import typer

from forebay.cli.database import find_dsn
from forebay.cli.errors import Refused
from forebay.cli.options import Dsn

PASS_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
}


def psql(context: typer.Context, dsn: Dsn = None) -> None:
    """Open psql on the database; what follows goes to psql, such as -c 'select 1'."""
    from forebay.pool import Database

    where = Database(find_dsn(dsn)).dsn()
    # The embedded one comes second: it is built without line editing.
    program = shutil.which("psql") or _psql_beside_postgres()
    # Called by its path: the embedded one finds its files from there.
    os.execve(program, [program, *context.args], os.environ | pg_environment(where))


def pg_environment(dsn: str) -> dict[str, str]:
    """Return dsn as libpq's variables: a command line would show its password to everybody."""
    import psycopg

    variables = {}
    for option in psycopg.pq.Conninfo.parse(dsn.encode()):
        if option.val is not None and option.envvar:
            variables[option.envvar.decode()] = option.val.decode()
    return variables


def _psql_beside_postgres() -> str:
    """Return the psql of the embedded server's programs."""
    from forebay.embedded import EmbeddedPostgresError, binaries
    from forebay.extras import install

    try:
        program = binaries.find().bindir / "psql"
    except EmbeddedPostgresError:
        program = None
    if program is None or not program.exists():
        raise Refused(f"There is no psql: install PostgreSQL's client, or {install('embedded')}.")
    return str(program)
