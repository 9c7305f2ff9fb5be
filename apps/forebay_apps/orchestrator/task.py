"""One task: why it is where it is, its attempts, what they used, and what people did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import Response

from forebay.calls import reader, viewer
from forebay.rows import Document, TaskDetail
from forebay_apps.orchestrator.acts import ACTS, ENDED, Act
from forebay_apps.orchestrator.shown import Shown, shown
from forebay_apps.orchestrator.timeline import amount, moment, named, pages, priced_by, spans
from forebay_apps.orchestrator.traces import STATES as TRACE_STATES
from forebay_apps.web import formats
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Admin, Viewer
from forebay_apps.web.ids import Id
from forebay_apps.web.pages import Pages, fragment, page

router = Pages()


@router.page("/tasks/{task_id}")
def task(request: Request, person: Viewer, db: Db, task_id: Id) -> Response:
    """Show the page around the live parts; an unknown task is not found."""
    with db.viewer() as conn:
        viewer.explain_task(conn, task_id=task_id)
    return page(
        request,
        "task.html",
        task_id=task_id,
        may_read=person.may("admin"),
    )


@router.fragment("/tasks/{task_id}/body", is_personal=False)
def body(request: Request, person: Viewer, db: Db, task_id: Id) -> Response:
    """Show all about the task but what went in and came out."""
    with db.viewer() as conn:
        detail = viewer.task_detail(conn, task_id=task_id)
        why = viewer.explain_task(conn, task_id=task_id)
        (agent,) = viewer.agent_status(conn, agents=[detail.agent])
    links = request.app.state.links
    attempts = spans(detail, detail.as_of, links, agent.job_id)
    return fragment(
        request,
        "task_body.html",
        task=detail,
        acts=_offered(detail),
        nothing_yet=_nothing_yet(detail, formats.UNKNOWN if detail.usage else "no call reported"),
        no_compute_yet=_nothing_yet(detail, formats.UNKNOWN if attempts else "nothing ran"),
        why=why,
        until=formats.moment(why.waiting_until) if why.waiting_until else None,
        spans=attempts,
        pages=pages(attempts),
        named=named,
        priced_by=priced_by,
        now=detail.as_of,
        lease_length=agent.lease,
        most_attempts=detail.max_attempts or agent.max_attempts,
        notes=_notes(detail),
        error_rest=_rest(detail.error),
        amount=amount,
        moment_of=moment,
        trace_states=TRACE_STATES,
        trace_url=lambda call: links.trace(
            call["trace_id"], attempt_id=call["attempt_id"], task_id=task_id
        ),
    )


@router.fragment("/tasks/{task_id}/result", is_personal=False, role="admin")
def result(request: Request, person: Admin, db: Db, task_id: Id) -> Response:
    """Show what went in and came out, to those who may read it."""
    with db.reader() as conn:
        found = reader.task_result(conn, task_id=task_id)
    return fragment(
        request,
        "task_result.html",
        task_id=task_id,
        result=shown(found.result),
        payload=shown(found.payload),
        kept=shown(found.kept_results),
        is_ended=found.status in ENDED,
    )


@router.get("/tasks/{task_id}/result.json", response_model=None)
def download(person: Admin, db: Db, task_id: Id) -> Response:
    """Send all that went in and came out."""
    with db.reader() as conn:
        found = reader.task_result(conn, task_id=task_id)
    whole = {"result": found.result, "payload": found.payload, "kept_results": found.kept_results}
    headers = {"Content-Disposition": f'attachment; filename="task-{task_id}.json"'}
    text = json.dumps(whole, ensure_ascii=False)
    return Response(text, media_type="application/json", headers=headers)


def _nothing_yet(detail: TaskDetail, at_the_end: str) -> str:
    """Return what stands in place of a number that is not known."""
    return at_the_end if detail.finished_at else "not known yet"


def _offered(detail: TaskDetail) -> list[Act]:
    return [act for act in ACTS.values() if detail.status in act.statuses]


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote about a task."""

    text: str
    actor: str | None
    at: Any


def _notes(detail: TaskDetail) -> list[Note]:
    return [
        Note(act["details"]["note"], act["actor"], moment(act["acted_at"]))
        for act in detail.audit
        if act["action"] == "annotate"
    ]


def _rest(error: Document | None) -> Shown | None:
    """Return an error document that says more than its kind and message."""
    return shown(error) if error and set(error) - {"kind", "message"} else None
