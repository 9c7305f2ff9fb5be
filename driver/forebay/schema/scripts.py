"""The same installation for psql: db/install.sql, and one self-contained script."""

from __future__ import annotations

import hashlib
from itertools import groupby
from pathlib import Path, PurePosixPath

from psycopg.sql import SQL

from forebay import __version__
from forebay.schema import apply, files, ledger
from forebay.schema.files import SqlFile
from forebay.schema.ledger import History, Step

_INSTALL = """\
-- Install Forebay {release}, or upgrade to it: psql -v ON_ERROR_STOP=1 -f db/install.sql
--
-- The files in load order; a function's folder is the role that may call it. One transaction.
-- Running it again changes nothing, and neither does `forebay db upgrade` after it.
-- Written by `forebay db install-script`: do not edit.

\\set release {release}
\\ir install/begin.sql
{groups}
\\ir install/finish.sql
"""
_LINE = r"\set file {name} \set sha256 {sha256} \ir install/apply.sql"

_SCRIPT = """\
-- Bring schema forebay to release {release}: psql -v ON_ERROR_STOP=1 -f FILE
--
-- One transaction, of these steps:
{summary}

\\set ON_ERROR_STOP on
\\set QUIET on
\\encoding UTF8
begin;
{settings} \\g /dev/null
{guard}
{steps}
commit;
"""
_GUARD = """\
set local role forebay_owner;
do $guard$
begin
    if (
        select pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(
            h.name || ' ' || coalesce(h.sha256, ''), e'\\n' order by h.name collate "C"
        ), 'UTF8')), 'hex')
        from forebay.schema_history as h
    ) is distinct from {fingerprint} then
        raise exception 'the schema was changed after this script was written'
            using hint = 'Write it again: forebay db plan --sql';
    end if;
end;
$guard$;"""


def install_script(root: Path | None = None) -> str:
    """Return the text of db/install.sql for the files of root."""
    groups = []
    for folder, members in groupby(files.load(root), lambda file: _folder(file.name)):
        lines = [_LINE.format(name=file.name, sha256=file.sha256) for file in members]
        groups.append("\n".join([f"\n-- {folder}", *lines]))
    return _INSTALL.format(release=__version__, groups="\n".join(groups) + "\n")


def script(dsn: str | None = None, *, root: Path | None = None) -> str:
    """Return what upgrade would do to this database as one script for psql.

    Without a DSN the script installs into an empty database. It refuses to run on a database whose
    ledger differs from the one it was written for.
    """
    on_disk = files.load(root)
    if dsn is None:
        return _script(on_disk, {})
    with apply.reading(dsn) as (_, history):
        return _script(on_disk, history)


def _script(on_disk: list[SqlFile], history: History) -> str:
    steps = ledger.pending(on_disk, history)
    if not steps:
        return f"-- Nothing to do: schema forebay is at release {__version__}.\n"
    guard = SQL(_GUARD).format(fingerprint=_fingerprint(history)).as_string() if history else ""
    return _SCRIPT.format(
        release=__version__,
        summary="\n".join(f"--   {step.why:8}{step.name}" for step in steps),
        settings=apply.SETTINGS,
        guard=guard,
        steps="\n".join(_step(step) for step in steps),
    )


def _step(step: Step) -> str:
    return f"\\echo {step.why} {step.name}\n{step.sql}{step.record().as_string()};\n"


def _fingerprint(history: History) -> str:
    rows = sorted((row.name, row.sha256 or "") for row in history.values())
    return hashlib.sha256("\n".join(map(" ".join, rows)).encode()).hexdigest()


def _folder(name: str) -> str:
    """Return the folder of a file; files at the top are a group of their own."""
    parent = str(PurePosixPath(name).parent)
    return name if parent == "." else parent
