"""Nobody calls more than his role may, and nothing of a caller's stands in for ours (SE)."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from concurrency.stage import Stage, dequeue
from forebay.calls import agent as report
from forebay.calls import operator, reader, submitter, viewer, worker

# What a hostile caller can put before pg_catalog and before a schema named forebay: its own tables,
# functions and operators. Each of the functions fails when it is called.
DECOYS = """
create function decoy.fail() returns boolean language plpgsql as $$
begin
    raise exception 'a decoy was called' using errcode = 'XX999';
end;
$$;
create function decoy.clock_timestamp() returns timestamptz language sql
as $$ select pg_catalog.clock_timestamp() where decoy.fail() $$;
create function decoy.jsonb_typeof(jsonb) returns text language sql
as $$ select '' where decoy.fail() $$;
create function decoy.pg_notify(text, text) returns void language sql
as $$ select decoy.fail() $$;
create function decoy.equal(bigint, bigint) returns boolean language sql
as $$ select decoy.fail() $$;
create function decoy.equal(text, text) returns boolean language sql
as $$ select decoy.fail() $$;
create function decoy.before(timestamptz, timestamptz) returns boolean language sql
as $$ select decoy.fail() $$;
create operator decoy.= (function = decoy.equal, leftarg = bigint, rightarg = bigint);
create operator decoy.= (function = decoy.equal, leftarg = text, rightarg = text);
create operator decoy.<= (function = decoy.before, leftarg = timestamptz, rightarg = timestamptz);
create operator decoy.> (function = decoy.before, leftarg = timestamptz, rightarg = timestamptz);
"""


def hostile(stage: Stage) -> psycopg.Connection:
    """Open a session of a caller that shadows all it can, the temporary schema first."""
    stage.superuser.execute("create schema decoy")
    stage.superuser.execute(DECOYS.encode())
    stage.superuser.execute("grant usage on schema decoy to public")
    session = stage.session("-c search_path=pg_temp,decoy,pg_catalog")
    for table in ("agents", "tasks", "task_attempts", "installation", "pg_class", "pg_roles"):
        session.execute(f"create temporary table {table} (task_id int, agent int)".encode())
    session.execute("create function pg_temp._now() returns timestamptz return clock_timestamp()")
    return session


def test_se2_a_callers_own_objects_shadow_nothing(stage: Stage) -> None:
    """With tables, functions and operators before ours the life of a task is the same."""
    session = hostile(stage)
    with pytest.raises(psycopg.Error, match="decoy"):
        session.execute("select 1::pg_catalog.int8 = 1::pg_catalog.int8")
    operator.register_agent(session, agent="a", max_concurrent_tasks=2, max_tpm=10**6)
    one, two, three = (
        submitter.enqueue(session, agent="a", payload={}, idempotency_key=key) for key in "abc"
    )
    first, second = dequeue(2, "a")(session)
    worker.renew_leases(session, worker="w", attempt_ids=[first.attempt_id])
    worker.record_run(session, attempt_id=first.attempt_id, run_id="r")
    report.report_usage(session, attempt_id=first.attempt_id, usage={"call_id": "c"})
    data = {"task_id": one, "attempt_id": first.attempt_id, "result": {}}
    report.callback(session, event={"type": "task.completed", "data": data})
    report.fail(session, attempt_id=second.attempt_id, error={})
    worker.sweep(session, worker="w")
    operator.cancel(session, task_ids=[three])
    assert viewer.explain_task(session, task_id=two).reason == "delayed"
    assert reader.task_result(session, task_id=one).result == {}
    assert viewer.task_detail(session, task_id=one).attempts[0]["run_id"] == "r"
    statuses = [stage.task(task_id).status for task_id in (one, two, three)]
    assert statuses == ["completed", "enqueued", "cancelled"]


def test_se2_every_function_for_callers_pins_its_path(stage: Stage) -> None:
    """What runs with the owner's rights, triggers too, names its path, with pg_temp at its end."""
    loose = stage.rows(
        "select p.oid::regprocedure from pg_proc as p"
        " where p.pronamespace = 'forebay'::regnamespace and p.prosecdef"
        " and not 'search_path=pg_catalog, pg_temp' = any(coalesce(p.proconfig, '{}'))"
    )
    assert loose == []


def outsider(stage: Stage) -> psycopg.Connection:
    """Open a session as a role that may look into the schema, and belongs to no caller's role."""
    session = stage.session()
    stage.superuser.execute("drop role if exists test_outsider")
    stage.superuser.execute("create role test_outsider")
    stage.superuser.execute("grant usage on schema forebay to test_outsider")
    stage.superuser.execute("grant test_outsider to current_user")
    member: Any = session.execute("select current_user").fetchone()
    stage.superuser.execute(f"grant test_outsider to {member[0]}".encode())
    session.execute("set role test_outsider")
    return session


def test_se1_usage_of_the_schema_calls_nothing(stage: Stage) -> None:
    """Without a caller's role every function is refused: none is executable by PUBLIC."""
    session = outsider(stage)
    try:
        for call in ("complete(1, '{}')", "sweep()", "cancel('{1}')", "task_result(1)", "_now()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"select forebay.{call}".encode())
        executable = session.execute(
            "select p.oid::regprocedure from pg_proc as p"
            " where p.pronamespace = 'forebay'::regnamespace"
            " and has_function_privilege(p.oid, 'execute')"
        ).fetchall()
        assert executable == []
    finally:
        session.close()
        stage.superuser.execute("drop owned by test_outsider")
        stage.superuser.execute("drop role test_outsider")


def test_se4_a_function_that_is_new_is_not_for_everybody(stage: Stage) -> None:
    """The default is taken from PUBLIC for all that the owner will create, in any schema."""
    with stage.superuser.transaction():
        stage.superuser.execute("set local role forebay_owner")
        stage.superuser.execute("create function forebay.probe() returns integer return 1")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stage.db.execute("select forebay.probe()")
    assert not stage.value("select has_function_privilege('public', 'forebay.probe()', 'execute')")
