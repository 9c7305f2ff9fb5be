"""Agents and quotas: what they have in use, what they are, and to pause or resume them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Form, Request
from markupsafe import Markup
from starlette.responses import Response

from forebay.calls import operator, viewer
from forebay.rows import AgentState
from forebay_apps.orchestrator import gauges
from forebay_apps.orchestrator.definition import definition
from forebay_apps.web import formats
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Operator, Viewer
from forebay_apps.web.pages import Pages, back, fragment, page

FOR_EVER = datetime.max.replace(tzinfo=UTC)
DURATIONS: dict[str, tuple[str, timedelta | None]] = {
    "open": ("until somebody resumes it", None),
    "15m": ("15 minutes", timedelta(minutes=15)),
    "1h": ("1 hour", timedelta(hours=1)),
    "4h": ("4 hours", timedelta(hours=4)),
    "24h": ("24 hours", timedelta(hours=24)),
}
STATES = {
    "open": ("open", "completed"),
    "paused": ("paused", "cancelled"),
    "held_up": ("launches fail", "failed"),
    "full": ("full", "processing"),
    "out_of_tokens": ("out of tokens", "processing"),
    "out_of_requests": ("out of claims", "processing"),
    "closed": ("closed", "failed"),
    "quota": ("waits for its quota", "processing"),
    "spend_cap": ("spend cap reached", "failed"),
}

router = Pages()


@router.page("/agents")
def agents(request: Request, person: Viewer) -> Response:
    """Show the page around the gauges."""
    return page(request, "agents.html", may_act=person.may("operator"))


@router.page("/agents/one")
def agent_page(request: Request, person: Viewer, db: Db, agent: str) -> Response:
    """Show one agent; an unknown one is not found."""
    with db.viewer() as conn:
        viewer.agent_status(conn, agents=[agent])
    return page(request, "agent.html", agent=agent, query=urlencode({"agent": agent}))


@router.fragment("/agents/gauges", is_personal=False)
def agent_gauges(request: Request, person: Viewer, db: Db, agent: str | None = None) -> Response:
    """Show what agents have in use, and the quotas that they share."""
    with db.viewer() as conn:
        states = viewer.agent_status(conn, agents=None if agent is None else [agent])
        names = None if agent is None else states[0].quota_names
        quotas = viewer.quota_status(conn, quotas=names) if names != [] else []
    return fragment(
        request,
        "gauges.html",
        agents=[_card(state) for state in states],
        quotas=list(gauges.by_quota(quotas)),
    )


@router.fragment("/agents/definition", is_personal=False)
def agent_definition(request: Request, person: Viewer, db: Db, agent: str) -> Response:
    """Show what an agent is set to."""
    with db.viewer() as conn:
        (state,) = viewer.agent_status(conn, agents=[agent])
    return fragment(request, "agent_definition.html", definition=definition(state))


@router.page("/agents/pause")
def ask_to_pause(request: Request, person: Operator, agent: str = "") -> Response:
    """Ask for how long, and why; no agent is all of them."""
    return page(
        request, "agent_act.html", act="pause", word="Pause", agent=agent, durations=DURATIONS
    )


@router.page("/agents/resume")
def ask_to_resume(request: Request, person: Operator, agent: str = "") -> Response:
    """Ask why; no agent is all of them."""
    return page(request, "agent_act.html", act="resume", word="Resume", agent=agent, durations={})


@router.act("/agents/pause")
def pause(
    request: Request,
    person: Operator,
    db: Db,
    agent: Annotated[str, Form()] = "",
    lasting: Annotated[str, Form(alias="for")] = "open",
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Stop claims for an agent, or for all."""
    if lasting not in DURATIONS:
        raise Refusal(400, f"A pause lasts {', '.join(DURATIONS)}, not {lasting[:40]!r}.")
    length = DURATIONS[lasting][1]
    with db.viewer() as conn:
        until = viewer.server_time(conn) + length if length else None
    with db.operator() as conn:
        changed = operator.pause_agent(
            conn, agent=agent or None, until=until, reason=reason or None, actor=person.name
        )
    return back(request, "/agents", _said(agent, changed, "paused"))


@router.act("/agents/resume")
def resume(
    request: Request,
    person: Operator,
    db: Db,
    agent: Annotated[str, Form()] = "",
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Allow claims again for an agent, or for all."""
    with db.operator() as conn:
        changed = operator.resume_agent(
            conn, agent=agent or None, reason=reason or None, actor=person.name
        )
    return back(request, "/agents", _said(agent, changed, "resumed"))


def _said(agent: str, changed: int, done: str) -> str:
    if agent:
        return f"{agent} is {done}." if changed else f"{agent} was {done} before."
    return f"{changed:,} {'agent' if changed == 1 else 'agents'} {done}."


@dataclass(frozen=True, slots=True)
class Card:
    """An agent as a card of the dashboard; tone is the status whose colour its state has."""

    state: AgentState
    word: str
    tone: str
    gauges: list[gauges.Gauge]
    until: Markup | str
    url: str


def _card(state: AgentState) -> Card:
    word, tone = STATES[state.state]
    until = state.paused_until
    return Card(
        state=state,
        word=word,
        tone=tone,
        gauges=gauges.of_agent(state),
        until="until somebody resumes it"
        if until == FOR_EVER
        else Markup("resumes {}").format(formats.moment(until)),
        url=f"/agents/one?{urlencode({'agent': state.agent})}",
    )
