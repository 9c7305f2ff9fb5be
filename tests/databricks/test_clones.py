"""Branches of a plain Postgres: made, masked, shown, opened and deleted, whatever happens."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from pytest_postgresql.executors import NoopExecutor

from databricks.support_branches import (
    SECRET,
    SOURCE,
    attack,
    databases,
    killed_after,
    named,
    runs,
    source_database,
    text_of,
    with_superuser,
)
from forebay import clones
from forebay.branches import Branches
from forebay.calls import operator, submitter, upkeep, worker
from forebay.clones import Clones
from forebay.copies import Copy
from forebay.errors import BranchError, BranchUnfinishedError, InstallationClosedError
from support.cli import Cli
from support.daemon import install_fake_agents
from support.server import INSTALLER, TestServer

HOSTILE = 'it\'s "a"; drop database postgres --'


@pytest.fixture
def source(server: TestServer, template: NoopExecutor) -> Iterator[str]:
    """Return the DSN of a database's owner."""
    with source_database(server, str(template.template_dbname)) as dsn:
        yield dsn


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: str) -> Cli:
    """Run commands as the installer."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", source)
    return Cli(capsys)


@pytest.fixture(autouse=True)
def _fake_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    install_fake_agents(monkeypatch)


def test_a_branch_is_masked_and_closed_and_the_original_as_it_was(source: str) -> None:
    """In the branch nothing is left of the secret; the original goes on with its runs."""
    before = runs(source)
    branch = Branches(source).create("fix", actor="ann")
    assert branch.state == "closed"
    assert branch.branched_at
    assert branch.masked_at
    assert SECRET not in text_of(branch.url)
    assert runs(source) == before
    assert SECRET in text_of(source)
    with psycopg.connect(with_superuser(source), autocommit=True) as conn:
        assert worker.runs_to_cancel(conn, worker="w")
        assert worker.dequeue(conn, worker="w", agents=["fake"])
    with psycopg.connect(with_superuser(branch.url), autocommit=True) as conn:
        with pytest.raises(InstallationClosedError):
            worker.dequeue(conn, worker="w", agents=["fake"])
        assert worker.runs_to_cancel(conn, worker="w") == []
        states = conn.execute("select distinct status from forebay.tasks").fetchall()
        assert {state for (state,) in states} == {"enqueued", "cancelled"}


def test_a_daemon_that_is_pointed_at_the_copy_starts_nothing_at_any_step(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right after the copy, after it is begun, and after each part that is masked."""
    steps = []
    url = named(source, "fix")

    def attacked(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **named: Any) -> Any:
            attack(url, tmp_path)
            answer = real(*args, **named)
            if name == "mask_data" and answer.part not in steps:
                steps.append(answer.part)
            elif name != "mask_data":
                steps.append(name)
            return answer

        return step

    begin, mask = upkeep.begin_branch, upkeep.mask_data
    monkeypatch.setattr(upkeep, "begin_branch", attacked("begin_branch", begin))
    few = lambda conn: mask(conn, limit=2)  # noqa: E731
    monkeypatch.setattr(upkeep, "mask_data", attacked("mask_data", few))
    Branches(source).create("fix")
    attack(url, tmp_path)
    assert steps == ["begin_branch", "tasks", "attempts", "audit", None]
    assert all(not is_to_stop for *_, is_to_stop in runs(url))


