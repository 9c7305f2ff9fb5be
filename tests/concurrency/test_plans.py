"""What a statement touches does not grow with the backlog, the history or an old snapshot (PF)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import worker


def pages(session: psycopg.Connection, query: str) -> int:
    """Run a query, and return how many pages it touched."""
    plan: Any = session.execute(f"explain (analyze, buffers, format json) {query}".encode())
    top = plan.fetchone()[0][0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


@contextmanager
def old_snapshot(stage: Stage) -> Iterator[None]:
    """Hold a snapshot open, so that no dead row can be removed meanwhile."""
    with stage.transaction() as reader:
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select 1")
        yield


def updates(stage: Stage) -> tuple[int, int]:
    """Return how many attempts were updated so far, and how many of that in place."""
    stage.db.execute("select pg_stat_force_next_flush()")
    row = stage.row(
        "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'task_attempts'"
    )
    return row.n_tup_upd, row.n_tup_hot_upd


def renew_often(stage: Stage, ids: list[int], rounds: int) -> float:
    """Renew leases again and again; return the share of the updates that were HOT."""
    before = updates(stage)
    for _ in range(rounds):
        worker.renew_leases(stage.db, worker="w", attempt_ids=ids)
    all_of_them, hot = (late - early for late, early in zip(updates(stage), before, strict=True))
    assert all_of_them == len(ids) * rounds
    return hot / all_of_them


def test_pf1_renewals_stay_in_place(stage: Stage) -> None:
    """No index holds the lease: where dead rows can be removed, nearly every renewal is HOT."""
    stage.agent(lease=timedelta(minutes=1))
    stage.enqueue(count=100)
    ids = [claim.attempt_id for claim in stage.claim(100)]
    assert renew_often(stage, ids, 20) > 0.9


def test_pf1_an_old_snapshot_does_not_slow_claims(stage: Stage) -> None:
    """While it keeps every dead row, claims touch hardly more pages, and some renewals stay HOT."""
    stage.agent(lease=timedelta(minutes=1))
    stage.enqueue(count=1000)
    ids = [claim.attempt_id for claim in stage.claim(100)]
    claim = "select * from forebay.dequeue('w', '{a}')"
    with old_snapshot(stage):
        pages(stage.db, claim)  # the first call of a session also reads the catalog
        before = pages(stage.db, claim)
        assert renew_often(stage, ids, 20) > 0.2
        for _ in range(200):
            claimed = stage.claim_one()
            report.complete(stage.db, attempt_id=claimed.attempt_id, result={})
        assert pages(stage.db, claim) < before + 50


def test_pf2_full_agents_cost_a_claim_little(stage: Stage) -> None:
    """20,000 tasks wait for 20 agents, of which 18 are full: a claim touches under 300 pages."""
    for number in range(20):
        stage.agent(f"a{number}", max_concurrent_tasks=1 if number < 18 else None)
        stage.enqueue(f"a{number}", 1000, priority=-number)
    assert len(worker.dequeue(stage.db, worker="w", batch_size=18)) == 18
    claim = "select * from forebay.dequeue('w')"
    pages(stage.db, claim)  # the first call of a session also reads the catalog
    touched = pages(stage.db, claim)
    assert stage.in_use("a18") == 2
    assert touched < 300


BACKLOG = 200_000
LINES: dict[str, dict[str, Any]] = {
    "aging": {"aging": timedelta(minutes=1)},
    "turns": {"fair_by_customer": True},
    "aging and turns": {"aging": timedelta(minutes=1), "fair_by_customer": True},
    "nothing fits": {"max_tpm": 1000, "aging": timedelta(minutes=1), "fair_by_customer": True},
}


def fill_line(stage: Stage, agent: str, count: int) -> None:
    """Give an agent so many tasks of three priorities, half of them one customer's."""
    stage.superuser.execute(
        "insert into forebay.tasks (agent, priority, customer, payload, estimated_tokens,"
        " available_at, created_at, is_shared) select a.agent, n %% 3,"
        " case when n %% 2 = 0 then 'bulk' else 'c' || n %% 16 end, '{}', 790,"
        " forebay._now(), forebay._now() - n * interval '1 ms', a.is_fair_by_customer"
        " from forebay.agents as a, generate_series(1, %s) as n where a.agent = %s",
        [count, agent],
    )


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_pf3_a_claim_reads_a_bounded_part_of_the_line(stage: Stage, line: dict[str, Any]) -> None:
    """With 200,000 tasks in line it touches hardly more pages than with 2,000."""
    touched = []
    for agent, count in (("short", BACKLOG // 100), ("long", BACKLOG)):
        stage.agent(agent, **line)
        fill_line(stage, agent, count)
        stage.superuser.execute("analyze forebay.tasks")
        stage.claim(1, agent)
        claim = f"select * from forebay.dequeue('w', '{{{agent}}}')"
        pages(stage.db, claim)  # the first call of a session also reads the catalog
        touched.append(pages(stage.db, claim))
    assert touched[1] < 1.5 * touched[0] + 100
    assert touched[1] < 3000


def test_the_cost_of_models_is_one_statement(stage: Stage) -> None:
    """No function is called for each attempt: that made it 30 times as slow."""
    plan = "explain (verbose) select * from forebay._cost_of_models(null, null, null, null, null)"
    lines = [row[0] for row in stage.rows(plan)]
    assert any("forebay.attempt_usage" in line for line in lines)
    assert not [line for line in lines if "Function" in line or "_usage_source" in line]
