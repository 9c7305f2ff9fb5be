"""A provider's refusals: they spend no attempt, hold everybody it concerns, and let go by steps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
MICROSECOND = timedelta(microseconds=1)
LIMITS = Path(__file__).parents[2] / "docs" / "limits.md"


def refuse(stage: Stage, attempt_id: int, after: timedelta | None = None, **error: str) -> str:
    """Report that the provider refused an attempt's call."""
    error = {"kind": "rate_limited", "message": "429"} | error
    return report.fail(stage.db, attempt_id=attempt_id, error=error, retry_after=after)


def effective(stage: Stage, limit: str, agent: str = "a") -> Any:
    """Return a limit of the agent as it holds now."""
    return stage.value(
        "select to_jsonb(e) -> %s from forebay._get_effective(%s, forebay._now()) as e",
        limit,
        agent,
    )


def share(stage: Stage, agent: str = "a") -> Decimal:
    """Return the share of its limits that an agent has now."""
    query = "select (forebay._throttle(a, forebay._now())).share from forebay.agents as a"
    return stage.value(f"{query} where a.agent = %s", agent)


def quota_share(stage: Stage, quota: str = "q") -> Decimal:
    """Return the share of its limits that a quota has now."""
    return stage.value("select (forebay._quota_throttle(%s, forebay._now())).share", quota)


def draw_on(stage: Stage, agent: str, *quotas: str) -> None:
    """Let an agent draw on quotas that limit nothing themselves."""
    for quota in quotas:
        stage.superuser.execute(
            "insert into forebay.quotas (quota, headroom, created_at, updated_at)"
            " values (%s, 0, now(), now()) on conflict do nothing",
            [quota],
        )
    stage.superuser.execute(
        "update forebay.agents set quotas = %s where agent = %s", [list(quotas), agent]
    )


def test_st9_one_refusal_holds_all_and_spends_nothing(stage: Stage) -> None:
    """20 tasks, and a Retry-After of 300: nobody starts before, and nobody lost an attempt."""
    assert stage.clock
    stage.agent(max_attempts=1, max_concurrent_tasks=5)
    tasks = stage.enqueue(count=20)
    assert refuse(stage, stage.claim_one().attempt_id, 300 * SECOND) == "enqueued"
    assert stage.claim(20) == []
    stage.clock.advance(300 * SECOND - MICROSECOND)
    assert stage.claim(20) == []
    rows = [stage.task(task_id) for task_id in tasks]
    assert {(row.status, row.attempt_count) for row in rows} == {("enqueued", 0)}
    stage.clock.advance(MICROSECOND)
    assert [claim.task_id for claim in stage.claim(20)] == tasks[:2]


@pytest.mark.parametrize("after", [None, SECOND, 10 * SECOND], ids=["untold", "1 s", "10 s"])
def test_rt7_65_seconds_of_refusals_spend_nothing(stage: Stage, after: timedelta | None) -> None:
    """However short the times that the provider names, or when it names none."""
    assert stage.clock
    stage.agent(max_attempts=1)
    (task_id,) = stage.enqueue()
    recovers = stage.clock.now() + 65 * SECOND
    while stage.clock.now() < recovers:
        refuse(stage, stage.claim_one().attempt_id, after)
        stage.clock.set(stage.task(task_id).available_at)
    assert report.complete(stage.db, attempt_id=stage.claim_one().attempt_id, result={})
    task = stage.task(task_id)
    assert (task.status, task.attempt_count) == ("completed", 1)
    assert task.deferral_count == {None: 2, SECOND: 65, 10 * SECOND: 7}[after]


def test_an_overloaded_provider_defers_by_backoff(stage: Stage) -> None:
    """Without a time it waits longer each time, by the deferrals, and others go on."""
    assert stage.clock
    stage.agent(max_attempts=1, backoff_base=10 * SECOND)
    (task_id, _) = stage.enqueue(count=2)
    for number in range(4):
        attempt_id = stage.claim_one().attempt_id
        assert refuse(stage, attempt_id, kind="overloaded") == "enqueued"
        wait = stage.task(task_id).available_at - stage.clock.now()
        longest = 10 * SECOND * 2**number
        assert longest * 0.9 - MICROSECOND <= wait <= longest
        assert effective(stage, "paused_until") is None
        stage.clock.advance(wait)
    assert stage.task(task_id).attempt_count == 0
    refuse(stage, stage.claim_one().attempt_id, MINUTE, kind="overloaded")
    assert stage.claim() == []


