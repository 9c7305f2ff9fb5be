"""A Lakebase project in the stand-in workspace, of which branches can be made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from psycopg import sql

from databricks.support_branches import source_database
from forebay_lab.workspace.branches import Branches as Area
from forebay_lab.workspace.postgres import Postgres
from support.lakebase import APP, Lake, lakebase
from support.server import TestServer

DBNAME = "lake_source"
SOURCE = "projects/forebay/branches/production"
BRANCHES = "/postgres/projects/forebay/branches"


@dataclass(frozen=True, slots=True)
class Project:
    """A project whose branch production is in use; `area` makes its branches."""

    lake: Lake
    area: Area
    postgres: Postgres

    @property
    def ids(self) -> list[str]:
        """Return the ids of the project's branches."""
        collection = "projects/forebay/branches"
        names = (name.rpartition("/") for name in self.postgres.things)
        return sorted(each for of, _, each in names if of == collection)

    def clone(self, name: str) -> str:
        """Return the name of the database that stands for a branch's, in the server."""
        (clone,) = self.area.clones[f"projects/forebay/branches/forebay-{name}"].values()
        return clone


@contextmanager
def lakebase_project(
    server: TestServer, template: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    """Serve one, and set the variables that lead to it as an owner of the schema."""
    for name in [name for name in os.environ if name.startswith(("DATABRICKS", "PG"))]:
        monkeypatch.delenv(name)
    with (
        source_database(server, template, DBNAME),
        lakebase(server, DBNAME) as lake,
        server.superuser() as conn,
    ):
        conn.execute(sql.SQL("grant forebay_owner to {}").format(sql.Identifier(APP)))
        postgres = lake.postgres
        lake.workspace.access.grant(APP, "postgres/projects/forebay", "CAN_MANAGE")

        def execute(statement: str) -> None:
            conn.execute(statement.encode())

        with Area(postgres, lake.gateway, execute, [DBNAME]) as area:
            lake.workspace.add(area)
            for name, value in lake.environment.items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("FOREBAY_DATABASE_URL", lake.url)
            yield Project(lake, area, postgres)
        conn.execute(sql.SQL("revoke forebay_owner from {}").format(sql.Identifier(APP)))
