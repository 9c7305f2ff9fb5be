"""What runs cost by the workspace's bill: CO9 to CO13, to the last digit of a Decimal oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from databricks.support_billing import DAY, HOUR, LONG_AGO, MINUTE, Books, books
from forebay.calls import agent as report
from forebay.calls import upkeep, viewer
from forebay.databricks import billing
from forebay.databricks.bill import Bill
from forebay.databricks.bill_settings import BillSettings
from forebay.errors import BillError, SettingError
from forebay_lab.workspace import Fault, Workspace
from forebay_lab.workspace.billing import JOBS_SKU
from forebay_lab.workspace.server import WORKSPACE_ID

__all__ = ["books"]


def test_co9_corrections_are_summed(books: Books) -> None:
    """ORIGINAL +10, RETRACTION -10, RESTATEMENT +12 of one hour are 12 DBU, at 0.50."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(10, at, run_id=run_id)
    books.rows.use(-10, at, run_id=run_id, record_type="RETRACTION")
    books.rows.use(12, at, run_id=run_id, record_type="RESTATEMENT")
    books.read()
    assert books.cost(task_id) == (Decimal(6), False)


def test_co9_a_triple_may_share_one_record_id(books: Books) -> None:
    """The id of a row is not unique: nothing is dropped for having the same."""
    task_id, run_id = books.run()
    for quantity, kind in ((10, "ORIGINAL"), (-10, "RETRACTION"), (12, "RESTATEMENT")):
        books.rows.use(
            quantity, books.clock.now(), run_id=run_id, record_type=kind, record_id="one"
        )
    books.read()
    assert books.cost(task_id) == (Decimal(6), False)


def test_co9_a_correction_weeks_later_is_seen(books: Books) -> None:
    """A run that was final changes when its rows are corrected, though nothing else came of it."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(10, at, run_id=run_id)
    books.read()
    books.clock.advance(2 * DAY)
    books.read()
    assert books.cost(task_id) == (Decimal(5), True)
    books.clock.advance(40 * DAY)
    books.read()
    today = books.clock.now().date()
    books.rows.use(-10, at, run_id=run_id, record_type="RETRACTION", ingested=today)
    books.rows.use(12, at, run_id=run_id, record_type="RESTATEMENT", ingested=today)
    books.clock.advance(DAY)
    books.read()
    assert books.cost(task_id) == (Decimal(6), True)


def test_what_is_taken_back_may_be_more_than_what_is_known(books: Books) -> None:
    """A retraction that comes before what it retracts is kept as it is, and made up for later."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(1, at - HOUR, run_id=run_id)
    books.rows.use(-10, at, run_id=run_id, record_type="RETRACTION")
    books.read()
    assert books.cost(task_id) == (Decimal("-4.5"), False)
    books.rows.use(10, at, run_id=run_id)
    books.read()
    assert books.cost(task_id) == (Decimal("0.5"), False)


def test_several_rows_of_a_run_are_added_up(books: Books) -> None:
    """Hours and SKUs of a run are records of their own, and one cost."""
    task_id, run_id = books.run(minutes=150)
    books.rows.price("2", LONG_AGO, sku="OTHER")
    for hours in (2, 1, 0):
        books.rows.use("0.25", books.clock.now() - hours * HOUR, run_id=run_id)
    books.rows.use("1", books.clock.now(), run_id=run_id, sku="OTHER")
    done = books.read()
    assert (done.runs, done.records) == (1, 4)
    assert books.cost(task_id) == (Decimal("2.375"), False)


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
    books.bill = Bill(books.bill.client, "w1", books.bill.workspace_id, price="default")
    books.read()
    assert books.cost(task_id) == (Decimal(8), False)


def test_co11_a_run_without_rows_is_unknown_and_not_zero(books: Books) -> None:
    """A run on an all-purpose cluster has no row of its own: in time it is not attributable."""
    task_id, _ = books.run()
    at = books.clock.now()
    books.rows.use(10, at, product="ALL_PURPOSE", sku=JOBS_SKU)
    books.rows.use(10, at, product="JOBS")
    books.read()
    assert books.cost(task_id) is None
    assert compute_sources(books) == {(None, "awaited"): 1}
    books.clock.advance(2 * DAY)
    books.read()
    assert books.cost(task_id) is None
    assert compute_sources(books) == {(None, "not_attributable"): 1}
    shared = {line.product: line.usd for line in viewer.shared_costs(books.db)}
    assert shared == {
        "ALL_PURPOSE, whole workspace": Decimal(5),
        "JOBS, whole workspace": Decimal(5),
    }


