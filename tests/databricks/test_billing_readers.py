"""Who reads a bill, with which settings, and what does not stop them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from databricks.support_billing import DAY, HOUR, LONG_AGO, OURS, WAREHOUSE, Books, books
from forebay.calls import upkeep, viewer
from forebay.databricks import billing
from forebay.databricks.bill import Bill
from forebay.databricks.bill_settings import BillSettings
from forebay.databricks.billing import refresh_billing
from forebay.errors import BillError, BillReadSinceError, SettingError
from forebay_lab.workspace import Fault, Workspace
from forebay_lab.workspace.server import WORKSPACE_ID

__all__ = ["books"]


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


def test_the_sentence_says_nothing_of_the_client(books: Books, workspace: Workspace) -> None:
    """The SDK adds all of its settings to what the workspace says."""
    books.run()
    refuses = Fault("status", r"POST /api/2.0/sql/statements$", 403, "PERMISSION_DENIED", "No.")
    workspace.faults.add(refuses)
    with pytest.raises(BillError) as caught:
        books.read()
    assert "Config: host=" in str(caught.value.__cause__)
    assert str(caught.value) == "The bill cannot be read: No."


@pytest.mark.parametrize("page", ["<html>Please log in</html>", "[]", '"hi"', "{}", "7"])
def test_an_answer_that_is_none_of_the_api_is_a_sentence(
    page: str, books: Books, workspace: Workspace
) -> None:
    """A gateway may answer with what looks well; nothing counts as read then."""
    books.run()
    workspace.faults.add(Fault("status", r"POST /api/2.0/sql/statements$", 200, page=page))
    with pytest.raises(BillError, match=r"no answer of the API's|names no statement") as said:
        books.read()
    assert "Expecting" not in str(said.value)
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


def test_another_tag_reads_all_days_again_and_withdraws_what_is_not_ours(books: Books) -> None:
    """Nothing stands twice, however long ago: not by the one tag and by the other."""
    books.run()
    at = books.clock.now()
    for days in (0, 20):
        books.rows.use(6, at + days * DAY, product="SQL", tags={"team": "a"})
        books.rows.use(4, at + days * DAY, product="APPS", tags=OURS | {"team": "a"})
    books.clock.advance(21 * DAY)
    ours = books.bill
    books.bill = replace(ours, tag=("team", "a"))
    books.read()
    assert books.shared() == {"APPS": 4, "SQL": 6}
    books.bill = ours
    assert books.read().records == 2
    assert books.shared() == {"APPS": 4}
    assert books.read().records == 0
    books.bill = replace(ours, tag=("team", "a"))
    books.read()
    assert books.shared() == {"APPS": 4, "SQL": 6}


def test_apps_are_known_by_their_names(books: Books) -> None:
    """They bear no tag; one that does counts once, and whoever names them reads all days again."""
    books.run()
    at = books.clock.now()
    books.rows.use(2, at, product="APPS", app_name="intake")
    books.rows.use(4, at, product="APPS", app_name="orchestrator", tags=OURS)
    books.rows.use(8, at, product="APPS", app_name="orchestrator-prod")
    books.rows.use(16, at, product="SQL", warehouse_id="other", app_name="")
    books.clock.advance(21 * DAY)
    books.read()
    assert books.shared() == {"APPS": 2}
    named = BillSettings.read(
        {"FOREBAY_WAREHOUSE_ID": WAREHOUSE, "FOREBAY_BILLING_APPS": "orchestrator, intake,"}
    )
    assert named is not None
    books.bill = replace(books.bill, apps=named.apps)
    books.read()
    assert books.shared() == {"APPS": 3}
    assert books.read().records == 0


@pytest.mark.parametrize(
    "more",
    [
        {"apps": tuple(f"forebay-orchestrator-{number:03}" for number in range(60))},
        {"tag": ("k" * 600, "v" * 600)},
    ],
    ids=["apps", "tag"],
)
def test_settings_may_be_long(more: dict[str, Any], books: Books) -> None:
    """What was read with them is not read again, and with others it is."""
    task_id, run_id = books.run()
    books.rows.use(2, books.clock.now(), run_id=run_id)
    books.clock.advance(20 * DAY)
    books.bill = replace(books.bill, **more)
    books.read()
    assert books.cost(task_id) == (1, True)
    others = replace(books.bill, **{name: (*value[:-1], "x") for name, value in more.items()})
    same, anew = (
        upkeep.begin_bill(books.upkeep, settings=bill.settings).day for bill in (books.bill, others)
    )
    assert same is not None
    assert anew is not None
    assert anew < same
    assert books.bill.settings.endswith(f"workspace {WORKSPACE_ID}")


def test_without_a_tag_runs_alone_are_read(books: Books) -> None:
    """What others share is not ours, and what a reading with the tag told stays."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(4, at, product="SQL", warehouse_id="other")
    books.rows.use(2, at, run_id=run_id)
    ours = books.bill
    books.bill = replace(ours, tag=None)
    assert not books.read().is_shared_read
    assert (books.cost(task_id), books.shared()) == ((1, False), {})
    books.rows.use(8, at, product="APPS", tags=OURS)
    books.clock.advance(20 * DAY)
    books.bill = ours
    assert books.read().is_shared_read
    assert books.shared() == {"APPS": 4}
    books.bill = replace(ours, tag=None)
    books.read()
    assert books.shared() == {"APPS": 4}


