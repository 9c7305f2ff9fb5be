"""What a page of a list touches does not grow with the history behind it (UI9)."""

from __future__ import annotations

import psycopg
import pytest

from concurrency.stage import Stage
from concurrency.test_plans import pages

HISTORY = 40_000
RARE = 30  # tasks of everything that is rare, older than all others

# Half of the tasks have a customer, one in ten failed; nothing but the oldest has what is rare.
SEED = f"""
insert into forebay.batches (name, metadata, created_at)
select
    case n when 1 then 'rare' else 'upload ' || n end, '{{}}',
    timestamptz '2026-01-01' + n * interval '1 minute'
from generate_series(1, {HISTORY // 100}) as n;

insert into forebay.tasks (
    agent, status, batch_id, customer, payload, available_at, created_at, finished_at, confidence
)
select
    case when n <= {RARE} then 'rare' else 'a' end,
    case when n <= {RARE} then 'cancelled' when n % 10 = 0 then 'failed' else 'completed' end,
    1 + n / 100,
    case when n <= {RARE} then 'rare' when n % 2 = 0 then 'acme ' || n % 20 end,
    '{{}}', t.at, t.at, t.at, case when n <= {RARE} then 0 else 0.5 + random() / 2 end
from generate_series(1, {HISTORY}) as n
cross join lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at) as t;

insert into forebay.task_attempts (
    task_id, agent, launcher, attempt_no, status, worker, launch_token, lease_expires_at,
    deadline_at, estimated_tokens, started_at, finished_at
)
select
    t.task_id, t.agent, 'pull', 1, case t.agent when 'rare' then 'lost' else 'succeeded' end, 'w',
    t.task_id::text, t.created_at, t.created_at, 1, t.created_at, t.created_at
from forebay.tasks as t;
"""

CALLS = [
    "list_tasks(p_limit => 20)",
    "list_tasks(p_limit => 20, p_before_task_id => 20000)",
    "list_tasks(p_limit => 20, p_to => '2026-01-01 00:10')",
    "list_tasks(p_limit => 20, p_from => '2026-01-01 00:10', p_to => '2026-01-01 00:11')",
    "list_tasks(p_limit => 20, p_agents => '{rare}')",
    "list_tasks(p_limit => 20, p_agents => '{rare,a}', p_before_task_id => 20000)",
    "list_tasks(p_limit => 20, p_statuses => '{cancelled}')",
    "list_tasks(p_limit => 20, p_statuses => '{enqueued,processing}')",
    "list_tasks(p_limit => 20, p_agents => '{a}', p_statuses => '{cancelled}')",
    "list_tasks(p_limit => 20, p_customers => '{rare}')",
    "list_tasks(p_limit => 20, p_customers => '{rare,nobody}', p_statuses => '{cancelled,failed}')",
    "list_tasks(p_limit => 20, p_max_confidence => 0.1)",
    "list_tasks(p_limit => 20, p_batch_id => 1)",
    "list_tasks(p_limit => 20, p_search => 'rare')",
    "list_tasks(p_limit => 20, p_search => 'acme 10')",
    "list_tasks(p_limit => 20, p_search => 'upload')",
    "list_tasks(p_limit => 20, p_search => 'nothing like it')",
    "list_tasks(p_limit => 20, p_search => '17')",
    "count_matching(p_statuses => '{cancelled}')",
    "count_matching(p_customers => '{rare}', p_agents => '{rare}')",
    "count_matching(p_search => 'rare')",
    "count_matching(p_batch_id => 1)",
    "count_matching(p_max_confidence => 0.1)",
    "list_attempts()",
    "list_attempts(p_to => '2026-01-01 00:00:10')",
    "list_attempts('{failed}')",
    "list_batches(p_limit => 5)",
    "list_batches(p_search => '7')",
    "monitoring()",
    "health()",
]


@pytest.mark.parametrize("settings", ["", "-c plan_cache_mode=force_generic_plan"])
def test_ui9_a_page_does_not_read_the_history(stage: Stage, settings: str) -> None:
    """A page of a list, or a count of what is rare, touches few pages of what 40,000 tasks fill."""
    for name in ("a", "rare"):
        stage.agent(name)
    with stage.superuser.transaction():
        stage.superuser.execute("set local session_replication_role = replica")
        stage.superuser.execute(SEED.encode())
    stage.superuser.execute("vacuum analyze")
    assert stage.value("select pg_relation_size('forebay.tasks') / 8192") > 800
    with stage.session(settings) as session:
        touched = {call: pages_again(session, f"select * from forebay.{call}") for call in CALLS}
    assert {call: count for call, count in touched.items() if count > 500} == {}


def pages_again(session: psycopg.Connection, query: str) -> int:
    """Return the pages of a second run: the first in a session also reads the catalog."""
    pages(session, query)
    return pages(session, query)