def test_co11_another_workspaces_run_of_the_same_id_is_not_ours(books: Books) -> None:
    """Run ids are per workspace; neither are other jobs' runs of ours."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(100, at, run_id=run_id, workspace_id="999")
    books.rows.use(50, at, run_id="77")
    assert books.read().runs == 0
    assert books.cost(task_id) is None
    books.rows.use(2, at, run_id=run_id)
    books.read()
    assert books.cost(task_id) == (Decimal(1), False)


def test_late_rows_are_added(books: Books) -> None:
    """A row that comes days after its run, when the cost was final already."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(2, at, run_id=run_id)
    books.clock.advance(2 * DAY)
    books.read()
    assert books.cost(task_id) == (Decimal(1), True)
    books.rows.use(2, at + HOUR, run_id=run_id, ingested=books.clock.now().date())
    books.clock.advance(HOUR)
    books.read()
    assert books.cost(task_id) == (Decimal(2), True)


def test_a_row_that_came_just_before_the_last_reading_is_not_missed(books: Books) -> None:
    """A row shows up in the table later than on the day that it says: the overlap covers that."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.clock.advance(5 * DAY)
    books.read()
    books.rows.use(2, at, run_id=run_id, ingested=(books.clock.now() - 2 * DAY).date())
    books.clock.advance(HOUR)
    books.read()
    assert books.cost(task_id) == (Decimal(1), True)


def test_a_reload_changes_nothing(books: Books) -> None:
    """The same rows again, at once and after what is provisional became final."""
    ids = [books.run() for _ in range(5)]
    for _, run_id in ids:
        books.rows.use("0.123456789012345678", books.clock.now(), run_id=run_id)
    books.rows.use(1, books.clock.now(), product="SQL", warehouse_id="w1")
    assert books.read().records == 6
    assert books.read().records == 0
    books.clock.advance(3 * DAY)
    assert books.read().records == 6
    before = viewer.cost_summary(books.db)
    assert before.is_final is False  # calls are not known
    assert before.provisional_attempts == 0
    books.clock.advance(30 * DAY)
    assert books.read().records == 0
    assert viewer.cost_summary(books.db).compute_usd == before.compute_usd
    assert before.compute_usd == 5 * Decimal("0.123456789012345678") / 2


def test_it_is_provisional_until_the_latency_has_passed(books: Books) -> None:
    """And so is the cost of a run that goes on; nobody has to add a row for it to become final."""
    ended, run_id = books.run()
    going_on, run_id_2 = books.run(minutes=None)
    at = books.clock.now()
    for each in (run_id, run_id_2):
        books.rows.use(2, at, run_id=each)
    books.read()
    assert (books.cost(ended), books.cost(going_on)) == ((1, False), (1, False))
    books.clock.advance(DAY - MINUTE)
    books.read()
    assert books.cost(ended) == (1, False)
    books.clock.advance(20 * DAY)
    books.read()
    assert (books.cost(ended), books.cost(going_on)) == ((1, True), (1, False))


def test_a_run_of_days_becomes_final_without_another_row(books: Books) -> None:
    """Its only row came long before it ended, and no new one makes anybody look again."""
    task_id, run_id = books.run(minutes=None)
    [attempt] = viewer.task_detail(books.db, task_id=task_id).attempts
    books.rows.use(2, books.clock.now(), run_id=run_id)
    books.clock.advance(6 * DAY)
    books.read()
    report.complete(books.db, attempt_id=attempt["attempt_id"], result={})
    books.clock.advance(6 * DAY)
    assert books.cost(task_id) == (1, False)
    books.read()
    assert books.cost(task_id) == (1, True)


def test_what_a_bill_tells_replaces_the_estimate(books: Books) -> None:
    """`local` was an estimate; who asks for sources sees the bill."""
    task_id, run_id = books.run()
    attempt_id = viewer.task_detail(books.db, task_id=task_id).attempts[0]["attempt_id"]
    upkeep.record_compute_usage(
        books.upkeep, rows=[{"record_id": "1", "attempt_id": attempt_id, "usd": "99"}]
    )
    books.rows.use(2, books.clock.now(), run_id=run_id)
    books.read()
    assert books.cost(task_id) == (Decimal(1), False)
    assert compute_sources(books) == {("billing", "provisional"): 1}


def test_shared_lines_are_kept_apart(books: Books) -> None:
    """Warehouse, apps, database and AI functions are in no task's cost; with a tag only ours."""
    books.run()
    at = books.clock.now()
    ours = {"tags": {"project": "forebay"}}
    books.rows.use(4, at, product="SQL", warehouse_id="w1")
    books.rows.use(6, at, product="SQL", warehouse_id="other")
    books.rows.use(8, at, product="APPS", app_name="orchestrator", **ours)
    books.rows.use(2, at, product="APPS", app_name="orchestrator", hours=24, **ours)
    books.rows.use(10, at, product="LAKEBASE", **ours)
    books.rows.use(12, at, product="AI_FUNCTIONS", tags={"project": "else"})
    books.bill = Bill(books.bill.client, "w1", books.bill.workspace_id, ("project", "forebay"))
    books.read()
    shared = viewer.shared_costs(books.db)
    assert [(line.product, line.usd) for line in shared] == [
        ("APPS", 5),
        ("LAKEBASE", 5),
        ("SQL", 2),
    ]
    assert not any(line.is_final for line in shared)
    assert viewer.metrics(books.db).compute_usd == 0
    books.clock.advance(3 * DAY)
    books.read()
    assert all(line.is_final for line in viewer.shared_costs(books.db))


