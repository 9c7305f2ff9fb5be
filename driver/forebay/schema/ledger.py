"""What is installed: the table forebay.schema_history, and what is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import psycopg
from psycopg.rows import class_row
from psycopg.sql import SQL, Composed

from forebay import __version__
from forebay.schema.files import GRANTS, Kind, SchemaError, SqlFile

Why = Literal["new", "changed", "again", "gone"]
History = dict[str, "Applied"]

_EXISTS = """
select exists (
    select
    from pg_catalog.pg_class as c
    inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'forebay' and c.relname = 'schema_history'
)"""
_READ = """
select h.name, h.kind, h.sha256, h.release, h.applied_at, h.applied_by, h.runs
from forebay.schema_history as h
order by h.applied_at, h.name"""
_RECORD = """\
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ({name}, {kind}, {sha256}, {release}, pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1"""
_FORGET = "delete from forebay.schema_history as h where h.name = {name}"


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of the ledger; sha256 is None for a release."""

    name: str
    kind: Kind
    sha256: str | None
    release: str
    applied_at: datetime
    applied_by: str
    runs: int


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: apply a file, forget one that is gone, or record a release.

    why is new, changed, again (the grants, after anything else was applied) or gone.
    """

    name: str
    kind: Kind
    why: Why
    sql: str = ""
    sha256: str | None = None

    def record(self) -> Composed:
        """Return the statement that enters this step in the ledger."""
        return SQL(_FORGET if self.why == "gone" else _RECORD).format(
            name=self.name, kind=self.kind, sha256=self.sha256, release=__version__
        )


def is_installed(conn: psycopg.Connection[Any]) -> bool:
    """Tell whether this database has the ledger; needs no privilege."""
    row = conn.execute(_EXISTS).fetchone()
    return bool(row and row[0])


def read(conn: psycopg.Connection[Any]) -> History:
    """Return the ledger by name, in the order of application. Acts as forebay_owner."""
    with conn.cursor(row_factory=class_row(Applied)) as cursor:
        return {row.name: row for row in cursor.execute(_READ)}


def installed_release(history: History) -> str | None:
    """Return the newest release in the ledger, or None."""
    releases = [row.name for row in history.values() if row.kind == "release"]
    return max(releases, key=version, default=None)


def version(release: str) -> tuple[int, ...]:
    """Return a release such as 0.1.0 as numbers that compare."""
    return tuple(int(part) for part in release.split("."))


def pending(files: Sequence[SqlFile], history: History) -> list[Step]:
    """Return what separates the ledger from the files, in load order; empty when nothing does.

    Raises SchemaError when the ledger is ahead of the files, or an applied migration was edited.
    """
    refuse_newer(history)
    steps = [step for file in files if (step := _step(file, history.get(file.name)))]
    if steps and all(step.name != GRANTS for step in steps):
        steps += [_due(file, "again") for file in files if file.name == GRANTS]
    names = {file.name for file in files}
    for row in history.values():
        if row.kind == "versioned" and row.name not in names:
            raise SchemaError(
                f"The database has {row.name}, which this driver ({__version__}) does not know:"
                " upgrade the driver."
            )
        if row.kind == "repeatable" and row.name not in names:
            steps.append(Step(row.name, row.kind, "gone"))
    if __version__ not in history:
        steps.append(Step(__version__, "release", "new"))
    return steps


def refuse_newer(history: History) -> None:
    """Raise SchemaError when the ledger holds a release above the driver's."""
    installed = installed_release(history)
    if installed and version(installed) > version(__version__):
        raise SchemaError(
            f"The schema is of release {installed} and this driver of {__version__}:"
            " upgrade the driver."
        )


def _step(file: SqlFile, applied: Applied | None) -> Step | None:
    if applied and applied.sha256 == file.sha256:
        return None
    if applied and file.kind == "versioned":
        raise SchemaError(
            f"{file.name} was edited after it was applied (applied {applied.sha256},"
            f" file {file.sha256}): restore it, and put the change in a new migration."
        )
    return _due(file, "changed" if applied else "new")


def _due(file: SqlFile, why: Why) -> Step:
    return Step(file.name, file.kind, why, file.sql, file.sha256)
