"""Attempts that were lost or superseded, and others that did not end well."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay_apps.orchestrator.filter_form import shown
from forebay_apps.orchestrator.lists import PAGE_SIZE, Filtered, agent_names, older, query
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Viewer
from forebay_apps.web.ids import OptionalId
from forebay_apps.web.pages import Pages, fragment, page

KINDS = {
    "both": "lost or superseded",
    "lost": "lost",
    "superseded": "superseded",
    "failed": "failed",
    "released": "handed back",
}

router = Pages()


@router.page("/attempts")
def attempts(
    request: Request, person: Viewer, db: Db, filters: Filtered, before: OptionalId = None
) -> Response:
    """Show the page around the list."""
    kind = _kind(request)
    return page(
        request,
        "attempts.html",
        **shown(filters, agent_names(db)),
        kind=kind,
        kinds=KINDS,
        list_query=query([*filters.pairs(), ("kind", kind)], before),
    )


@router.fragment("/attempts/list", is_personal=False)
def attempt_list(
    request: Request, person: Viewer, db: Db, filters: Filtered, before: OptionalId = None
) -> Response:
    """Show a page of the attempts, newest first."""
    kind, fixed = _kind(request), filters.fixed()
    with db.viewer() as conn:
        found = viewer.list_attempts(
            conn,
            statuses=["lost", "superseded"] if kind == "both" else [kind],
            agents=list(filters.agents) or None,
            from_=fixed.from_,
            to=fixed.to,
            before_attempt_id=before,
            limit=PAGE_SIZE + 1,
        )
    return fragment(
        request,
        "attempts_list.html",
        attempts=found[:PAGE_SIZE],
        older=older("/attempts", [*filters.pairs(), ("kind", kind)], found, "attempt_id"),
        run_url=request.app.state.links.run_of,
    )


def _kind(request: Request) -> str:
    kind = request.query_params.get("kind", "both")
    if kind not in KINDS:
        raise Refusal(400, f"There is no list of attempts {kind[:40]!r}.")
    return kind
