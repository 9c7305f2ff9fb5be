"""Branches of Lakebase: made through the workspace, masked, and known for what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest

from databricks.support_branches import SECRET, killed_after, runs, source_database, text_of
from databricks.support_project import BRANCHES, DBNAME, Project
from forebay.branches import Branches
from forebay.calls import operator, upkeep, worker
from forebay.clones import with_dbname
from forebay.databricks import branches as module
from forebay.databricks.branches import LakebaseBranches
from forebay.errors import (
    BranchError,
    BranchUnfinishedError,
    InstallationClosedError,
    NotABranchError,
)
from forebay.pool import Database
from forebay_lab.workspace import Fault
from forebay_lab.workspace.credentials import Credentials
from support.cli import Cli
from support.lakebase import APP
from support.server import TestServer

PREPARED = "select prepared from forebay.installation"


@pytest.fixture
def cli(project: Project, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run commands as the service principal."""
    return Cli(capsys)


def test_a_branch_is_made_masked_listed_opened_and_deleted(project: Project, cli: Cli) -> None:
    """All of its life on the command line, against the workspace and the branch itself."""
    made = cli("branch", "create", "--ttl", "2d", "--json", "fix-42")
    assert made.code == 0, made.err
    url = made.json["url"]
    assert "/branches/forebay-fix-42/endpoints/primary" in url
    spec = project.postgres.things["projects/forebay/branches/forebay-fix-42"]["spec"]
    assert spec == {"source_branch": "projects/forebay/branches/production", "ttl": "172800s"}
    with Database(url).connect() as conn:
        assert conn.info.host == "127.0.0.2"
        with pytest.raises(InstallationClosedError):
            worker.dequeue(conn, worker="w", agents=["fake"])
    (listed,) = cli("branch", "list", "--json").json
    assert (listed["name"], listed["state"], listed["url"]) == ("fix-42", "closed", url)
    assert cli("branch", "open", "--yes", "fix-42").code == 0
    with Database(url).connect() as conn:
        assert worker.dequeue(conn, worker="w", agents=["fake"]) == []
    assert cli("branch", "delete", "--yes", "fix-42").code == 0
    assert project.ids == ["production"]
    with Database(project.lake.url).connect() as conn:
        assert worker.dequeue(conn, worker="w", agents=["fake"])


def test_nothing_of_the_secret_is_left(project: Project, server: TestServer) -> None:
    """In the branch; the source keeps it."""
    Branches(project.lake.url).create("fix")
    assert SECRET not in text_of(server.dsn(APP, project.clone("fix")))
    assert SECRET in text_of(server.dsn(APP, DBNAME))


def assert_closed(conn: psycopg.Connection) -> None:
    """Have a copy refuse what a daemon does."""
    for claim in (
        lambda: worker.dequeue(conn, worker="w", agents=["fake"]),
        lambda: worker.adopt(conn, worker="w", launchers=["lakeflow"]),
    ):
        with pytest.raises(InstallationClosedError):
            claim()
    assert worker.runs_to_cancel(conn, worker="w") == []


def test_a_branch_with_the_identity_of_its_source_knows_itself_by_its_url(
    project: Project, server: TestServer
) -> None:
    """A real branch has the cluster's identifier and the oid of its source: its sessions say it."""
    with Database(project.lake.url, role="owner").connect() as conn:
        upkeep.prepare_branch(conn, name="fix")
    copies = LakebaseBranches(project.lake.url)
    copies.make("fix", None)
    clone = project.clone("fix")
    with server.superuser(clone) as conn:
        oid = conn.execute("select oid from pg_database where datname = current_database()")
        same = "update forebay.installation set home = %s || ' ' || split_part(home, ' ', 2)"
        conn.execute(same, [str((oid.fetchone() or ("",))[0])])
        assert upkeep.branch_state(conn).state == "copy"  # also to whom says nothing of a branch
        assert_closed(conn)
    with Database(copies.url("fix"), role="owner").connect() as conn:
        assert upkeep.branch_state(conn).state == "copy"
    with Database(copies.url("fix")).connect() as conn:
        assert_closed(conn)
    with Database(copies.url("fix"), role="owner").connect() as conn:
        assert upkeep.begin_branch(conn, name="fix").state == "unfinished"
    with Database(project.lake.url).connect() as conn:
        assert worker.dequeue(conn, worker="w", agents=["fake"])


