"""One document: what was found in it, beside the page that says so."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from forebay.rows import BatchResult, BatchTask
from forebay.storage import StorageError
from forebay_apps.intake.batches import Order
from forebay_apps.intake.exports import document_as_json
from forebay_apps.intake.findings import Findings
from forebay_apps.intake.naming import shown_name
from forebay_apps.intake.pictures import NoPicture, Pictures
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.intake.sight import Sight
from forebay_apps.intake.storing import unreadable
from forebay_apps.web.database import Access, Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.ids import Id
from forebay_apps.web.pages import Pages, fragment, page

router = Pages()

MOST_PAGES = 1_000_000
Number = Annotated[int, Path(ge=1, le=MOST_PAGES)]
Shown = Annotated[int, Query(alias="page", ge=1, le=MOST_PAGES)]
Turn = Literal["0", "90", "180", "270"]


@router.page("/batches/{batch_id}/documents/{task_id}")
async def document(
    request: Request,
    db: Db,
    batch_id: Id,
    task_id: Id,
    shown: Shown = 1,
    order: Order | None = None,
) -> Response:
    """Show a document: its fields, lines, tables and notes, and one of its pages."""
    found = await run_in_threadpool(_found, db, batch_id, task_id, order)
    pictures: Pictures = request.app.state.pictures
    pages, problem = await _pages(pictures, found["row"], found["findings"], db.person.name)
    found |= {"pages": pages, "problem": problem, "shown": min(shown, pages)}
    return await run_in_threadpool(page, request, "document.html", **found)


def _found(db: Access, batch_id: int, task_id: int, order: Order | None) -> dict[str, Any]:
    """Return what the page says of a document, but for what the file itself tells."""
    sight = Sight.of(db, batch_id)
    row = sight.result(task_id)
    return {
        "sight": sight,
        "row": row,
        "name": shown_name(row),
        "findings": Findings(row.result),
        "order": order,
        "following": _following(sight, row, order),
    }


def _following(sight: Sight, row: BatchResult, order: Order | None) -> BatchTask | None:
    """Return the document after this one, in the order in which the person goes through them."""
    if order and row.status == "completed":
        found = sight.least_sure(after_task_id=row.task_id, limit=1)
    else:
        found = sight.tasks(after_task_id=row.task_id, limit=1)
    return next(iter(found), None)


@router.fragment("/batches/{batch_id}/documents/{task_id}/now")
def document_now(request: Request, db: Db, batch_id: Id, task_id: Id) -> Response:
    """Show how far a document is that is not finished."""
    sight = Sight.of(db, batch_id)
    task = sight.task(task_id)
    explanation = sight.explanations([task]).get(task_id)
    return fragment(request, "document_now.html", task=task, explanation=explanation)


@router.get("/batches/{batch_id}/documents/{task_id}/pages/{number}.png", response_model=None)
async def picture(
    request: Request, db: Db, batch_id: Id, task_id: Id, number: Number, turn: Turn | None = None
) -> Response:
    """Send one page as a picture; with `turn` it is turned upright as it was read."""
    task = await run_in_threadpool(lambda: Sight.of(db, batch_id).task(task_id))
    pictures: Pictures = request.app.state.pictures
    key = (_stored_name(task), number, None if turn is None else int(turn))
    try:
        png = await pictures.get(key, db.person.name)
    except NoPicture as error:
        raise Refusal(422, str(error)) from error
    except StorageError as error:
        raise unreadable(error) from error
    return Response(png, media_type="image/png")


@router.get("/batches/{batch_id}/documents/{task_id}/original.pdf", response_model=None)
def original(request: Request, db: Db, batch_id: Id, task_id: Id) -> Response:
    """Send the file that was uploaded, under the name that it had."""
    task = Sight.of(db, batch_id).task(task_id)
    settings: IntakeSettings = request.app.state.intake
    try:
        storage, name = settings.locate(_stored_name(task))
        chunks = storage.read(name)
    except StorageError as error:
        raise unreadable(error) from error
    plain = shown_name(task).rstrip("/").rpartition("/")[2]
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(plain, safe='')}"}
    return StreamingResponse(chunks, media_type="application/pdf", headers=headers)


@router.get("/batches/{batch_id}/documents/{task_id}/result.json", response_model=None)
def result(db: Db, batch_id: Id, task_id: Id) -> Response:
    """Send all that is known of a document."""
    row = Sight.of(db, batch_id).result(task_id)
    headers = {"Content-Disposition": f'attachment; filename="document-{task_id}.json"'}
    return Response(document_as_json(row), media_type="application/json", headers=headers)


async def _pages(
    pictures: Pictures, row: BatchResult, findings: Findings, person: str
) -> tuple[int, str | None]:
    """Return how many pages a document has, or 1 and why none of them can be shown."""
    if findings.page_count:
        return findings.page_count, None
    try:
        return await pictures.count_pages(_stored_name(row), person), None
    except StorageError as error:
        return 1, str(unreadable(error))
    except (NoPicture, Refusal) as error:
        return 1, str(error)


def _stored_name(task: BatchTask | BatchResult) -> str:
    name = task.payload.get("document")
    if not isinstance(name, str) or not name:
        raise Refusal(404, "This task has no document that could be shown.")
    return name
