"""The overview: filters live in the URL and apply to every figure; compute cost is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import psycopg
import pytest
from playwright.sync_api import Locator, Page, expect

from apps.conftest import ClientOf, Serve, Visit
from apps.support.busy import ACME, Busy
from apps.support.serving import Served
from conftest import Connect
from forebay.calls import agent, operator, submitter, upkeep, viewer, worker
from forebay_apps.orchestrator import overview
from forebay_apps.orchestrator.costs import AND_MORE
from support.waiting import until

FRAGMENTS = ("figures", "series", "costs")


def _numbers(page: Page) -> dict[str, str]:
    tiles = page.locator("a.tile")
    return {
        tile.locator(".status").inner_text(): tile.locator(".value").inner_text()
        for tile in tiles.all()
    }


def test_the_figures_are_those_of_the_database(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Tiles say what metrics says; each leads to the tasks that it counts."""
    page = visit(orchestrator, "/?range=all", "vic")
    report = viewer.metrics(connect("viewer"))
    statuses = ("enqueued", "processing", "completed", "failed", "cancelled")
    assert _numbers(page) == {status: str(getattr(report, status)) for status in statuses}
    expect(page.locator("section", has=page.locator("#figure-tokens")).last).to_contain_text(
        f"{report.input_tokens:,}"
    )
    page.locator("a.tile-failed").click()
    page.wait_for_url("**/tasks?**")
    expect(page.locator("tbody tr")).to_have_count(report.failed)


def test_filters_are_picked_by_keyboard_and_live_in_the_url(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """What was picked is in the address, is still picked afterwards, and can be shared."""
    page = visit(orchestrator, "/", "vic")
    page.locator("#pick-agent > summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("checkbox", name="classify").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Apply").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**agent=classify**")
    query = parse_qs(urlsplit(page.url).query)
    assert query["range"] == ["24h"]
    expect(page.locator("#pick-agent > summary")).to_contain_text("classify")
    assert _numbers(page)["completed"] == "50"


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("range=all&agent=classify", {"agents": ["classify"]}),
        ("range=all&status=failed&status=cancelled", {"statuses": ["failed", "cancelled"]}),
        (f"range=all&customer={ACME}", {"customers": [ACME]}),
        ("range=6h&agent=parse_document&status=completed", {}),
    ],
)
def test_filters_apply_to_every_figure(
    query: str,
    filters: dict[str, list[str]],
    busy: Busy,
    orchestrator: Served,
    client: ClientOf,
    connect: Connect,
) -> None:
    """Tiles, sums over time and costs count the same tasks."""
    vic = client(orchestrator, "vic")
    conn = connect("viewer")
    if not filters:
        start = datetime.now(UTC) - timedelta(hours=6)
        chosen = {"agents": ["parse_document"], "statuses": ["completed"], "from_": start}
        report = viewer.metrics(conn, **chosen)  # type: ignore[arg-type]
    else:
        report = viewer.metrics(conn, **filters)
    every = report.enqueued + report.processing + report.completed + report.failed
    every += report.cancelled
    figures = vic.get(f"/overview/figures?{query}").text
    assert f"{report.input_tokens:,}" in figures
    assert f"of {every:,}" in figures
    costs = vic.get(f"/overview/costs?{query}&by=day").text
    assert sum(_column(costs, 0)) == every
    assert sum(_column(costs, 1)) == report.input_tokens
    series = vic.get(f"/overview/series?{query}").text
    tokens = re.search(r'aria-label="Tokens, as a table">(.*?)</table>', series, re.S)
    fresh = sum(_column(tokens[1], 0)) if tokens else 0
    assert fresh == report.input_tokens - report.cached_tokens


def _column(table: str, place: int) -> list[int]:
    """Return the numbers of a column; of what is unknown, or of a day without any, nothing."""
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)
    cells = [re.findall(r'<td class="number"[^>]*>([^<]*)</td>', row) for row in rows]
    said = [row[place].replace(",", "").removesuffix(AND_MORE) for row in cells if row]
    return [int(each) for each in said if each not in ("unknown", "–")]


def _tile(page: Page, name: str) -> Locator:
    return page.locator("section.tile", has=page.locator(f"#figure-{name}"))


def _costs(page: Page, name: str) -> Locator:
    return page.locator(f'.scroll[aria-label="{name}"]')


def _done(
    conn: psycopg.Connection, usage: Sequence[dict[str, Any]], confidence: Decimal | None = None
) -> int:
    """Have a task of an agent completed whose only attempt tells of these calls; return it."""
    operator.register_agent(conn, agent="a")
    task = submitter.enqueue(conn, agent="a", payload={})
    (claim,) = worker.dequeue(conn, worker="w", agents=["a"])
    if usage:
        agent.report_usage(conn, attempt_id=claim.attempt_id, usage=usage)
    agent.complete(conn, attempt_id=claim.attempt_id, result={}, confidence=confidence)
    return task


