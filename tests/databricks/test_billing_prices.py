"""What a line of the bill costs: the one price of its time, and nothing known without one."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from databricks.support_billing import DAY, LONG_AGO, MINUTE, OURS, Books, books
from forebay.calls import upkeep, viewer
from forebay.finance import month_bounds, month_lines

__all__ = ["books"]


@pytest.mark.parametrize(
    ("minutes", "usd"),
    [(-60, "5"), (-30, "5"), (-1, "5"), (0, "10"), (1, "10")],
    ids=["before", "straddles", "straddles by a minute", "at the change", "after"],
)
def test_a_row_has_the_one_price_of_its_time(books: Books, minutes: int, usd: str) -> None:
    """A row counts once, also when the price changes inside its hour: at its beginning's price."""
    task_id, run_id = books.run()
    change = books.clock.now()
    books.statements.execute('DELETE FROM "system.billing".list_prices')
    books.rows.price("0.50", LONG_AGO, change)
    books.rows.price("1.00", change)
    books.rows.use(10, change + minutes * MINUTE, run_id=run_id)
    books.read()
    assert books.cost(task_id) == (Decimal(usd), False)


def test_no_digit_is_lost(books: Books) -> None:
    """A quantity and a price of 18 places make 36 of them, which SQL would have rounded to 6."""
    task_id, run_id = books.run()
    books.statements.execute('DELETE FROM "system.billing".list_prices')
    books.rows.price("12.123456789012345677", LONG_AGO)
    books.rows.use("345.123456789012345679", books.clock.now(), run_id=run_id)
    books.read()
    wanted = Decimal("4184.089315256160645549527968299765279683")
    assert viewer.task_detail(books.db, task_id=task_id).compute_usd == wanted


def test_overlapping_prices_and_other_currencies_count_once(books: Books) -> None:
    """Of two prices that hold at once the later one does; one in euros is none."""
    task_id, run_id = books.run()
    books.rows.price("0.75", books.clock.now() - 10 * DAY)
    books.rows.price("9", books.clock.now() - DAY, currency="EUR")
    books.rows.use(2, books.clock.now(), run_id=run_id)
    books.read()
    assert books.cost(task_id) == (Decimal("1.5"), False)


def test_a_usage_without_a_price_leaves_its_run_unknown(books: Books) -> None:
    """Half of a cost would look like all of it: the SKU is named, and others are not held up."""
    task_id, run_id = books.run()
    other_id, other_run = books.run()
    at = books.clock.now()
    books.rows.use(2, at, run_id=run_id)
    books.rows.use(2, at, run_id=run_id, sku="NEW_SKU")
    books.rows.use(2, at, run_id=other_run)
    assert books.read().unpriced_skus == {"NEW_SKU"}
    assert books.cost(task_id) is None
    assert books.cost(other_id) == (Decimal(1), False)
    books.rows.price("1", LONG_AGO, sku="NEW_SKU")
    assert books.read().unpriced_skus == set()
    assert books.cost(task_id) == (Decimal(3), False)


def test_the_price_without_promotions_may_be_chosen(books: Books) -> None:
    """FOREBAY_BILLING_PRICE=default takes pricing.default."""
    task_id, run_id = books.run()
    books.statements.execute('DELETE FROM "system.billing".list_prices')
    books.rows.price("0.50", LONG_AGO, default="0.80")
    books.rows.use(10, books.clock.now(), run_id=run_id)
    books.bill = replace(books.bill, price="default")
    books.read()
    assert books.cost(task_id) == (Decimal(8), False)


def test_a_line_without_a_price_takes_a_final_cost_back(books: Books) -> None:
    """Nobody's figures show the old amount: the cost is unknown until there is a price."""
    task_id, run_id = books.run(customer="acme")
    at = books.clock.now()
    books.rows.use(2, at, run_id=run_id)
    books.clock.advance(2 * DAY)
    books.read()
    assert books.cost(task_id) == (1, True)
    books.rows.use(100, at, run_id=run_id, sku="NEW_SKU", ingested=books.clock.now().date())
    assert books.read().unpriced_skus == {"NEW_SKU"}
    assert books.cost(task_id) is None
    [line] = viewer.cost_by(books.db, dimension="customer")
    assert (line.key, line.costed_attempts, line.compute_usd or 0) == ("acme", 0, 0)
    assert books.sources() == {("billing", "unpriced"): 1}
    assert not viewer.cost_summary(books.db).is_final
    assert upkeep.attempts_to_cost(books.upkeep) == []  # no estimate stands in for a bill


