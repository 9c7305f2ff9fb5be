"""Copies of a plain Postgres: whoever made them, and whatever ended it, each is what it is."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
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
    source_database,
    text_of,
    with_superuser,
)
from forebay.branches import Branches
from forebay.calls import operator, upkeep, worker
from forebay.clones import Clones
from forebay.copies import Copy
from forebay.errors import BranchError, BranchUnfinishedError, NotABranchError
from support.cli import Cli
from support.daemon import install_fake_agents
from support.server import INSTALLER, TestServer, login_role

AT_HOME = """
update forebay.installation set home = d.oid::text
from pg_database as d where d.datname = current_database()
"""
"""What an installation notes; those of tests do not, as their clones are to be originals."""


@pytest.fixture
def source(
    server: TestServer, template: NoopExecutor, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Return the DSN of a database's owner."""
    install_fake_agents(monkeypatch)
    with source_database(server, str(template.template_dbname)) as dsn:
        monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
        yield dsn


def as_superuser(url: str) -> psycopg.Connection:
    """Connect as whom no grant keeps out."""
    return psycopg.connect(with_superuser(url), autocommit=True)


@pytest.mark.parametrize("step", ["create database", "revoke connect"])
def test_nobody_connects_to_what_is_being_copied(
    source: str, server: TestServer, step: str
) -> None:
    """Not even a superuser, whatever ends the command; the next one knows it, and deletes it."""
    killed_after(step, source)
    with pytest.raises(psycopg.OperationalError, match="not currently accepting connections"):
        as_superuser(named(source, "fix"))
    branches = Branches(source)
    assert [(each.name, each.state) for each in branches.all()] == [("fix", "unfinished")]
    branches.delete("fix")
    assert {each for each in databases(server) if each.startswith(SOURCE)} == {SOURCE}


