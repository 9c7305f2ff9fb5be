"""A database of a test that becomes a copy of another, which nobody has opened."""

from __future__ import annotations

import psycopg

from forebay.calls import upkeep


def become_a_copy(superuser: psycopg.Connection) -> None:
    """Have the database know that it is not where it was installed."""
    superuser.execute("update forebay.installation set home = '1'")


def become_a_branch(superuser: psycopg.Connection) -> str:
    """Have the database be a closed branch, and return its installation's id."""
    upkeep.prepare_branch(superuser, name="fix")
    become_a_copy(superuser)
    superuser.execute("set role forebay_owner")
    state = upkeep.begin_branch(superuser, name="fix")
    while not upkeep.mask_data(superuser).is_complete:
        pass
    upkeep.finish_branch(superuser)
    superuser.execute("reset role")
    return str(state.installation_id)
