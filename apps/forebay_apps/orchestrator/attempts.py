"""Attempts that were lost or superseded, and others that did not end well."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay.rows import AttemptSummary
from forebay_apps.orchestrator.filters import Filters, shown, whole_number
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, fragment, page

PAGE_SIZE = 50
KINDS = {
    "both": "lost or superseded",
    "lost": "lost",
    "superseded": "superseded",
    "failed": "failed",
    "released": "handed back",
}

router = Pages()


def _filters(request: Request) -> Filters:
    return Filters.read(request.query_params)


Filtered = Annotated[Filters, Depends(_filters)]


@router.page("/attempts")
def attempts(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show the page around the list."""
    kind = _kind(request)
    with db.viewer() as conn:
        agents = [state.agent for state in viewer.agent_status(conn)]
    before = whole_number(request.query_params, "before")
    more = [("kind", kind), *([("before", str(before))] if before else [])]
    return page(
        request,
        "attempts.html",
        **shown(filters, agents),
        kind=kind,
        kinds=KINDS,
        list_query=filters.query(*more),
    )


@router.fragment("/attempts/list", is_personal=False)
def attempt_list(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show a page of the attempts, newest first."""
    kind, fixed = _kind(request), filters.fixed()
    with db.viewer() as conn:
        found = viewer.list_attempts(
            conn,
            statuses=["lost", "superseded"] if kind == "both" else [kind],
            agents=list(filters.agents) or None,
            from_=fixed.from_,
            to=fixed.to,
            before_attempt_id=whole_number(request.query_params, "before"),
            limit=PAGE_SIZE + 1,
        )
    return fragment(
        request,
        "attempts_list.html",
        attempts=found[:PAGE_SIZE],
        older=_older(filters, kind, found),
        run_url=request.app.state.links.run_of,
    )


def _kind(request: Request) -> str:
    kind = request.query_params.get("kind", "both")
    if kind not in KINDS:
        raise Refusal(400, f"There is no list of attempts {kind[:40]!r}.")
    return kind


def _older(filters: Filters, kind: str, found: list[AttemptSummary]) -> str | None:
    if len(found) <= PAGE_SIZE:
        return None
    before = str(found[PAGE_SIZE - 1].attempt_id)
    return f"/attempts?{filters.query(('kind', kind), ('before', before))}"
