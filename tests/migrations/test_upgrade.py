"""What upgrade refuses, what it re-applies, and that it is all or nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from forebay import schema
from forebay.schema import SchemaError
from migrations import catalog
from migrations.conftest import Psql
from migrations.tree import ADD_NOTE, Tree


def names(steps: list[schema.Step]) -> list[str]:
    return [step.name for step in steps]


def as_owner(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        conn.execute(statement.encode())


def test_mg2_a_changed_function_is_applied_again_once(dsn: str, tree: Tree) -> None:
    """MG2: a new body reaches an installation of the same release, once, and keeps its grants."""
    schema.upgrade(dsn, root=tree.root)
    changed = tree.change_function()
    assert names(schema.upgrade(dsn, root=tree.root)) == [changed, "grants.sql"]
    assert schema.upgrade(dsn, root=tree.root) == []
    assert schema.verify(dsn, root=tree.root) == []


def test_a_new_function_gets_its_grants(dsn: str, tree: Tree) -> None:
    """The grants are applied again after anything else, though their own text is the same."""
    tree.write("functions/agent/add_note.sql", "-- not yet\n")
    tree.write("grants.sql", "grant usage on schema forebay to forebay_agent;\n")
    schema.upgrade(dsn, root=tree.root)
    tree.write("functions/agent/add_note.sql", ADD_NOTE)
    assert names(schema.upgrade(dsn, root=tree.root)) == [
        "functions/agent/add_note.sql",
        "grants.sql",
    ]


def test_a_function_that_is_gone_is_forgotten(dsn: str, tree: Tree) -> None:
    """A removed file leaves the ledger, so that it is applied when it comes back."""
    schema.upgrade(dsn, root=tree.root)
    file = tree.root / "triggers/notes.sql"
    text = file.read_text()
    file.unlink()
    assert [(s.name, s.why) for s in schema.upgrade(dsn, root=tree.root)] == [
        ("triggers/notes.sql", "gone")
    ]
    file.write_text(text)
    assert names(schema.upgrade(dsn, root=tree.root)) == ["triggers/notes.sql", "grants.sql"]


def test_an_edited_migration_is_refused(dsn: str, tree: Tree, psql: Psql) -> None:
    """A migration is frozen once applied: upgrade, plan and psql refuse an edited one."""
    schema.upgrade(dsn, root=tree.root)
    before = catalog.read(dsn)
    tree.write("migrations/0002_create_notes.sql", "select 1;\n")
    tree.change_function()
    for refused in (schema.plan, schema.upgrade):
        with pytest.raises(
            SchemaError, match=r"0002_create_notes\.sql was edited after it was applied"
        ):
            refused(dsn, root=tree.root)
    done = psql(dsn, tree.root / "install.sql")
    assert done.returncode == 3
    assert "0002_create_notes.sql was edited after it was applied" in done.stderr
    assert catalog.read(dsn) == before


def test_a_broken_file_is_named_with_its_line(dsn: str, tree: Tree, psql: Psql) -> None:
    """An error names file and line, and leaves nothing of the whole upgrade behind."""
    tree.write("migrations/0003_break.sql", "select 'ü';\n\nselect nosuch();\n")
    with pytest.raises(SchemaError, match=r"^migrations/0003_break\.sql:3: .*nosuch\(\).*42883"):
        schema.upgrade(dsn, root=tree.root)
    done = psql(dsn, tree.root / "install.sql")
    assert done.returncode == 3
    assert "0003_break.sql:3: ERROR" in done.stderr
    assert catalog.read(dsn)["schema"] == []


def test_an_error_inside_a_block_names_the_file(dsn: str, tree: Tree) -> None:
    """A migration's verify block that raises stops the upgrade, with the file's name."""
    tree.write(
        "migrations/0003_verify.sql", "do $$ begin raise exception 'not as expected'; end; $$;\n"
    )
    with pytest.raises(SchemaError, match=r"^migrations/0003_verify\.sql: not as expected"):
        schema.upgrade(dsn, root=tree.root)
    assert catalog.read(dsn)["schema"] == []


def test_a_broken_upgrade_leaves_the_installation_as_it_was(dsn: str, tree: Tree) -> None:
    """An upgrade that fails in its last file undoes the first ones."""
    schema.upgrade(dsn, root=tree.root)
    before = catalog.read(dsn)
    tree.change_function()
    tree.write("grants.sql", "grant execute on function forebay.nosuch to forebay_agent;\n")
    with pytest.raises(SchemaError, match=r"^grants\.sql"):
        schema.upgrade(dsn, root=tree.root)
    assert catalog.read(dsn) == before


@pytest.mark.parametrize(
    "word", ["commit", "ROLLBACK", "begin", "start transaction", "savepoint a"]
)
def test_transaction_control_is_refused(tree: Tree, word: str) -> None:
    """A file that would end the one transaction is refused, with its line."""
    tree.root.joinpath("grants.sql").write_text(f"select 'commit; begin';\n{word};\n")
    with pytest.raises(SchemaError, match=r"^grants\.sql:2: remove"):
        schema.plan(root=tree.root)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("functions/clerk/x.sql", "is in no folder that is loaded"),
        ("functions/x.sql", "is in no folder that is loaded"),
        ("migrations/3_x.sql", "is no name of a migration"),
        ("migrations/0002_again.sql", "Two files begin with migrations/0002"),
    ],
)
def test_a_file_that_would_be_missed_is_refused(tree: Tree, name: str, said: str) -> None:
    """A file in an unknown folder, a misnamed migration and a number used twice are refused."""
    path = tree.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("select 1;\n")
    with pytest.raises(SchemaError, match=said):
        schema.plan(root=tree.root)


def test_a_newer_release_is_refused(dsn: str, tree: Tree, psql: Psql) -> None:
    """A database with a release above the driver's is refused by upgrade and by psql."""
    schema.upgrade(dsn, root=tree.root)
    as_owner(
        dsn,
        "insert into forebay.schema_history values"
        " ('0.10.0', 'release', null, '0.10.0', now(), 'somebody')",
    )
    tree.change_function()
    before = catalog.read(dsn)
    with pytest.raises(SchemaError, match=r"of release 0\.10\.0 .* upgrade the driver"):
        schema.upgrade(dsn, root=tree.root)
    done = psql(dsn, tree.root / "install.sql")
    assert done.returncode == 3
    assert "has a newer release" in done.stderr
    assert catalog.read(dsn) == before


