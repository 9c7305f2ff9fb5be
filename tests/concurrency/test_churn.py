"""Everything at once on the real clock, judged afterwards by the history that was committed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

import psycopg
import pytest

from concurrency.stage import Act, Stage, claimed, dequeue
from concurrency.test_rounds import Rounds
from forebay.calls import agent as report
from forebay.calls import operator, worker

HOSTILE = (
    "-c enable_indexscan=off -c enable_indexonlyscan=off -c enable_bitmapscan=off",
    "-c enable_seqscan=off -c enable_sort=off",
    "-c enable_nestloop=off",
    "-c enable_hashjoin=off -c enable_mergejoin=off",
    "-c plan_cache_mode=force_generic_plan",
    "-c plan_cache_mode=force_custom_plan -c random_page_cost=1000",
    "-c enable_hashagg=off -c enable_material=off -c work_mem=64kB",
    "-c jit=on -c jit_above_cost=0 -c cpu_tuple_cost=100",
)


def churn(seconds: float, seed: int) -> Act[None]:
    """Return the act of claiming, and of ending attempts in every way, until the time is over."""
    choices = random.Random(seed)

    def act(session: psycopg.Connection) -> None:
        name, held = f"w{seed}", []
        endings: Sequence[Callable[[int], Any]] = (
            lambda id: report.complete(session, attempt_id=id, result={}),
            lambda id: report.fail(session, attempt_id=id, error={}, retry_after=timedelta()),
            lambda id: worker.renew_leases(session, worker=name, attempt_ids=[id]),
            lambda id: worker.release(session, attempt_id=id, reason="churn"),
            lambda id: worker.sweep(session, limit=3),
        )
        end = monotonic() + seconds
        while monotonic() < end:
            held += worker.dequeue(session, worker=name, batch_size=choices.randint(1, 3))
            choices.shuffle(held)
            for row in held[: choices.randint(0, 3)]:
                choices.choice(endings)(row.attempt_id)
                if choices.random() < 0.1:
                    operator.cancel(session, task_ids=[row.task_id])
            held = held[3:]  # those that were not ended lose their leases

    return act


def most_at_once(stage: Stage, agent: str) -> int:
    """Return how many attempts of the agent were ever open together; ends go before starts.

    One that succeeds after it was lost has its end then, and gave its place away before: that is
    no longer told, so it is left out.
    """
    spans = stage.rows(
        "select started_at, finished_at from forebay.task_attempts where agent = %s"
        " and not (status = 'succeeded' and error is not null)",
        agent,
    )
    events = [(span.started_at, 1) for span in spans]
    events += [(span.finished_at, -1) for span in spans if span.finished_at]
    open_now = most = 0
    for _, change in sorted(events):
        open_now += change
        most = max(most, open_now)
    return most


def lowest_level(stage: Stage, agent: str, per_minute: int, burst: float, start: Any) -> float:
    """Return the lowest that the bucket ever fell, replayed from the claims.

    What was refunded, of released attempts and of cancelled ones that stopped, was never charged;
    but while it was, a full bucket had room to refill: half a task is allowed for that.
    """
    level, lowest, at = burst, burst, start
    for claim in stage.rows(
        "select started_at, sum(charged_tokens)::float8 as tokens from forebay.task_attempts"
        " where agent = %s group by started_at order by started_at",
        agent,
    ):
        level = min(burst, level + (claim.started_at - at).total_seconds() * per_minute / 60)
        level, at = level - claim.tokens, claim.started_at
        lowest = min(lowest, level)
    return lowest


def test_never_over_while_everything_happens_at_once(stage: Stage) -> None:
    """The committed history never shows more at once, or more tokens, than the limits allow."""
    lease = timedelta(milliseconds=60)
    stage.agent("one", max_concurrent_tasks=1, lease=lease, max_releases=10_000)
    stage.agent("three", max_concurrent_tasks=3, lease=lease, max_releases=10_000)
    stage.agent("tokens", max_tpm=6000, lease=lease, max_releases=0)
    start = stage.value("select now()")
    for agent in ("one", "three", "tokens"):
        stage.enqueue(agent, 300, estimated_tokens=30)
    outcomes = stage.at_once([churn(seconds=2, seed=seed) for seed in range(12)])
    assert outcomes == [None] * 12
    assert most_at_once(stage, "one") == 1
    assert most_at_once(stage, "three") == 3
    stage.superuser.execute("delete from forebay.task_attempts where status = 'released'")
    assert lowest_level(stage, "tokens", 6000, 4800, start) >= -15
    assert stage.value("select count(*) from forebay.task_attempts where agent = 'tokens'") > 120
    open_attempts = "select attempt_id from forebay.task_attempts where finished_at is null"
    current = "select attempt_id from forebay.tasks where status = 'processing'"
    assert sorted(stage.rows(open_attempts)) == sorted(stage.rows(current))


@pytest.mark.parametrize("level", [r"repeatable\ read", "serializable"])
def test_dx5_dequeue_refuses_another_isolation_level(stage: Stage, level: str) -> None:
    """A snapshot from before the lock would miscount, so 25001; and nothing was claimed."""
    stage.agent(max_concurrent_tasks=3)
    stage.enqueue(count=10)
    isolation = f"-c default_transaction_isolation={level}"
    stage.racers += [stage.session(isolation) for _ in range(16)]
    outcomes = stage.at_once([dequeue(1, "a")] * 16)
    assert {getattr(outcome, "sqlstate", outcome) for outcome in outcomes} == {"25001"}
    assert stage.in_use() == 0


def test_pf3_claims_do_not_depend_on_plans(stage: Stage) -> None:
    """The room and the order hold with any plan, after a bulk load that nobody analyzed."""
    rounds = Rounds(stage, {"a": {"max_concurrent_tasks": 3, "max_tpm": 6000}}, seed=2)
    stage.agent("other", max_concurrent_tasks=0)
    stage.superuser.execute("truncate forebay.tasks cascade")
    bulk_load(stage, "other", 10_000)
    stage.racers += [stage.session(settings) for settings in HOSTILE]
    for _ in range(15):
        rounds.play(len(HOSTILE))


def test_pf3_an_unlimited_claim_takes_each_task_once_under_any_plan(stage: Stage) -> None:
    """Without a limit nothing is locked but the tasks, and still each is claimed once."""
    stage.agent()
    stage.superuser.execute("truncate forebay.tasks cascade")
    bulk_load(stage, "a", 2_000)
    stage.racers += [stage.session(settings) for settings in HOSTILE]
    taken = claimed(stage.at_once([dequeue(100, "a")] * len(HOSTILE)))
    assert len({row.task_id for row in taken}) == len(taken) == 100 * len(HOSTILE)


def bulk_load(stage: Stage, agent: str, count: int) -> None:
    """Write tasks straight into the table, as a restore would; the statistics know nothing."""
    stage.superuser.execute(
        "insert into forebay.tasks (agent, payload, available_at, created_at)"
        " select %s, '{}', forebay._now(), forebay._now() from generate_series(1, %s)",
        [agent, count],
    )