def test_the_host_of_the_source_is_not_that_of_the_branch(project: Project) -> None:
    """A host in the source's URL is left out: the workspace says where the branch is."""
    copies = LakebaseBranches(f"{project.lake.url}&host=127.0.0.1")
    copies.make("fix", None)
    assert "host" not in copies.url("fix")


def test_a_branch_without_an_endpoint_gets_one(project: Project) -> None:
    """Whether branches come with one is not certain."""
    project.area.has_endpoints = False
    assert Branches(project.lake.url).create("fix").state == "closed"


@pytest.fixture
def one_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Have a credential of the project be good on each of its endpoints: nobody says it is not."""

    def is_good(self: Credentials, _place: str, user: str, token: str) -> bool:
        return token in self.given and self.given[token].user == user

    monkeypatch.setattr(Credentials, "is_good", is_good)
    return project


@pytest.mark.parametrize(
    "variables",
    [
        {"DATABRICKS_APP_NAME": "orchestrator", "PGHOST": "127.0.0.1", "PGDATABASE": DBNAME},
        {"PGHOSTADDR": "127.0.0.1"},
    ],
)
def test_no_variable_leads_from_the_branch_to_production(
    one_project: Project,
    server: TestServer,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
) -> None:
    """Neither those of an app nor libpq's own: where the branch is the workspace says."""
    with monkeypatch.context() as patched:
        for name, value in variables.items():
            patched.setenv(name, value)
        branch = Branches(one_project.lake.url).create("fix")
        with Database(branch.url).connect() as conn:
            assert conn.info.host == "127.0.0.2"
    assert SECRET in text_of(server.dsn(APP, DBNAME))
    assert SECRET not in text_of(server.dsn(APP, one_project.clone("fix")))


def test_production_is_not_begun_where_an_address_leads_there(
    one_project: Project, server: TestServer
) -> None:
    """What the branch's endpoint has for a host may be wrong: the database itself says no."""
    production = server.dsn(APP, DBNAME)
    before = runs(production)
    one_project.area.wrong_host = "127.0.0.1"
    with pytest.raises(NotABranchError, match="may be the original"):
        Branches(one_project.lake.url).create("fix")
    assert SECRET in text_of(production)
    assert runs(production) == before
    assert one_project.ids == ["production"]


def test_an_owner_who_says_the_branch_in_production_begins_and_masks_nothing(
    project: Project, server: TestServer
) -> None:
    """That a session is on a branch is its own word; the original awaits no copy any more."""
    Branches(project.lake.url).create("fix")
    said = "-c forebay.branch=projects/forebay/branches/forebay-fix"
    with psycopg.connect(server.dsn(APP, DBNAME), autocommit=True, options=said) as conn:
        with pytest.raises(NotABranchError, match="may be the original"):
            upkeep.begin_branch(conn, name="fix")
        with pytest.raises(NotABranchError):
            upkeep.mask_data(conn)
    assert SECRET in text_of(server.dsn(APP, DBNAME))


