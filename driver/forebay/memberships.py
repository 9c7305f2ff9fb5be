"""Which of the callers' roles a login may act as: what an app needs is known before it serves."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg

from forebay.pool import Database


def lacking(database: Database, roles: Iterable[str]) -> str | None:
    """Tell in words which of these roles (as in forebay_<role>) the login may not act as, if any.

    Raises ConnectError when there is no connection at all.
    """
    database.connect().close()
    names = [f"forebay_{role}" for role in roles if not _may_act_as(database, role)]
    return f"the database's login may not act as {', '.join(names)}" if names else None


def _may_act_as(database: Database, role: str) -> bool:
    given = database.parameters()
    options = f"{given['options']} -c role=forebay_{role}"
    try:
        psycopg.connect(**given | {"options": options}).close()
    except psycopg.OperationalError:
        return False
    return True
