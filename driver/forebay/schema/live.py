"""Compare what lives in the database with the files, whatever the ledger says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from forebay.schema import apply, files, ledger
from forebay.schema.files import SqlFile

_FUNCTION = re.compile(
    r"^create or replace function forebay\.(?P<name>\w+)\s*\((?P<head>.*?)"
    r"^as (?P<tag>\$\w*\$)(?P<body>.*?)(?P=tag)",
    re.DOTALL | re.MULTILINE,
)
_TRIGGER = re.compile(
    r"^create (?:or replace )?(?:constraint )?trigger (?P<name>\w+)", re.MULTILINE
)

_PENDING = {
    "new": "has not been applied",
    "changed": "differs from what was applied",
    "gone": "is no longer among the files",
}

_LIVE_FUNCTIONS = """
select p.proname, p.prosrc, p.prosecdef, coalesce(p.proconfig, '{}')
from pg_catalog.pg_proc as p
where p.pronamespace = 'forebay'::regnamespace
order by p.proname"""
_LIVE_TRIGGERS = """
select t.tgname, t.tgenabled = 'O'
from pg_catalog.pg_trigger as t
inner join pg_catalog.pg_class as c on c.oid = t.tgrelid
where c.relnamespace = 'forebay'::regnamespace and not t.tgisinternal
order by t.tgname"""
_PUBLIC = """
select o.object, a.privilege_type
from (
    select 'schema forebay' as object, n.nspacl as acl
    from pg_catalog.pg_namespace as n
    where n.nspname = 'forebay'
    union all
    select c.oid::regclass::text, c.relacl
    from pg_catalog.pg_class as c
    where c.relnamespace = 'forebay'::regnamespace
    union all
    select p.oid::regprocedure::text, coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
    from pg_catalog.pg_proc as p
    where p.pronamespace = 'forebay'::regnamespace
) as o
cross join pg_catalog.aclexplode(o.acl) as a
where a.grantee = 0
order by o.object, a.privilege_type"""


def verify(dsn: str, *, root: Path | None = None) -> list[str]:
    """Return one sentence for each way in which the database differs from the files.

    Looks at the ledger, the text and rights of every function, the triggers, and grants to PUBLIC;
    empty when all is well. Changes and locks nothing. Raises SchemaError as plan does.
    """
    on_disk = files.load(root)
    with apply.reading(dsn) as (conn, history):
        if not history:
            return ["Schema forebay is not installed: run forebay db upgrade."]
        steps = ledger.pending(on_disk, history)
        return [
            *(
                f"{step.name} {_PENDING[step.why]}: run forebay db upgrade."
                for step in steps
                if step.why in _PENDING
            ),
            *_functions(conn, on_disk),
            *_triggers(conn, on_disk),
            *_public(conn),
        ]


def _functions(conn: psycopg.Connection[Any], on_disk: Sequence[SqlFile]) -> Iterator[str]:
    wanted = {
        found["name"]: (file.name, found)
        for file in on_disk
        for found in _FUNCTION.finditer(file.sql)
        if file.kind == "repeatable"
    }
    live = conn.execute(_LIVE_FUNCTIONS).fetchall()
    names = [row[0] for row in live]
    for name in sorted(wanted.keys() - set(names)):
        yield f"Function {name} of {wanted[name][0]} is missing."
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"Function {name} exists {names.count(name)} times, with different parameters."
    for name, body, is_definer, config in live:
        if name not in wanted:
            yield f"Function {name} is in no file."
            continue
        file, found = wanted[name]
        if body != found["body"]:
            yield f"Function {name} is not the one of {file}: its body was changed by hand."
        if (is_definer, list(config)) != _rights(found["head"]):
            yield f"Function {name} is not the one of {file}: its rights or settings were changed."


def _rights(head: str) -> tuple[bool, list[str]]:
    """Return what a function's head says of security definer, and its settings as name=value."""
    settings = re.findall(r"^\s*set (\w+) (?:=|to) '?(.*?)'?\s*$", head, re.MULTILINE)
    is_definer = bool(re.search(r"^\s*security definer\b", head, re.MULTILINE))
    return is_definer, [f"{name}={value}" for name, value in settings]


def _triggers(conn: psycopg.Connection[Any], on_disk: Sequence[SqlFile]) -> Iterator[str]:
    wanted = {found["name"]: file.name for file in on_disk for found in _TRIGGER.finditer(file.sql)}
    live = dict(conn.execute(_LIVE_TRIGGERS).fetchall())
    for name in sorted(wanted.keys() - live.keys()):
        yield f"Trigger {name} of {wanted[name]} is missing."
    for name, is_enabled in live.items():
        if name not in wanted:
            yield f"Trigger {name} is in no file."
        elif not is_enabled:
            yield f"Trigger {name} is disabled."


def _public(conn: psycopg.Connection[Any]) -> Iterator[str]:
    for object_name, privilege in conn.execute(_PUBLIC):
        yield f"PUBLIC holds {privilege} on {object_name}: revoke it."
