"""Which of the callers' roles a login may act as: what an app needs is known before it serves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from psycopg import Connection
from psycopg.sql import Identifier

from forebay.calls.viewer import held_roles
from forebay.errors import ConnectError
from forebay.pool import Database


def lacking(database: Database, roles: Iterable[str]) -> str | None:
    """Say which of these roles (as in forebay_<role>) the login may not act as, None if all.

    It is a sentence with the remedy. Raises ConnectError when the database cannot be asked.
    """
    with database.connect() as connection:
        login = Identifier(connection.info.user).as_string(connection)
    names = ", ".join(f"forebay_{role}" for role in roles if not _may_act_as(database, role))
    if not names:
        return None
    return f"The database's login may not act as {names}: run 'grant {names} to {login}'."


def held(connection: Connection, logins: Iterable[str]) -> dict[str, set[str]]:
    """Return which of our roles (as in forebay_<role>) each login may act as.

    A login that the database does not have is left out. Any role of ours may ask.
    """
    found = held_roles(connection, logins=list(logins))
    return {login: set(roles) for login, roles in found.items()}


def _may_act_as(database: Database, role: str) -> bool:
    try:
        replace(database, role=role).connect().close()
    except ConnectError as error:
        if error.is_transient:
            raise
        return False
    return True
