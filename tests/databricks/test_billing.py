"""What runs cost by the workspace's bill: CO9 to CO13, to the last digit of a Decimal oracle."""

from __future__ import annotations

from decimal import Decimal

from databricks.support_billing import DAY, HOUR, LONG_AGO, MINUTE, OURS, Books, books
from forebay.calls import agent as report
from forebay.calls import submitter, upkeep, viewer, worker
from forebay.databricks.bill import RunLine
from forebay.databricks.billing import Refreshed, _run_records
from forebay.rows import RunToBill
from forebay_lab.workspace.billing import JOBS_SKU

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


def test_co11_a_run_without_rows_is_unknown_and_not_zero(books: Books) -> None:
    """A run on an all-purpose cluster has no row of its own: in time it is not attributable."""
    task_id, _ = books.run()
    at = books.clock.now()
    books.rows.use(10, at, product="ALL_PURPOSE", sku=JOBS_SKU, tags=OURS)
    books.rows.use(10, at, product="JOBS", tags=OURS)
    books.read()
    assert books.cost(task_id) is None
    assert books.sources() == {(None, "awaited"): 1}
    books.clock.advance(2 * DAY)
    books.read()
    assert books.cost(task_id) is None
    assert books.sources() == {(None, "not_attributable"): 1}
    assert books.shared() == {"ALL_PURPOSE": Decimal(5), "JOBS": Decimal(5)}


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


def test_a_run_whose_id_is_known_late_is_asked_for(books: Books) -> None:
    """The answer to its launch was lost; its rows came, and were read past, before its report."""
    books.run()
    task_id = submitter.enqueue(books.db, agent="jobs", payload={})
    (claim,) = worker.dequeue(books.db, worker="w", agents=["jobs"])
    books.rows.use(4, books.clock.now(), run_id="9999")
    for _ in range(5):
        books.clock.advance(DAY)
        books.read()
    worker.record_run(books.db, attempt_id=claim.attempt_id, run_id="9999")
    report.complete(books.db, attempt_id=claim.attempt_id, result={})
    books.clock.advance(10 * DAY)
    books.read()
    assert books.cost(task_id) == (2, True)


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
    assert books.sources() == {("billing", "provisional"): 1}


def test_shared_lines_are_kept_apart(books: Books) -> None:
    """Warehouse, apps, database and AI functions are in no task's cost; only ours are told."""
    books.run()
    at = books.clock.now()
    books.rows.use(4, at, product="SQL", warehouse_id="w1")
    books.rows.use(6, at, product="SQL", warehouse_id="other")
    books.rows.use(8, at, product="APPS", app_name="orchestrator", tags=OURS)
    books.rows.use(2, at, product="APPS", app_name="orchestrator", hours=24, tags=OURS)
    books.rows.use(10, at, product="LAKEBASE", tags=OURS)
    books.rows.use(12, at, product="AI_FUNCTIONS", tags={"project": "else"})
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


def test_no_attempt_can_stop_the_bill_with_what_it_calls_its_run(books: Books) -> None:
    """Words that are no number are asked for of nobody; the bills of others are read on."""
    task_id, run_id = books.run()
    at = books.clock.now()
    words = (f"77,{run_id}", f"{run_id},", "'", "run 7", "\N{ARABIC-INDIC DIGIT ONE}")
    strange = [books.run(run_id=word)[0] for word in words]
    books.rows.use(2, at, run_id="77")
    books.rows.use(2, at, run_id=run_id)
    books.rows.use(2, at, product="SQL", warehouse_id="w1")
    for _ in range(2):
        books.read()
        assert books.cost(task_id) == (1, False)
        assert [books.cost(each) for each in strange] == [None] * len(words)
        assert books.shared() == {"SQL": 1}
    books.clock.advance(10 * DAY)
    books.read()
    assert viewer.metrics(books.db).compute_as_of == books.clock.now()


def test_a_line_that_nobody_asked_for_is_left_out() -> None:
    """Whatever a warehouse answers, what is no run of ours is recorded for none."""
    now = LONG_AGO
    lines = [
        RunLine(run_id, "AWS", JOBS_SKU, "DBU", now, now + HOUR, Decimal(1))
        for run_id in ("1", "2")
    ]
    done = Refreshed()
    records = list(_run_records("w", [RunToBill(7, "2", now, now, True)], lines, done))
    assert [(record["attempt_id"], record["usd"]) for record in records] == [(7, "1")]
    assert done.runs == 1


def test_a_quantity_that_is_missing_makes_its_window_unknown(books: Books) -> None:
    """Beside another that is known as well as alone; so it does with what is shared."""
    task_id, run_id = books.run()
    at = books.clock.now()
    for quantity in (None, 3):
        books.rows.use(quantity, at, run_id=run_id)
        books.rows.use(quantity, at, product="SQL", warehouse_id="w1")
    books.rows.use(2, at, product="APPS", tags=OURS)
    books.rows.use(None, at + HOUR, product="APPS", tags=OURS)
    books.read()
    assert books.cost(task_id) is None
    assert books.sources() == {("billing", "unpriced"): 1}
    assert books.shared() == {"SQL": None, "APPS": None}
