"""Bootstrap: each principal gets its login and the roles of its part, once, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from databricks.support_deployed import PERSON, become, standing
from forebay.databricks.principals import CALLERS, Part
from forebay.embedded import SUPERUSER
from forebay.pool import Database
from forebay_lab.workspace import Fault
from forebay_lab.workspace.deployed import AGENT, DEPLOYER, INTAKE, ORCHESTRATOR, Deployed
from support.cli import Cli
from support.server import TestServer

APPS = ("intake", "orchestrator")
Intruder = Callable[..., None]
ALL = (
    *("--orchestrator", "forebay-orchestrator-dev", "--intake", "forebay-intake-dev"),
    *("--job", "7", "--person", PERSON),
)


@pytest.fixture
def here(
    server: TestServer,
    superuser: psycopg.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployed]:
    """Serve a workspace, and be who deployed it."""
    with standing(server, superuser, tmp_path) as deployed:
        become(monkeypatch, deployed.environment())
        yield deployed


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands in this process."""
    return Cli(capsys)


def memberships(superuser: psycopg.Connection) -> dict[str, set[str]]:
    """Return the roles that each login has which bootstrap may make."""
    rows = superuser.execute(
        "select r.rolname, array(select g.rolname::text from pg_auth_members as m"
        " join pg_roles as g on g.oid = m.roleid where m.member = r.oid)"
        " from pg_roles as r where r.rolname = any (%s)",
        [[ORCHESTRATOR, INTAKE, AGENT, PERSON]],
    )
    return {name: set(roles) for name, roles in rows}


def roles_of(part: Part) -> set[str]:
    """Return the roles that a part is a member of."""
    return {f"forebay_{caller}" for caller in CALLERS[part]}


def test_the_parts_act_as_what_their_programs_need() -> None:
    """An app has the roles that it asks for at its start; the orchestrator also its daemon's."""
    sites = {name: import_module(f"forebay_apps.{name}.app").create_app for name in APPS}
    needed = {
        name: set(make({"FOREBAY_DATABASE_URL": "postgresql://nowhere/x"}).state.site.roles)
        for name, make in sites.items()
    }
    assert set(CALLERS["intake"]) == needed["intake"]
    assert set(CALLERS["orchestrator"]) == needed["orchestrator"] | {"worker", "agent"}


def test_each_principal_gets_its_login_and_its_roles(
    here: Deployed, cli: Cli, superuser: psycopg.Connection
) -> None:
    """The apps' and the job's are looked up in the workspace; each has its part's roles alone."""
    done = cli("databricks", "bootstrap", *ALL, "--json")
    assert done.code == 0, done.err
    assert [one["is_new"] for one in done.json] == [True] * 4
    assert memberships(superuser) == {
        ORCHESTRATOR: roles_of("orchestrator"),
        INTAKE: roles_of("intake"),
        AGENT: roles_of("agent"),
        PERSON: roles_of("person"),
    }
    kinds = superuser.execute(
        "select rolname, shobj_description(oid, 'pg_authid') from pg_roles where rolname = any(%s)",
        [[ORCHESTRATOR, INTAKE, AGENT, PERSON]],
    )
    service = dict.fromkeys((ORCHESTRATOR, INTAKE, AGENT), "SERVICE_PRINCIPAL")
    assert dict(kinds.fetchall()) == {**service, PERSON: "USER"}


def test_a_second_run_changes_nothing(
    here: Deployed, cli: Cli, superuser: psycopg.Connection
) -> None:
    """Nor does it say that it did."""
    cli("databricks", "bootstrap", *ALL)
    before = memberships(superuser)
    again = cli("databricks", "bootstrap", *ALL, "--json")
    assert [(one["is_new"], one["granted"]) for one in again.json] == [(False, [])] * 4
    assert memberships(superuser) == before


def test_what_was_taken_away_comes_back(
    here: Deployed, cli: Cli, superuser: psycopg.Connection
) -> None:
    """A login that the bundle made, or that lost a role, gets only what it lacks."""
    cli("databricks", "bootstrap", *ALL)
    revoke = sql.SQL("revoke forebay_agent from {} granted by {}")
    superuser.execute(revoke.format(sql.Identifier(AGENT), sql.Identifier(DEPLOYER)))
    again = cli("databricks", "bootstrap", "--job", AGENT, "--json")
    assert [(one["is_new"], one["granted"]) for one in again.json] == [(False, ["forebay_agent"])]


