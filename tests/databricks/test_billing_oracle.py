"""Any bill, read again as it comes, is what a Decimal oracle makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from databricks.support_billing import DAY, HOUR, LONG_AGO, MINUTE, Books, books
from forebay.calls import viewer

__all__ = ["books"]


READ_ON = (0, 1, 6)
"""Days after the runs on which the bill is read."""


@dataclass(frozen=True, slots=True)
class Used:
    """A row of usage: which run of three, the minutes of its window, and when it came."""

    run: int
    minute: int
    kind: str
    sku: str
    quantity: Decimal
    days_later: int
    is_elsewhere: bool


def digits(least: int, most: int) -> st.SearchStrategy[Decimal]:
    """Draw decimals of 18 places, by their number of 10^-18."""
    return st.integers(least, most).map(lambda units: Decimal(f"{units}e-18"))


ROWS = st.lists(
    st.builds(
        Used,
        run=st.integers(0, 2),
        minute=st.sampled_from([0, 30, 60, 90, 120]),
        kind=st.sampled_from(["ORIGINAL", "RETRACTION", "RESTATEMENT"]),
        sku=st.sampled_from(["A", "B"]),
        quantity=digits(-(10**21), 10**21),
        days_later=st.sampled_from(READ_ON),
        is_elsewhere=st.booleans(),
    ),
    min_size=1,
    max_size=25,
)
PRICES = st.lists(digits(0, 10**20), min_size=4, max_size=4)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS, prices=PRICES)
def test_any_bill_is_what_the_oracle_makes_of_it(
    books: Books, rows: list[Used], prices: list[Decimal]
) -> None:
    """Rows in any order, read on some days: the sum over a run, to the last digit."""
    books.statements.execute('DELETE FROM "system.billing".usage')
    books.statements.execute('DELETE FROM "system.billing".list_prices')
    books.clock.superuser.execute("delete from forebay.compute_sources")
    begins = books.clock.now().replace(minute=0)
    runs = [books.run(minutes=5) for _ in range(3)]
    change = begins + HOUR
    for sku, before, after in (("A", *prices[:2]), ("B", *prices[2:])):
        books.rows.price(f"{before:f}", LONG_AGO, change, sku=sku)
        books.rows.price(f"{after:f}", change, sku=sku)
    for days in READ_ON:
        for row in (row for row in rows if row.days_later == days):
            add(books, row, runs[row.run][1], begins)
        books.clock.set(begins + days * DAY + 2 * HOUR)
        books.read()
    for number, (task_id, _) in enumerate(runs):
        counted = [row for row in rows if row.run == number and not row.is_elsewhere]
        wanted = oracle(counted, prices) if counted else None
        found = viewer.task_detail(books.db, task_id=task_id).compute_usd
        assert found == wanted
    assert books.read().records == 0


def add(books: Books, row: Used, run_id: str, begins: datetime) -> None:
    """Put a row on the bill."""
    elsewhere = {"workspace_id": "999"} if row.is_elsewhere else {}
    books.rows.use(
        row.quantity,
        begins + row.minute * MINUTE,
        run_id=run_id,
        record_type=row.kind,
        record_id="the same",
        sku=row.sku,
        ingested=(begins + timedelta(days=row.days_later)).astimezone(UTC).date(),
        **elsewhere,
    )


def oracle(rows: Sequence[Used], prices: Sequence[Decimal]) -> Decimal:
    """Return what rows cost, in whole numbers of 10^-36 US dollars."""
    price = {("A", False): 0, ("A", True): 1, ("B", False): 2, ("B", True): 3}
    units = sum(
        int(row.quantity.scaleb(18)) * int(prices[price[row.sku, row.minute >= 60]].scaleb(18))
        for row in rows
    )
    return Decimal(f"{units}e-36")
