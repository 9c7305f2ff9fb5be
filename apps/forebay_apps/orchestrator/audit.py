"""What people did: who, when, to what, and why."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay.rows import AuditEntry
from forebay.visible import visible
from forebay_apps.orchestrator.costs import NOTHING
from forebay_apps.orchestrator.fields import first, optional_whole
from forebay_apps.orchestrator.filter_form import shown
from forebay_apps.orchestrator.filters import Filters, Pair
from forebay_apps.orchestrator.lists import PAGE_SIZE, agent_names, older
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Viewer
from forebay_apps.web.ids import OptionalId
from forebay_apps.web.pages import Pages, fragment, page

SUBJECTS = ("quota", "model", "customer")
"""Where the details of an act say what it is on, by their name."""

router = Pages()


@router.page("/audit")
def audit(request: Request, person: Viewer, db: Db) -> Response:
    """Show the page around the list."""
    asked = _asked(request)
    picked = Filters(agents=(asked["agent"],) if asked["agent"] else ())
    return page(
        request,
        "audit.html",
        **shown(picked, agent_names(db)),
        task_id=asked["task_id"],
        actor=asked["actor"] or "",
        list_query=request.url.query,
    )


@router.fragment("/audit/list", is_personal=False)
def audit_list(request: Request, person: Viewer, db: Db, before: OptionalId = None) -> Response:
    """Show a page of the acts, latest first."""
    asked = _asked(request)
    with db.viewer() as conn:
        found = viewer.list_audit(conn, **asked, before_audit_id=before, limit=PAGE_SIZE + 1)
    return fragment(
        request,
        "audit_list.html",
        acts=found[:PAGE_SIZE],
        older=older("/audit", _pairs(asked), found, "audit_id"),
        details=details,
        subject=subject,
    )


def subject(act: AuditEntry) -> str:
    """Return in words what an act is on that is neither a task nor an agent."""
    said = act.details or {}
    return next((f"{name} {_plain(said[name])}" for name in SUBJECTS if said.get(name)), NOTHING)


def details(act: AuditEntry) -> str:
    """Return the details of an act in one line."""
    said = act.details or {}
    return ", ".join(f"{name.replace('_', ' ')}: {_plain(value)}" for name, value in said.items())


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_plain, value)) or "none"
    if value == "infinity":
        return "no end"
    return "none" if value is None else visible(str(value), "blank")


def _asked(request: Request) -> dict[str, Any]:
    """Return the arguments of the list, as the URL says them."""
    query = request.query_params
    return {
        "task_id": optional_whole(query, "task"),
        "agent": first(query, "agent") or None,
        "actor": first(query, "actor") or None,
    }


def _pairs(asked: dict[str, Any]) -> list[Pair]:
    names = {"task": asked["task_id"], "agent": asked["agent"], "actor": asked["actor"]}
    return [(name, str(value)) for name, value in names.items() if value is not None]
