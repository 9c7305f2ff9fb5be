"""Batches: how far each is, what it cost, and one of them with its tasks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay.rows import BatchSummary
from forebay_apps.orchestrator.acts import ACTS
from forebay_apps.orchestrator.filters import MAX_ID, Filters, shown, whole_number
from forebay_apps.web import formats
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, fragment, page

PAGE_SIZE = 50
router = Pages()
BatchId = Annotated[int, Path(ge=1, le=MAX_ID)]


def _filters(request: Request) -> Filters:
    return Filters.read(request.query_params)


Filtered = Annotated[Filters, Depends(_filters)]


@router.page("/batches")
def batches(request: Request, person: Viewer, filters: Filtered) -> Response:
    """Show the page around the list."""
    before = whole_number(request.query_params, "before")
    more = [("before", str(before))] if before else []
    return page(request, "batches.html", **shown(filters), list_query=filters.query(*more))


@router.fragment("/batches/list", is_personal=False)
def batch_list(request: Request, person: Viewer, db: Db, filters: Filtered) -> Response:
    """Show a page of the batches, newest first."""
    fixed = filters.fixed()
    with db.viewer() as conn:
        found = viewer.list_batches(
            conn,
            from_=fixed.from_,
            to=fixed.to,
            customers=list(filters.customers) or None,
            search=filters.search or None,
            before_batch_id=whole_number(request.query_params, "before"),
            limit=PAGE_SIZE + 1,
        )
    return fragment(
        request,
        "batches_list.html",
        batches=found[:PAGE_SIZE],
        older=_older(filters, found),
        words=words,
    )


@router.page("/batches/{batch_id}")
def batch(request: Request, person: Viewer, db: Db, batch_id: BatchId) -> Response:
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
def batch_body(request: Request, person: Viewer, db: Db, batch_id: BatchId) -> Response:
    """Show how far it is."""
    with db.viewer() as conn:
        found = viewer.batch_progress(conn, batch_id=batch_id)
    return fragment(request, "batch_body.html", batch=found, words=words)


def words(counts: Any) -> str:
    """Return how far a batch is: `12 of 40 ended`."""
    ended = counts.completed + counts.failed + counts.cancelled
    return f"{formats.number(ended)} of {formats.number(counts.tasks)} ended"


def _older(filters: Filters, found: list[BatchSummary]) -> str | None:
    if len(found) <= PAGE_SIZE:
        return None
    return f"/batches?{filters.query(('before', str(found[PAGE_SIZE - 1].batch_id)))}"
