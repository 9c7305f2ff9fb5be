"""verify finds what was changed by hand, whatever the ledger says; drivers check the release."""

from collections.abc import Callable

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from forebay import __version__, schema
from forebay.schema import SchemaError
from migrations.tree import SCHEMA_VERSION, Tree


def as_owner(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        conn.execute(statement.encode())


BY_HAND = {
    "create or replace function forebay.add_note(p_note text) returns bigint language sql volatile"
    " security definer set search_path = pg_catalog, pg_temp as 'select 1::bigint'": (
        "Function add_note is not the one of functions/agent/add_note.sql:"
        " its body was changed by hand."
    ),
    "alter function forebay.add_note security invoker": (
        "Function add_note is not the one of functions/agent/add_note.sql:"
        " its rights or settings were changed."
    ),
    "alter function forebay.add_note reset search_path": (
        "Function add_note is not the one of functions/agent/add_note.sql:"
        " its rights or settings were changed."
    ),
    "create function forebay.extra() returns int language sql as 'select 1'": (
        "Function extra is in no file."
    ),
    "create function forebay.schema_version(int) returns text language sql stable security definer"
    " set search_path = pg_catalog, pg_temp as $f$"
    + SCHEMA_VERSION.split("$function$")[1]
    + "$f$": "Function schema_version exists 2 times, with different parameters.",
    "drop function forebay.add_note": (
        "Function add_note of functions/agent/add_note.sql is missing."
    ),
    "alter table forebay.notes disable trigger notes_trim": "Trigger notes_trim is disabled.",
    "drop trigger notes_trim on forebay.notes": (
        "Trigger notes_trim of triggers/notes.sql is missing."
    ),
    "create trigger more before update on forebay.notes"
    " for each row execute function forebay._trim_note()": "Trigger more is in no file.",
    "grant execute on function forebay.add_note to public": (
        "PUBLIC holds EXECUTE on forebay.add_note(text): revoke it."
    ),
    "grant select on forebay.notes to public": "PUBLIC holds SELECT on forebay.notes: revoke it.",
    "grant usage on schema forebay to public": "PUBLIC holds USAGE on schema forebay: revoke it.",
}


@pytest.mark.parametrize(("statement", "problem"), BY_HAND.items())
def test_what_was_done_by_hand_is_found(dsn: str, tree: Tree, statement: str, problem: str) -> None:
    """One statement by hand is one sentence of verify; without it there is none."""
    schema.upgrade(dsn, root=tree.root)
    assert schema.verify(dsn, root=tree.root) == []
    as_owner(dsn, statement)
    assert schema.verify(dsn, root=tree.root) == [problem]


def test_pending_steps_are_problems(dsn: str, tree: Tree) -> None:
    """A file that differs from the ledger is a problem too, beside the body that is not its own."""
    schema.upgrade(dsn, root=tree.root)
    changed = tree.change_function()
    assert schema.verify(dsn, root=tree.root) == [
        f"{changed} differs from what was applied: run forebay db upgrade.",
        f"Function add_note is not the one of {changed}: its body was changed by hand.",
    ]


def test_the_real_schema_verifies(dsn: str) -> None:
    """After an upgrade from the real files verify has nothing to say."""
    schema.upgrade(dsn)
    assert schema.verify(dsn) == []
    status = schema.status(dsn)
    assert (status.installed, status.driver, status.pending) == (__version__, __version__, 0)


def test_a_driver_works_with_its_own_release(
    dsn: str, role: Callable[..., str], tree: Tree
) -> None:
    """check_compatible passes for a caller, and leaves the connection usable when it fails."""
    with psycopg.connect(dsn) as conn:
        with pytest.raises(SchemaError, match=r"no schema forebay .* run forebay db upgrade"):
            schema.check_compatible(conn)
        conn.execute("select 1")
    schema.upgrade(dsn, root=tree.root)
    viewer = make_conninfo(dsn, user=role("a_viewer", "in role forebay_viewer"))
    with psycopg.connect(viewer) as conn:
        schema.check_compatible(conn)
    stranger = make_conninfo(dsn, user=role("a_stranger"))
    with (
        psycopg.connect(stranger) as conn,
        pytest.raises(SchemaError, match='"a_stranger" may not use schema forebay'),
    ):
        schema.check_compatible(conn)


@pytest.mark.parametrize(
    ("release", "said"),
    [("0.0.9", "run forebay db upgrade"), ("99.0.1", "upgrade the driver"), ("0.10.0", "upgrade")],
)
def test_a_driver_refuses_another_release(dsn: str, tree: Tree, release: str, said: str) -> None:
    """An older schema asks for db upgrade, a newer one for another driver; 0.10 is above 0.9."""
    schema.upgrade(dsn, root=tree.root)
    as_owner(
        dsn,
        "update forebay.schema_history"
        f" set name = '{release}', release = '{release}' where kind = 'release'",
    )
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        with pytest.raises(SchemaError, match=said):
            schema.check_compatible(conn)
