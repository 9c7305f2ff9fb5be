"""Masking: no column of text is forgotten, no call takes long locks, and it survives a death."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from forebay.calls import operator, submitter, upkeep

OPERATING = Path(__file__).parents[2] / "docs" / "operating.md"
SECRET = "Smith"
COLUMNS = """
select c.relname, a.attname, format_type(a.atttypid, null)
from pg_class as c join pg_attribute as a on a.attrelid = c.oid
where c.relnamespace = 'forebay'::regnamespace and c.relkind in ('r', 'p')
    and a.attnum > 0 and not a.attisdropped
    and a.atttypid in ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype, 'jsonb[]'::regtype,
        'json'::regtype, 'bytea'::regtype, 'varchar'::regtype, 'name'::regtype, 'xml'::regtype)
order by 1, 2
"""
FILLED = {
    "text": sql.SQL("%(secret)s::text || coalesce(t.{column}, '') || t.ctid::text"),
    "jsonb": sql.SQL("jsonb_build_object('of', %(secret)s::text)"),
}


def told(heading: str) -> list[str]:
    """Return the columns of a table of the docs, as patterns of table.column."""
    page = OPERATING.read_text()
    rows = page.split(f"| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([\w*]+\.[\w*]+)`", row.split("|")[1])]


def is_told(table: str, column: str, patterns: list[str]) -> bool:
    """Tell whether a column is one of these."""
    return any(fnmatch(f"{table}.{column}", pattern) for pattern in patterns)


@pytest.fixture
def branch(superuser: psycopg.Connection) -> psycopg.Connection:
    """Fill every table, have it be a branch, and put the secret into whatever is to be masked."""
    conn = superuser
    upkeep.prepare_branch(conn, name="fix")
    conn.execute("update forebay.installation set home = '1'")
    operator.register_agent(conn, agent="a")
    operator.register_customer(conn, customer="Acme", max_usd_per_day=9)
    operator.lift_spend_cap(conn, customer="Acme", extra_usd=1)
    batch = submitter.open_batch(conn, name="b", customer="Acme", owner="ann")
    for _ in range(3):
        submitter.enqueue(conn, agent="a", payload={}, batch_id=batch, idempotency_key=None)
    upkeep.begin_branch(conn, name="fix")
    conn.execute("update forebay.agents set pause_reason = 'x'")
    conn.execute("set session_replication_role = replica")
    conn.execute(ROWS)
    masked = told("column")
    for table, column, kind in conn.execute(COLUMNS).fetchall():
        if is_told(table, column, masked) and table != "masked_names":
            names = {"table": sql.Identifier("forebay", table), "column": sql.Identifier(column)}
            filled = FILLED[kind].format(**names)
            fill = sql.SQL("update {table} as t set {column} = {filled}")
            conn.execute(fill.format(**names, filled=filled), {"secret": SECRET})
    conn.execute("set session_replication_role = origin")
    return conn


ROWS = """
insert into forebay.task_attempts
    (task_id, agent, launcher, attempt_no, status, worker, launch_token, lease_expires_at,
    deadline_at, estimated_tokens, started_at, finished_at, customer)
select t.task_id, 'a', 'pull', 1, 'failed', 'w', t.task_id::text, now(), now(), 1, now(), now(),
    'Acme'
from forebay.tasks as t;
update forebay.tasks set idempotency_key = task_id::text, result = '{}', error = '{}';
insert into forebay.attempt_usage (attempt_id, source, call_id, recorded_at)
select a.attempt_id, 'agent', '1', now() from forebay.task_attempts as a;
insert into forebay.attempt_calls
    (attempt_id, call_no, call_id, quotas, granted_at, input_tokens, output_tokens, is_over)
select a.attempt_id, n, n::text, '{}', now(), 1, 1, n = 1
from forebay.task_attempts as a, generate_series(1, 2) as n;
insert into forebay.uploads (upload_id, owner, name, document, opened_at)
values (gen_random_uuid(), 'ann', 'a.pdf', 'a.pdf', now());
insert into forebay.customer_turns (agent, customer, served) values ('a', 'Acme', 1);
insert into forebay.daily_spend (day, agent, customer, usd) values ('2026-01-01', 'a', 'Acme', 1);
insert into forebay.spend_entries (agent, customer, spent_at, usd) values ('a', 'Acme', now(), 1);
insert into forebay.task_rollups
    (minutes, is_by_customer, customer, starts_at, agent, status, tasks, ended_attempts,
    measured_attempts, priced_attempts, costed_attempts, provisional_attempts, input_tokens,
    output_tokens, cached_tokens, llm_usd, compute_usd, buckets, counts)