@pytest.mark.parametrize("step", ["make", "begin_branch"])
def test_what_was_not_made_is_awaited_no_more(
    project: Project, server: TestServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """After any error; and after a death, when what it left is deleted."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(LakebaseBranches if step == "make" else upkeep, step, fail)
    with pytest.raises(RuntimeError, match="no"):
        Branches(project.lake.url).create("fix")
    with server.superuser(DBNAME) as conn:
        assert conn.execute(PREPARED).fetchone() == (["fix"],)


def test_deleting_what_a_dead_command_left_ends_the_wait_for_it(
    project: Project, server: TestServer
) -> None:
    """It was killed between the copy and the word that it is made."""
    with Database(project.lake.url, role="owner").connect() as conn:
        upkeep.prepare_branch(conn, name="fix")
    LakebaseBranches(project.lake.url).make("fix", None)
    Branches(project.lake.url).delete("fix")
    with server.superuser(DBNAME) as conn:
        assert conn.execute(PREPARED).fetchone() == (["fix"],)


@pytest.fixture
def other_database(project: Project, server: TestServer) -> Iterator[str]:
    """Have a second Forebay in the same branch, at home by its oid alone, as any is installed."""
    with source_database(server, DBNAME, "lake_other"):
        project.area.dbnames.append("lake_other")
        yield "lake_other"
        project.area.dbnames.remove("lake_other")
        for name in list(project.area.clones):
            project.area.drop(name)


def test_another_forebay_that_would_start_tasks_in_the_branch_is_refused(
    project: Project, server: TestServer, other_database: str
) -> None:
    """It comes along, and does not know where it is; once it does, it is told to be unmasked."""
    said: list[str] = []
    branches = Branches(project.lake.url)
    with pytest.raises(BranchError, match=rf"{other_database} too.*prepare_branch"):
        branches.create("fix")
    assert project.ids == ["production"]
    url = with_dbname(project.lake.url, other_database)
    with Database(url, role="owner").connect() as conn:
        upkeep.prepare_branch(conn, name="-")
        upkeep.branch_copied(conn, name="-")
    branch = branches.create("fix", note=said.append)
    assert f"not masked, and so as they were: the databases {other_database}" in said
    with Database(with_dbname(branch.url, other_database)).connect() as conn:
        assert_closed(conn)


def test_a_branch_of_which_the_command_dies_before_the_vacuum_is_unfinished(
    project: Project, server: TestServer
) -> None:
    """The planner's statistics still tell what was there: it cannot be opened."""
    with server.superuser(DBNAME) as conn:
        conn.execute("analyze")
    killed_after("masking", project.lake.url)
    (found,) = Branches(project.lake.url).all()
    assert found.state == "unfinished"
    with server.superuser(project.clone("fix")) as conn:
        known = "select count(*) > 0 from pg_stats as s where s::text ~ %s"
        assert conn.execute(known, [SECRET]).fetchone() == (True,)
    with pytest.raises(BranchError, match="not finished"):
        Branches(project.lake.url).open("fix")
    with (
        Database(found.url, role="owner").connect() as conn,
        pytest.raises(BranchUnfinishedError),
    ):
        operator.open_installation(conn)
    Branches(project.lake.url).delete("fix")


@pytest.mark.parametrize("kind", ["lost", "status"])
def test_a_post_that_the_sdk_repeats_makes_one_branch(project: Project, kind: str) -> None:
    """An answer that was lost, or a 503: the second try finds the branch of the first one."""
    project.lake.workspace.faults.add(Fault(kind, on=f"POST .*{BRANCHES}$"))
    assert Branches(project.lake.url).create("fix").state == "closed"
    assert project.ids == ["forebay-fix", "production"]


def test_an_operation_that_fails_leaves_nothing(project: Project) -> None:
    """What the workspace says of it is in the error."""
    project.area.failure = "no room for it"
    with pytest.raises(BranchError, match="no room for it"):
        Branches(project.lake.url).create("fix")
    assert project.ids == ["production"]


def test_an_operation_that_never_ends_is_given_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is bounded, and what there is of the branch is removed."""
    monkeypatch.setattr(module.OPERATION, "timeout", timedelta(seconds=1))
    operation = project.postgres.operation

    def endless(about: str, response: dict | None) -> dict:
        begun = operation(about, response)
        if response is not None:
            project.postgres.things[begun["name"]]["done"] = False
        return begun

    monkeypatch.setattr(project.postgres, "operation", endless)
    with pytest.raises(BranchError, match="was not made"):
        Branches(project.lake.url).create("fix")
    assert project.ids == ["production"]


def test_a_branch_that_cannot_be_masked_is_deleted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And when that fails too, the error says that it is there and not masked."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr(upkeep, "mask_data", fail)
    with pytest.raises(RuntimeError, match="disk full"):
        Branches(project.lake.url).create("fix")
    assert project.ids == ["production"]
    refused = Fault("status", on=f"DELETE .*{BRANCHES}/", status=403, code="PERMISSION_DENIED")
    project.lake.workspace.faults.add(refused)
    with pytest.raises(BranchError, match="NOT masked"):
        Branches(project.lake.url).create("fix")
    (left,) = Branches(project.lake.url).all()
    assert left.state == "unfinished"
    with pytest.raises(BranchError, match="not finished"):
        Branches(project.lake.url).open("fix")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Fix"], "no name"),
        (["a/../production"], "no name"),
        (["x" * 56], "no name"),
        (["--ttl", "31d", "fix"], "30 days"),
        (["--ttl", "0", "fix"], "a second at least"),
        (["--ttl", "0.5s", "fix"], "a second at least"),
    ],
)
def test_what_lakebase_cannot_have_is_refused(
    project: Project, cli: Cli, arguments: list[str], said: str
) -> None:
    """Before anything is asked of the workspace."""
    answer = cli("branch", "create", *arguments)
    assert answer.code == 1
    assert said in answer.err
    assert project.ids == ["production"]


def test_who_may_not_manage_the_project_hears_it(project: Project) -> None:
    """In one sentence, and nothing is made."""
    project.lake.workspace.access.grant(APP, "postgres/projects/forebay", "CAN_USE")
    with pytest.raises(BranchError, match="CAN_MANAGE"):
        Branches(project.lake.url).create("fix")
    assert project.ids == ["production"]


def test_what_the_workspace_says_is_told_without_the_clients_settings(project: Project) -> None:
    """The SDK adds them all."""
    refused = Fault("status", rf"GET .*{BRANCHES}$", 403, "PERMISSION_DENIED", "No.", times=None)
    project.lake.workspace.faults.add(refused)
    with pytest.raises(BranchError) as caught:
        Branches(project.lake.url).all()
    assert "Config: host=" in str(caught.value.__cause__)
    assert str(caught.value).endswith(": the workspace says PermissionDenied: No.")


def test_a_gateways_not_found_is_no_branch_that_is_gone(project: Project) -> None:
    """What was not deleted is said to be there."""
    Branches(project.lake.url).create("fix")
    page = "<html><title>Not Found</title></html>"
    project.lake.workspace.faults.add(Fault("status", f"DELETE .*{BRANCHES}/", 404, page=page))
    with pytest.raises(BranchError, match="was not deleted"):
        Branches(project.lake.url).delete("fix")
    Branches(project.lake.url).delete("fix")
    assert project.ids == ["production"]


def test_no_token_is_printed(project: Project, cli: Cli) -> None:
    """Neither what logs in to the workspace nor to the database."""
    made = cli("branch", "create", "fix")
    listed = cli("branch", "list")
    assert made.code == listed.code == 0
    (url,) = re.findall(r"FOREBAY_DATABASE_URL=(\S+) forebay psql", listed.err)
    assert f"FOREBAY_DATABASE_URL={url} forebay psql" in made.err
    assert project.lake.tokens_in(made.out + made.err + listed.out + listed.err) == []


def test_the_branch_is_where_a_daemon_would_be_pointed(project: Project) -> None:
    """The printed URL alone, as FOREBAY_DATABASE_URL, leads to the branch and not to its source."""
    branch = Branches(project.lake.url).create("fix")
    with Database(branch.url, role="owner").connect() as conn:
        assert upkeep.branch_state(conn).branch_name == "fix"
    with psycopg.connect(**Database(branch.url).parameters()) as conn:
        row = conn.execute("show forebay.branch").fetchone()
        assert row == ("projects/forebay/branches/forebay-fix",)
    with psycopg.connect(Database(branch.url).dsn()) as conn:  # as forebay psql does
        assert conn.execute("show forebay.branch").fetchone() == row
