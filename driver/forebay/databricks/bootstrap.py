"""Give the principals of a workspace their roles in the database: what follows an upgrade, once.

Whoever installed the schema runs it. The apps' principals and the job's are looked up in the
workspace, so that nobody has to copy their ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import psycopg

from forebay import schema
from forebay.errors import ForebayError
from forebay.pool import Database

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

Part = Literal["orchestrator", "intake", "agent", "person"]
Kind = Literal["SERVICE_PRINCIPAL", "USER"]

CALLERS: dict[Part, tuple[str, ...]] = {
    "orchestrator": ("viewer", "operator", "reader", "agent", "upkeep", "worker"),
    "intake": ("submitter", "reader", "upkeep"),
    "agent": ("agent",),
    "person": ("operator", "viewer", "reader", "submitter"),
}
"""Which callers' roles each part acts as: its login is a member of these, and of no other."""

APPLICATION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class BootstrapError(ForebayError):
    """A principal could not be given its role: the sentence says what to do."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who logs in as which part; `name` is an application id, or a person's address."""

    part: Part
    name: str

    @property
    def kind(self) -> Kind:
        """Return what databricks_create_role calls it."""
        return "USER" if "@" in self.name else "SERVICE_PRINCIPAL"

    @property
    def roles(self) -> list[str]:
        """Return the roles that it has to be a member of."""
        return [f"forebay_{caller}" for caller in CALLERS[self.part]]


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
            with connection.transaction():
                return [_admitted(connection, one) for one in principals]
        except psycopg.errors.InsufficientPrivilege as error:
            raise BootstrapError(
                f"The database refuses to give out roles ({_said(error)}): run this as who ran"
                " 'forebay db upgrade', logged in with a credential of the workspace."
            ) from error
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
            raise BootstrapError(
                f"The database has no extension databricks_auth ({_said(error)}): this is for"
                " databases of Lakebase; elsewhere make logins as docs/operating.md says."
            ) from error


def name_of(client: WorkspaceClient) -> str:
    """Return who is logged in: an application id, or an address. Raises BootstrapError."""
    try:
        name = client.config.client_id or client.current_user.me().user_name
    except OSError as error:
        raise _not_found("who is logged in", error) from error
    return name or ""


def principal_of_app(client: WorkspaceClient, part: Part, named: str) -> Principal:
    """Return an app's principal, by the app's name or its application id. Raises BootstrapError."""
    if APPLICATION_ID.fullmatch(named):
        return Principal(part, named)
    try:
        app = client.apps.get(named)
    except OSError as error:  # the SDK's own errors are OSErrors
        raise _not_found(f"the app {named}", error) from error
    if not app.service_principal_client_id:
        raise BootstrapError(f"The app {named} has no service principal: deploy it first.")
    return Principal(part, app.service_principal_client_id)


def principal_of_job(client: WorkspaceClient, named: str) -> Principal:
    """Return whom a job runs as, by the job's id, or the principal itself."""
    if not named.isdecimal():
        return Principal("agent", named)
    try:
        job = client.jobs.get(int(named))
    except OSError as error:
        raise _not_found(f"the job {named}", error) from error
    if not job.run_as_user_name:
        raise BootstrapError(f"The workspace does not say whom the job {named} runs as: name it.")
    return Principal("agent", job.run_as_user_name)


def _admitted(connection: psycopg.Connection, one: Principal) -> Admitted:
    row = connection.execute(
        "select forebay._admit_principal(%s, %s, %s)", [one.name, one.kind, one.roles]
    ).fetchone()
    assert row is not None
    given = list(row[0])
    return Admitted(one.part, one.name, one.name in given, [g for g in given if g != one.name])


def _not_found(what: str, error: OSError) -> BootstrapError:
    said = str(error).split(" Config: ")[0].rstrip(".")
    return BootstrapError(
        f"The workspace does not tell of {what} ({type(error).__name__}: {said}): check the name,"
        " and that you may see it, or name its principal."
    )


def _said(error: psycopg.Error) -> str:
    return error.diag.message_primary or type(error).__name__