values (60, true, 'Acme', now(), 'a', 'failed', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, '{}', '{}');
insert into forebay.announcements
    (kind, subject, occurrence, details, occurred_at, created_at, next_try_at, last_error)
values ('agent.paused', 'a', '', '{}', now(), now(), now(), 'x');
insert into forebay.dispatchers (worker, first_seen_at, places)
values ('w', now(), '{"lakeflow": "x"}');
insert into forebay.launcher_faults values ('w', 'pull', 'x', now(), now());
"""


def holding_the_secret(conn: psycopg.Connection) -> set[tuple[str, str]]:
    """Return the columns in which it stands, whatever their type."""
    found = set()
    for table, column, _ in conn.execute(COLUMNS).fetchall():
        query = sql.SQL("select from {} where {}::text like %s limit 1").format(
            sql.Identifier("forebay", table), sql.Identifier(column)
        )
        if conn.execute(query, [f"%{SECRET}%"]).fetchone() is not None:
            found.add((table, column))
    return found


def test_every_column_of_text_is_masked_or_named_among_what_stays(
    branch: psycopg.Connection,
) -> None:
    """What is to be masked held the secret before, in a row at least, and nothing does after."""
    masked, stays = told("column"), told("what stays")
    columns = [(table, column) for table, column, _ in branch.execute(COLUMNS).fetchall()]
    forgotten = [c for c in columns if not is_told(*c, masked) and not is_told(*c, stays)]
    assert forgotten == [], "mask them in db/functions/internal, or name them in docs/operating.md"
    to_mask = {c for c in columns if is_told(*c, masked) and c[0] != "masked_names"}
    assert holding_the_secret(branch) == to_mask
    while not upkeep.mask_data(branch, limit=2).is_complete:
        pass
    assert holding_the_secret(branch) == set()


def test_what_the_docs_name_is_there(db: psycopg.Connection) -> None:
    """No row of the tables is about a column that is gone."""
    columns = db.execute(COLUMNS).fetchall()
    for pattern in told("column") + told("what stays"):
        assert any(fnmatch(f"{table}.{column}", pattern) for table, column, _ in columns), pattern


def test_a_call_locks_no_more_than_its_batch(branch: psycopg.Connection) -> None:
    """While one call's transaction is open, the rows of all others can be changed."""
    with psycopg.connect(branch.info.dsn) as masking:
        assert not upkeep.mask_data(masking, limit=1).is_complete
        assert not upkeep.mask_data(masking, limit=1).is_complete
        last = branch.execute("select max(task_id) from forebay.tasks").fetchone()
        branch.execute("set lock_timeout = '1s'")
        branch.execute("update forebay.tasks set priority = 1 where task_id = %s", last)
        masking.rollback()


def test_a_masker_that_dies_loses_its_own_call_only(branch: psycopg.Connection) -> None:
    """What was committed stays masked; the next one goes on from there, and comes to the end."""
    upkeep.mask_data(branch, limit=1)
    progress = "select mask_step, mask_after from forebay.installation"
    step = branch.execute(progress).fetchone()
    with psycopg.connect(branch.info.dsn) as masking:
        upkeep.mask_data(masking, limit=100)
        masking.rollback()
    assert branch.execute(progress).fetchone() == step
    assert holding_the_secret(branch)
    calls = 0
    while not upkeep.mask_data(branch, limit=1).is_complete:
        calls += 1
    assert calls > 5
    assert holding_the_secret(branch) == set()


def test_a_login_that_may_not_act_as_the_owner_forces_nothing(
    connect: Callable[..., psycopg.Connection],
) -> None:
    """The web apps' logins may do upkeep: none of them can blank production."""
    caller = connect("upkeep")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="forebay_owner"):
        upkeep.mask_data(caller, force=True)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="forebay_owner"):
        upkeep.prepare_branch(caller, name="fix")
    caller.execute("set forebay.branch = 'projects/p/branches/x'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="forebay_owner"):
        upkeep.begin_branch(caller, name="fix")
