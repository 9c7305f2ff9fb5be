"""One schema, two ways to install it: psql with db/install.sql, and forebay.schema.upgrade."""

from pathlib import Path

import psycopg
import pytest

from forebay import __version__, schema
from forebay.schema.files import sql_root
from migrations import catalog
from migrations.conftest import NewDatabase, Psql
from migrations.tree import ADD_NOTE, Tree


def applied(dsn: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        return conn.execute(
            "select h.name, h.runs, h.applied_at from forebay.schema_history as h"
        ).fetchall()


def test_psql_and_upgrade_give_the_same_catalogs(new_database: NewDatabase, psql: Psql) -> None:
    """db/install.sql and upgrade make the same schema, down to bodies, comments and grants."""
    by_psql, by_upgrade = new_database(), new_database()
    done = psql(by_psql, sql_root() / "install.sql")
    assert done.returncode == 0, done.stderr
    schema.upgrade(by_upgrade)
    assert catalog.read(by_psql) == catalog.read(by_upgrade)
    assert len(catalog.read(by_psql)["functions"]) > 20


def test_install_sql_is_current() -> None:
    """db/install.sql is what `forebay db install-script` prints for the files as they are."""
    assert (sql_root() / "install.sql").read_text() == schema.install_script()


def test_upgrade_finds_nothing_to_do_after_psql(dsn: str, tree: Tree, psql: Psql) -> None:
    """After psql installed the schema, plan, upgrade and psql again change nothing."""
    assert psql(dsn, tree.root / "install.sql").returncode == 0
    before = applied(dsn)
    assert schema.plan(dsn, root=tree.root) == []
    assert schema.upgrade(dsn, root=tree.root) == []
    again = psql(dsn, tree.root / "install.sql")
    assert again.returncode == 0, again.stderr
    assert "apply" not in again.stdout
    assert applied(dsn) == before


def test_psql_finds_nothing_to_do_after_upgrade(dsn: str, tree: Tree, psql: Psql) -> None:
    """After upgrade installed the schema, psql and upgrade again change nothing."""
    steps = [step.name for step in schema.upgrade(dsn, root=tree.root)]
    assert steps == [
        "migrations/0001_create_roles.sql",
        "migrations/0002_create_notes.sql",
        "functions/agent/add_note.sql",
        "functions/viewer/schema_version.sql",
        "triggers/notes.sql",
        "grants.sql",
        __version__,
    ]
    before = applied(dsn)
    done = psql(dsn, tree.root / "install.sql")
    assert done.returncode == 0, done.stderr
    assert schema.upgrade(dsn, root=tree.root) == []
    assert applied(dsn) == before


def test_psql_upgrades_like_upgrade(new_database: NewDatabase, tree: Tree, psql: Psql) -> None:
    """A new migration, a changed and a removed function: psql and upgrade do the same."""
    by_psql, by_upgrade = new_database(), new_database()
    tree.write("functions/agent/old.sql", "-- nothing\n")
    for dsn in (by_psql, by_upgrade):
        schema.upgrade(dsn, root=tree.root)
    tree.change_function()
    (tree.root / "functions/agent/old.sql").unlink()
    tree.write("migrations/0003_add_author.sql", "alter table forebay.notes add author text;\n")
    done = psql(by_psql, tree.root / "install.sql")
    assert done.returncode == 0, done.stderr
    schema.upgrade(by_upgrade, root=tree.root)
    assert catalog.read(by_psql) == catalog.read(by_upgrade)
    assert sorted(row[:2] for row in applied(by_psql)) == sorted(
        row[:2] for row in applied(by_upgrade)
    )


def test_plan_changes_nothing(dsn: str, tree: Tree) -> None:
    """plan and verify and status on an empty database leave it empty."""
    assert len(schema.plan(dsn, root=tree.root)) == 7
    assert schema.status(dsn, root=tree.root).installed is None
    assert schema.verify(dsn, root=tree.root) == [
        "Schema forebay is not installed: run forebay db upgrade."
    ]
    with psycopg.connect(dsn) as conn:
        assert conn.execute("select from pg_namespace where nspname = 'forebay'").rowcount == 0


def test_the_script_for_an_empty_database(
    new_database: NewDatabase, tree: Tree, psql: Psql, tmp_path: Path
) -> None:
    """plan --sql gives a file that psql can run alone; a second run changes nothing."""
    by_script, by_upgrade = new_database(), new_database()
    file = tmp_path / "script.sql"
    file.write_text(schema.script(root=tree.root))
    done = psql(by_script, file)
    assert done.returncode == 0, done.stderr
    schema.upgrade(by_upgrade, root=tree.root)
    assert catalog.read(by_script) == catalog.read(by_upgrade)
    again = psql(by_script, file)
    assert again.returncode == 3
    assert 'schema "forebay" already exists' in again.stderr
    assert schema.plan(by_script, root=tree.root) == []


def test_the_script_for_an_installation(dsn: str, tree: Tree, psql: Psql, tmp_path: Path) -> None:
    """A script of pending steps runs once; it refuses a database that has changed since."""
    schema.upgrade(dsn, root=tree.root)
    assert schema.script(dsn, root=tree.root).startswith("-- Nothing to do")
    tree.change_function()
    file = tmp_path / "script.sql"
    file.write_text(schema.script(dsn, root=tree.root))
    done = psql(dsn, file)
    assert done.returncode == 0, done.stderr
    assert schema.plan(dsn, root=tree.root) == []
    again = psql(dsn, file)
    assert again.returncode == 3
    assert "changed after this script was written" in again.stderr


def test_the_clients_encoding_does_not_matter(
    new_database: NewDatabase, tree: Tree, psql: Psql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal set to another encoding installs the same texts."""
    tree.write("functions/agent/add_note.sql", ADD_NOTE.replace("Keep a note", "Notiz für später"))
    by_psql, by_upgrade = new_database(), new_database()
    schema.upgrade(by_upgrade, root=tree.root)
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    done = psql(by_psql, tree.root / "install.sql")
    assert done.returncode == 0, done.stderr
    monkeypatch.delenv("PGCLIENTENCODING")
    assert catalog.read(by_psql) == catalog.read(by_upgrade)
