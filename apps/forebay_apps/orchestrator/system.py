"""The machinery: who claims and sweeps, who listens, and what the database is like."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay_apps.orchestrator.signs import own_signs, signs
from forebay_apps.orchestrator.timeline import moment
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, fragment, page

router = Pages()


@router.page("/system")
def system(request: Request, person: Viewer) -> Response:
    """Show the page around the live parts."""
    return page(request, "system.html")


@router.fragment("/system/body", is_personal=False)
def body(request: Request, person: Viewer, db: Db) -> Response:
    """Show what is well and what is not."""
    with db.viewer() as conn:
        health = viewer.health(conn)
    state = request.app.state
    return fragment(
        request,
        "system_body.html",
        signs=signs(health, state.long_wait),
        dispatchers=health.dispatchers,
        moment_of=moment,
        own=own_signs(state.hub.is_listening, state.hub.streams, state.daemon),
        health=health,
    )


@router.fragment("/system/tables", is_personal=False)
def tables(request: Request, person: Viewer, db: Db) -> Response:
    """Show the sizes of the tables."""
    with db.viewer() as conn:
        found = viewer.table_sizes(conn)
    return fragment(request, "system_tables.html", tables=found)
