"""The overview: what happened to the tasks that match, over time and in sum, and what it cost."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay.rows import MetricsReport, TaskSummary
from forebay_apps.orchestrator import charts
from forebay_apps.orchestrator.compute import SOURCES
from forebay_apps.orchestrator.costs import DIMENSIONS, Begun, at_least, line
from forebay_apps.orchestrator.fields import optional_whole
from forebay_apps.orchestrator.filter_form import shown
from forebay_apps.orchestrator.filters import Filters
from forebay_apps.orchestrator.lists import agent_names
from forebay_apps.orchestrator.shared import Shared
from forebay_apps.web import formats
from forebay_apps.web.database import Access, Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, fragment, page

DEFAULT_RANGE = "24h"
LINES = (25, 250, 2500)
"""How many lines of what cost most are shown: at first, and each time that more are asked for."""
MOST_DOCUMENTS = 500

router = Pages()


def _filters(request: Request) -> Filters:
    return Filters.read(request.query_params, DEFAULT_RANGE)


Filtered = Annotated[Filters, Depends(_filters)]


@router.page("/")
def overview(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show the page around the live parts."""
    by, most = _dimension(request), _most_lines(request)
    return page(
        request,
        "overview.html",
        **shown(filters, agent_names(db)),
        by=by,
        costs_query=filters.query(("by", by), ("lines", str(most))),
        plotly_version=version("plotly"),
        dimensions=[(each, f"/?{filters.query(('by', each))}#cost") for each in DIMENSIONS],
    )


@router.get("/overview/plotly.js")
def plotly_library(person: Viewer) -> Response:
    """Serve the library that draws the charts, from its package; its address has its version."""
    headers = {
        "Content-Encoding": "gzip",
        "Cache-Control": "private, max-age=31536000, immutable",
    }
    return Response(_plotly(), media_type="text/javascript", headers=headers)


@cache
def _plotly() -> bytes:
    spec = find_spec("plotly")
    assert spec is not None
    file = Path(str(spec.origin)).parent / "package_data" / "plotly.min.js"
    return gzip.compress(file.read_bytes(), mtime=0)


@router.fragment("/overview/figures", is_personal=False)
def figures(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show the sums."""
    report = _report(request, db, filters)
    with db.viewer() as conn:
        sources = viewer.list_compute_sources(conn) if report.compute_as_of else []
    begun = Begun(report.ended_attempts, is_going_on=report.processing > 0)
    return fragment(
        request,
        "overview_figures.html",
        report=report,
        tokens=begun.tokens(report),
        llm_usd=begun.known(report.llm_usd, report.priced_attempts),
        compute_usd=report.compute_usd if report.costed_attempts else None,
        at_least=lambda total, known, words: at_least(total, known, report.ended_attempts, words),
        sources=" and ".join(SOURCES.get(name, name) for name in sources),
        share_of_all=lambda count: _share_of_all(report, count),
        tasks_url=lambda status: f"/tasks?{filters.query(statuses=(status,))}",
        compute=request.app.state.compute.state,
        here=f"/?{filters.query()}",
    )


@router.fragment("/overview/series", is_personal=False)
def series(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show the figures over time."""
    with db.viewer() as conn:
        points = viewer.metric_series(conn, **filters.figures())
    return fragment(request, "overview_charts.html", charts=charts.over_time(points))


@router.fragment("/overview/confidence", is_personal=False)
def confidence(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show how sure the results are: all of them, and each of the latest."""
    report = _report(request, db, filters)
    documents = charts.confidence_of_each(_latest(db, filters), MOST_DOCUMENTS)
    shown_charts = [charts.confidence_counts(report), documents]
    return fragment(request, "overview_charts.html", charts=shown_charts)


def _report(request: Request, db: Access, filters: Filters) -> MetricsReport:
    """Return the sums, the same ones for all parts of a page that is made or refreshed."""

    def ask() -> MetricsReport:
        with db.viewer() as conn:
            return viewer.metrics(conn, **filters.figures())

    reports: Shared[MetricsReport] = request.app.state.reports
    return reports.get(filters, ask)


def _latest(db: Access, filters: Filters) -> list[TaskSummary]:
    """Return the latest completed tasks, and one more than is shown where there are more."""
    if filters.statuses and "completed" not in filters.statuses:
        return []
    completed = filters.figures() | {"statuses": ["completed"]}
    with db.viewer() as conn:
        return viewer.list_tasks(conn, **completed, limit=MOST_DOCUMENTS + 1)


@router.fragment("/overview/costs", is_personal=False)
def costs(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show what cost most, by one of the dimensions."""
    by, most = _dimension(request), _most_lines(request)
    with db.viewer() as conn:
        rows = viewer.cost_by(conn, dimension=by, **filters.figures(), limit=most + 1)
    return fragment(
        request,
        "overview_costs.html",
        by=by,
        lines=[line(by, row, filters) for row in rows[:most]],
        are_more=len(rows) > most,
        next_lines=next((lines for lines in LINES if lines > most), None),
        query=filters.query(("by", by)),
    )


def _dimension(request: Request) -> str:
    by = request.query_params.get("by", DIMENSIONS[0])
    if by not in DIMENSIONS:
        raise Refusal(400, f"Cost is by {', '.join(DIMENSIONS)}, not by {by[:40]!r}.")
    return by


def _most_lines(request: Request) -> int:
    most = optional_whole(request.query_params, "lines") or LINES[0]
    if most not in LINES:
        raise Refusal(400, f"The lines of what cost most are {', '.join(map(str, LINES))}.")
    return most


def _share_of_all(report: MetricsReport, count: int) -> str:
    every = sum(getattr(report, status) for status in charts.STATUSES)
    return f"{formats.share(count / every)} of {formats.number(every)}" if every else "of none"