def test_deferrals_are_bounded_by_count(stage: Stage) -> None:
    """After max_deferrals a refusal spends an attempt, and the last one fails the task."""
    assert stage.clock
    stage.agent(max_attempts=2)
    stage.superuser.execute("update forebay.agents set max_deferrals = 3")
    (task_id,) = stage.enqueue()
    seen = []
    for _ in range(5):
        refuse(stage, stage.claim_one().attempt_id, 5 * SECOND)
        task = stage.task(task_id)
        seen.append((task.deferral_count, task.attempt_count))
        stage.clock.advance(5 * SECOND)
    assert seen == [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2)]
    assert (task.status, task.error["kind"]) == ("failed", "rate_limited")


def test_deferrals_are_bounded_by_time(stage: Stage) -> None:
    """After max_deferral_time since the first deferral a refusal spends an attempt."""
    assert stage.clock
    stage.agent(max_attempts=1)
    stage.superuser.execute("update forebay.agents set max_deferral_time = '1 hour'")
    (task_id,) = stage.enqueue()
    first = stage.clock.now()
    refuse(stage, stage.claim_one().attempt_id, MINUTE)
    stage.clock.set(first + timedelta(hours=1) - MICROSECOND)
    assert refuse(stage, stage.claim_one().attempt_id, MICROSECOND) == "enqueued"
    assert stage.task(task_id).deferred_since == first
    stage.clock.advance(MICROSECOND)
    assert refuse(stage, stage.claim_one().attempt_id, MINUTE) == "failed"


def test_an_operators_retry_defers_afresh(stage: Stage) -> None:
    """Count and time begin anew, as its attempts do."""
    assert stage.clock
    stage.agent(max_attempts=1)
    stage.superuser.execute("update forebay.agents set max_deferrals = 1")
    (task_id,) = stage.enqueue()
    for _ in range(2):
        refuse(stage, stage.claim_one().attempt_id, SECOND)
        stage.clock.advance(SECOND)
    assert stage.task(task_id).status == "failed"
    operator.retry(stage.db, task_ids=[task_id])
    task = stage.task(task_id)
    assert (task.deferral_count, task.deferred_since) == (0, None)
    assert refuse(stage, stage.claim_one().attempt_id, SECOND) == "enqueued"


def test_the_limits_are_halved_and_come_back_by_a_tenth(stage: Stage) -> None:
    """Halved while the pause lasts, then a tenth more at each 30 seconds, to the microsecond."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=10, max_tpm=1000, max_rpm=7)
    stage.enqueue()
    refuse(stage, stage.claim_one().attempt_id, MINUTE)
    limits = ("max_concurrent_tasks", "max_tpm", "max_rpm")
    ramp = [(5, 500, 3), (6, 600, 4), (7, 700, 4), (8, 800, 5), (9, 900, 6), (10, 1000, 7)]
    stage.clock.advance(MINUTE - MICROSECOND)
    assert tuple(effective(stage, limit) for limit in limits) == ramp[0]
    stage.clock.advance(MICROSECOND)
    for number, step in enumerate(ramp):
        assert tuple(effective(stage, limit) for limit in limits) == step
        stage.clock.advance(30 * SECOND - MICROSECOND)
        assert tuple(effective(stage, limit) for limit in limits) == step
        stage.clock.advance(MICROSECOND)
        assert share(stage) == min(Decimal(1), Decimal("0.6") + number * Decimal("0.1"))
    row = stage.row("select max_concurrent_tasks, max_tpm, max_rpm from forebay.agents")
    assert tuple(row) == ramp[-1]


def test_what_was_in_flight_halves_once(stage: Stage) -> None:
    """Refusals of what was claimed before the limits fell prolong the pause, and no more."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=8)
    stage.enqueue(count=8)
    for claim in stage.claim(8):
        refuse(stage, claim.attempt_id, 10 * SECOND)
        stage.clock.advance(SECOND)
    assert share(stage) == Decimal("0.5")
    stage.clock.advance(9 * SECOND - MICROSECOND)
    assert stage.claim(8) == []
    stage.clock.advance(MICROSECOND)
    assert len(stage.claim(8)) == 4


