"""What work cost, asked in every way that there is, against books that the test keeps itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from random import Random
from typing import Any

import pytest

from databricks.support_billing import DAY, HOUR, LONG_AGO, OURS, Books, books
from forebay.calls import agent as report
from forebay.calls import operator, submitter, viewer, worker
from forebay.finance import CENT, month_bounds, month_lines
from support.daemon import register

__all__ = ["books"]

AGENTS = ("jobs", "letters")
CUSTOMERS = ("acme", "best", None)
BEGINS = datetime(2026, 3, 27, 21, 30, tzinfo=UTC)  # before a night with 23 hours, and a new month
PRICES = {"A": Decimal("0.5"), "B": Decimal("0.123456789")}
LATENCY = DAY


@dataclass(slots=True)
class Try:
    """An attempt, and what is to be known of it."""

    attempt_id: int
    number: int
    status: str
    ended_at: datetime
    cause: str
    model: str | None = None
    tokens: int = 0
    llm: Decimal | None = None
    compute: Decimal | None = None
    is_final: bool = False


@dataclass(slots=True)
class Task:
    """A task with its tries; dimensions by name."""

    task_id: int
    created_at: datetime
    agent: str
    customer: str | None
    batch: int | None
    status: str = ""
    tries: list[Try] = field(default_factory=list)

    def key(self, dimension: str) -> str | None:
        """Return under which key of cost_by it is."""
        return {
            "task": str(self.task_id),
            "agent": self.agent,
            "customer": self.customer,
            "batch": None if self.batch is None else str(self.batch),
            "day": self.created_at.date().isoformat(),
        }[dimension]

    def cost(self) -> Decimal | None:
        """Return what it cost, if all of it is known."""
        told = [usd for one in self.tries for usd in (one.llm, one.compute)]
        return None if None in told else sum((usd for usd in told if usd is not None), Decimal(0))


class Account:
    """Lets tasks run, adds rows to the bill, and knows what they should cost."""

    def __init__(self, books: Books, seed: int) -> None:
        self.books = books
        self.random = Random(seed)
        self.tasks: list[Task] = []
        self.late: list[tuple[datetime, Callable[[date], None]]] = []
        books.clock.set(BEGINS)
        register(books.db, "letters", launcher="lakeflow", job_id=8, max_attempts=3)
        operator.register_agent(books.db, agent="jobs", launcher="lakeflow", job_id=7)
        for sku, usd in PRICES.items():
            books.rows.price(f"{usd:f}", LONG_AGO, sku=sku)
        self.batches = [
            submitter.open_batch(books.db, name=name, customer="acme") for name in ("b1", "b2")
        ]

    def add(self) -> None:
        """Let a task come, be tried until it ends, and time pass."""
        agent, customer = self.random.choice(AGENTS), self.random.choice(CUSTOMERS)
        batch = self.random.choice([*self.batches, None]) if customer == "acme" else None
        given = {"batch_id": batch} if batch else {"customer": customer}
        now = self.books.clock.now()
        task_id = submitter.enqueue(self.books.db, agent=agent, payload={}, **given)
        task = Task(task_id, now, agent, customer, batch)
        self.tasks.append(task)
        while task.status not in ("completed", "failed"):
            self.attempt(task)
            self.books.clock.advance(self.random.randint(1, 90) * timedelta(minutes=7))

    def attempt(self, task: Task) -> None:
        """Let it be tried once more, and end in one of the ways that there are."""
        claims: list[Any] = []
        while not claims:
            claims = worker.dequeue(self.books.db, worker="w", agents=[task.agent])
            self.books.clock.advance(timedelta(seconds=30))
        before = task.tries[-1].status if task.tries else None
        cause = f"after_{before}" if before else "first"
        attempt_id, number = claims[0].attempt_id, len(task.tries) + 1
        one = Try(attempt_id, number, "", self.books.clock.now(), cause)
        task.tries.append(one)
        how = self.random.choice(("done", "done", "failed", "released", "refused"))
        if how in ("released", "refused"):
            self.refuse(one, how)
        else:
            self.run(one)
            self.call(one)
            self.books.clock.advance(self.random.randint(1, 30) * timedelta(minutes=11))
            self.end(one, how)
        one.ended_at = self.books.clock.now()
        task.status = viewer.task_detail(self.books.db, task_id=task.task_id).status

    def refuse(self, one: Try, how: str) -> None:
        """Have it never run; or so it seems, and its run becomes known later."""
        one.llm, one.compute, one.is_final = Decimal(0), Decimal(0), True
        if how == "released":
            worker.release(self.books.db, attempt_id=one.attempt_id, reason="shutdown")
            one.status = "released"
        else:
            refused = {"life_cycle_state": "LAUNCH_FAILED", "result_state": "400"}
            worker.observe_run(self.books.db, attempt_id=one.attempt_id, run=refused)
            one.status = "lost"
        if self.random.random() < 0.5:
            self.books.clock.advance(HOUR)
            self.run(one)
            one.llm = one.llm if how == "released" else None

    def run(self, one: Try) -> None:
        """Give it a run, with rows on the bill now and later, some of them corrected."""
        run_id = str(next(self.books.numbers))
        worker.record_run(self.books.db, attempt_id=one.attempt_id, run_id=run_id)
        one.compute, one.is_final = None, False
        began = self.books.clock.now()
        for hours in range(self.random.randint(0, 3)):
            sku = self.random.choice(list(PRICES))
            at, came = began + hours * HOUR, began + self.random.randint(0, 4) * DAY
            amounts = [Decimal(self.random.randint(1, 9999)) / 1000]
            if self.random.random() < 0.4:
                amounts += [-amounts[0], Decimal(self.random.randint(1, 9999)) / 1000]
            for amount in amounts:
                self.row(one, run_id, at, came, sku, amount)

    def row(
        self, one: Try, run_id: str, at: datetime, came: datetime, sku: str, amount: Decimal
    ) -> None:
        """Put a row on the bill when it comes."""

        def add(today: date) -> None:
            self.books.rows.use(amount, at, run_id=run_id, sku=sku, ingested=today)
            one.compute = (one.compute or Decimal(0)) + amount * PRICES[sku]

        self.late.append((came, add))

    def call(self, one: Try) -> None:
        """Have it tell of a call, or not."""
        if self.random.random() < 0.8:
            one.model = self.random.choice(("small", "large"))
            one.tokens = self.random.randint(1, 10**6)
            one.llm = Decimal(self.random.randint(0, 10**6)) / 10**6
            call = {"call_id": "1", "model": one.model, "cost_usd": f"{one.llm:f}"}
            usage = call | {"input_tokens": one.tokens, "output_tokens": 1}
            report.report_usage(self.books.db, attempt_id=one.attempt_id, usage=usage)

    def end(self, one: Try, how: str) -> None:
        """Have it report how it ended."""
        if how == "done":
            report.complete(self.books.db, attempt_id=one.attempt_id, result={})
            one.status = "succeeded"
            return
        error = {"kind": "crash", "message": "no"}
        report.fail(self.books.db, attempt_id=one.attempt_id, error=error, retryable=True)
        one.status = "failed"

    def read(self) -> None:
        """Have the rows come that are due, and the bill be read."""
        now = self.books.clock.now()
        for came, add in self.late:
            if came <= now:
                add(now.date())
        self.late = [(came, add) for came, add in self.late if came > now]
        self.books.read()
        for one in self.tries(self.tasks):
            if one.compute is not None and not one.is_final:
                one.is_final = one.ended_at <= now - LATENCY

    def tries(self, tasks: Iterable[Task]) -> list[Try]:
        """Return the tries of tasks."""
        return [one for task in tasks for one in task.tries]

    def chosen(self, **filters: Any) -> list[Task]:
        """Return the tasks that the filters let through."""
        return [
            task
            for task in self.tasks
            if (filters.get("from_") is None or task.created_at >= filters["from_"])
            and (filters.get("to") is None or task.created_at < filters["to"])
            and (filters.get("statuses") is None or task.status in filters["statuses"])
            and (filters.get("agents") is None or task.agent in filters["agents"])
            and (filters.get("customers") is None or (task.customer or "") in filters["customers"])
        ]


def total(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum of what is known; None where there is something and nothing is known."""
    all_of_them = list(amounts)
    known = [usd for usd in all_of_them if usd is not None]
    return sum(known, Decimal(0)) if known or not all_of_them else None