def test_what_ends_the_command_has_it_take_back_what_it_made(
    source: str,
    server: TestServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A job that is cancelled sends SIGTERM, which is as good as Ctrl-C."""
    monkeypatch.setattr(upkeep, "mask_data", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    before, handler = databases(server), signal.getsignal(signal.SIGTERM)
    try:
        assert Cli(capsys)("branch", "create", "fix").code
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert databases(server) == before


@pytest.mark.parametrize("step", ["create database", "revoke connect", "alter database"])
def test_ctrl_c_as_a_statement_of_the_copy_ends_leaves_nothing(
    source: str, server: TestServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The server has made it, and nobody here has heard so yet."""
    before, execute = databases(server), psycopg.Connection.execute

    def interrupted(conn: Any, query: Any, *args: Any, **named: Any) -> Any:
        done = execute(conn, query, *args, **named)
        if isinstance(query, sql.Composed) and query.as_string().startswith(step):
            raise KeyboardInterrupt
        return done

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Branches(source).create("fix")
    assert databases(server) == before


def test_ctrl_c_while_a_copy_is_taken_back_says_what_is_left(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second one is not taken for an end."""

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Clones, "remove", interrupt)
        patched.setattr(upkeep, "mask_data", interrupt)
        with pytest.raises(BranchError, match="NOT masked"):
            Branches(source).create("fix")
    assert [each.state for each in Branches(source).all()] == ["unfinished"]


def test_a_copy_of_somebody_else_is_not_taken_back(source: str, server: TestServer) -> None:
    """Their database was there first: what ends the command, theirs stays."""
    Branches(source).create("fix")
    with pytest.raises(BranchError, match="of that name"):
        Clones(source).make("fix", None)
    assert [each.state for each in Branches(source).all()] == ["closed"]


OF_AN_OLDER_RELEASE = """
create or replace function forebay.schema_version() returns text language sql stable
as $$ select '0.4.0'::text $$
"""


def test_a_branch_of_an_older_release_is_listed_and_deleted(source: str) -> None:
    """Upgrading production leaves branches as they were; what is to be upgraded is the branch."""
    branches = Branches(source)
    for name, below in (("a", "b"), ("c", None)):
        url = branches.create(name).url
        if below:
            Branches(url).create(below)
        with as_superuser(url) as conn:
            conn.execute(OF_AN_OLDER_RELEASE)
    assert {each.name: each.state for each in branches.all()} == {"a": "closed", "c": "closed"}
    with pytest.raises(BranchError, match="FOREBAY_DATABASE_URL set to the branch's"):
        branches.open("c")
    with pytest.raises(BranchError, match=r"branches of the branch 'a' \(b\)"):
        branches.delete("a")
    branches.delete("c")
    assert [each.name for each in branches.all()] == ["a"]


def test_a_branch_that_is_replaced_while_it_is_made_is_not_said_to_be_left(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what somebody has made since under its name removed."""
    mask = upkeep.mask_data

    def replaced(conn: psycopg.Connection) -> Any:
        monkeypatch.setattr(upkeep, "mask_data", mask)
        Clones(source).remove(Copy("fix"))
        Branches(source).create("fix")
        return mask(conn)

    monkeypatch.setattr(upkeep, "mask_data", replaced)
    with pytest.raises(BranchError, match="was not made"):
        Branches(source).create("fix")
    assert [each.state for each in Branches(source).all()] == ["closed"]


def test_of_two_that_are_made_at_once_one_hears_that_the_name_is_taken(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the server says it: of two at once, one meets the other's row of the catalog."""
    Branches(source).create("fix")
    monkeypatch.setattr(Clones, "found", lambda *_: [])
    with pytest.raises(BranchError, match="of that name"):
        Branches(source).create("fix")
    late = psycopg.errors.UniqueViolation("duplicate key value")
    assert "of that name" in Clones(source)._sentence(late, "ann")


@pytest.mark.parametrize(
    "copied",
    [
        "update forebay.installation set is_branch = true, opened_in = null",
        "update forebay.installation set system_identifier = 1, home = '1'",
    ],
)
def test_a_branch_of_a_copy_that_took_over_is_a_branch(
    source: str, tmp_path: Path, copied: str
) -> None:
    """Marked by hand or restored, then opened: it is production, and stays as it is."""
    with as_superuser(source) as conn:
        conn.execute(copied.encode())
        operator.open_installation(conn, reason="the old server is gone")
        before = upkeep.branch_state(conn)
    branches = Branches(source)
    branch = branches.create("fix")
    assert (branch.name, branch.state) == ("fix", "closed")
    assert branches.all() == [branch]
    attack(branch.url, tmp_path)
    assert SECRET not in text_of(branch.url)
    with as_superuser(source) as conn:
        assert upkeep.branch_state(conn) == before
        assert before.state == "original"
        with pytest.raises(NotABranchError):
            upkeep.mask_data(conn)
        assert worker.dequeue(conn, worker="w", agents=["fake"])


def test_a_copy_that_people_made_is_none_of_ours(
    source: str, server: TestServer, tmp_path: Path
) -> None:
    """A clone called like a branch starts nothing, and is never begun, listed or deleted."""
    with as_superuser(source) as conn:
        conn.execute(AT_HOME)
    names = map(sql.Identifier, (f"{SOURCE}_branch_backup", SOURCE, INSTALLER))
    with server.superuser() as conn:
        conn.execute(sql.SQL("create database {} template {} owner {}").format(*names))
    backup, branches = named(source, "backup"), Branches(source)
    attack(backup, tmp_path)
    assert branches.all() == []
    with pytest.raises(BranchError, match="no branch"):
        branches.delete("backup")
    with as_superuser(backup) as conn:
        operator.open_installation(conn, reason="it takes over")
        assert worker.dequeue(conn, worker="w", agents=["fake"])
        with pytest.raises(NotABranchError):
            upkeep.begin_branch(conn, name="backup")
    with as_superuser(source) as conn:
        upkeep.prepare_branch(conn, name="backup")
    assert branches.all() == []
    with pytest.raises(BranchError, match="no branch"):
        branches.delete("backup")


def test_an_installation_knows_where_it_is_at_home(server: TestServer) -> None:
    """So that a clone of it is known without a branch's ever having been made."""
    from forebay.schema import upgrade

    with server.superuser() as conn:
        conn.execute(f"create database at_home owner {INSTALLER}".encode())
    try:
        upgrade(server.dsn(INSTALLER, "at_home"))
        with server.superuser("at_home") as conn:
            home = conn.execute("select home from forebay.installation").fetchone()
            assert home == conn.execute("select forebay._here()").fetchone()
    finally:
        with server.superuser() as conn:
            conn.execute("drop database at_home with (force)")


def test_an_operator_alone_does_not_open_what_was_to_be_masked(
    source: str, server: TestServer
) -> None:
    """The copy of a command that was killed before it was begun; its owner may take it over."""
    with as_superuser(source) as conn:
        upkeep.prepare_branch(conn, name="fix")
    Clones(source).make("fix", None)
    with server.superuser() as conn:
        login = login_role(conn, "operator")
        names = map(sql.Identifier, (f"{SOURCE}_branch_fix", login))
        conn.execute(sql.SQL("grant connect on database {} to {}").format(*names))
    copy = named(source, "fix")
    with (
        psycopg.connect(psycopg.conninfo.make_conninfo(copy, user=login)) as conn,
        pytest.raises(BranchUnfinishedError),
    ):
        operator.open_installation(conn)


def test_neither_statistics_nor_files_tell_what_was_masked(source: str) -> None:
    """Nor those of tables that are empty by then, which analyze leaves as they were."""
    with as_superuser(source) as conn:
        conn.execute(
            "insert into forebay.customer_turns (agent, customer, served)"
            " select 'jobs', %s || n, 1 from generate_series(1, 50) as n",
            [SECRET],
        )
        conn.execute(
            "insert into forebay.announcements (kind, subject, occurrence, details, occurred_at,"
            " created_at, next_try_at, last_error) select 'agent.paused', %(s)s, n, '{}', now(),"
            " now(), now(), %(s)s from generate_series(1, 50) as n",
            {"s": SECRET},
        )
        conn.execute("create schema theirs create table notes (note text)")
        conn.execute("analyze")
    said: list[str] = []
    branch = Branches(source).create("fix", note=said.append)
    assert "not Forebay's, and so as they were: the tables of schema theirs" in said
    with as_superuser(branch.url) as conn:
        known = "select count(*) from pg_stats as s where s::text ~ %s"
        assert conn.execute(known, [SECRET]).fetchone() == (0,)
        conn.execute("checkpoint")
        (place,) = conn.execute(
            "select current_setting('data_directory') || '/base/' || oid from pg_database"
            " where datname = current_database()"
        ).fetchone() or ("",)
    holding = [file.name for file in Path(place).iterdir() if SECRET.encode() in file.read_bytes()]
    assert holding == []


def test_a_branch_is_made_of_an_installation_whose_tasks_are_gone(source: str) -> None:
    """Statistics of what was deleted are forgotten too, but for a column that triggers look at."""
    with as_superuser(source) as conn:
        conn.execute("analyze forebay.tasks, forebay.task_attempts")
        conn.execute("set session_replication_role = replica")
        conn.execute("delete from forebay.task_attempts")
        conn.execute("delete from forebay.tasks")
    assert Branches(source).create("fix").masked_at


def test_a_branch_of_which_there_are_branches_is_not_deleted(source: str) -> None:
    """They would be nobody's; and a branch says that it is the one that is looked for."""
    first = Branches(source)
    second = Branches(first.create("a").url)
    second.create("b")
    with pytest.raises(BranchError, match=r"branches of the branch 'a' \(b\)"):
        first.delete("a")
    with pytest.raises(BranchError, match="is the branch 'a' itself"):
        second.open("a")
    second.delete("b")
    first.delete("a")
    assert first.all() == []