def test_a_shorter_wait_does_not_shorten_the_pause(stage: Stage) -> None:
    """Of several refusals the one that lasts longest holds, and the limits grow after it."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=8)
    stage.enqueue(count=3)
    first, second, _ = stage.claim(3)
    refuse(stage, first.attempt_id, MINUTE)
    refuse(stage, second.attempt_id, SECOND)
    stage.clock.advance(MINUTE - MICROSECOND)
    assert stage.claim() == []
    stage.clock.advance(30 * SECOND)
    assert share(stage) == Decimal("0.5")
    stage.clock.advance(MICROSECOND)
    assert share(stage) == Decimal("0.6")


def test_what_was_claimed_at_the_lower_limit_halves_again(stage: Stage) -> None:
    """Down to a tenth and never to nothing; from there it takes 270 seconds back to the whole."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=100)
    stage.enqueue()
    shares = []
    for _ in range(5):
        refuse(stage, stage.claim_one().attempt_id, SECOND)
        shares.append(share(stage))
        stage.clock.advance(SECOND)
    assert shares == [Decimal(text) for text in ("0.5", "0.25", "0.125", "0.1", "0.1")]
    stage.clock.advance(270 * SECOND - MICROSECOND)
    assert share(stage) == Decimal("0.9")
    stage.clock.advance(MICROSECOND)
    assert share(stage) == 1


def test_a_long_task_that_is_refused_on_the_way_up_halves_too(stage: Stage) -> None:
    """Once the share has grown again, also an attempt from before is a sign of too much."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=10)
    stage.enqueue(count=2)
    first, second = stage.claim(2)
    refuse(stage, first.attempt_id, SECOND)
    stage.clock.advance(31 * SECOND)
    assert share(stage) == Decimal("0.6")
    refuse(stage, second.attempt_id, SECOND)
    assert share(stage) == Decimal("0.3")


@pytest.mark.parametrize(("limit", "lowered"), [(0, 0), (1, 1), (3, 1)])
def test_a_lowered_limit_is_one_at_least_and_zero_stays_zero(
    stage: Stage, limit: int, lowered: int
) -> None:
    """A pause ends some day; an agent that an operator stopped stays so."""
    assert stage.clock
    stage.agent()
    stage.enqueue()
    refuse(stage, stage.claim_one().attempt_id, SECOND)
    stage.agent(max_concurrent_tasks=limit)
    assert effective(stage, "max_concurrent_tasks") == lowered


def test_an_agent_without_limits_comes_back_from_what_was_in_flight(stage: Stage) -> None:
    """Eight ran when it was refused: four may run then, one more each 40 seconds or so."""
    assert stage.clock
    stage.agent()
    stage.enqueue(count=20)
    first, *others = stage.claim(8)
    refuse(stage, first.attempt_id, SECOND)
    for claim in others:
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    stage.clock.advance(SECOND)
    assert len(stage.claim(20)) == 4
    stage.clock.advance(120 * SECOND)
    assert len(stage.claim(20)) == 3
    stage.clock.advance(30 * SECOND)
    assert effective(stage, "max_concurrent_tasks") is None
    assert len(stage.claim(20)) == 6


def test_a_refusal_pauses_all_agents_of_its_quota_and_no_other(stage: Stage) -> None:
    """The quota is the provider's: what it told one agent holds for those who share it."""
    assert stage.clock
    for name in ("a", "b", "c", "d"):
        stage.agent(name, max_concurrent_tasks=4)
        stage.enqueue(name, count=8)
    draw_on(stage, "a", "q")
    draw_on(stage, "b", "p", "q")
    draw_on(stage, "c", "p")
    refuse(stage, stage.claim_one("a").attempt_id, MINUTE)
    assert stage.claim(8, "a") == stage.claim(8, "b") == []
    assert len(stage.claim(2, "c")) == len(stage.claim(2, "d")) == 2
    assert "q" in effective(stage, "pause_reason", "b")
    assert [quota_share(stage, name) for name in "pq"] == [1, Decimal("0.9")]
    stage.clock.advance(MINUTE)
    assert len(stage.claim(8, "b")) == 4


def test_a_refusal_of_a_quota_lowers_the_quota_alone_by_a_tenth(stage: Stage) -> None:
    """Once a wave, and whole again after 30 seconds; no limit of an agent's own moves."""
    assert stage.clock
    limits = [{"unit": "tokens", "per": "minute", "amount": 1000}]
    operator.register_quota(stage.db, quota="q", limits=limits, headroom=Decimal(0))
    for name in ("a", "b"):
        stage.agent(name, max_concurrent_tasks=10, max_tpm=1000, max_rpm=100)
        draw_on(stage, name, "q")
        stage.enqueue(name, count=3, estimated_tokens=1)
    wave = [*stage.claim(3, "a"), *stage.claim(3, "b")]
    for claim in wave:
        refuse(stage, claim.attempt_id, MINUTE)
    (status,) = viewer.quota_status(stage.db)
    assert (status.amount, status.effective_amount) == (1000, 900)
    for name in ("a", "b"):
        assert share(stage, name) == 1
        own = [effective(stage, f"max_{limit}", name) for limit in ("concurrent_tasks", "tpm")]
        assert own == [10, 1000]
    stage.clock.advance(90 * SECOND - MICROSECOND)
    assert quota_share(stage) == Decimal("0.9")
    stage.clock.advance(MICROSECOND)
    assert quota_share(stage) == 1


