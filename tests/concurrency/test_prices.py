"""What calls cost: by price and time, cached tokens apart, null where it is not known (CO)."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from concurrency.money import MICROSECOND, MIDNIGHT, cost, price, running, spent, today, use
from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import worker

DAY = timedelta(days=1)


def test_co5_cached_tokens_are_priced_apart(stage: Stage) -> None:
    """17,903 tokens of which 17,817 come from the cache are 86 fresh and 17,817 cached ones."""
    stage.agent()
    price(stage, usd_per_m_input="3", usd_per_m_output="15", usd_per_m_cached="0.3")
    attempt = running(stage)
    use(stage, attempt, input_tokens=17_903, cached_tokens=17_817, output_tokens=500)
    assert cost(stage, attempt) == Decimal("0.000258") + Decimal("0.0053451") + Decimal("0.0075")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="are part of"):
        use(stage, attempt, "other", input_tokens=86, cached_tokens=17_817, output_tokens=500)
    assert cost(stage, attempt) == Decimal("0.0131031")


@pytest.mark.parametrize(
    ("terms", "usage", "usd"),
    [
        ({"usd_per_m_input": "0.1"}, {"input_tokens": 1}, "0.0000001"),
        ({"usd_per_m_input": "3"}, {"input_tokens": 100, "cached_tokens": 60}, "0.0003"),
        ({"usd_per_m_input": "3"}, {"input_tokens": 0}, "0"),
        ({"usd_per_m_cached": "1"}, {"input_tokens": 100, "cached_tokens": 60}, "0.00006"),
        ({"usd_per_page": "0.0015"}, {"pages": 7}, "0.0105"),
        ({"usd_per_page": "0.0015"}, {"pages": 0.5}, "0.00075"),
        ({"usd_per_call": "0.01"}, {}, "0.01"),
        (
            {"usd_per_m_output": "15", "usd_per_page": "0.001", "usd_per_call": "0.01"},
            {"output_tokens": 1000, "pages": 3, "input_tokens": 999_999},
            "0.028",
        ),
        ({"usd_per_m_input": "3"}, {"input_tokens": 100, "cost_usd": 0.5}, "0.5"),
        (
            {"usd_per_m_input": "3"},
            {"cost_usd": "0.123456789012345678901"},
            "0.123456789012345678901",
        ),
    ],
)
def test_a_call_costs_exactly_so_much(
    stage: Stage, terms: dict[str, str], usage: dict[str, Any], usd: str
) -> None:
    """In decimal numbers, without a rounding; what was reported beats the price."""
    stage.agent()
    price(stage, **terms)
    attempt = running(stage)
    use(stage, attempt, **usage)
    assert cost(stage, attempt) == Decimal(usd)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"input_tokens": 5},
        {"output_tokens": 5},
        {"input_tokens": 5, "output_tokens": 5, "model": None},
        {"input_tokens": 5, "output_tokens": 5, "model": "unpriced"},
        {"input_tokens": 5, "output_tokens": 5, "model": "by page"},
    ],
)
def test_co3_what_is_not_known_costs_null_and_not_nothing(
    stage: Stage, usage: dict[str, Any]
) -> None:
    """Without a number that the price needs, or without a price, nobody says 0."""
    stage.agent()
    price(stage, usd_per_m_input="3", usd_per_m_output="15")
    price(stage, "by page", usd_per_page="1")
    attempt = running(stage)
    use(stage, attempt, **usage)
    assert cost(stage, attempt) is None
    assert spent(stage) == {}
    use(stage, attempt, "known", cost_usd=2)
    assert cost(stage, attempt) == 2


def test_the_first_numbers_win_and_unknown_ones_are_filled(stage: Stage) -> None:
    """Each report books the difference; a call is never spent twice."""
    assert stage.clock
    stage.agent()
    price(stage, usd_per_m_input="10", usd_per_m_output="20")
    attempt = running(stage)
    for usage, changed, usd in [
        ({"input_tokens": 1_000_000}, 1, None),
        ({"input_tokens": 9_000_000, "output_tokens": 1_000_000}, 1, 30),
        ({"output_tokens": 2_000_000}, 0, 30),
        ({"cached_tokens": 400_000}, 1, 30),
        ({"cost_usd": 25}, 1, 25),
        ({"cost_usd": 99}, 0, 25),
        ({"trace_id": "t"}, 1, 25),
    ]:
        assert use(stage, attempt, **usage) == changed
        assert cost(stage, attempt) == usd
        assert sum(spent(stage).values()) == (usd or 0)


def test_a_price_changes_at_midnight(stage: Stage) -> None:
    """A call has the price and the day of its start, however late it is reported."""
    stage.agent()
    price(stage, valid_from=stage.clock.now(), usd_per_call="1")
    price(stage, valid_from=MIDNIGHT, usd_per_call="10")
    attempt = running(stage)
    stage.clock.set(MIDNIGHT + timedelta(hours=1))
    for call_id, started_at in [("old", MIDNIGHT - MICROSECOND), ("new", MIDNIGHT)]:
        use(stage, attempt, call_id, started_at=started_at.isoformat())
    assert spent(stage) == {date(2026, 1, 1): 1, date(2026, 1, 2): 10}
    assert cost(stage, attempt) == 11
    assert today(stage)[0] == 10


def test_where_prices_overlap_the_later_start_holds(stage: Stage) -> None:
    """A week of a lower price does not end the price around it, in whatever order they came."""
    noon = stage.clock.now()
    stage.agent()
    price(stage, valid_from=noon + DAY, valid_until=noon + 2 * DAY, usd_per_call="1")
    price(stage, valid_from=noon, valid_until=noon + 3 * DAY, usd_per_call="5")
    attempt = running(stage)
    for days in (0, 1, 2, 3):
        stage.clock.set(noon + days * DAY)
        use(stage, attempt, str(days))
    costs = stage.rows("select usd from forebay.attempt_usage order by call_id")
    assert [usd for (usd,) in costs] == [5, 1, 5, None]


def test_a_call_keeps_the_price_that_it_got(stage: Stage) -> None:
    """A price that comes late is for calls reported from then on, and for those filled then."""
    stage.agent()
    noon = stage.clock.now()
    attempt = running(stage)
    use(stage, attempt, "unpriced")
    price(stage, valid_from=noon, usd_per_call="2")
    use(stage, attempt, "first")
    price(stage, valid_from=noon, usd_per_call="7")
    use(stage, attempt, "second")
    assert cost(stage, attempt) == 9
    use(stage, attempt, "unpriced", input_tokens=5)
    assert cost(stage, attempt) == 16


@pytest.mark.parametrize("told", [timedelta(days=-400), timedelta(days=400)])
def test_a_clock_that_is_wrong_moves_no_money(stage: Stage, told: timedelta) -> None:
    """A call began neither before its attempt nor after its report, whatever an agent says."""
    stage.agent()
    price(stage, valid_from=stage.clock.now(), usd_per_call="1")
    attempt = running(stage)
    use(stage, attempt, started_at=(stage.clock.now() + told).isoformat())
    assert spent(stage) == {date(2026, 1, 1): 1}


def test_co7_every_attempt_counts_once(stage: Stage) -> None:
    """2.1 M tokens that failed and 3.6 M that succeeded, each told by agent and traces."""
    stage.agent()
    price(stage, usd_per_m_input="1", usd_per_m_output="1")
    stage.enqueue()
    costs = []
    for tokens, end in [(2_100_000, report.fail), (3_600_000, report.complete)]:
        attempt = stage.claim_one().attempt_id
        for source in ("agent", "trace"):
            use(stage, attempt, source=source, input_tokens=tokens - 5, output_tokens=5)
        if end is report.fail:
            report.fail(stage.db, attempt_id=attempt, error={}, retry_after=timedelta(0))
        else:
            report.complete(stage.db, attempt_id=attempt, result={})
        costs.append(cost(stage, attempt))
    assert costs == [Decimal("2.1"), Decimal("3.6")]
    assert today(stage)[0] == Decimal("5.7")


def test_co7_the_more_complete_source_counts(stage: Stage) -> None:
    """When the traces come to know more than the agent told, the difference is spent."""
    stage.agent()
    price(stage, usd_per_m_input="1", usd_per_m_output="1")
    attempt = running(stage)
    millions = {"input_tokens": 1_000_000, "output_tokens": 0}
    for source, call_id, usage, usd in [
        ("agent", "1", millions, 1),
        ("trace", "1", millions | {"input_tokens": 1_500_000}, 1),
        ("trace", "2", {"input_tokens": 1}, 1),
        ("trace", "2", {"output_tokens": 999_999}, Decimal("2.5")),
        ("agent", "2", millions, 2),
    ]:
        use(stage, attempt, call_id, source=source, **usage)
        assert cost(stage, attempt) == usd
        assert today(stage)[0] == usd


def test_co7_a_source_that_knows_costs_is_not_outdone_by_one_that_knows_tokens(
    stage: Stage,
) -> None:
    """Ten calls that were paid by the page stay paid when one trace tells of tokens."""
    stage.agent()
    price(stage, usd_per_m_input="1", usd_per_m_output="1")
    attempt = running(stage)
    for number in range(10):
        use(stage, attempt, f"page {number}", cost_usd=1)
    use(stage, attempt, "1", source="trace", input_tokens=100, output_tokens=10)
    assert cost(stage, attempt) == today(stage)[0] == 10


@pytest.mark.parametrize("is_folded", [False, True])
def test_usage_that_comes_the_next_day_is_yesterdays(stage: Stage, is_folded: bool) -> None:
    """Also a correction of it: no day is burdened with another one's calls."""
    stage.agent(max_usd_per_day=Decimal(10))
    price(stage, valid_from=stage.clock.now(), usd_per_m_input="1", usd_per_m_output="1")
    attempt = running(stage)
    started_at = stage.clock.advance(timedelta(hours=1)).isoformat()
    use(stage, attempt, input_tokens=1_000_000, started_at=started_at)
    report.complete(stage.db, attempt_id=attempt, result={})
    stage.clock.set(MIDNIGHT + timedelta(hours=8))
    for usage in [{"output_tokens": 1_000_000}, {"cost_usd": 5}]:
        use(stage, attempt, **usage)
        if is_folded:
            worker.sweep(stage.db)
    assert spent(stage) == {date(2026, 1, 1): 5}
    assert today(stage) == (0, 0)
