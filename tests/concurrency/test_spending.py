"""What was spent, added up once; and caps of a day that no number of claims passes (CO)."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from concurrency.money import MICROSECOND, MIDNIGHT, dollars, running, spent, today, use
from concurrency.stage import Act, Stage, claimed, dequeue
from concurrency.test_plans import pages
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker

LOOK = """
select s.recorded - (select coalesce(sum(a.cost_usd), 0) from forebay.task_attempts as a) as gap,
    s.recorded + s.projected as exposed
from forebay._spent_today('a', null, forebay._now()) as s
"""


def fold(session: psycopg.Connection) -> None:
    """Fold, as every sweep does."""
    worker.sweep(session)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles", "UTC"])
def test_the_day_is_utc_whatever_the_sessions_zone(stage: Stage, zone: str) -> None:
    """A cap ends at midnight UTC, to the microsecond; a lift is of that day too."""
    stage.clock.set(MIDNIGHT - MICROSECOND)
    stage.agent(max_usd_per_day=Decimal(1))
    session = stage.session(f"-c timezone={zone}")
    stage.enqueue(count=2)
    usage = {"call_id": "c", "cost_usd": 1}
    (first,) = dequeue(1, "a")(session)
    report.report_usage(session, attempt_id=first.attempt_id, usage=usage)
    fold(session)
    assert dequeue(1, "a")(session) == []
    operator.lift_spend_cap(session, agent="a", extra_usd=Decimal(1))
    assert viewer.agent_status(session)[0].usd_today == 1
    stage.clock.set(MIDNIGHT)
    assert viewer.agent_status(session)[0].usd_today == 0
    (second,) = dequeue(1, "a")(session)
    report.report_usage(session, attempt_id=second.attempt_id, usage=usage)
    stage.enqueue()
    assert dequeue(1, "a")(session) == []
    assert spent(stage) == {date(2026, 1, 1): 1, date(2026, 1, 2): 1}


def reports_and_folds(attempts: list[int], number: int) -> Act[None]:
    """Return the act of reporting usage, folding and rolling back, by turns."""

    def act(session: psycopg.Connection) -> None:
        for turn, attempt in enumerate(attempts):
            with session.transaction(force_rollback=(turn + number) % 5 == 0):
                usage = {"call_id": f"{number} {turn}", "cost_usd": turn % 7 + 1}
                report.report_usage(session, attempt_id=attempt, usage=usage)
                if (turn + number) % 3 == 0:
                    fold(session)

    return act


def test_a_fold_neither_loses_nor_doubles(stage: Stage) -> None:
    """Fifteen sessions report, fold and roll back at once; every look sees the exact sums.

    What is recorded is what the attempts cost, and what it takes from the expected cost.
    """
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(100_000))
    stage.enqueue(count=20, estimated_tokens=100_000_000)
    attempts = [claim.attempt_id for claim in stage.claim(20)]
    seen: set[tuple[Decimal, Decimal]] = set()

    def look(_: psycopg.Connection) -> None:
        for _ in range(300):
            seen.add(tuple(stage.row(LOOK)))

    outcomes = stage.at_once([look, *(reports_and_folds(attempts, number) for number in range(15))])
    assert [outcome for outcome in outcomes if outcome] == []
    assert seen == {(0, 20_000)}
    fold(stage.db)
    assert stage.value("select count(*) from forebay.spend_entries") == 0
    reported = stage.value("select sum(cost_usd) from forebay.attempt_usage")
    assert reported == 4 * sum(turn % 7 + 1 for turn in range(20)) * 3
    assert sum(spent(stage).values()) == reported


def test_a_fold_that_is_open_holds_nobody_up(stage: Stage) -> None:
    """Others leave it alone, and nothing is lost when it is rolled back."""
    stage.agent()
    attempt = running(stage)
    use(stage, attempt, "1", cost_usd=1)
    with stage.transaction() as session:
        fold(session)
        assert not stage.is_held_up(fold)
        use(stage, attempt, "2", cost_usd=2)
        assert not stage.is_held_up(fold)
        assert today(stage)[0] == 3
        session.rollback()
    assert today(stage)[0] == 3
    fold(stage.db)
    assert stage.value("select usd from forebay.daily_spend") == 3


def exposed(stage: Stage, customer: str | None = None) -> Decimal:
    """Return recorded and projected cost of today, added up by the test from attempts and calls."""
    day = stage.clock.now().date()
    total = Decimal(0)
    for attempt in stage.rows("select * from forebay.task_attempts"):
        if customer is None or attempt.customer == customer:
            calls = stage.rows(
                "select * from forebay.attempt_usage where attempt_id = %s", attempt.attempt_id
            )
            calls = [call for call in calls if call.usd is not None]
            total += sum(call.usd for call in calls if call.recorded_at.date() == day)
            if attempt.finished_at is None or not calls:
                total += max(attempt.expected_usd - sum(call.usd for call in calls), Decimal(0))
    return total


def slowly(act: Act[Any]) -> Act[Any]:
    """Return the act in a transaction that commits some time after it."""

    def slow(session: psycopg.Connection) -> Any:
        with session.transaction():
            rows = act(session)
            session.execute("select pg_sleep(0.005)")
            return rows

    return slow


@pytest.mark.parametrize("agents", [1, 4])
def test_sixteen_sessions_never_pass_a_customers_cap(stage: Stage, agents: int) -> None:
    """Its tasks are in the lines of four agents, whose claims meet nowhere but at the customer.

    A session that asks for one agent waits for the others, one that asks for all goes round them.
    """
    assert stage.clock
    dollars(stage)
    cap = Decimal("12.5")
    operator.register_customer(stage.db, customer="c", max_usd_per_day=cap)
    for agent in "wxyz":
        stage.agent(agent, max_tpm=10**9 if agent in "wx" else None)
        stage.enqueue(agent, 20, customer="c", estimated_tokens=100_000)
    acts = [slowly(dequeue(1 + n % 3, *("wxyz" * 2)[n % 4 : n % 4 + agents])) for n in range(16)]
    while claims := claimed(stage.at_once(acts)):
        assert exposed(stage, "c") <= cap
        for claim in claims[::2]:
            use(stage, claim.attempt_id, cost_usd=claim.attempt_id % 10 / 10)
            report.complete(stage.db, attempt_id=claim.attempt_id, result={})
        assert exposed(stage, "c") <= cap
    assert cap - 1 < exposed(stage, "c")
    assert stage.value("select count(*) from forebay.tasks where status = 'enqueued'") > 20


@pytest.mark.parametrize("limits", [{}, {"max_tpm": 10**9}, {"max_concurrent_tasks": 100}])
def test_sixteen_sessions_never_pass_an_agents_cap(stage: Stage, limits: dict[str, int]) -> None:
    """Beside its other limits, or as the only one."""
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal("7.25"), **limits)
    stage.enqueue(count=40, estimated_tokens=100_000)
    while claimed(stage.at_once([slowly(dequeue(3, "a"))] * 16)):
        assert exposed(stage) <= Decimal("7.25")
    assert stage.in_use() == 7


@pytest.mark.parametrize("limits", [{}, {"max_tpm": 10**9}, {"fair_by_customer": True}])
def test_a_customer_at_its_cap_holds_back_nobody_else(stage: Stage, limits: dict[str, Any]) -> None:
    """Its tasks wait, and others pass them: till its tasks end cheaper, then till the next day."""
    assert stage.clock
    dollars(stage)
    operator.register_customer(
        stage.db, customer="big", priority_boost=10, max_usd_per_day=Decimal(2)
    )
    stage.agent(**limits)
    big = stage.enqueue(count=150, customer="big", estimated_tokens=100_000)
    small = stage.enqueue(count=2, customer="small", estimated_tokens=100_000)
    nobody = stage.enqueue(count=1, estimated_tokens=100_000)
    started = {claim.task_id for _ in range(6) for claim in stage.claim(10)}
    assert started == {*big[:2], *small, *nobody}
    for until in (None, MIDNIGHT):
        explanation = viewer.explain_task(stage.db, task_id=big[2])
        assert (explanation.reason, explanation.subject) == ("spend_cap", "big")
        assert (explanation.needs, explanation.has, explanation.amount) == (1, 0, 2)
        assert explanation.waiting_until == until
        for attempt in stage.rows("select * from forebay.task_attempts where customer = 'big'"):
            use(stage, attempt.attempt_id, cost_usd=1)
            report.complete(stage.db, attempt_id=attempt.attempt_id, result={})


def test_what_a_task_did_not_cost_is_left_to_the_next(stage: Stage) -> None:
    """The expected cost makes room for the true one, which is known before the end."""
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(2))
    stage.enqueue(count=9, estimated_tokens=100_000)
    first, second = stage.claim(9)
    use(stage, first.attempt_id, cost_usd=0.4)
    assert today(stage) == (Decimal("0.4"), Decimal("1.6"))
    assert stage.claim() == []
    report.complete(stage.db, attempt_id=first.attempt_id, result={})
    assert today(stage) == (Decimal("0.4"), 1)
    assert stage.claim() == []
    use(stage, second.attempt_id, cost_usd=0.1)
    report.complete(stage.db, attempt_id=second.attempt_id, result={})
    stage.claim_one()
    use(stage, second.attempt_id, "more", cost_usd=3)
    assert today(stage) == (Decimal("3.5"), 1)
    assert stage.claim() == []


def test_an_operator_lifts_a_cap_and_the_next_day_begins_anew(stage: Stage) -> None:
    """By so much, then without end; at midnight the cap is back, and nothing is spent yet."""
    assert stage.clock
    dollars(stage)
    operator.register_customer(stage.db, customer="c", max_usd_per_day=Decimal(1))
    stage.agent(max_usd_per_day=Decimal(2))
    stage.enqueue(count=20, customer="c", estimated_tokens=100_000)
    assert len(stage.claim(20)) == 1
    operator.lift_spend_cap(stage.db, customer="c")
    assert len(stage.claim(20)) == 1
    operator.lift_spend_cap(stage.db, agent="a", extra_usd=Decimal("3.5"))
    assert len(stage.claim(20)) == 3
    for attempt in stage.rows("select attempt_id from forebay.task_attempts"):
        use(stage, attempt.attempt_id, cost_usd=1)
        report.complete(stage.db, attempt_id=attempt.attempt_id, result={})
    stage.clock.set(MIDNIGHT - MICROSECOND)
    assert stage.claim(20) == []
    stage.clock.set(MIDNIGHT)
    assert len(stage.claim(20)) == 1


def test_a_cap_elsewhere_lets_a_held_task_be_passed(stage: Stage) -> None:
    """What somebody holds at the head of a line stops nobody, though a customer has a cap."""
    dollars(stage)
    operator.register_customer(stage.db, customer="capped", max_usd_per_day=Decimal(5))
    stage.agent()
    head, next_one = stage.enqueue(customer="k") + stage.enqueue(customer="m")
    holder = stage.session()
    with holder.transaction():
        operator.reprioritize(holder, task_ids=[head], priority=5)
        assert [claim.task_id for claim in stage.claim(1)] == [next_one]


@pytest.mark.parametrize("cap", [Decimal("0.5"), Decimal("2.5")])
def test_tasks_that_a_cap_leaves_too_little_for_hide_nobody(stage: Stage, cap: Decimal) -> None:
    """However many tasks of customers wait at the head, too dear for what is left of their caps."""
    dollars(stage)
    stage.agent()
    for customer in ("k", "l"):
        operator.register_customer(stage.db, customer=customer, max_usd_per_day=cap)
        stage.enqueue(count=150, customer=customer, estimated_tokens=100_000)
    (other,) = stage.enqueue(customer="m", estimated_tokens=10)
    started = [claim.task_id for _ in range(6) for claim in stage.claim(1)]
    assert len(started) == 2 * int(cap) + 1
    assert other in started


@pytest.mark.parametrize("cap", [Decimal(0), Decimal("0.99")])
def test_a_task_dearer_than_the_whole_cap_waits(stage: Stage, cap: Decimal) -> None:
    """It would wait for ever, so it says for what; one that may cost nothing passes, but not 0."""
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=cap)
    (dear,) = stage.enqueue(estimated_tokens=100_000)
    (free,) = stage.enqueue(estimated_tokens=0)
    assert [claim.task_id for claim in stage.claim(2)] == ([free] if cap else [])
    explanation = viewer.explain_task(stage.db, task_id=dear)
    assert explanation.reason == "spend_cap"
    assert (explanation.needs, explanation.amount) == (1, cap)
    operator.lift_spend_cap(stage.db, agent="a", extra_usd=Decimal(1))
    assert dear in [claim.task_id for claim in stage.claim(2)]


@pytest.mark.parametrize("end", ["lost", "completed", "failed", "cancelled"])
def test_co3_what_nobody_told_counts_as_expected(stage: Stage, end: str) -> None:
    """An agent that reports no usage is not free of its cap; late reports put it right."""
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(2), on_lost_lease="fail", max_attempts=1)
    operator.register_customer(stage.db, customer="c", max_usd_per_day=Decimal(1))
    stage.enqueue(count=9, customer="c", estimated_tokens=100_000)
    claim = stage.claim_one()
    if end == "lost":
        stage.expire(claim.attempt_id)
        worker.sweep(stage.db)
    elif end == "completed":
        report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    elif end == "failed":
        report.fail(stage.db, attempt_id=claim.attempt_id, error={})
    else:
        operator.cancel(stage.db, task_ids=[claim.task_id])
    assert today(stage) == (0, 1)
    assert stage.claim() == []
    assert stage.value("select forebay._capped_customers(forebay._now())") == ["c"]
    use(stage, claim.attempt_id, cost_usd=0.25)
    is_told = end in ("completed", "failed")
    assert today(stage) == (Decimal("0.25"), Decimal("0") if is_told else Decimal("0.75"))
    report.fail(stage.db, attempt_id=claim.attempt_id, error={"kind": "late"})
    assert today(stage) == (Decimal("0.25"), 0)


def test_co3_one_known_call_does_not_make_the_others_free(stage: Stage) -> None:
    """Beside a call of unknown cost the expected cost stays, less what is known, until it is told.

    A call that is known to have used nothing, such as a refused one, needs no price.
    """
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(1))
    attempt = running(stage, estimated_tokens=100_000)
    tokens = {"input_tokens": 10_000, "output_tokens": 0}
    use(stage, attempt, "known", **tokens)
    use(stage, attempt, "refused", model="unpriced", input_tokens=0, output_tokens=0)
    use(stage, attempt, "unknown", model="unpriced", **tokens)
    report.complete(stage.db, attempt_id=attempt, result={})
    assert today(stage) == (Decimal("0.1"), Decimal("0.9"))
    stage.enqueue(estimated_tokens=1000)
    assert stage.claim() == []
    use(stage, attempt, "unknown", cost_usd=0.2)
    assert today(stage) == (Decimal("0.3"), 0)
    stage.claim_one()


def test_co3_a_price_is_learned_where_all_of_the_cost_is_known(stage: Stage) -> None:
    """Ten tasks that told the cost of a tenth of their tokens teach nothing; ten more do."""
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(100))
    tokens = {"output_tokens": 0}
    for is_told in [False] * 10 + [True] * 10:
        attempt = running(stage, estimated_tokens=100_000)
        assert stage.attempt(attempt).expected_usd == 1
        use(stage, attempt, "known", input_tokens=10_000, **tokens)
        rest = {"model": "unpriced", "input_tokens": 90_000} | tokens
        use(stage, attempt, "rest", **rest, **({"cost_usd": 4.9} if is_told else {}))
        report.complete(stage.db, attempt_id=attempt, result={})
    assert stage.attempt(running(stage, estimated_tokens=100_000)).expected_usd == 5


@pytest.mark.parametrize("end", ["release", "unspent run", "refusal", "last refusal"])
def test_what_ended_for_nothing_costs_nothing(stage: Stage, end: str) -> None:
    """A release that reported nothing, a run that never began, and a provider's refusal."""
    assert stage.clock
    dollars(stage)
    stage.agent(
        max_usd_per_day=Decimal(1),
        max_deferrals=int(end == "refusal"),
        launcher="lakeflow" if end == "unspent run" else "pull",
    )
    stage.enqueue(customer="c", estimated_tokens=100_000)
    claim = stage.claim_one()
    assert today(stage) == (0, 1)
    if end == "release":
        worker.release(stage.db, attempt_id=claim.attempt_id, reason="refused")
    elif end == "unspent run":
        skipped = {"life_cycle_state": "SKIPPED"}
        worker.observe_run(stage.db, attempt_id=claim.attempt_id, run=skipped)
    else:
        report.fail(
            stage.db,
            attempt_id=claim.attempt_id,
            error={"kind": "rate_limited"},
            retry_after=timedelta(0),
        )
    assert stage.attempt(claim.attempt_id).finished_at
    assert today(stage) == (0, 0)
    assert tuple(stage.row("select * from forebay._spent_today(null, 'c', forebay._now())")) == (
        0,
        0,
    )