def test_a_quota_that_is_refused_again_and_again_comes_down_to_a_tenth(stage: Stage) -> None:
    """Somebody else may use it up: each refusal at the lower limits takes a tenth of the rest."""
    assert stage.clock
    stage.agent()
    draw_on(stage, "a", "q")
    stage.enqueue()
    shares = []
    for _ in range(24):
        refuse(stage, stage.claim_one().attempt_id, SECOND)
        shares.append(quota_share(stage))
        stage.clock.advance(SECOND)
    assert shares[:4] == [Decimal(text) for text in ("0.9", "0.81", "0.729", "0.656")]
    assert shares[-2:] == [Decimal("0.1")] * 2


def test_what_an_agent_meets_alone_lowers_no_quota(stage: Stage) -> None:
    """Where the error names none of several quotas, the agent itself has half of its limits."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=4)
    draw_on(stage, "a", "p", "q")
    stage.enqueue()
    refuse(stage, stage.claim_one().attempt_id, MINUTE)
    assert share(stage) == Decimal("0.5")
    assert quota_share(stage, "p") == quota_share(stage, "q") == 1


@pytest.mark.parametrize(
    ("named", "paused"),
    [("p", "acd"), ("q", "ab"), ("another", "a"), (None, "a")],
    ids=["p", "q", "one it does not use", "none"],
)
def test_the_error_says_which_of_several_quotas_refused(
    stage: Stage, named: str | None, paused: str
) -> None:
    """Where it does not, or names one that the agent does not use, only the agent itself waits."""
    assert stage.clock
    quotas = {"a": "pq", "b": "q", "c": "p", "d": "p", "e": ""}
    for name, used in quotas.items():
        stage.agent(name)
        stage.enqueue(name)
        draw_on(stage, name, *used)
    attempt_id = stage.claim_one("a").attempt_id
    refuse(stage, attempt_id, MINUTE, **({"quota": named} if named else {}))
    paused_now = [name for name in quotas if effective(stage, "paused_until", name)]
    assert "".join(paused_now) == paused


def test_the_later_of_two_pauses_holds(stage: Stage) -> None:
    """An operator's and a provider's; and what an operator set is what is shown of it."""
    assert stage.clock
    stage.agent()
    stage.enqueue()
    attempt_id = stage.claim_one().attempt_id
    operator.pause_agent(
        stage.db, agent="a", until=stage.clock.now() + MINUTE, reason="maintenance"
    )
    refuse(stage, attempt_id, 30 * SECOND)
    assert effective(stage, "pause_reason") == "maintenance"
    operator.pause_agent(stage.db, agent="a", until=stage.clock.now() + SECOND, reason="short")
    assert "provider" in effective(stage, "pause_reason")
    stage.clock.advance(30 * SECOND - MICROSECOND)
    assert stage.claim() == []
    stage.clock.advance(MICROSECOND)
    assert len(stage.claim()) == 1


def test_an_operator_may_end_a_providers_pause(stage: Stage) -> None:
    """For the quota as a whole; the lowered share stays, and grows from then."""
    assert stage.clock
    for name in ("a", "b"):
        stage.agent(name, max_concurrent_tasks=4)
        stage.enqueue(name, count=8)
        draw_on(stage, name, "q")
    refuse(stage, stage.claim_one("a").attempt_id, MINUTE)
    stage.clock.advance(SECOND)
    assert operator.resume_agent(stage.db, agent="b") == 1
    assert operator.resume_agent(stage.db, agent=None) == 0
    assert len(stage.claim(8, "a")) == len(stage.claim(8, "b")) == 4
    stage.clock.advance(30 * SECOND - MICROSECOND)
    assert quota_share(stage) == Decimal("0.9")
    stage.clock.advance(MICROSECOND)
    assert quota_share(stage) == 1


def test_many_refusals_at_once_halve_once(stage: Stage) -> None:
    """They wait for nobody and cannot see each other; they come to the same share all the same."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=16)
    stage.enqueue(count=16)
    acts: list[Callable[[psycopg.Connection], str]] = [
        partial(
            report.fail,
            attempt_id=claim.attempt_id,
            error={"kind": "rate_limited"},
            retry_after=number * SECOND,
        )
        for number, claim in enumerate(stage.claim(16), start=1)
    ]
    assert stage.at_once(acts) == ["enqueued"] * 16
    assert share(stage) == Decimal("0.5")
    stage.clock.advance(16 * SECOND - MICROSECOND)
    assert stage.claim(16) == []
    stage.clock.advance(MICROSECOND)
    assert len(stage.claim(16)) == 8


