"""Branches of Lakebase: made through the workspace, masked, and known for what they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import psycopg
import pytest
from psycopg import sql
from pytest_postgresql.executors import NoopExecutor

from databricks.support_branches import SECRET, source_database, text_of
from forebay.branches import Branches
from forebay.calls import upkeep, worker
from forebay.databricks import branches as module
from forebay.databricks.branches import LakebaseBranches
from forebay.errors import BranchError, InstallationClosedError
from forebay.pool import Database
from forebay_lab.workspace import Fault
from forebay_lab.workspace.branches import Branches as Area
from forebay_lab.workspace.postgres import Postgres
from support.cli import Cli
from support.lakebase import APP, Lake, lakebase
from support.server import TestServer

DBNAME = "lake_source"
BRANCHES = "/postgres/projects/forebay/branches"


@dataclass(frozen=True, slots=True)
class Project:
    """A project whose branch production is in use; `area` makes its branches."""

    lake: Lake
    area: Area
    postgres: Postgres

    @property
    def ids(self) -> list[str]:
        """Return the ids of the project's branches."""
        collection = "projects/forebay/branches"
        names = (name.rpartition("/") for name in self.postgres.things)
        return sorted(each for of, _, each in names if of == collection)

    def clone(self, name: str) -> str:
        """Return the name of the database that stands for a branch's, in the server."""
        (clone,) = self.area.clones[f"projects/forebay/branches/forebay-{name}"].values()
        return clone


@pytest.fixture
def project(
    server: TestServer, template: NoopExecutor, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    """Serve one, and set the variables that lead to it as an owner of the schema."""
    for name in [name for name in os.environ if name.startswith(("DATABRICKS", "PG"))]:
        monkeypatch.delenv(name)
    with (
        source_database(server, str(template.template_dbname), DBNAME),
        lakebase(server, DBNAME) as lake,
        server.superuser() as conn,
    ):
        conn.execute(sql.SQL("grant forebay_owner to {}").format(sql.Identifier(APP)))
        postgres = lake.postgres
        lake.workspace.access.grant(APP, "postgres/projects/forebay", "CAN_MANAGE")

        def execute(statement: str) -> None:
            conn.execute(statement.encode())

        with Area(postgres, lake.gateway, execute, [DBNAME]) as area:
            lake.workspace.add(area)
            for name, value in lake.environment.items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("FOREBAY_DATABASE_URL", lake.url)
            yield Project(lake, area, postgres)
        conn.execute(sql.SQL("revoke forebay_owner from {}").format(sql.Identifier(APP)))


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


def test_only_our_branches_are_listed_and_deleted(project: Project) -> None:
    """Neither the production branch, nor somebody else's, nor one of another source."""
    production = "projects/forebay/branches/production"
    dev = project.postgres.add_branch("projects/forebay", "dev", source=production)
    project.postgres.add_branch("projects/forebay", "forebay-dev", source=dev)
    branches = Branches(project.lake.url)
    assert branches.all() == []
    for name in ("production", "dev", "../production", "fix"):
        with pytest.raises(BranchError, match="no branch"):
            branches.delete(name)
    assert project.ids == ["dev", "forebay-dev", "production"]


def test_a_branch_that_cannot_be_reached_can_be_deleted(project: Project) -> None:
    """Its id, its source and the log say that it is one: a half-made one may have no endpoint."""
    project.area.has_endpoints = False
    LakebaseBranches(project.lake.url)._create(
        "fix", module.postgres.BranchSpec(no_expiry=True, source_branch=SOURCE)
    )
    branches = Branches(project.lake.url)
    (found,) = branches.all()
    assert found.state == "unknown"
    assert "no endpoint" in str(found.said)
    with pytest.raises(BranchError, match="cannot be asked"):
        branches.delete("fix")  # people may have made it by hand
    with Database(project.lake.url, role="owner").connect() as conn:
        upkeep.prepare_branch(conn, name="fix")
    branches.delete("fix")
    assert project.ids == ["production"]


SOURCE = "projects/forebay/branches/production"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Fix"], "no name"),
        (["a/../production"], "no name"),
        (["x" * 56], "no name"),
        (["--ttl", "31d", "fix"], "30 days"),
        (["--ttl", "0", "fix"], "30 days"),
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


def test_a_name_that_is_taken_stays_what_it_was(project: Project) -> None:
    """The second one is refused; the first one is neither masked again nor deleted."""
    branches = Branches(project.lake.url)
    branches.create("fix")
    with pytest.raises(BranchError, match="of that name"):
        branches.create("fix")
    assert [each.state for each in branches.all()] == ["closed"]


def test_who_may_not_manage_the_project_hears_it(project: Project) -> None:
    """In one sentence, and nothing is made."""
    project.lake.workspace.access.grant(APP, "postgres/projects/forebay", "CAN_USE")
    with pytest.raises(BranchError, match="CAN_MANAGE"):
        Branches(project.lake.url).create("fix")
    assert project.ids == ["production"]


def test_no_token_is_printed(project: Project, cli: Cli) -> None:
    """Neither what logs in to the workspace nor to the database."""
    made = cli("branch", "create", "fix")
    listed = cli("branch", "list")
    assert made.code == listed.code == 0
    assert project.lake.tokens_in(made.out + made.err + listed.out + listed.err) == []


def test_the_branch_is_where_a_daemon_would_be_pointed(project: Project) -> None:
    """The printed URL alone, as FOREBAY_DATABASE_URL, leads to the branch and not to its source."""
    branch = Branches(project.lake.url).create("fix")
    with Database(branch.url, role="owner").connect() as conn:
        assert upkeep.branch_state(conn).branch_name == "fix"
    with psycopg.connect(**Database(branch.url).parameters()) as conn:
        row = conn.execute("show forebay.branch").fetchone()
        assert row == ("projects/forebay/branches/forebay-fix",)
