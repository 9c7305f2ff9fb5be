"""Define an agent: every setting of it as a field of a form, for admins."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from forebay.calls import operator, viewer
from forebay_apps.orchestrator.agent_settings import GROUPS, SETTINGS, read, written
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Admin
from forebay_apps.web.pages import Pages, back, page

router = Pages()


async def _form(request: Request) -> FormData:
    return await request.form(max_files=0, max_fields=100)


@router.page("/agents/define")
def ask(request: Request, person: Admin, db: Db, agent: str = "") -> Response:
    """Show the settings of an agent as a form; without one, those that a new agent starts with."""
    if agent:
        with db.viewer() as conn:
            (state,) = viewer.agent_status(conn, agents=[agent])
        values = {setting.name: setting.of(state) for setting in SETTINGS}
    else:
        parameters = signature(operator.register_agent).parameters
        values = {setting.name: parameters[setting.name].default for setting in SETTINGS}
    texts = {name: written(value) for name, value in values.items()}
    return page(request, "agent_define.html", agent=agent, groups=GROUPS, texts=texts)


@router.act("/agents/define")
def define(
    request: Request, person: Admin, db: Db, form: Annotated[FormData, Depends(_form)]
) -> Response:
    """Set the whole definition of an agent."""
    agent = str(form.get("agent", "")).strip()
    with db.operator() as conn:
        operator.register_agent(
            conn,
            agent=agent,
            **_settings(form),
            reason=str(form.get("reason", "")).strip() or None,
            actor=person.name,
        )
    return back(request, f"/agents/one?{urlencode({'agent': agent})}", f"{agent} is set.")


def _settings(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of register_agent that a form says; raise Refusal for a wrong one."""
    said = {setting: str(form.get(setting.name, "")).strip() for setting in SETTINGS}
    return {setting.name: read(setting, text) for setting, text in said.items()}
