"""Give the principals of a workspace their roles in the database: what follows an upgrade, once.

Whoever installed the schema runs it. The apps' principals and the job's are looked up in the
workspace, so that nobody has to copy their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psycopg

from forebay import schema
from forebay.databricks.principals import CALLERS, Part, Principal
from forebay.errors import ForebayError
from forebay.memberships import held
from forebay.pool import Database


class BootstrapError(ForebayError):
    """A principal could not be given its role: the sentence says what to do."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What a principal was given now: `is_new` its login, and `granted` roles that it lacked."""

    part: Part
    principal: str
    is_new: bool
    granted: list[str]


def admit(database: Database, principals: Sequence[Principal]) -> list[Admitted]:
    """Give every principal its login and roles, all of them or none; again, it changes nothing.

    Raises ConnectError, SchemaError, and BootstrapError where the database refuses.
    """
    with database.connect() as connection:
        schema.check_compatible(connection)
        try:
            _check_one_part_each(principals, held(connection, [one.name for one in principals]))
            with connection.transaction():
                return [_admitted(connection, one) for one in principals]
        except psycopg.errors.InvalidParameterValue as error:
            raise BootstrapError(f"{_said(error)}.") from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise BootstrapError(
                f"The database refuses to give out roles ({_said(error)}): run this as who ran"
                " 'forebay db upgrade', logged in with a credential of the workspace."
            ) from error
        except psycopg.errors.ObjectNotInPrerequisiteState as error:
            raise BootstrapError(f"{_said(error)}. {error.diag.message_hint}") from error
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
            raise BootstrapError(
                f"The database has no extension databricks_auth ({_said(error)}): this is for"
                " databases of Lakebase; elsewhere make logins as docs/operating.md says."
            ) from error


def _admitted(connection: psycopg.Connection, one: Principal) -> Admitted:
    row = connection.execute(
        "select forebay._admit_principal(%s, %s, %s)", [one.name, one.kind, one.roles]
    ).fetchone()
    assert row is not None
    given = list(row[0])
    return Admitted(one.part, one.name, one.name in given, [g for g in given if g != one.name])


def _check_one_part_each(principals: Sequence[Principal], held_by: Mapping[str, set[str]]) -> None:
    """Raise BootstrapError where an app's or a job's principal is that of another part already."""
    for one in principals:
        have = held_by.get(one.name, set())
        if one.part == "person" or "owner" in have:
            continue
        for other in ("orchestrator", "intake", "agent"):
            more = set(CALLERS[other]) - set(CALLERS[one.part])
            is_it = have.issuperset(CALLERS[other]) or Principal(other, one.name) in principals
            if other != one.part and more and is_it:
                roles = ", ".join(f"forebay_{caller}" for caller in sorted(more))
                raise BootstrapError(
                    f"{one.name} is named as the {one.part} and is the {other}: name the right one."
                    f" If it is right, revoke {roles} from it first."
                )


def _said(error: psycopg.Error) -> str:
    return error.diag.message_primary or type(error).__name__