def test_a_refusal_waits_for_no_lock_of_agents_or_quotas(stage: Stage) -> None:
    """Whoever holds the rows of agent, budget and quota, to claim or to change them."""
    stage.agent(max_concurrent_tasks=4, max_tpm=1000)
    stage.enqueue(estimated_tokens=1)
    draw_on(stage, "a", "q")
    attempt_id = stage.claim_one().attempt_id
    stage.superuser.autocommit = False
    try:
        for table in ("agents", "agent_budgets", "quotas"):
            stage.superuser.execute(f"select 1 from forebay.{table} for update")
        fail = partial(report.fail, attempt_id=attempt_id, error={"kind": "rate_limited"})
        assert not stage.is_held_up(fail)
    finally:
        stage.superuser.rollback()
        stage.superuser.autocommit = True
    assert stage.claim() == []


@pytest.mark.parametrize("kind", ["context_too_long", "content_filtered", "bad_input"])
def test_a_final_kind_ends_the_task(stage: Stage, kind: str) -> None:
    """Whatever the caller thinks of trying again: the same input would be refused again."""
    stage.agent()
    stage.enqueue()
    assert refuse(stage, stage.claim_one().attempt_id, kind=kind) == "failed"


def test_a_refusal_not_to_be_retried_fails_and_pauses(stage: Stage) -> None:
    """The task is over, and the provider asked the others to wait all the same."""
    stage.agent()
    stage.enqueue(count=2)
    error = {"kind": "rate_limited"}
    attempt_id = stage.claim_one().attempt_id
    assert report.fail(stage.db, attempt_id=attempt_id, error=error, retryable=False) == "failed"
    assert stage.claim() == []


def test_a_report_that_comes_twice_is_one_refusal(stage: Stage) -> None:
    """Nor is the word of an attempt that lost its task one: it is old, or told already."""
    assert stage.clock
    stage.agent()
    stage.enqueue()
    attempt_id = stage.claim_one().attempt_id
    for _ in range(3):
        refuse(stage, attempt_id, SECOND)
    assert stage.value("select count(*) from forebay.refusals") == 1
    stage.clock.advance(SECOND)
    lost = stage.claim_one().attempt_id
    stage.expire(lost)
    worker.sweep(stage.db)
    refuse(stage, lost, SECOND)
    assert stage.value("select count(*) from forebay.refusals") == 1


def test_what_counts_no_more_is_forgotten(stage: Stage) -> None:
    """By a sweep, at the moment when its share is whole again."""
    assert stage.clock
    stage.agent(max_concurrent_tasks=100)
    stage.enqueue()
    for _ in range(5):
        refuse(stage, stage.claim_one().attempt_id, SECOND)
        stage.clock.advance(SECOND)
    stage.clock.advance(270 * SECOND - MICROSECOND)
    worker.sweep(stage.db)
    assert share(stage) == Decimal("0.9")
    stage.clock.advance(MICROSECOND)
    worker.sweep(stage.db)
    assert stage.value("select count(*) from forebay.refusals") == 0
    assert share(stage) == 1


def test_the_documented_table_is_the_one_that_decides(stage: Stage) -> None:
    """docs/limits.md shows the rows of error_policies, kind by kind."""
    rows = stage.rows("select * from forebay.error_policies")
    decided = {
        (
            f"`{row.kind}`",
            "failed" if row.is_final else "again",
            "spent" if row.spends_attempt else "not spent",
            row.pauses,
            ""
            if row.is_final
            else f"{row.default_wait.seconds} seconds"
            if row.default_wait
            else "backoff",
            row.note,
        )
        for row in rows
    }
    lines = [line for line in LIMITS.read_text().splitlines() if line.startswith("| `")]
    cells = {tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines}
    assert decided <= cells