def wanted(tasks: list[Task], dimension: str) -> dict[str | None, tuple[Any, ...]]:
    """Return what cost_by should say: tasks, attempts, costed, provisional, LLM and compute."""
    groups: dict[str | None, list[tuple[Task, Try | None]]] = defaultdict(list)
    for task in tasks:
        for one in task.tries:
            if dimension == "try":
                groups[one.cause].append((task, one))
            elif dimension != "model":
                groups[task.key(dimension)].append((task, one))
            elif one.model:
                groups[one.model].append((task, one))
    found = {}
    for key, pairs in groups.items():
        tries = [one for _, one in pairs if one]
        is_costed = [one for one in tries if one.compute is not None]
        compute = total(one.compute for one in tries)
        found[key] = (
            len({task.task_id for task, _ in pairs}),
            len(tries),
            len(is_costed),
            sum(not one.is_final for one in is_costed),
            total(one.llm for one in tries),
            None if dimension == "model" else compute,
        )
    return found


RANGES = (
    (None, None),
    (datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 30, tzinfo=UTC)),
    (BEGINS + timedelta(hours=5, minutes=13), datetime(2026, 4, 1, tzinfo=UTC)),
)
STATUSES = (None, ["failed"], ["completed", "failed"])
WHOSE = ((None, None), (["letters"], None), (None, ["acme", ""]))
DIMENSIONS = ("task", "agent", "customer", "batch", "model", "day", "try")