def test_what_is_known_in_part_is_shown_with_of_how_many_it_is_all(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A call of an unknown price does not hide what the others cost, nor is it said to be all."""
    known = {"call_id": "1", "input_tokens": 40, "output_tokens": 2, "cost_usd": "0.25"}
    _done(connect("all"), [known, {"call_id": "2", "model": "in-house"}])
    page = visit(orchestrator, "/", "vic")
    expect(_tile(page, "llm").locator(".value")).to_have_text("$0.2500")
    expect(_tile(page, "llm")).to_contain_text("at least; 0 of 1 attempts tell all their cost")
    expect(_tile(page, "tokens").locator(".value")).to_have_text(["40", "2", "0"])
    expect(_tile(page, "tokens")).to_contain_text("at least; 0 of 1 attempts tell their tokens")
    cells = _costs(page, "Cost by agent").locator("tbody td")
    used = [f"{said}{AND_MORE}" for said in ("40", "2", "0", "$0.2500")]
    expect(cells).to_have_text(["1", *used, "0 of 1", "unknown", "0 of 1"])
    page.goto(f"{orchestrator.url}/?by=task")
    expect(_costs(page, "Cost by task")).to_contain_text("$0.2500")


def test_what_nobody_told_is_unknown_and_what_has_not_begun_is_nothing(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Tokens, costs and lines alike; a task that waits has used nothing."""
    conn = connect("all")
    page = visit(orchestrator, "/", "vic")
    expect(_tile(page, "tokens").locator(".value")).to_have_text(["0", "0", "0"])
    expect(_tile(page, "llm").locator(".value")).to_have_text("$0.00")
    _done(conn, [])
    page.reload()
    expect(_tile(page, "tokens").locator(".value")).to_have_text(["unknown"] * 3)
    expect(_tile(page, "llm").locator(".value")).to_have_text("unknown")
    expect(_tile(page, "llm")).not_to_contain_text("at least")
    cells = _costs(page, "Cost by agent").locator("tbody td")
    expect(cells).to_have_text(["1", *["unknown"] * 4, "0 of 1", "unknown", "0 of 1"])
    operator.register_agent(conn, agent="b")
    submitter.enqueue(conn, agent="b", payload={})
    worker.dequeue(conn, worker="w", agents=["b"])
    page.goto(f"{orchestrator.url}/?agent=b")
    cells = _costs(page, "Cost by agent").locator("tbody td")
    expect(cells).to_have_text(["1", *["–"] * 4, "0", "–", "0"])
    expect(_tile(page, "tokens").locator(".value")).to_have_text(["unknown"] * 3)
    expect(_tile(page, "llm").locator(".value")).to_have_text("unknown")


def test_compute_cost_says_who_told_it_and_whether_it_may_change(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Every source is named; final or provisional is said where there is a figure."""
    conn = connect("all")
    upkeep.record_compute_usage(conn, rows=[], source="cloud bill")
    page = visit(orchestrator, "/", "vic")
    tile = _tile(page, "compute")
    expect(tile).to_contain_text("from cloud bill")
    for word in ("final", "provisional", "local"):
        expect(tile).not_to_contain_text(word)
    task = _done(conn, [])
    attempt = viewer.task_detail(conn, task_id=task).attempts[0]["attempt_id"]
    record = {"record_id": "1", "attempt_id": attempt, "usd": "2"}
    for is_final, word in ((False, "provisional"), (True, "final")):
        upkeep.record_compute_usage(
            conn, rows=[record | {"is_final": is_final}], source="cloud bill"
        )
        page.reload()
        expect(tile.locator(".value")).to_have_text("$2.00")
        expect(tile).to_contain_text(f"{word}, as of")
    upkeep.record_compute_usage(conn, rows=[])
    page.reload()
    expect(tile).to_contain_text("from cloud bill and local (run time × rate)")


def test_compute_that_is_known_in_part_is_marked_in_lists_too(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A bill that came before the last attempts is no sum of all, whatever their calls tell."""
    conn = connect("all")
    known = {"call_id": "1", "input_tokens": 40, "output_tokens": 2, "cost_usd": "0.25"}
    task = _done(conn, [known])
    attempt = viewer.task_detail(conn, task_id=task).attempts[0]["attempt_id"]
    record = {"record_id": "1", "attempt_id": attempt, "usd": "2"}
    upkeep.record_compute_usage(conn, rows=[record], source="cloud bill")
    page = visit(orchestrator, "/", "vic")
    cells = _costs(page, "Cost by agent").locator("tbody td")
    known_cells = ["40", "2", "0", "$0.2500"]
    expect(cells).to_have_text(["1", *known_cells, "all 1", "$2.00", "all 1"])
    expect(page.get_by_text("+ means")).to_have_count(0)
    _done(conn, [known])
    page.reload()
    twice = ["80", "4", "0", "$0.5000"]
    expect(cells).to_have_text(["2", *twice, "all 2", f"$2.00{AND_MORE}", "1 of 2"])
    expect(page.get_by_text("+ means: and what is not known.")).to_be_visible()
    expect(_tile(page, "compute")).to_contain_text("at least; 1 of 2 attempts costed")


def test_a_tasks_compute_is_marked_where_an_attempt_of_it_is_not_costed(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """One attempt on the bill is not the task's cost while another is unknown."""
    conn = connect("all")
    operator.register_agent(conn, agent="a")
    task = submitter.enqueue(conn, agent="a", payload={})
    (first,) = worker.dequeue(conn, worker="w", agents=["a"])
    agent.fail(conn, attempt_id=first.attempt_id, error={"kind": "x"}, retry_after=timedelta())
    (second,) = worker.dequeue(conn, worker="w", agents=["a"])
    agent.complete(conn, attempt_id=second.attempt_id, result={})
    for number, claim in enumerate((first, second)):
        record = {"record_id": str(number), "attempt_id": claim.attempt_id, "usd": "2"}
        record |= {"is_final": number == 0}
        upkeep.record_compute_usage(conn, rows=[record], source="cloud bill")
        page = visit(orchestrator, f"/tasks/{task}", "vic")
        said = page.locator("dl.facts div", has_text="compute cost").locator("dd")
        amount = ["$2.00 cloud bill and what is not known", "$4.00 cloud bill, provisional"][number]
        expect(said).to_have_text(amount)
        page.context.close()


def test_compute_is_no_cost_of_a_model(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Other costs are beside that of machines, which models have no part in."""
    conn = connect("all")
    call = {"call_id": "1", "model": "m", "input_tokens": 1, "output_tokens": 1, "cost_usd": "0.5"}
    _done(conn, [call])
    page = visit(orchestrator, "/?by=agent", "vic")
    expect(_costs(page, "Cost by agent").locator("th", has_text="compute")).to_have_count(1)
    page.goto(f"{orchestrator.url}/?by=model")
    costs = _costs(page, "Cost by model")
    expect(costs.locator("tbody td")).to_have_text(["1", "1", "1", "0", "$0.5000", "all 1"])
    expect(costs.locator("thead th").last).to_have_text("attempts that tell all of it")


def test_an_axis_of_a_few_tasks_repeats_no_number(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Ticks are at whole numbers, however few there are."""
    _done(connect("all"), [], confidence=Decimal("0.9"))
    page = visit(orchestrator, "/", "vic")
    plot = page.locator('.plot[id*="confidence"]').first
    expect(plot.locator(".ytick text").first).to_be_visible()
    assert plot.locator(".ytick text").all_text_contents() == ["0", "1"]


def test_the_figures_are_asked_for_once_a_refresh(
    busy: Busy, orchestrator: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles and the chart of confidence are of the same moment."""
    asked = []

    def metrics(*arguments: Any, **named: Any) -> Any:
        asked.append(named)
        return viewer.metrics(*arguments, **named)

    monkeypatch.setattr(overview, "viewer", _With(viewer, metrics=metrics))
    vic = client(orchestrator, "vic")
    until(lambda: orchestrator.app.state.hub._timer is None)  # what the log-in changed is told
    assert "Confidence of each document" in vic.get("/?range=7d").text
    assert len(asked) == 1
    vic.get("/?range=7d&agent=classify")
    assert [each["agents"] for each in asked] == [None, ["classify"]]


class _With:
    """A module with some of its names replaced."""

    def __init__(self, module: Any, **others: Any) -> None:
        self._module, self._others = module, others

    def __getattr__(self, name: str) -> Any:
        return self._others.get(name) or getattr(self._module, name)


def test_it_says_that_there_are_more_lines_and_shows_them(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """25 are shown at first; the rest by keyboard; what is all of it says nothing."""
    conn = connect("all")
    operator.register_agent(conn, agent="a")
    submitter.enqueue_many(conn, agent="a", tasks=[{"payload": {}}] * 25)
    page = visit(orchestrator, "/?by=task&agent=a", "vic")
    lines = _costs(page, "Cost by task").locator("tbody tr")
    expect(lines).to_have_count(25)
    expect(page.get_by_text("there are more")).to_have_count(0)
    submitter.enqueue_many(conn, agent="a", tasks=[{"payload": {}}] * 5)
    expect(page.get_by_text("The 25 dearest are shown; there are more.")).to_be_visible()
    page.get_by_role("link", name="Show 250").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**agent=a**lines=250**")
    expect(lines).to_have_count(30)
    expect(page.get_by_text("there are more")).to_have_count(0)


@pytest.mark.parametrize("lines", ["7", "-1", "many", "10000"])
def test_other_numbers_of_lines_are_refused(
    lines: str, orchestrator: Served, client: ClientOf
) -> None:
    """With a sentence."""
    answer = client(orchestrator, "vic").get(f"/overview/costs?lines={lines}")
    assert answer.status_code == 400


def test_the_chart_of_documents_says_when_it_shows_the_latest_alone(
    busy: Busy, orchestrator: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing when it shows all of them."""
    vic = client(orchestrator, "vic")
    assert "of the latest" not in vic.get("/?range=all").text
    monkeypatch.setattr(overview, "MOST_DOCUMENTS", 3)
    text = vic.get("/?range=30d").text
    assert "of the latest 3 completed tasks" in text
    table = text.split('aria-label="Confidence of each document, as a table"')[1]
    assert table.split("</table>")[0].count('<a href="/tasks/') <= 3


def test_charts_are_drawn_and_can_be_read_without_them(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """Each chart is drawn by the library of the package, and has a table with the same numbers."""
    page = visit(orchestrator, "/?range=all", "vic")
    expect(page.locator(".plot svg.main-svg").first).to_be_visible()
    assert page.locator(".plot .js-plotly-plot, .plot.js-plotly-plot").count() == 6
    page.locator("#table-confidence > summary").click()
    expect(page.get_by_role("region", name="Confidence, as a table")).to_be_visible()


def test_everything_is_there_without_javascript(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """Figures and tables are in the page, and tables open."""
    page = visit(orchestrator, "/?range=all", "vic", java_script_enabled=False)
    assert int(_numbers(page)["completed"]) > 60
    page.locator("#table-confidence > summary").click()
    expect(page.get_by_role("region", name="Confidence, as a table")).to_be_visible()


def test_the_overview_goes_on_by_itself(
    busy: Busy, orchestrator: Served, visit: Visit, client: ClientOf
) -> None:
    """An act elsewhere shows without a reload, and an opened table stays open."""
    page = visit(orchestrator, "/?range=all", "vic")
    before = int(_numbers(page)["cancelled"])
    page.locator("#table-confidence > summary").click()
    oscar = client(orchestrator, "oscar")
    oscar.post("/act", data={"act": "cancel", "task": [str(busy.waiting), str(busy.delayed)]})
    expect(page.locator("a.tile-cancelled .value")).to_have_text(str(before + 2))
    expect(page.get_by_role("region", name="Confidence, as a table")).to_be_visible()


def test_compute_cost_is_looked_up_when_a_person_asks(
    busy: Busy, serve: Serve, visit: Visit
) -> None:
    """Nobody has asked: unknown; then the figure, provisional, as of when; filters are kept."""
    app = serve("orchestrator", FOREBAY_COMPUTE_USD_PER_HOUR="3.6")
    page = visit(app, "/?range=all&agent=parse_document", "vic")
    tile = page.locator("section", has=page.locator("#figure-compute")).last
    expect(tile.locator(".value")).to_have_text("unknown")
    tile.get_by_role("button", name="Ask for it").click()
    page.wait_for_url("**agent=parse_document**")
    expect(tile.locator(".value")).to_have_text(re.compile(r"^\$"))
    expect(tile).to_contain_text("provisional")
    expect(tile).to_contain_text("local")


def test_without_a_rate_it_says_what_to_set(
    busy: Busy, orchestrator: Served, client: ClientOf
) -> None:
    """Nothing to press where nothing can come of it."""
    text = client(orchestrator, "vic").get("/overview/figures").text
    assert "FOREBAY_COMPUTE_USD_PER_HOUR" in text
    assert "/overview/compute" not in text


def test_the_library_is_compressed_and_kept_by_browsers(
    orchestrator: Served, client: ClientOf
) -> None:
    """It is served from its package, to people who are logged in."""
    answer = client(orchestrator, "vic").get("/overview/plotly.js")
    assert "plotly.js v" in answer.text[:200]
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "immutable" in answer.headers["Cache-Control"]
    assert httpx.get(f"{orchestrator.url}/overview/plotly.js").status_code == 401