def test_the_app_can_then_connect_with_a_credential(here: Deployed, cli: Cli) -> None:
    """What bootstrap made is what the credential logs in as."""
    assert cli("databricks", "bootstrap", *ALL).code == 0
    for part, client_id in (("orchestrator", ORCHESTRATOR), ("intake", INTAKE), ("agent", AGENT)):
        with pytest.MonkeyPatch.context() as monkeypatch:
            become(monkeypatch, here.environment(part))
            with Database(here.url).connect() as connection:
                assert connection.info.user == client_id


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--orchestrator", "no-such-app"], "does not tell of the app no-such-app"),
        (["--job", "8"], "does not tell of the job 8"),
        ([], "Nobody is named"),
        (["--person", "forebay_viewer"], "neither an application id nor an address"),
        (["--person", "ada@example.com\u200b"], "neither an application id nor an address"),
        (["--person", "bob@example.com"], "does not know bob@example.com"),
        (["--intake", "00000000-0000-4000-8000-000000000009"], "does not know 00000000-"),
        (["--job", "no-such-job"], "No job that you may see is called no-such-job"),
        (
            ["--orchestrator", "forebay-orchestrator-dev", "--intake", "forebay-orchestrator-dev"],
            "is named as the orchestrator and is the intake",
        ),
    ],
)
def test_who_is_not_there_is_said(
    here: Deployed, cli: Cli, superuser: psycopg.Connection, arguments: list[str], said: str
) -> None:
    """Nothing is done, and one sentence says what to do."""
    refused = cli("databricks", "bootstrap", *arguments)
    assert refused.code == 1
    assert said in refused.err
    assert memberships(superuser) == {}


def test_who_may_not_look_people_up_is_believed(here: Deployed, cli: Cli) -> None:
    """A principal of the right form is let in, where the workspace does not tell of it."""
    here.workspace.faults.add(Fault("status", on="scim", status=403, code="PERMISSION_DENIED"))
    answer = cli("databricks", "bootstrap", "--person", PERSON, "--json")
    (done,) = answer.json
    assert "grant CAN_USE on the Lakebase project" in answer.err
    assert (done["principal"], done["is_new"]) == (PERSON, True)


def test_a_gateways_refusal_is_no_word_on_a_person(here: Deployed, cli: Cli) -> None:
    """Nobody is let in because something in between lets nobody through."""
    here.workspace.faults.add(Fault("status", on="scim", status=403, page="Forbidden"))
    refused = cli("databricks", "bootstrap", "--person", PERSON)
    assert (refused.code, "does not tell of" in refused.err) == (1, True)


def test_the_wrong_app_is_not_let_in_as_another_part(
    here: Deployed, cli: Cli, superuser: psycopg.Connection
) -> None:
    """The dashboard stays what it is, where its name is given for intake's later."""
    cli("databricks", "bootstrap", *ALL)
    refused = cli("databricks", "bootstrap", "--intake", "forebay-orchestrator-dev")
    assert (refused.code, "is the orchestrator: name the right one" in refused.err) == (1, True)
    assert memberships(superuser)[ORCHESTRATOR] == roles_of("orchestrator")


def test_a_job_may_be_named_too_and_people_in_any_case(here: Deployed, cli: Cli) -> None:
    """Whom the job of that name runs as, and the address as the workspace has it."""
    named = ("--job", "forebay-agent-dev", "--person", PERSON.upper())
    done = cli("databricks", "bootstrap", *named, "--json")
    assert [one["principal"] for one in done.json] == [AGENT, PERSON]


def test_whoever_is_logged_in_can_be_let_in_too(here: Deployed, cli: Cli) -> None:
    """The login is there, since it installed the schema: only roles are granted, if any lacks."""
    (mine,) = cli("databricks", "bootstrap", "--me", "--json").json
    assert (mine["part"], mine["principal"], mine["is_new"]) == ("person", DEPLOYER, False)