def test_a_reading_that_breaks_begins_again_where_it_began(
    books: Books, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it recorded stays, what it did not get to is read the next time, however much later."""
    monkeypatch.setattr(billing, "BATCH", 1)
    ids = [books.run() for _ in range(3)]
    for _, run_id in ids:
        books.rows.use(2, books.clock.now(), run_id=run_id)
    books.clock.advance(10 * DAY)
    posts = r"POST /api/2.0/sql/statements$"
    refuses = Fault("status", posts, status=403, code="PERMISSION_DENIED", skip=2)
    fault = workspace.faults.add(refuses)
    with pytest.raises(BillError, match="not available"):
        books.read()
    workspace.faults.remove(fault)
    known = [books.cost(task_id) for task_id, _ in ids]
    assert known == [(1, True), None, None]
    books.clock.advance(30 * DAY)
    books.read()
    assert [books.cost(task_id) for task_id, _ in ids] == [(1, True)] * 3


def test_without_a_run_outside_nothing_is_asked(books: Books) -> None:
    """An installation of local agents does not wake a warehouse."""
    books.read()
    assert books.statements.statements == {}
    assert viewer.metrics(books.db).compute_as_of == books.clock.now()


def test_who_may_not_read_the_bill_is_told_so(books: Books) -> None:
    """The sentence is the warehouse's; nothing is recorded, and nothing counts as read."""
    books.run()
    books.statements.execute('DROP TABLE "system.billing".usage')
    with pytest.raises(BillError, match=r"cannot be read: .*usage"):
        books.read()
    assert viewer.metrics(books.db).compute_as_of is None


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"FOREBAY_WAREHOUSE_ID": "w", "FOREBAY_BILLING_TAG": "forebay"}, "project=forebay"),
        ({"FOREBAY_WAREHOUSE_ID": "w", "FOREBAY_BILLING_PRICE": "cheap"}, "effective_list"),
        ({"FOREBAY_WAREHOUSE_ID": "w", "FOREBAY_BILLING_TAG": "=x"}, "project=forebay"),
    ],
)
def test_wrong_settings_are_named(environment: dict[str, str], said: str) -> None:
    """Before the workspace is asked for anything."""
    with pytest.raises(SettingError, match=said):
        BillSettings.read(environment)


def test_without_a_warehouse_there_is_no_bill() -> None:
    """Whatever else is set."""
    assert BillSettings.read({"FOREBAY_BILLING_TAG": "project=forebay"}) is None


def test_the_workspace_says_which_one_it_is(
    books: Books, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless its id is set; one that does not let us in is an error in a sentence."""
    monkeypatch.setenv("DATABRICKS_HOST", workspace.url)
    monkeypatch.setenv("DATABRICKS_TOKEN", workspace.token)
    assert Bill.of(BillSettings("w1")).workspace_id == WORKSPACE_ID
    assert Bill.of(BillSettings("w1", "42")).workspace_id == "42"
    monkeypatch.setenv("DATABRICKS_TOKEN", "wrong")
    with pytest.raises(BillError, match="cannot be read: Credential"):
        Bill.of(BillSettings("w1", "42")).changed_runs(LONG_AGO.date())


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
        days_later=st.integers(0, 6),
        is_elsewhere=st.booleans(),
    ),
    min_size=1,
    max_size=25,
)
PRICES = st.lists(digits(0, 10**20), min_size=4, max_size=4)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS, prices=PRICES)
def test_any_bill_is_what_the_oracle_makes_of_it(
    books: Books, rows: list[Used], prices: list[Decimal]
) -> None:
    """Rows in any order and on any day, read day by day: the sum over a run, to the last digit."""
    books.statements.execute('DELETE FROM "system.billing".usage')
    books.statements.execute('DELETE FROM "system.billing".list_prices')
    books.clock.superuser.execute("delete from forebay.compute_sources")
    begins = books.clock.now().replace(minute=0)
    runs = [books.run(minutes=5) for _ in range(3)]
    change = begins + HOUR
    for sku, before, after in (("A", *prices[:2]), ("B", *prices[2:])):
        books.rows.price(f"{before:f}", LONG_AGO, change, sku=sku)
        books.rows.price(f"{after:f}", change, sku=sku)
    for days in range(8):
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


def compute_sources(books: Books) -> dict[tuple[str | None, str], int]:
    """Return of how many attempts which source told the cost of machines, and how."""
    return {
        (line.source, line.basis): line.attempts
        for line in viewer.cost_sources(books.db)
        if line.part == "compute"
    }
