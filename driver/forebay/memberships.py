"""Which of the callers' roles a login may act as: what an app needs is known before it serves."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg

from forebay.pool import Database


def lacking_roles(database: Database, roles: Iterable[str]) -> list[str]:
    """Return those of these roles (as in forebay_<role>) that the login may not act as.

    Raises ConnectError when there is no connection at all.
    """
    database.connect().close()
    return [role for role in roles if not _may_act_as(database, role)]


def _may_act_as(database: Database, role: str) -> bool:
    given = database.parameters()
    options = f"{given['options']} -c role=forebay_{role}"
    try:
        psycopg.connect(**given | {"options": options}).close()
    except psycopg.OperationalError:
        return False
    return True
