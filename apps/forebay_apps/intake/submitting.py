"""The page on which a batch is put together, and the act that submits it."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import Form, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from forebay.calls import submitter
from forebay.errors import UnknownAgentError
from forebay_apps.intake.naming import URGENCIES
from forebay_apps.intake.offer import offered
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.pages import Pages, page

router = Pages()

LONGEST_NAME = 200
NO_AGENT = (
    'Nobody has set up the agent "{}" yet: tell whoever runs this site.'
    " Your documents stay on this page."
)


@router.page("/")
def new_batch(request: Request, db: Db) -> Response:
    """Show what was uploaded and not submitted, and let the person add to it and submit it."""
    settings: IntakeSettings = request.app.state.intake
    with db.submitter() as conn:
        uploads = submitter.list_uploads(conn, actor=db.person.name)
        agents = offered(conn, settings.agents)
    return page(
        request,
        "upload.html",
        uploads=uploads,
        settings=settings,
        agents=agents,
        urgencies=URGENCIES,
        submission_key=uuid4(),
    )


@router.act("/batches")
def submit(
    request: Request,
    db: Db,
    submission_key: Annotated[str, Form(max_length=100)],
    upload_ids: Annotated[str, Form()] = "",
    agent: Annotated[str, Form()] = "",
    urgency: Annotated[str, Form()] = "normal",
    customer: Annotated[str, Form(max_length=200)] = "",
    name: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> Response:
    """Submit uploads as one batch; the same submission again leads to the same batch."""
    settings: IntakeSettings = request.app.state.intake
    if agent not in settings.agents or urgency not in URGENCIES:
        raise Refusal(400, "Choose an agent and an urgency that this page offers.")
    ids = _ids(upload_ids)
    try:
        with db.submitter() as conn:
            batch_id = submitter.submit_uploads(
                conn,
                submission_key=submission_key,
                upload_ids=ids,
                agent=agent,
                name=name.strip() or _name_of(len(ids)),
                actor=db.person.name,
                customer=customer.strip() or None,
                priority=URGENCIES[urgency],
            )
    except UnknownAgentError as error:
        raise Refusal(409, NO_AGENT.format(agent)) from error
    address = f"/batches/{batch_id}"
    if request.headers.get("Accept", "").startswith("application/json"):
        return JSONResponse({"batch_id": str(batch_id), "url": address}, 201)
    return RedirectResponse(address, 303)


def _ids(text: str) -> list[UUID]:
    """Return the ids of uploads that a form names, parted by spaces; raises Refusal."""
    try:
        ids = [UUID(each) for each in text.split()]
    except ValueError:
        raise Refusal(400, "What was sent names no uploads: reload the page.") from None
    if not ids:
        raise Refusal(400, "There is nothing to submit yet: upload a document first.")
    return ids


def _name_of(count: int) -> str:
    """Return a name for a batch to which the person gave none.

    It says nothing of the documents: who may see the dashboard sees the names of batches.
    """
    documents = f"{count:,} document{'s' if count != 1 else ''}"
    return f"{documents}, {datetime.now(UTC):%-d %b %Y %H:%M} UTC"