def test_what_has_no_price_is_named_and_read_again_until_it_has(books: Books) -> None:
    """However much later the price is listed, and though nothing else comes of the run."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(2, at, run_id=run_id)
    books.rows.use(100, at, run_id=run_id, sku="NEW_SKU")
    for _ in range(3):
        assert books.read().unpriced_skus == {"NEW_SKU"}
        assert books.sources() == {("billing", "unpriced"): 1}
        books.clock.advance(10 * DAY)
    books.rows.price("1", LONG_AGO, sku="NEW_SKU")
    assert books.read().unpriced_skus == set()
    assert books.cost(task_id) == (101, True)
    books.clock.advance(DAY)
    assert books.read().records == 0


def test_what_is_shared_and_has_no_price_is_unknown_until_it_has(books: Books) -> None:
    """The product, and not less of it; the day is read again, though nothing else comes of it."""
    books.run()
    at = books.clock.now()
    books.rows.use(4, at, product="SQL", tags=OURS)
    books.rows.use(4, at, product="APPS", tags=OURS)
    books.read()
    assert books.shared() == {"APPS": 2, "SQL": 2}
    books.rows.use(3, at, product="SQL", tags=OURS, sku="NEW_SKU")
    for _ in range(3):
        assert books.read().unpriced_skus == {"NEW_SKU"}
        assert books.shared() == {"APPS": 2, "SQL": None}
        books.clock.advance(10 * DAY)
    books.rows.price("1", LONG_AGO, sku="NEW_SKU")
    assert books.read().unpriced_skus == set()
    assert books.shared() == {"APPS": 2, "SQL": 5}
    assert all(line.is_final for line in viewer.shared_costs(books.db))


def test_what_was_taken_back_needs_no_price(books: Books) -> None:
    """A SKU that was wrong is retracted, and said anew by another: of the first nothing is left."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(10, at, run_id=run_id, sku="WRONG")
    books.read()
    assert books.cost(task_id) is None
    books.rows.use(-10, at, run_id=run_id, sku="WRONG", record_type="RETRACTION")
    books.rows.use(10, at, run_id=run_id, record_type="RESTATEMENT")
    assert books.read().unpriced_skus == set()
    assert books.cost(task_id) == (5, False)


@pytest.mark.parametrize("other", [{"unit": "GB"}, {"cloud": "AZURE"}], ids=["unit", "cloud"])
def test_a_price_is_of_a_unit_and_a_cloud(books: Books, other: dict[str, str]) -> None:
    """Another's price is none, whenever it began."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.price("7", at - DAY, **other)
    books.rows.use(2, at, run_id=run_id)
    books.read()
    assert books.cost(task_id) == (1, False)
    books.rows.use(1, at, run_id=run_id, **other)
    books.read()
    assert books.cost(task_id) == (8, False)


def test_a_price_that_is_no_number_is_none(books: Books) -> None:
    """The statement goes on, and the SKU is named."""
    task_id, run_id = books.run()
    books.rows.price("free", LONG_AGO, sku="ODD")
    books.rows.use(2, books.clock.now(), run_id=run_id, sku="ODD")
    assert books.read().unpriced_skus == {"ODD"}
    assert books.cost(task_id) is None


def test_finance_sees_what_has_no_price_as_unknown(books: Books) -> None:
    """In a month's file neither the customer nor what is shared has an amount, or a zero."""
    _, run_id = books.run(customer="acme")
    at = books.clock.now()
    books.rows.use(2, at, run_id=run_id)
    books.rows.use(2, at, run_id=run_id, sku="NEW_SKU")
    books.rows.use(2, at, product="SQL", tags=OURS, sku="NEW_SKU")
    books.read()
    begins, ends = month_bounds(at.year, at.month)
    costs = viewer.customer_costs(books.db, from_=begins, to=ends)
    shared = viewer.shared_costs(books.db, from_=begins, to=ends)
    lines = month_lines("2026-01", costs, shared)
    assert [line.line for line in lines] == ["customer", "total", "shared"]
    assert [line.compute_usd for line in lines] == [None] * 3