def test_other_prices_count_for_all_runs(books: Books) -> None:
    """A bill of two kinds of prices would be none."""
    task_id, run_id = books.run()
    books.statements.execute('DELETE FROM "system.billing".list_prices')
    books.rows.price("0.50", LONG_AGO, default="0.80")
    books.rows.use(10, books.clock.now(), run_id=run_id)
    books.clock.advance(20 * DAY)
    books.read()
    books.clock.advance(20 * DAY)
    books.read()
    assert books.cost(task_id) == (5, True)
    books.bill = replace(books.bill, price="default")
    books.read()
    assert books.cost(task_id) == (8, True)


def test_what_another_workspace_shares_is_not_ours(books: Books) -> None:
    """The system tables tell of all workspaces of the account."""
    books.run()
    books.rows.use(4, books.clock.now(), product="SQL", workspace_id="999", tags=OURS)
    books.rows.use(2, books.clock.now(), product="SQL", tags=OURS)
    books.read()
    assert books.shared() == {"SQL": 1}


def test_a_run_of_another_workspace_is_not_on_this_ones_bill(books: Books) -> None:
    """Both have a run of this id: what ours cost is not what theirs did."""
    elsewhere, run_id = books.run_at("999")
    unsettled, address_run = books.run_at(books.bill.client.config.host)
    ours, _ = books.run_at(WORKSPACE_ID, run_id)
    at = books.clock.now()
    books.rows.use(2, at, run_id=run_id)
    books.rows.use(4, at, run_id=address_run)
    books.rows.use(20, at, run_id=run_id, workspace_id="999")
    books.read()
    assert [books.cost(one) for one in (ours, unsettled)] == [(1, False), (2, False)]
    assert books.cost(elsewhere) is None
    books.clock.advance(10 * DAY)
    books.bill = replace(books.bill, workspace_id="999")
    books.read()
    assert books.cost(elsewhere) == (10, True)
    assert [books.cost(one) for one in (ours, unsettled)] == [(1, False), (2, False)]


def test_a_run_that_is_of_no_job_is_not_billed_as_one(books: Books) -> None:
    """What other products tell with the id of a run is shared, and counts once."""
    task_id, run_id = books.run()
    books.rows.use(2, books.clock.now(), run_id=run_id, product="SQL", tags=OURS)
    books.rows.use(2, books.clock.now(), run_id=run_id)
    books.read()
    assert books.cost(task_id) == (1, False)
    assert books.shared() == {"SQL": 1}


def test_of_two_readers_the_later_wins(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    """The earlier read less, and comes last: it is told so, and changes nothing."""
    task_id, run_id = books.run()
    at = books.clock.now()
    books.rows.use(10, at, run_id=run_id)
    books.clock.advance(2 * DAY)
    read_lines = Bill.run_lines

    def overtaken(bill: Bill, *given: Any) -> Any:
        lines = read_lines(bill, *given)
        monkeypatch.setattr(Bill, "run_lines", read_lines)
        books.rows.use(90, at, run_id=run_id, ingested=books.clock.now().date())
        books.clock.advance(HOUR)
        refresh_billing(books.upkeep, bill)
        return lines

    monkeypatch.setattr(Bill, "run_lines", overtaken)
    with pytest.raises(BillReadSinceError, match="read since"):
        books.read()
    assert books.cost(task_id) == (50, True)
    assert viewer.metrics(books.db).compute_as_of == books.clock.now()


def test_batches_are_as_small_as_the_installation_wants(books: Books) -> None:
    """Of runs, and of what is shared on a day."""
    books.clock.superuser.execute("update forebay.installation set max_batch_size = 2")
    task_id, run_id = books.run()
    at = books.clock.now()
    for hours in range(5):
        books.rows.use(2, at - hours * HOUR, run_id=run_id)
        books.rows.use(2, at, product=f"P{hours}", tags=OURS)
    assert books.read().records == 10
    assert books.cost(task_id) == (5, False)
    assert books.shared() == {f"P{hours}": 1 for hours in range(5)}


def test_odd_lines_stop_no_other(books: Books) -> None:
    """Two clouds in one window, a window without an end, no quantity, more than can be."""
    at = books.clock.now()
    books.rows.price("0.50", LONG_AGO, cloud="AZURE")
    clouds, clouds_run = books.run()
    endless, endless_run = books.run()
    empty, empty_run = books.run()
    huge, huge_run = books.run()
    plain, plain_run = books.run()
    for cloud in ("AWS", "AZURE"):
        books.rows.use(2, at, run_id=clouds_run, cloud=cloud)
    books.rows.use(2, at, run_id=endless_run, hours=None)
    books.rows.use(None, at, run_id=empty_run)
    books.rows.use(Decimal("1e19"), at, run_id=huge_run)
    books.rows.use(2, at, run_id=plain_run)
    done = books.read()
    assert [books.cost(one) for one in (clouds, endless, plain)] == [(2, False)] + [(1, False)] * 2
    assert [books.cost(one) for one in (empty, huge)] == [None, None]
    [named] = done.left_out
    assert f"/{huge_run}/" in named
    assert "10^9" in named


def test_the_bill_of_one_workspace_says_nothing_of_runs_in_another(books: Books) -> None:
    """Those whose bill was not read are awaited; where a run was is not always known by its id."""
    books.run_at(WORKSPACE_ID)
    books.run_at(books.bill.client.config.host)
    books.run_at("999")
    books.clock.advance(10 * DAY)
    books.read()
    assert books.sources() == {(None, "not_attributable"): 2, (None, "awaited"): 1}
    books.bill = replace(books.bill, workspace_id="999")
    books.read()
    assert books.sources() == {(None, "not_attributable"): 2, (None, "awaited"): 1}