def test_an_unknown_migration_is_refused(dsn: str, tree: Tree, psql: Psql) -> None:
    """A database with a migration that the files do not have is ahead of them, and refused."""
    tree.write("migrations/0003_add_author.sql", "alter table forebay.notes add author text;\n")
    schema.upgrade(dsn, root=tree.root)
    (tree.root / "migrations/0003_add_author.sql").unlink()
    tree.change_function()
    before = catalog.read(dsn)
    with pytest.raises(SchemaError, match=r"0003_add_author\.sql.* upgrade the driver"):
        schema.upgrade(dsn, root=tree.root)
    done = psql(dsn, tree.root / "install.sql")
    assert done.returncode == 3
    assert "0003_add_author.sql" in done.stderr
    assert catalog.read(dsn) == before


def test_concurrent_upgrades_apply_everything_once(dsn: str, tree: Tree) -> None:
    """Of four upgrades at once one does all the work, and the others find nothing to do."""
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: len(schema.upgrade(dsn, root=tree.root)), range(4)))
    assert sorted(done) == [0, 0, 0, 7]


@pytest.mark.timeout(20)
def test_an_upgrade_does_not_wait_for_ever_for_another(dsn: str, tree: Tree) -> None:
    """Behind an upgrade that takes long, another one gives up with a sentence."""
    with psycopg.connect(dsn) as conn:
        conn.execute("select pg_advisory_xact_lock(hashtext('forebay.schema'))")
        with pytest.raises(SchemaError, match="Another upgrade is at work"):
            schema.upgrade(dsn, root=tree.root)


@pytest.mark.timeout(20)
def test_mg3_an_upgrade_gives_up_behind_a_reader(dsn: str, tree: Tree) -> None:
    """MG3: behind a long reader a migration gives up in 5 s, and holds nobody up after that."""
    schema.upgrade(dsn, root=tree.root)
    tree.write("migrations/0003_add_author.sql", "alter table forebay.notes add author text;\n")
    with psycopg.connect(dsn) as reader, psycopg.connect(dsn) as other:
        for conn in (reader, other):
            conn.execute("set role forebay_owner")
        reader.execute("select from forebay.notes")
        with pytest.raises(SchemaError, match=r"lock timeout .* nothing was changed, so run again"):
            schema.upgrade(dsn, root=tree.root)
        other.execute("set statement_timeout = '2s'")
        other.execute("select from forebay.notes")
    assert names(schema.upgrade(dsn, root=tree.root)) == [
        "migrations/0003_add_author.sql",
        "grants.sql",
    ]


def test_mg4_no_index_is_left_invalid(dsn: str, tree: Tree) -> None:
    """MG4: CREATE INDEX CONCURRENTLY, which leaves an invalid index when it fails, is refused."""
    schema.upgrade(dsn, root=tree.root)
    before = catalog.read(dsn)
    tree.write(
        "migrations/0003_index.sql",
        "create index concurrently notes_note on forebay.notes (note);\n",
    )
    with pytest.raises(SchemaError, match=r"^migrations/0003_index\.sql.*25001"):
        schema.upgrade(dsn, root=tree.root)
    assert catalog.read(dsn) == before


def test_a_folder_without_sql_is_refused(tmp_path: Path) -> None:
    """A folder that is no db folder is named."""
    with pytest.raises(SchemaError, match="holds no folder migrations"):
        schema.plan(root=tmp_path)
