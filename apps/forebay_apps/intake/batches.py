"""My batches, and one batch: how far it is, what became of each document, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Form, Query, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from forebay.calls import submitter
from forebay.rows import BatchOutlook, BatchTask, TaskEffect, TaskEffectWord
from forebay.visible import visible
from forebay_apps.intake.exports import FILES
from forebay_apps.intake.naming import STATES, waiting_words
from forebay_apps.intake.sight import Sight
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.ids import Id, OptionalId
from forebay_apps.web.pages import Pages, back, fragment, page

router = Pages()

BATCHES = 30
DOCUMENTS = 100
"""How many a page shows."""

EXPLAINED = 10
"""Of how many it says in full why they wait: each costs some milliseconds."""

ENDED_BADLY = ("failed", "cancelled")
"""The states of documents that can be retried."""

State = Annotated[str | None, Query()]
Order = Literal["confidence"]
"""How documents can be ordered other than as they came: the least sure first, of those done."""


@router.page("/batches")
def my_batches(request: Request, before: OptionalId = None) -> Response:
    """Show the person's batches, the newest first."""
    return page(request, "batches.html", query=request.url.query)


@router.fragment("/batches/mine")
def my_batches_now(request: Request, db: Db, before: OptionalId = None) -> Response:
    """Show a page of the person's batches."""
    with db.submitter() as conn:
        found = submitter.own_batches(
            conn, actor=db.person.name, before_batch_id=before, limit=BATCHES + 1
        )
    return fragment(
        request,
        "batches_now.html",
        batches=found[:BATCHES],
        has_more=len(found) > BATCHES,
        before=before,
        states=STATES,
    )


@router.page("/batches/{batch_id}")
def batch(
    request: Request,
    db: Db,
    batch_id: Id,
    state: State = None,
    order: Order | None = None,
    after: OptionalId = None,
) -> Response:
    """Show one batch; the address can be shared, and says which documents are shown."""
    return page(request, "batch.html", sight=Sight.of(db, batch_id), query=request.url.query)


@router.fragment("/batches/{batch_id}/now")
def batch_now(
    request: Request,
    db: Db,
    batch_id: Id,
    state: State = None,
    order: Order | None = None,
    after: OptionalId = None,
) -> Response:
    """Show how far a batch is, and a page of its documents."""
    sight = Sight.of(db, batch_id)
    found = _documents(sight, state, order, after)
    tasks = found[:DOCUMENTS]
    return fragment(
        request,
        "batch_now.html",
        sight=sight,
        batch=sight.batch,
        tasks=tasks,
        waiting_words=waiting_words(tasks, sight.explanations(tasks, most=EXPLAINED)),
        has_more=len(found) > DOCUMENTS,
        state="done" if order else state,
        order=order,
        after=after,
        states=STATES,
        finished_words=finished_words(sight.batch),
    )


def _documents(
    sight: Sight, state: str | None, order: Order | None, after: int | None
) -> list[BatchTask]:
    """Return a page of a batch's documents, and one more where there are more."""
    if order:
        return sight.least_sure(after_task_id=after, limit=DOCUMENTS + 1)
    statuses = [STATES[state]] if state in STATES else None
    return sight.tasks(statuses=statuses, after_task_id=after, limit=DOCUMENTS + 1)


@router.get("/batches/{batch_id}/state", response_model=None)
def batch_state(db: Db, batch_id: Id) -> Response:
    """Tell whether a batch is done: what a page in the background asks before it notifies."""
    seen = Sight.of(db, batch_id).batch
    return JSONResponse(
        {"batch_id": str(batch_id), "is_done": is_done(seen), "words": finished_words(seen)}
    )


@router.act("/batches/{batch_id}/cancel")
def cancel(request: Request, db: Db, batch_id: Id) -> Response:
    """Cancel what is not finished."""
    with db.submitter() as conn:
        effects = submitter.cancel_batch(conn, batch_id=batch_id, actor=db.person.name)
    return back(request, f"/batches/{batch_id}", _said(effects, "cancelled", "cancelled"))


@router.act("/batches/{batch_id}/retry")
def retry(
    request: Request, db: Db, batch_id: Id, state: Annotated[str | None, Form()] = None
) -> Response:
    """Put what failed, what was cancelled, or (without a state) both back in line."""
    if state not in (None, *ENDED_BADLY):
        raise Refusal(400, f"Documents to retry are {' or '.join(ENDED_BADLY)}.")
    with db.submitter() as conn:
        effects = submitter.retry_batch_tasks(
            conn,
            batch_id=batch_id,
            actor=db.person.name,
            statuses=[STATES[state]] if state else None,
        )
    return back(request, f"/batches/{batch_id}", _said(effects, "retried", "back in line"))


@router.act("/batches/{batch_id}/documents/{task_id}/retry")
def retry_document(request: Request, db: Db, batch_id: Id, task_id: Id) -> Response:
    """Put one document back in line, and nothing else."""
    with db.submitter() as conn:
        effects = submitter.retry_batch_tasks(
            conn, batch_id=batch_id, actor=db.person.name, task_ids=[task_id]
        )
    said = _said(effects, "retried", "back in line")
    return back(request, f"/batches/{batch_id}/documents/{task_id}", said)


@router.get("/batches/{batch_id}/results.{form}", response_model=None)
def results(db: Db, batch_id: Id, form: str) -> Response:
    """Send the results as a file, as they are read; an error in between breaks it off."""
    if form not in FILES:
        raise Refusal(404, f"Results come as {', '.join(FILES)}.")
    sight = Sight.of(db, batch_id)
    written, media_type = FILES[form]
    name = f'attachment; filename="batch-{batch_id}.{form}"'
    return StreamingResponse(
        written(sight.batch, sight.results()),
        media_type=media_type,
        headers={"Content-Disposition": name},
    )


def is_done(batch: BatchOutlook) -> bool:
    """Tell whether nothing of a batch is left to do."""
    return batch.finished_at is not None


def finished_words(batch: BatchOutlook) -> str:
    """Return what became of a batch, in a sentence for a notification."""
    counts = {word: getattr(batch, status) for word, status in STATES.items()}
    said = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    return f"{visible(batch.name, f'Batch {batch.batch_id}')}: {said}."


def _said(effects: Sequence[TaskEffect], act: TaskEffectWord, what: str) -> str:
    """Return what an act on a batch did to how many documents."""
    count = sum(effect.effect == act for effect in effects)
    return f"1 document is {what}." if count == 1 else f"{count or 'No'} documents are {what}."
