"""Who is who in a workspace: principals of apps, jobs and people, by what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forebay.errors import ForebayError

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
ADDRESS = re.compile(r"[^\s@\"\\]+@[^\s@\"\\]+")


class PrincipalError(ForebayError):
    """A principal is not to be found, or is not what is wanted: the sentence says what to do."""


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


def name_of(client: WorkspaceClient) -> str:
    """Return who is logged in: an application id, or an address. Raises PrincipalError."""
    try:
        name = client.config.client_id or client.current_user.me().user_name
    except OSError as error:  # the SDK's own errors are OSErrors
        raise _not_told("who is logged in", error) from error
    return name or ""


def principal_of_app(client: WorkspaceClient, part: Part, named: str) -> Principal:
    """Return an app's principal, by the app's name or its application id. Raises PrincipalError."""
    if APPLICATION_ID.fullmatch(named):
        return Principal(part, _known(client, named))
    try:
        app = client.apps.get(named)
    except OSError as error:
        raise _not_told(f"the app {named}", error) from error
    if not app.service_principal_client_id:
        raise PrincipalError(f"The app {named} has no service principal: deploy it first.")
    return Principal(part, app.service_principal_client_id)


def app_of(client: WorkspaceClient, named: str) -> str | None:
    """Return the name of an app, which may be named by its principal; None if none is seen."""
    if not APPLICATION_ID.fullmatch(named):
        return named
    try:
        apps = {app.service_principal_client_id: app.name for app in client.apps.list()}
    except OSError:
        return None
    return apps.get(named.lower())


def principal_of_job(client: WorkspaceClient, named: str) -> Principal:
    """Return whom a job runs as, by the job's id or name, or the principal itself.

    Raises PrincipalError.
    """
    if APPLICATION_ID.fullmatch(named) or ADDRESS.fullmatch(named):
        return Principal("agent", _known(client, named))
    try:
        job = client.jobs.get(_job_id(client, named))
    except OSError as error:
        raise _not_told(f"the job {named}", error) from error
    if not job.run_as_user_name:
        raise PrincipalError(f"The workspace does not say whom the job {named} runs as: name it.")
    return Principal("agent", job.run_as_user_name)


def principal_of_person(client: WorkspaceClient, named: str) -> Principal:
    """Return somebody at a command line, by address or application id. Raises PrincipalError."""
    return Principal("person", _known(client, named))


def _job_id(client: WorkspaceClient, named: str) -> int:
    if named.isascii() and named.isdecimal():
        return int(named)
    found = [job.job_id for job in client.jobs.list(name=named) if job.job_id]
    if len(found) == 1:
        return found[0]
    count = f"{len(found)} jobs are" if found else "No job that you may see is"
    raise PrincipalError(f"{count} called {named}: pass the job's id.")


def _known(client: WorkspaceClient, named: str) -> str:
    """Return the name as the workspace has it, where it knows the principal."""
    if not named.isprintable() or not (APPLICATION_ID.fullmatch(named) or ADDRESS.fullmatch(named)):
        raise PrincipalError(f"{named!r} is neither an application id nor an address.")
    from databricks.sdk.errors import PermissionDenied

    from forebay.databricks.answers import is_own

    try:
        found = next(_named(client, named), None)
    except OSError as error:
        if isinstance(error, PermissionDenied) and is_own(error):
            return named  # not everybody may look
        raise _not_told(named, error) from error
    if not found:
        raise PrincipalError(f"The workspace does not know {named}: check it, and add it there.")
    return found


def _named(client: WorkspaceClient, named: str) -> Iterator[str | None]:
    if "@" in named:
        people = client.users_v2.list(filter=f'userName eq "{named}"')
        return (one.user_name for one in people)
    services = client.service_principals_v2.list(filter=f'applicationId eq "{named}"')
    return (one.application_id for one in services)


def _not_told(what: str, error: OSError) -> PrincipalError:
    from forebay.databricks.login import words

    said = f"{type(error).__name__}: {words(error)}"
    return PrincipalError(
        f"The workspace does not tell of {what} ({said}): check the name,"
        " and that you may see it, or name its principal."
    )
