"""A Lakebase of a test's own: a stand-in workspace, and a gateway before the session's Postgres."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from forebay_lab.gateway import Gateway
from forebay_lab.workspace import Principal, Workspace
from forebay_lab.workspace.credentials import Credentials
from forebay_lab.workspace.database import Database as Provisioned
from forebay_lab.workspace.postgres import Postgres
from support.server import CALLERS, TestServer

APP = "11111111-aaaa-4bbb-8ccc-222222222222"
"""The application id of the service principal that logs in, and so the name of its role."""

SECRET = "app-secret"
INSTANCE = "forebay-instance"


@dataclass(frozen=True, slots=True)
class Lake:
    """What there is of it: `url` is FOREBAY_DATABASE_URL, `credentials` knows the tokens."""

    workspace: Workspace
    credentials: Credentials
    gateway: Gateway
    url: str
    environment: dict[str, str]
    area: Provisioned | Postgres

    @property
    def postgres(self) -> Postgres:
        """The area of an autoscaling project."""
        assert isinstance(self.area, Postgres)
        return self.area

    @property
    def asked(self) -> int:
        """How many credentials were given out."""
        return len(self.credentials.given)

    def tokens_in(self, text: str) -> list[str]:
        """Return what of passwords and bearer tokens is in a text, be it only their beginning."""
        tokens = [SECRET, *self.credentials.given, *self.workspace.access._tokens]
        return [token for token in tokens if token[:16] in text]


@contextmanager
def everything_logged() -> Iterator[list[str]]:
    """Keep every record of the log, whatever its level, with all that is in it."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(  # type: ignore[method-assign]
        f"{record.getMessage()} {record.__dict__} {record.exc_info and record.exc_info[1]}"
    )
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield said
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@contextmanager
def lakebase(
    server: TestServer, dbname: str, *, seconds: float = 3600, provisioned: bool = False
) -> Iterator[Lake]:
    """Serve one whose credentials last for so many seconds; APP may do everything there."""
    with Workspace() as workspace:
        workspace.access.add(Principal(APP, secret=SECRET))
        area: Provisioned | Postgres
        if provisioned:
            area, place = Provisioned(workspace), f"instances/{INSTANCE}"
            area.add_instance(INSTANCE)
            key, thing = INSTANCE, f"database-instances/{INSTANCE}"
        else:
            area = Postgres(workspace)
            key = place = area.add_project("forebay")
            thing = "postgres/projects/forebay"
        workspace.add(area)
        workspace.access.grant(APP, thing, "CAN_USE")
        area.credentials.seconds = seconds
        with server.superuser(dbname) as superuser:
            make_role(superuser, APP)
        socket_path = f"{server.host}/.s.PGSQL.{server.port}"
        with Gateway(
            socket_path, lambda user, token: area.credentials.is_good(key, user, token)
        ) as gateway:
            yield Lake(
                workspace,
                area.credentials,
                gateway,
                f"lakebase:{place}?port={gateway.port}&dbname={dbname}",
                {
                    "DATABRICKS_HOST": workspace.url,
                    "DATABRICKS_CLIENT_ID": APP,
                    "DATABRICKS_CLIENT_SECRET": SECRET,
                },
                area,
            )


def make_role(superuser: psycopg.Connection, name: str) -> None:
    """Make a login that is a member of every caller's role, unless it is there."""
    if superuser.execute("select from pg_roles where rolname = %s", [name]).fetchone() is None:
        roles = sql.SQL(", ").join(sql.Identifier(f"forebay_{caller}") for caller in CALLERS)
        create = sql.SQL("create role {} login in role {}")
        superuser.execute(create.format(sql.Identifier(name), roles))
