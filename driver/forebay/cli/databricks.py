"""A Databricks workspace: give its principals their roles, and see what is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import documents, output
from forebay.cli.database import find_dsn, log_quietly
from forebay.cli.errors import Refused
from forebay.cli.options import Dsn, Json

if TYPE_CHECKING:
    from forebay.databricks.principals import Principal

app = typer.Typer(
    help="Set up Forebay in a Databricks workspace, and see what is missing there.",
    no_args_is_help=True,
)

ADMITTED: output.Columns = {
    "part": "part",
    "principal": "principal",
    "login": lambda one: "made" if one.is_new else "was there",
    "roles granted now": lambda one: ", ".join(one.granted) or "none: it has them",
}

OF_PEOPLE = (
    "The workspace has to let a person in as well: grant CAN_USE on the Lakebase project and, to"
    " submit documents, READ VOLUME and WRITE VOLUME, with USE SCHEMA and USE CATALOG above the"
    " Volume."
)


@app.command()
def bootstrap(
    orchestrator: Annotated[
        str | None,
        typer.Option(metavar="APP|ID", help="The orchestrator's app, or its application id."),
    ] = None,
    intake: Annotated[
        str | None, typer.Option(metavar="APP|ID", help="The same of intake.")
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(
            metavar="JOB|ID", help="The job's id or name, or the application id that it runs as."
        ),
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Somebody at a command line; repeatable."),
    ] = None,
    me: Annotated[
        bool, typer.Option("--me", help="Whoever is logged in, for the same at this command line.")
    ] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Give principals their logins and roles in the database, as who ran `forebay db upgrade`.

    Safe to run again; it takes nothing away.
    """
    documents.require("databricks", "This")
    from forebay.databricks.bootstrap import admit
    from forebay.pool import Database

    named = _principals(orchestrator, intake, job, person or [], with_me=me)
    if not named:
        raise Refused("Nobody is named: pass --orchestrator, --intake, --job, --person or --me.")
    admitted = admit(Database(find_dsn(dsn), application_name="forebay cli"), named)
    output.print_rows(admitted, ADMITTED, as_json)
    if person:
        output.note(OF_PEOPLE)


def _principals(
    orchestrator: str | None,
    intake: str | None,
    job: str | None,
    people: list[str],
    *,
    with_me: bool,
) -> list[Principal]:
    from forebay.databricks import principals
    from forebay.databricks.client import workspace_client
    from forebay.databricks.login import LoginError

    log_quietly()
    try:
        client = workspace_client()
    except LoginError as error:
        raise Refused(f"No login to Databricks: {error}.") from error
    found = []
    if orchestrator:
        found.append(principals.principal_of_app(client, "orchestrator", orchestrator))
    if intake:
        found.append(principals.principal_of_app(client, "intake", intake))
    if job:
        found.append(principals.principal_of_job(client, job))
    found += [principals.principal_of_person(client, named) for named in people]
    if with_me:
        found.append(principals.Principal("person", principals.name_of(client)))
    return found


@app.command()
def doctor(
    part: Annotated[
        str, typer.Option("--as", metavar="PART", help="orchestrator, intake, agent or person.")
    ] = "person",
    job: Annotated[
        list[int] | None,
        typer.Option(help="A job; its task's settings stand in for those not set here."),
    ] = None,
    orchestrator: Annotated[
        str | None,
        typer.Option(
            metavar="APP|ID",
            help="Look at what this app's principal may do, and those of all agents' jobs.",
        ),
    ] = None,
    intake: Annotated[
        str | None, typer.Option(metavar="APP|ID", help="The same of intake's.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=600, help="For all of it.")] = 90.0,
    as_json: Json = False,
) -> None:
    """Try all that Forebay needs in the workspace, and say in one line each what is missing.

    It changes nothing but a probe file in each storage root, which it removes; a SQL warehouse that
    sleeps is woken. Exit code 1 when something is missing or cannot be seen.
    """
    documents.require("databricks", "This")
    documents.require("agents", "Signing the probe of callbacks")
    log_quietly()
    from forebay.databricks.doctor import examine
    from forebay.databricks.principals import CALLERS

    known = next((one for one in CALLERS if one == part), None)
    if known is None:
        raise typer.BadParameter(f"There is no part {part!r}: use one of {', '.join(CALLERS)}.")
    found = examine(
        known,
        os.environ,
        jobs=job or [],
        orchestrator=orchestrator,
        intake=intake,
        seconds=seconds,
    )
    if as_json:
        output.print_json(found)
    else:
        for finding in found:
            print(output.show(f"{finding.state:<8} {finding.check}: {finding.said}"))
    if any(finding.state in ("missing", "unknown") for finding in found):
        raise typer.Exit(1)
