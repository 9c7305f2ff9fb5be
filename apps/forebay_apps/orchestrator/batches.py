"""Batches: how far each is, what it cost, and one of them with its tasks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fastapi import Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay.rows import BatchSummary
from forebay_apps.orchestrator.acts import ACTS
from forebay_apps.orchestrator.costs import AND_MORE, Begun
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
        is_partial=any(AND_MORE in cost(batch) for batch in found[:PAGE_SIZE]),
        cost_of=cost,
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


def cost(batch: BatchSummary) -> str:
    """Return what a batch's calls have cost; + where some of it is not known."""
    begun = Begun(batch.ended_attempts, is_going_on=batch.processing > 0)
    known = begun.known(batch.llm_usd or Decimal(0), batch.priced_attempts)
    said = formats.usd(known)
    return f"{said}{AND_MORE}" if known and batch.priced_attempts < batch.ended_attempts else said


def words(counts: Any) -> str:
    """Return how far a batch is: `12 of 40 ended`."""
    ended = counts.completed + counts.failed + counts.cancelled
    return f"{formats.number(ended)} of {formats.number(counts.tasks)} ended"
