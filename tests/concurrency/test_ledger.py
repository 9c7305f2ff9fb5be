"""The books of spending against an account that the test keeps, over days of random reports."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, viewer, worker

MODELS = ("small", "large", "unpriced")
CAP = Decimal(20)
CUSTOMERS = ("c", "d", None)
FIELDS = ("input_tokens", "output_tokens", "cached_tokens", "pages", "cost_usd")
TERMS = ("usd_per_m_input", "usd_per_m_output", "usd_per_m_cached", "usd_per_page", "usd_per_call")


@dataclass
class Call:
    """What is known of a call, and what it costs by that."""

    recorded_at: datetime
    numbers: dict[str, Any]
    usd: Decimal | None = None

    def is_empty(self) -> bool:
        """Whether it is known to have used nothing."""
        tokens = [self.numbers.get("input_tokens"), self.numbers.get("output_tokens")]
        return tokens == [0, 0] and not self.numbers.get("pages")


@dataclass
class Attempt:
    """An attempt and its calls, by source and call id."""

    agent: str
    customer: str | None
    started_at: datetime
    expected_usd: Decimal
    finished_at: datetime | None = None
    calls: dict[tuple[str, str], Call] = field(default_factory=dict)

    def counted(self) -> list[Call]:
        """Return the calls of the source that knows of more: tokens or cost, tokens, cost."""
        sources: dict[str, list[Call]] = defaultdict(list)
        for (source, _), call in sorted(self.calls.items()):
            sources[source].append(call)

        def knows(calls: list[Call]) -> tuple[int, int, int]:
            both = [{"input_tokens", "output_tokens"} <= c.numbers.keys() for c in calls]
            priced = [call.usd is not None for call in calls]
            return sum(map(max, both, priced)), sum(both), sum(priced)

        return max(sources.values(), key=knows, default=[])

    def costs(self) -> list[tuple[date, Decimal]]:
        """Return what the counted calls cost, each with its day."""
        return [
            (self.moment(call).date(), call.usd) for call in self.counted() if call.usd is not None
        ]

    def moment(self, call: Call) -> datetime:
        """Return when a call was made, as far as the database believes it."""
        told: datetime = call.numbers.get("started_at", call.recorded_at)
        return min(call.recorded_at, max(told, self.started_at))

    def unpaid(self, today: date) -> Decimal:
        """Return what it may cost beyond its known costs."""
        calls = self.counted()
        is_told = bool(calls) and all(call.usd is not None or call.is_empty() for call in calls)
        if self.finished_at and (is_told or self.finished_at.date() != today):
            return Decimal(0)
        return max(self.expected_usd - sum(usd for _, usd in self.costs()), Decimal(0))


@dataclass
class Ledger:
    """The account: every attempt, every price."""

    stage: Stage
    random: Random
    attempts: dict[int, Attempt] = field(default_factory=dict)
    prices: dict[tuple[str, datetime], tuple[datetime | None, dict[str, Decimal]]] = field(
        default_factory=dict
    )

    def step(self) -> None:
        """Do something at random."""
        steps = [self.start, self.use, self.use, self.use, self.use, self.end, self.wait, self.fold]
        self.random.choice([*steps, self.price])()

    def price(self) -> None:
        """Register a price around now, that may have an end."""
        now = self.stage.clock.now()
        since = now + timedelta(hours=self.random.randint(-20, 20))
        until = self.random.choice([None, since + timedelta(hours=self.random.randint(1, 30))])
        model = self.random.choice(MODELS[:2])
        names = self.random.sample(TERMS, self.random.randint(1, 3))
        terms = {name: Decimal(self.random.randint(0, 50)) / 10 for name in names}
        operator.register_price(
            self.stage.db, model=model, valid_from=since, valid_until=until, **terms
        )
        self.prices[model, since] = (until, terms)

    def start(self) -> None:
        """Start a task."""
        agent, customer = self.random.choice("ab"), self.random.choice(CUSTOMERS)
        tokens = self.random.randint(0, 2_000_000)
        (task_id,) = self.stage.enqueue(agent, customer=customer, estimated_tokens=tokens)
        claims = self.stage.claim(1, agent)
        if not claims:
            needs = viewer.explain_task(self.stage.db, task_id=task_id).needs
            assert needs is not None
            assert sum(self.today(str(customer))) + needs > CAP
            operator.cancel(self.stage.db, task_ids=[task_id])
            return
        (claim,) = claims
        row = self.stage.attempt(claim.attempt_id)
        assert (row.task_id, row.customer) == (task_id, customer)
        self.attempts[claim.attempt_id] = Attempt(
            agent, customer, self.stage.clock.now(), row.expected_usd
        )

    def use(self) -> None:
        """Report some numbers of a call, which may be known in part; the first ones win."""
        if not self.attempts:
            return
        attempt_id, attempt = self.random.choice(list(self.attempts.items()))
        now = self.stage.clock.now()
        key = (self.random.choice(["agent", "trace"]), str(self.random.randint(1, 4)))
        numbers: dict[str, Any] = {}
        for name in self.random.sample(FIELDS, self.random.randint(0, 4)):
            least = 1000 if name == "input_tokens" else 0
            numbers[name] = self.random.randint(least, 1000 if name == "cached_tokens" else 10**6)
        for name in numbers.keys() & {"cost_usd", "pages"}:
            numbers[name] //= 10**5
        numbers["model"] = MODELS[int(key[1]) % 3]
        if key not in attempt.calls and self.random.random() < 0.6:
            numbers["started_at"] = now - timedelta(hours=self.random.randint(-5, 30))
        told = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in numbers.items()
        }
        usage = {"source": key[0], "call_id": key[1]} | told
        changed = report.report_usage(self.stage.db, attempt_id=attempt_id, usage=usage)
        call = attempt.calls.setdefault(key, Call(now, {}))
        assert changed == (not call.numbers or bool(numbers.keys() - call.numbers.keys()))
        if changed:
            call.numbers = numbers | call.numbers
            call.usd = self.cost(call.numbers, attempt.moment(call))

    def cost(self, numbers: dict[str, Any], at: datetime) -> Decimal | None:
        """Return what a call costs by its own word, or by the price that began last."""
        if "cost_usd" in numbers:
            return Decimal(numbers["cost_usd"])
        valid = [
            (since, terms)
            for (model, since), (until, terms) in self.prices.items()
            if model == numbers["model"] and since <= at and (until is None or at < until)
        ]
        if not valid:
            return None
        terms = max(valid, key=lambda pair: pair[0])[1]
        cached = numbers.get("cached_tokens", 0)
        fresh = numbers["input_tokens"] - cached if "input_tokens" in numbers else None
        million = Decimal(1_000_000)
        parts = [
            (terms.get("usd_per_m_input"), fresh, million),
            (terms.get("usd_per_m_cached", terms.get("usd_per_m_input")), cached, million),
            (terms.get("usd_per_m_output"), numbers.get("output_tokens"), million),
            (terms.get("usd_per_page"), numbers.get("pages"), Decimal(1)),
            (terms.get("usd_per_call"), 1, Decimal(1)),
        ]
        due = [(usd, number, unit) for usd, number, unit in parts if usd is not None]
        if any(number is None for _, number, _ in due):
            return None
        return sum((usd * number / unit for usd, number, unit in due), Decimal(0))

    def end(self) -> None:
        """Let an attempt end; its usage may come later."""
        open_ones = [key for key, attempt in self.attempts.items() if not attempt.finished_at]
        if open_ones:
            attempt_id = self.random.choice(open_ones)
            report.complete(self.stage.db, attempt_id=attempt_id, result={})
            self.attempts[attempt_id].finished_at = self.stage.clock.now()

    def wait(self) -> None:
        """Let some hours pass."""
        self.stage.clock.advance(timedelta(minutes=self.random.randint(1, 600)))

    def fold(self) -> None:
        """Fold as a sweep does."""
        worker.sweep(self.stage.db)

    def check(self) -> None:
        """Compare every attempt, every day, and the exposure of today."""
        spent: dict[tuple[date, str, str], Decimal] = defaultdict(Decimal)
        for attempt_id, attempt in self.attempts.items():
            costs = attempt.costs()
            known = sum((usd for _, usd in costs), Decimal(0)) if costs else None
            assert self.stage.attempt(attempt_id).cost_usd == known
            for day, usd in costs:
                spent[day, attempt.agent, attempt.customer or ""] += usd
        assert self.booked() == {key: usd for key, usd in spent.items() if usd}
        today = self.stage.clock.now().date()
        for place, names in [(1, "ab"), (2, "cd")]:
            for name in names:
                recorded = sum(
                    usd for key, usd in spent.items() if key[0] == today and key[place] == name
                )
                mine = [a for a in self.attempts.values() if name in (a.agent, a.customer)]
                projected = sum(attempt.unpaid(today) for attempt in mine)
                assert self.today(name) == (recorded, projected)
                if place == 2:
                    capped = self.stage.value("select forebay._capped_customers(forebay._now())")
                    assert (name in capped) == (recorded + projected >= CAP)

    def booked(self) -> dict[tuple[date, str, str], Decimal]:
        """Return what the database has booked by day, agent and customer, folded or not."""
        rows = self.stage.rows(
            "select day, agent, customer, sum(usd) as usd from ("
            " select * from forebay.daily_spend union all select"
            " (spent_at at time zone 'UTC')::date, agent, customer, usd from forebay.spend_entries"
            ") as s group by day, agent, customer having sum(usd) <> 0"
        )
        return {(row.day, row.agent, row.customer): row.usd for row in rows}

    def today(self, name: str) -> tuple[Decimal, Decimal]:
        """Return what the database says of an agent or a customer: recorded, projected."""
        agent, customer = (name, None) if name in "ab" else (None, name)
        query = "select * from forebay._spent_today(%s, %s, forebay._now())"
        return tuple(self.stage.row(query, agent, customer))


@pytest.mark.parametrize("seed", range(3))
def test_the_books_agree_with_an_account_of_its_own(stage: Stage, seed: int) -> None:
    """Whatever is reported when, in whatever order, folded or not."""
    ledger = Ledger(stage, Random(seed))
    stage.clock.set(datetime.fromisoformat("2026-01-01T20:00:00+00:00"))
    for agent in "ab":
        stage.agent(agent, max_usd_per_day=Decimal(10**8))
    for customer in "cd":
        operator.register_customer(stage.db, customer=customer, max_usd_per_day=CAP)
    for _ in range(150):
        ledger.step()
        ledger.check()
