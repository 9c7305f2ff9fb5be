"""Branches of Lakebase that others made, or may have made: they stay as they are."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from pytest_postgresql.executors import NoopExecutor

from databricks.support_branches import source_database
from databricks.support_deployed import become
from databricks.support_project import BRANCHES, SOURCE, Project
from forebay.branches import Branches
from forebay.calls import upkeep
from forebay.databricks import branches as module
from forebay.databricks.branches import LakebaseBranches
from forebay.embedded import SUPERUSER
from forebay.errors import BranchError
from forebay.pool import Database
from forebay_lab.workspace import Fault
from forebay_lab.workspace.deployed import DEPLOYER, deployed
from support.server import TestServer


def test_of_two_that_make_one_branch_it_is_the_first_ones(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looked before it was there is refused, and removes nothing that is not its own."""
    theirs = Branches(project.lake.url)
    theirs.create("fix")
    theirs.open("fix")
    there = LakebaseBranches._there
    looks = iter([lambda *_: None])
    with monkeypatch.context() as patched:
        patched.setattr(LakebaseBranches, "found", lambda *_: [])
        patched.setattr(LakebaseBranches, "_there", lambda *a: next(looks, there)(*a))
        with pytest.raises(BranchError, match="of that name"):
            Branches(project.lake.url).create("fix")
    assert [(each.name, each.state) for each in theirs.all()] == [("fix", "open")]


def test_of_two_at_once_one_makes_the_branch(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workspace takes one of them; the other one hears that the name is taken."""
    both, create_branch = threading.Barrier(2), LakebaseBranches._create

    def together(*arguments: Any) -> Any:
        both.wait(30)
        return create_branch(*arguments)

    monkeypatch.setattr(LakebaseBranches, "_create", together)

    def create(_: int) -> str:
        try:
            return Branches(project.lake.url).create("fix").state
        except BranchError as error:
            return str(error)

    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            answers = sorted(pool.map(create, range(2)), key=len)
        assert answers[0] == "closed"
        assert "There is a branch" in answers[1]
        assert [each.state for each in Branches(project.lake.url).all()] == ["closed"]
        Branches(project.lake.url).delete("fix")
        assert project.ids == ["production"]


def test_what_may_be_somebody_elses_is_left_and_said(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a lost answer and a failure before it is begun nobody knows whose it is."""
    project.lake.workspace.faults.add(Fault("lost", on=f"POST .*{BRANCHES}$"))

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(upkeep, "begin_branch", fail)
    branches = Branches(project.lake.url)
    with pytest.raises(BranchError, match=r"NOT masked.*somebody else"):
        branches.create("fix")
    assert [(each.name, each.state) for each in branches.all()] == [("fix", "unfinished")]
    branches.delete("fix")


def test_a_branch_of_a_branch_is_named_where_it_is_in_the_way(project: Project) -> None:
    """Its name is taken in the project, and what it was made of cannot be deleted before it."""
    branches = Branches(project.lake.url)
    one = branches.create("one")
    Branches(one.url).create("two")
    with pytest.raises(BranchError, match="made of projects/forebay/branches/forebay-one"):
        branches.create("two")
    with pytest.raises(BranchError, match=r"\(two\)"):
        branches.delete("one")


def test_a_name_that_is_taken_stays_what_it_was(project: Project) -> None:
    """The second one is refused; the first one is neither masked again nor deleted."""
    branches = Branches(project.lake.url)
    branches.create("fix")
    with pytest.raises(BranchError, match="of that name"):
        branches.create("fix")
    assert [each.state for each in branches.all()] == ["closed"]


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


def test_the_stand_in_of_the_docs_makes_branches_too(
    server: TestServer, template: NoopExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As who deploys: made, listed and deleted, each clone a database of the embedded Postgres."""
    with (
        source_database(server, str(template.template_dbname), "stand_in"),
        deployed(server.dsn(SUPERUSER, "stand_in"), tmp_path, dbname="stand_in") as here,
        server.superuser() as conn,
    ):
        conn.execute(sql.SQL("grant forebay_owner to {}").format(sql.Identifier(DEPLOYER)))
        become(monkeypatch, here.environment())
        branches = Branches(here.url)
        branch = branches.create("fix")
        assert branches.all() == [branch]
        branches.delete("fix")
        assert branches.all() == []
