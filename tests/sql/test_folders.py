"""A function's folder is the role that may call it, and the folder of its test."""

from __future__ import annotations

from pathlib import Path

import psycopg

ROOT = Path(__file__).parents[2]
PUBLIC = sorted(
    path for path in (ROOT / "db/functions").glob("*/*.sql") if path.parent.name != "internal"
)


def test_folder_is_grant(db: psycopg.Connection) -> None:
    """The role named by a function's folder may call it."""
    refused = [
        path.stem
        for path in PUBLIC
        if db.execute(
            "select bool_or(not has_function_privilege(%s, p.oid, 'execute')) from pg_proc as p"
            " where p.pronamespace = 'forebay'::regnamespace and p.proname = %s",
            [f"forebay_{path.parent.name}", path.stem],
        ).fetchone()
        != (False,)
    ]
    assert refused == []


def test_folder_is_test() -> None:
    """Each public function has a SQL test of its name, in the folder of its name."""
    tests = Path(__file__).parent
    assert [
        path.stem for path in PUBLIC if not (tests / path.parent.name / path.name).exists()
    ] == []
