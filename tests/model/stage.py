"""The database side: calls by name, all that is in the tables, and an empty queue in no time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.json import set_json_loads

from model.records import FOREVER
from support.clock import NOON, Clock

EMPTY = """
delete from forebay.attempt_usage;
delete from forebay.refusals;
delete from forebay.customer_turns;
delete from forebay.customers;
delete from forebay.task_attempts;
delete from forebay.tasks;
delete from forebay.agents;
delete from forebay.agent_settlements;
delete from forebay.audit_log;
"""

TURNS = """
select coalesce(jsonb_object_agg(b.agent, jsonb_build_object('turn', b.turn, 'served', (
    select coalesce(jsonb_object_agg(c.customer, c.served), '{}')
    from forebay.customer_turns as c where c.agent = b.agent
))), '{}')
from forebay.agent_budgets as b
"""

# One statement is one look: the tables as their owner sees them, and what the viewer is told.
LOOK = f"""
select jsonb_build_object(
    'tasks', array(
        select to_jsonb(t) || jsonb_build_object('error_kind', t.error ->> 'kind')
        from forebay.tasks as t order by t.task_id
    ),
    'attempts', array(select to_jsonb(a) from forebay.task_attempts as a order by a.attempt_id),
    'usage', array(
        select to_jsonb(u) from forebay.attempt_usage as u
    ),
    'refusals', array(select to_jsonb(r) from forebay.refusals as r),
    'turns', ({TURNS}),
    'acts', array(
        select jsonb_build_array(l.action, l.task_id, l.agent)
        from forebay.audit_log as l order by l.audit_id
    ),
    'agents', array(select to_jsonb(s) from forebay.agent_status() as s),
    'counts', (select jsonb_object_agg(c.status, c.tasks) from forebay.task_counts() as c),
    'explained', array(
        select to_jsonb(e)
        from unnest(%s::bigint[]) as t (task_id)
        cross join lateral forebay.explain_task(t.task_id) as e
    )
)
"""


class Stage:
    """A database whose clock stands still, and a member of every caller's role in it."""

    def __init__(self, superuser: psycopg.Connection, dsn: str) -> None:
        self.clock = Clock.install(superuser)
        self.superuser = superuser
        self.caller = psycopg.connect(dsn, autocommit=True)
        for connection in (self.caller, superuser):
            set_json_loads(partial(json.loads, parse_float=Decimal), connection)

    def close(self) -> None:
        """Close the caller's connection."""
        self.caller.close()

    def empty(self) -> None:
        """Forget all agents and tasks, make it noon again, and let chance repeat itself."""
        self.superuser.execute(EMPTY)
        self.caller.execute("select setseed(0)")
        self.clock.set(NOON)

    def rows(self, function: str, **arguments: Any) -> list[Any]:
        """Call a function of the API by its parameters' names without p_; return rows as JSON."""
        statement = sql.SQL("select to_jsonb(answer) from forebay.{}({}) as answer").format(
            sql.Identifier(function),
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(f"p_{name}"), sql.Placeholder(name))
                for name in arguments
            ),
        )
        return [row[0] for row in self.caller.execute(statement, arguments)]

    def value(self, function: str, **arguments: Any) -> Any:
        """Call a function that answers with one value or one row."""
        (value,) = self.rows(function, **arguments)
        return value

    def ended_of(self, attempt_ids: list[int]) -> set[str]:
        """Return the agents of those attempts that have ended."""
        rows = self.superuser.execute(
            "select distinct a.agent from forebay.task_attempts as a"
            " where a.attempt_id = any(%s) and a.finished_at is not null",
            [attempt_ids],
        )
        return {agent for (agent,) in rows}

    def turns(self) -> dict[str, Any]:
        """Return how far each agent has served its customers."""
        row = self.superuser.execute(TURNS).fetchone()
        assert row is not None
        turns: dict[str, Any] = row[0]
        return turns

    def look(self, explain: Iterable[int] = ()) -> dict[str, Any]:
        """Return what is in the tables, and what the viewer is told of it and of some tasks."""
        row = self.superuser.execute(LOOK.encode(), [list(explain)]).fetchone()
        assert row is not None
        look: dict[str, Any] = row[0]
        return look


def moment(text: str | None) -> datetime | None:
    """Read a timestamp out of JSON."""
    if text is None:
        return None
    return FOREVER if text == "infinity" else datetime.fromisoformat(text).astimezone(UTC)
