"""Short names for what the tests of prices and of spending do."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator

MIDNIGHT = datetime(2026, 1, 2, tzinfo=UTC)  # the first after the stopped clock's noon
MICROSECOND = timedelta(microseconds=1)


def price(stage: Stage, model: str = "m", **terms: Any) -> None:
    """Register a price; numbers are written as text."""
    prices = {name: Decimal(usd) if name.startswith("usd") else usd for name, usd in terms.items()}
    operator.register_price(stage.db, model=model, **prices)


def dollars(stage: Stage) -> None:
    """Make each token that is expected cost ten dollars a million: 100,000 tokens are one."""
    price(stage, usd_per_m_input="10", usd_per_m_output="10")


def use(stage: Stage, attempt_id: int, call_id: str = "c", **usage: Any) -> int:
    """Report one call of model m."""
    return report.report_usage(
        stage.db, attempt_id=attempt_id, usage={"call_id": call_id, "model": "m"} | usage
    )


def cost(stage: Stage, attempt_id: int) -> Decimal | None:
    """Return what an attempt cost as far as it is known."""
    return stage.attempt(attempt_id).cost_usd


def running(stage: Stage, **task: Any) -> int:
    """Start a task and return its attempt."""
    stage.enqueue(**task)
    return stage.claim_one().attempt_id


def spent(stage: Stage) -> dict[date, Decimal]:
    """Return what was spent on which day, folded or not."""
    rows = stage.rows(
        "select s.day, sum(s.usd) from (select d.day, d.usd from forebay.daily_spend as d union all"
        " select (e.spent_at at time zone 'UTC')::date, e.usd from forebay.spend_entries as e) as s"
        " group by s.day having sum(s.usd) <> 0"
    )
    return dict(rows)


def today(stage: Stage, agent: str = "a") -> tuple[Decimal, Decimal]:
    """Return what an agent has spent today and what its open attempts may add."""
    row = stage.row("select * from forebay._spent_today(%s, null, forebay._now())", agent)
    return row.recorded, row.projected