def test_the_next_day_knows_nothing_of_what_nobody_told(stage: Stage) -> None:
    """Its expected cost counts on the day of its end."""
    assert stage.clock
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(1))
    attempt = running(stage, estimated_tokens=100_000)
    report.complete(stage.db, attempt_id=attempt, result={})
    assert today(stage) == (0, 1)
    stage.clock.set(MIDNIGHT)
    assert today(stage) == (0, 0)


HISTORY = """
insert into forebay.task_attempts
select (jsonb_populate_record(a, jsonb_build_object(
    'attempt_id', a.attempt_id + n, 'attempt_no', n + 1, 'launch_token', n, 'status', 'failed',
    'started_at', a.started_at - interval '6 h', 'finished_at', a.started_at - n * interval '1 s'
))).*
from forebay.task_attempts as a, generate_series(1, 5000) as n
"""


def test_what_a_cap_reads_does_not_grow_with_history(stage: Stage) -> None:
    """5,000 attempts of the days before, whose cost nobody told, add no pages to read."""
    stage.clock.set(MIDNIGHT)
    dollars(stage)
    stage.agent(max_usd_per_day=Decimal(2))
    operator.register_customer(stage.db, customer="c", max_usd_per_day=Decimal(1))
    running(stage, customer="c", estimated_tokens=100_000)
    stage.superuser.execute("set enable_seqscan = off; set enable_hashjoin = off")
    looks = [
        "select * from forebay._spent_today('a', null, forebay._now())",
        "select * from forebay._spent_today(null, 'c', forebay._now())",
        "select forebay._capped_customers(forebay._now())",
    ]
    before = [[pages(stage.superuser, look) for look in looks] for _ in range(2)][-1]  # warm
    assert stage.superuser.execute(HISTORY).rowcount == 5000
    after = [[pages(stage.superuser, look) for look in looks] for _ in range(2)][-1]
    assert all(late < early + 30 for early, late in zip(before, after, strict=True)), (
        before,
        after,
    )
