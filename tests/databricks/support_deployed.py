"""A workspace as the bundle leaves it, over a test's own database: for bootstrap and the doctor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from forebay.embedded import SUPERUSER
from forebay_lab.workspace.deployed import (
    AGENT,
    DEPLOYER,
    INTAKE,
    ORCHESTRATOR,
    Deployed,
    deployed,
)
from support.server import CALLERS, TestServer

PERSON = "ada@example.com"
LOGINS = (ORCHESTRATOR, INTAKE, AGENT, PERSON)


@contextmanager
def standing(
    server: TestServer, superuser: psycopg.Connection, folder: Path, **options: Any
) -> Iterator[Deployed]:
    """Serve one; the schema is there, as if its deployer had installed it, and no login but his."""
    dbname = superuser.info.dbname
    with deployed(server.dsn(SUPERUSER, dbname), folder, dbname=dbname, **options) as here:
        roles = sql.SQL(", ").join(sql.Identifier(f"forebay_{one}") for one in CALLERS)
        deployer = sql.Identifier(DEPLOYER)
        grant = sql.SQL("grant {} to {} with admin option")
        superuser.execute(grant.format(roles, deployer))
        superuser.execute(sql.SQL("grant forebay_owner to {}").format(deployer))
        superuser.execute(sql.SQL("grant {} to {}").format(roles, deployer))
        try:
            yield here
        finally:
            drop_logins(superuser)


def drop_logins(superuser: psycopg.Connection) -> None:
    """Take the principals' logins out of the server, which tests share."""
    for login in LOGINS:
        superuser.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(login)))


def become(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """Have this process be set up by these variables, and no other of ours."""
    import os

    for name in list(os.environ):
        if name.startswith(("FOREBAY_", "DATABRICKS_")) and name != "FOREBAY_PG_BIN":
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
