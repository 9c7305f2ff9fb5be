"""Batches: how far each is, what it cost, and one of them with its tasks."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay_apps.orchestrator.acts import ACTS
from forebay_apps.orchestrator.filter_form import shown
from forebay_apps.orchestrator.filters import Filters
from forebay_apps.orchestrator.lists import PAGE_SIZE, Filtered, older, query
from forebay_apps.web import formats
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Viewer
from forebay_apps.web.ids import Id, OptionalId
from forebay_apps.web.pages import Pages, fragment, page

router = Pages()


@router.page("/batches")
def batches(
    request: Request, person: Viewer, filters: Filtered, before: OptionalId = None
) -> Response:
    """Show the page around the list."""
    return page(
        request, "batches.html", **shown(filters), list_query=query(filters.pairs(), before)
    )


@router.fragment("/batches/list", is_personal=False)
def batch_list(
    request: Request, person: Viewer, db: Db, filters: Filtered, before: OptionalId = None
) -> Response:
    """Show a page of the batches, newest first."""
    fixed = filters.fixed()
    with db.viewer() as conn:
        found = viewer.list_batches(
            conn,
            from_=fixed.from_,
            to=fixed.to,
            customers=list(filters.customers) or None,
            search=filters.search or None,
            before_batch_id=before,
            limit=PAGE_SIZE + 1,
        )
    return fragment(
        request,
        "batches_list.html",
        batches=found[:PAGE_SIZE],
        older=older("/batches", filters.pairs(), found, "batch_id"),
        words=words,
    )


@router.page("/batches/{batch_id}")
def batch(request: Request, person: Viewer, db: Db, batch_id: Id) -> Response:
    """Show one batch; an unknown one is not found."""
    with db.viewer() as conn:
        found = viewer.batch_progress(conn, batch_id=batch_id)
    return page(
        request,
        "batch.html",
        batch=found,
        query=Filters(batch_id=batch_id).query(),
        acts=ACTS.values(),
        may_act=person.may("operator"),
    )


@router.fragment("/batches/{batch_id}/body", is_personal=False)
def batch_body(request: Request, person: Viewer, db: Db, batch_id: Id) -> Response:
    """Show how far it is."""
    with db.viewer() as conn:
        found = viewer.batch_progress(conn, batch_id=batch_id)
    return fragment(request, "batch_body.html", batch=found, words=words)


def words(counts: Any) -> str:
    """Return how far a batch is: `12 of 40 ended`."""
    ended = counts.completed + counts.failed + counts.cancelled
    return f"{formats.number(ended)} of {formats.number(counts.tasks)} ended"
