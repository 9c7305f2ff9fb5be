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
from forebay.rows import MetricsReport
from forebay_apps.orchestrator import charts
from forebay_apps.orchestrator.costs import DIMENSIONS, coverage, line
from forebay_apps.orchestrator.filter_form import shown
from forebay_apps.orchestrator.filters import Filters
from forebay_apps.orchestrator.lists import agent_names
from forebay_apps.web import formats
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, fragment, page

DEFAULT_RANGE = "24h"
MOST_LINES = 25
MOST_DOCUMENTS = 500

router = Pages()


def _filters(request: Request) -> Filters:
    return Filters.read(request.query_params, DEFAULT_RANGE)


Filtered = Annotated[Filters, Depends(_filters)]


@router.page("/")
def overview(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show the page around the live parts."""
    by = _dimension(request)
    return page(
        request,
        "overview.html",
        **shown(filters, agent_names(db)),
        by=by,
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
    with db.viewer() as conn:
        report = viewer.metrics(conn, **filters.figures())
    return fragment(
        request,
        "overview_figures.html",
        report=report,
        llm_cost=report.llm_usd if report.priced_attempts or not report.ended_attempts else None,
        coverage=lambda known, words: coverage(known, report.ended_attempts, words),
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
    are_wanted = not filters.statuses or "completed" in filters.statuses
    with db.viewer() as conn:
        report = viewer.metrics(conn, **filters.figures())
        documents = (
            viewer.list_tasks(
                conn, **filters.figures() | {"statuses": ["completed"]}, limit=MOST_DOCUMENTS
            )
            if are_wanted
            else []
        )
    shown_charts = [charts.confidence_counts(report), charts.confidence_of_each(documents)]
    return fragment(request, "overview_charts.html", charts=shown_charts)


@router.fragment("/overview/costs", is_personal=False)
def costs(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show what cost most, by one of the dimensions."""
    by = _dimension(request)
    with db.viewer() as conn:
        rows = viewer.cost_by(conn, dimension=by, **filters.figures(), limit=MOST_LINES)
    lines = [line(by, row, filters) for row in rows]
    return fragment(request, "overview_costs.html", by=by, lines=lines)


def _dimension(request: Request) -> str:
    by = request.query_params.get("by", DIMENSIONS[0])
    if by not in DIMENSIONS:
        raise Refusal(400, f"Cost is by {', '.join(DIMENSIONS)}, not by {by[:40]!r}.")
    return by


def _share_of_all(report: MetricsReport, count: int) -> str:
    every = sum(getattr(report, status) for status in charts.STATUSES)
    return f"{formats.share(count / every)} of {formats.number(every)}" if every else "of none"