@pytest.mark.parametrize("seed", range(2))
def test_every_question_has_the_answer_of_the_books(books: Books, seed: int) -> None:
    """Each dimension under each filter, while rows come late, and a session lives in Berlin."""
    account = Account(books, seed)
    books.db.execute("set timezone = 'Europe/Berlin'")
    books.upkeep.execute("set timezone = 'America/New_York'")
    for number in range(45):
        account.add()
        if number % 15 == 14:
            account.read()
            check(account)
    for _ in range(5):
        books.clock.advance(DAY)
        account.read()
    check(account)
    assert {task.created_at.month for task in account.tasks} >= {3, 4}
    books.rows.use(1, books.clock.now(), product="SQL", sku="A", tags=OURS)
    account.read()
    check(account)


def check(account: Account) -> None:
    """Compare all questions with the books."""
    db = account.books.db
    for (from_, to), statuses, (agents, customers) in product(RANGES, STATUSES, WHOSE):
        filters = {
            "from_": from_,
            "to": to,
            "statuses": statuses,
            "agents": agents,
            "customers": customers,
        }
        tasks = account.chosen(**filters)
        for dimension in DIMENSIONS:
            lines = viewer.cost_by(db, dimension=dimension, **filters, limit=9999)
            found = {
                line.key: (
                    line.tasks,
                    line.ended_attempts,
                    line.costed_attempts,
                    line.provisional_attempts,
                    line.llm_usd,
                    line.compute_usd,
                )
                for line in lines
            }
            assert found == wanted(tasks, dimension), (dimension, filters)
            check_sources(viewer.cost_sources(db, **filters, dimension=dimension), lines)
        check_summary(viewer.cost_summary(db, **filters), tasks)
    for month in (3, 4):
        check_month(account, month)


def check_sources(sources: list[Any], lines: list[Any]) -> None:
    """The sources of a line tell all of its amounts."""
    told: dict[tuple[Any, str], Decimal] = defaultdict(Decimal)
    for one in sources:
        told[one.key, one.part] += one.usd or 0
    for line in lines:
        assert told[line.key, "llm"] == (line.llm_usd or 0)
        assert told[line.key, "compute"] == (line.compute_usd or 0)


def check_summary(found: Any, tasks: list[Task]) -> None:
    """Sums, the median of what is known, first tries against retries, and what may change."""
    tries = [one for task in tasks for one in task.tries]
    assert (found.tasks, found.ended_attempts) == (len(tasks), len(tries))
    assert found.llm_usd == total(one.llm for one in tries)
    assert found.compute_usd == total(one.compute for one in tries)
    costs = sorted(usd for task in tasks if (usd := task.cost()) is not None)
    assert found.whole_tasks == len(costs)
    assert found.whole_median == (costs[(len(costs) - 1) // 2] if costs else None)
    first = [one for one in tries if one.number == 1]
    others = [one for one in tries if one.number > 1]
    assert (found.first_tries, found.retries) == (len(first), len(others))
    assert found.first_compute_usd == total(one.compute for one in first)
    assert found.retry_llm_usd == total(one.llm for one in others)
    may_change = [one.compute for one in tries if one.compute is not None and not one.is_final]
    if found.compute_usd is not None:
        assert found.provisional_usd == sum(may_change)
    assert found.is_final == all(
        one.llm is not None and one.compute is not None and one.is_final for one in tries
    )


def check_month(account: Account, month: int) -> None:
    """The lines of finance are cents that add up, for all customers and for one alone."""
    begins, ends = month_bounds(2026, month)
    name = f"2026-0{month}"
    db = account.books.db

    def lines(**which: Any) -> list[Any]:
        costs = viewer.customer_costs(db, from_=begins, to=ends, **which)
        return month_lines(name, costs, [])

    *of_customers, whole = lines()
    for customer in CUSTOMERS:
        tries = [
            one
            for task in account.chosen(from_=begins, to=ends)
            if task.customer == customer
            for one in task.tries
        ]
        mine = [line for line in of_customers if line.customer == customer]
        assert lines(customers=[customer or ""])[:-1] == mine
        for column, amounts in (
            ("llm_usd", [one.llm for one in tries]),
            ("compute_usd", [one.compute for one in tries]),
            ("retries_usd", [x for one in tries if one.number > 1 for x in (one.llm, one.compute)]),
        ):
            exact = sum((usd for usd in amounts if usd is not None), Decimal(0))
            cents = sum(getattr(line, column) or 0 for line in mine)
            assert cents == exact.quantize(CENT, ROUND_HALF_UP)
    assert (whole.llm_usd or 0) == sum(line.llm_usd or 0 for line in of_customers)