def test_how_to_connect_is_not_said_before_all_is_masked(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has the address early would look at what is not masked."""
    said: list[str] = []
    heard: list[str] = []
    mask = upkeep.mask_data

    def masking(conn: psycopg.Connection, **options: Any) -> Any:
        heard[:] = said
        return mask(conn, **options)

    monkeypatch.setattr(upkeep, "mask_data", masking)
    branch = Branches(source).create("fix", note=said.append)
    assert heard
    address = psycopg.conninfo.conninfo_to_dict(branch.url)["dbname"]
    assert [one for one in heard if branch.url in one or str(address) in one] == []


@pytest.mark.parametrize("step", ["make", "begin_branch", "mask_data", "masking", "vacuum"])
def test_a_creation_that_is_killed_leaves_what_is_called_unfinished(
    source: str, tmp_path: Path, step: str
) -> None:
    """It is listed so, cannot be opened, starts nothing, and can be deleted."""
    killed_after(step, source)
    branches = Branches(source)
    (found,) = branches.all()
    assert found.name == "fix"
    assert found.state == "unfinished"
    with pytest.raises(BranchError, match="not finished"):
        branches.open("fix")
    attack(named(source, "fix"), tmp_path)
    branches.delete("fix")
    assert branches.all() == []


def test_what_is_begun_and_not_masked_is_not_opened_in_sql_either(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """open_installation itself refuses, whoever calls it."""
    monkeypatch.setattr(Clones, "remove", lambda *_: _fail("cannot"))
    monkeypatch.setattr(upkeep, "mask_data", lambda *_: _fail("disk full"))
    with pytest.raises(BranchError, match=r"NOT masked \(disk full\)") as caught:
        Branches(source).create("fix")
    assert "cannot" in str(caught.value)
    with (
        psycopg.connect(with_superuser(named(source, "fix")), autocommit=True) as conn,
        pytest.raises(BranchUnfinishedError),
    ):
        operator.open_installation(conn)


def _fail(message: str) -> None:
    raise RuntimeError(message)


@pytest.mark.parametrize("step", ["begin_branch", "mask_data"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_copy_that_fails_is_removed(
    source: str,
    server: TestServer,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    error: type[BaseException],
) -> None:
    """After an error, and after Ctrl-C, there is no unmasked copy."""

    def fail(*_: Any, **__: Any) -> None:
        raise error("no")

    monkeypatch.setattr(upkeep, step, fail)
    before = databases(server)
    with pytest.raises(error, match="no"):
        Branches(source).create("fix")
    assert databases(server) == before


def test_hostile_names_are_names(cli: Cli, server: TestServer, source: str) -> None:
    """Quotes and semicolons are letters like others, from the making to the end."""
    before = databases(server)
    made = cli("branch", "create", "--json", HOSTILE)
    assert made.code == 0, made.err
    assert databases(server) - before == {f"{SOURCE}_branch_{HOSTILE}"}
    assert [row["name"] for row in cli("branch", "list", "--json").json] == [HOSTILE]
    assert cli("branch", "open", "--yes", HOSTILE).code == 0
    assert cli("branch", "list", "--json").json[0]["state"] == "open"
    assert cli("branch", "delete", "--yes", HOSTILE).code == 0
    assert databases(server) == before


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0b", "x" * 60])
def test_what_no_database_can_be_called_is_refused(source: str, name: str) -> None:
    """An empty or unprintable name, and one that Postgres would cut off."""
    with pytest.raises(BranchError, match="name"):
        Branches(source).create(name)


def test_an_opened_branch_works_on_its_own_tasks(source: str) -> None:
    """Once it is open and an agent is resumed it claims, with ids that the original never gives."""
    branches = Branches(source)
    branches.create("fix")
    opened = branches.open("fix", reason="look", actor="ann")
    assert opened.state == "open"
    with psycopg.connect(with_superuser(opened.url), autocommit=True) as conn:
        assert worker.dequeue(conn, worker="w", agents=["jobs", "fake"], batch_size=9) == []
        operator.resume_agent(conn, agent="jobs")
        claimed = worker.dequeue(conn, worker="w", agents=["jobs"], batch_size=9)
        assert len(claimed) == 2
        assert all(one.attempt_id > 10**12 and one.payload == {} for one in claimed)
        assert worker.runs_to_cancel(conn, worker="w") == []
        assert submitter.enqueue(conn, agent="fake", payload={}) > 10**12


def test_a_branch_of_an_open_branch_is_closed(source: str, tmp_path: Path) -> None:
    """That its source may dispatch says nothing of the copy, not even before it is begun."""
    first = Branches(source)
    url = first.create("a").url
    first.open("a")
    copies = Clones(url)
    second = Branches(url, copies)
    with psycopg.connect(with_superuser(url), autocommit=True) as conn:
        upkeep.prepare_branch(conn, name="b")
    copies.make("b", None)
    attack(copies.url("b"), tmp_path)
    copies.remove(Copy("b"))
    branch = second.create("b")
    assert branch.state == "closed"
    attack(branch.url, tmp_path)
    assert [each.name for each in second.all()] == ["b"]
    assert [(each.name, each.state) for each in first.all()] == [("a", "open")]


def test_a_database_in_use_is_not_cloned(source: str, server: TestServer) -> None:
    """The error says what to stop; there is no half of a copy."""
    before = databases(server)
    with psycopg.connect(source), pytest.raises(BranchError, match="in use") as caught:
        Branches(source).create("fix")
    assert "stop what is connected" in str(caught.value)
    assert databases(server) == before


def test_who_may_not_clone_hears_what_is_missing(source: str, server: TestServer) -> None:
    """A member of forebay_owner without createdb, and a login that is no member."""
    for name, role in (("some_owner", "forebay_owner"), ("some_viewer", "forebay_viewer")):
        with server.superuser() as conn:
            conn.execute(f"drop role if exists {name}".encode())
            conn.execute(f"create role {name} login in role {role}".encode())
    where = psycopg.conninfo.make_conninfo(source, user="some_owner")
    with pytest.raises(BranchError, match="createdb"):
        Branches(where).create("fix")
    where = psycopg.conninfo.make_conninfo(source, user="some_viewer")
    with pytest.raises(BranchError, match="grant forebay_owner"):
        Branches(where).create("fix")


def test_what_is_no_branch_is_not_deleted(source: str, server: TestServer) -> None:
    """A database that is only called like one: without Forebay, or with one of its own."""
    with server.superuser() as conn:
        for name in ("notes", "other"):
            made = sql.Identifier(f"{SOURCE}_branch_{name}")
            owner = sql.Identifier(INSTALLER)
            conn.execute(sql.SQL("create database {} owner {}").format(made, owner))
    from forebay.schema import upgrade

    upgrade(named(source, "other"))
    branches = Branches(source)
    assert [(each.name, each.state) for each in branches.all()] == [("notes", "unknown")]
    with pytest.raises(BranchError, match="cannot be asked"):
        branches.delete("notes")
    for name in ("other", "nothing", ""):
        with pytest.raises(BranchError, match="no branch"):
            branches.delete(name)
        with pytest.raises(BranchError, match="no branch"):
            branches.open(name)
    assert {f"{SOURCE}_branch_notes", f"{SOURCE}_branch_other", SOURCE} <= databases(server)


def test_a_name_that_is_taken_is_refused_and_left_alone(source: str) -> None:
    """The branch that is there stays, finished as it was."""
    branches = Branches(source)
    branches.create("fix")
    said: list[str] = []
    with pytest.raises(BranchError, match="of that name"):
        branches.create("fix", note=said.append)
    assert said == []  # it looks before it begins
    assert [each.state for each in branches.all()] == ["closed"]


def test_nobody_else_connects_until_the_owner_says_so(source: str, server: TestServer) -> None:
    """The grants of a database are no part of its clone: it begins with none."""
    branch = Branches(source).create("fix")
    with server.superuser() as conn:
        conn.execute("drop role if exists some_worker")
        conn.execute("create role some_worker login in role forebay_worker")
    where = psycopg.conninfo.make_conninfo(branch.url, user="some_worker")
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(where)


def test_a_clone_is_dropped_once_a_superuser_has_left_it(
    source: str, server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner, who is none, may not cut such a session off, as one of autovacuum is."""
    branches = Branches(source)
    branch = branches.create("fix")
    before = databases(server)
    with psycopg.connect(with_superuser(branch.url)) as conn:
        leave = threading.Timer(0.5, conn.close)
        leave.start()
        branches.delete("fix")
        leave.join()
    assert len(databases(server)) == len(before) - 1
    with psycopg.connect(with_superuser(branches.create("fix").url)):
        monkeypatch.setattr(clones, "PATIENCE", 0.5)
        with pytest.raises(BranchError, match="was not dropped: permission denied"):
            branches.delete("fix")
    branches.delete("fix")


def test_no_password_is_printed(source: str, cli: Cli) -> None:
    """The one of the original's DSN is left out of all that is shown."""
    with_password = psycopg.conninfo.make_conninfo(source, password="open-sesame")
    made = cli("branch", "create", "--dsn", with_password, "fix")
    assert made.code == 0, made.err
    listed = cli("branch", "list", "--dsn", with_password)
    assert "_branch_fix" in made.out
    assert "open-sesame" not in made.out + made.err + listed.out + listed.err


def test_opening_and_deleting_ask_first(
    cli: Cli, server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a yes nothing happens; what a script's empty stdin says is no."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli("branch", "create", "fix").code == 0
    before = databases(server)
    for command in ("open", "delete"):
        refused = cli("branch", command, "fix")
        assert refused.code == 1
        assert "fix" in refused.err
    assert cli("branch", "list", "--json").json[0]["state"] == "closed"
    assert databases(server) == before


def test_a_clone_lives_until_it_is_deleted(cli: Cli) -> None:
    """A time to live is refused, and not ignored."""
    assert "Lakebase" in cli("branch", "create", "--ttl", "1d", "fix").err


def test_creating_says_how_far_it_is(source: str) -> None:
    """What takes long is named as it begins."""
    said: list[str] = []
    Branches(source).create("fix", note=said.append)
    assert said[0] == "copying the database"
    assert said[-1] == "removing what the masked rows were before from the tables' files"