def test_one_that_fails_leaves_nothing_of_the_others(
    here: Deployed, cli: Cli, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All or none; a database without the extension is said to be no Lakebase."""
    superuser.execute("drop extension databricks_auth")
    refused = cli("databricks", "bootstrap", *ALL)
    assert refused.code == 1
    assert "no extension databricks_auth" in refused.err
    assert memberships(superuser) == {}


PLANTED = """
create function {schema}.databricks_create_role(text, text, text default '') returns void
    language plpgsql as $$ begin raise exception 'planted'; end; $$
"""


@pytest.fixture
def intruder(here: Deployed, cli: Cli, superuser: psycopg.Connection) -> Iterator[Intruder]:
    """Return how an app, which may create in the database, does so."""
    assert cli("databricks", "bootstrap", "--intake", "forebay-intake-dev").code == 0
    login, dbname = sql.Identifier(INTAKE), sql.Identifier(superuser.info.dbname)
    superuser.execute(sql.SQL("grant create on database {} to {}").format(dbname, login))

    def does(*statements: LiteralString) -> None:
        with superuser.transaction():
            superuser.execute(sql.SQL("set local role {}").format(login))
            for statement in statements:
                superuser.execute(statement)

    yield does
    superuser.execute("drop extension databricks_auth")
    superuser.execute(sql.SQL("drop owned by {} cascade").format(login))


def test_no_other_function_is_called_than_the_extensions(
    intruder: Intruder, cli: Cli, superuser: psycopg.Connection
) -> None:
    """Who may create in the database can put one of its name there, to run as the installer."""
    intruder(
        "create schema aaa", PLANTED.format(schema="aaa"), "grant usage on schema aaa to public"
    )
    done = cli("databricks", "bootstrap", "--job", AGENT)
    assert (done.code, done.err) == (0, "")
    assert memberships(superuser)[AGENT] == roles_of("agent")


def test_a_function_beside_the_extensions_is_not_called_for_it(
    intruder: Intruder, cli: Cli, superuser: psycopg.Connection
) -> None:
    """Of two in one schema it is the server that chooses, so neither is called."""
    superuser.execute(f'grant create on schema public to "{INTAKE}"')
    intruder(PLANTED.format(schema="public"))
    refused = cli("databricks", "bootstrap", "--job", AGENT)
    assert (
        refused.code,
        "not a function of the extension databricks_auth alone" in refused.err,
    ) == (1, True)
    assert AGENT not in memberships(superuser)


def test_what_somebody_added_to_an_extension_of_theirs_is_not_called(
    intruder: Intruder, cli: Cli, superuser: psycopg.Connection
) -> None:
    """Who made the extension owns it, and may call any function of theirs a part of it."""
    superuser.execute("alter extension databricks_auth drop function databricks_create_role")
    superuser.execute("drop function databricks_create_role")
    superuser.execute(
        "update pg_extension set extowner = %s::regrole where extname = 'databricks_auth'",
        [f'"{INTAKE}"'],
    )
    added = "alter extension databricks_auth add function aaa.databricks_create_role"
    intruder("create schema aaa", PLANTED.format(schema="aaa"), added)
    refused = cli("databricks", "bootstrap", "--job", AGENT)
    assert (refused.code, "Drop what else has that name" in refused.err) == (1, True)
    assert AGENT not in memberships(superuser)


def test_who_did_not_install_the_schema_is_refused(
    here: Deployed, cli: Cli, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An app cannot give itself more than it has."""
    cli("databricks", "bootstrap", *ALL)
    become(monkeypatch, here.environment("agent"))
    refused = cli("databricks", "bootstrap", "--job", AGENT)
    assert refused.code == 1
    assert "as who ran" in refused.err
    assert memberships(superuser)[AGENT] == roles_of("agent")


@pytest.mark.parametrize(
    ("kind", "roles"),
    [("ROBOT", ["forebay_agent"]), ("USER", ["forebay_owner"]), ("USER", ["pg_monitor"])],
)
def test_no_other_kind_and_no_other_role_is_given(
    here: Deployed, db: psycopg.Connection, kind: str, roles: list[str]
) -> None:
    """The function gives out callers' roles alone, above all not the owner's."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        db.execute("select forebay._admit_principal('x@y', %s, %s)", [kind, roles])


@pytest.mark.parametrize(
    "name", ["forebay_viewer", "forebay_owner", "pg_monitor", "x" * 64, SUPERUSER]
)
def test_no_role_of_the_database_is_taken_for_a_principal(
    here: Deployed, db: psycopg.Connection, name: str
) -> None:
    """Else whoever is a viewer would be what that principal is."""
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        db.execute("select forebay._admit_principal(%s, 'USER', '{forebay_operator}')", [name])
