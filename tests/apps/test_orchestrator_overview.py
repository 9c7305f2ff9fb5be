"""The overview: filters live in the URL and apply to every figure; compute cost is asked for."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from apps.conftest import ClientOf, Serve, Visit
from apps.support.busy import ACME, Busy
from apps.support.serving import Served
from conftest import Connect
from forebay.calls import viewer

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
    """Return the numbers of a column of a table."""
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)
    cells = [re.findall(r'<td class="number">([\d,]+)</td>', row) for row in rows]
    return [int(row[place].replace(",", "")) for row in cells if row]


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
