"""Fixtures: a cluster of its own, since roles belong to the cluster, and small db folders."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from forebay.embedded import binaries
from migrations.tree import Tree
from support.server import INSTALLER, TestServer, drop_database, running_server

NewDatabase = Callable[..., str]
Psql = Callable[[str, Path], subprocess.CompletedProcess[str]]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a small db folder of this test's own."""
    return Tree.create(tmp_path / "db")


@pytest.fixture(scope="session")
def cluster() -> Iterator[TestServer]:
    """Run a server for installations alone."""
    with running_server() as server:
        yield server


@pytest.fixture
def new_database(cluster: TestServer) -> Iterator[NewDatabase]:
    """Return a function: new_database("joe") is the DSN of an empty database that joe owns."""
    made: list[str] = []

    def new_database(owner: str = INSTALLER) -> str:
        name = f"installation_{next(_numbers)}"
        with cluster.superuser() as conn:
            conn.execute(
                sql.SQL("create database {} owner {}").format(
                    sql.Identifier(name), sql.Identifier(owner)
                )
            )
        made.append(name)
        return cluster.dsn(owner, name)

    yield new_database
    with cluster.superuser() as conn:
        for name in made:
            drop_database(conn, name)


_numbers = count(1)


@pytest.fixture
def dsn(new_database: NewDatabase) -> str:
    """Return the DSN of one empty database, whose owner is not a superuser."""
    return new_database()


@pytest.fixture(scope="session")
def psql() -> Psql:
    """Return a function that runs a file with psql and the one option that every DBA gives."""
    program = binaries.find().bindir / "psql"
    if not program.exists():
        pytest.fail(f"psql is not beside the server in {program.parent}")

    def psql(dsn: str, file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, "-X", "-v", "ON_ERROR_STOP=1", "-f", file, "-d", dsn],
            check=False,
            capture_output=True,
            text=True,
        )

    return psql


@pytest.fixture
def role(cluster: TestServer) -> Iterator[Callable[..., str]]:
    """Return a function that creates a login role with these attributes, for this test alone."""
    made: list[str] = []

    def role(name: str, attributes: str = "") -> str:
        with cluster.superuser() as conn:
            conn.execute(f"create role {name} login {attributes}".encode())
        made.append(name)
        return name

    yield role
    with psycopg.connect(cluster.dsn("forebay_admin", "postgres"), autocommit=True) as conn:
        for name in made:
            for (database,) in conn.execute(
                "select d.datname from pg_database as d where d.datdba = %s::regrole", [name]
            ).fetchall():
                conn.execute(
                    sql.SQL("drop database {} with (force)").format(sql.Identifier(database))
                )
            conn.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))
