"""Define an agent: every setting of it as a field of a form, for admins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from inspect import signature
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from forebay.calls import operator, viewer
from forebay.rows import AgentState
from forebay_apps.web.database import Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Admin
from forebay_apps.web.pages import Pages, back, page

Kind = Literal["text", "whole", "amount", "seconds", "names", "yes"]
MOST_SECONDS = 10 * 365 * 86400

router = Pages()


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of register_agent, and how a form shows it; what is_open may be left empty."""

    name: str
    word: str
    kind: Kind = "whole"
    is_open: bool = False
    hint: str = ""
    choices: tuple[str, ...] = ()


NO_LIMIT = "empty: no limit"
FIELDS = (
    Field("launcher", "Launcher", "text", choices=("pull", "local", "lakeflow")),
    Field("job_id", "Job", is_open=True, hint="of launcher lakeflow"),
    Field("entry_point", "Entry point", "text", is_open=True, hint="of launcher local"),
    Field("max_concurrent_tasks", "Tasks at once", is_open=True, hint=NO_LIMIT),
    Field("max_tpm", "Tokens a minute", is_open=True, hint=NO_LIMIT),
    Field("max_rpm", "Claims a minute", is_open=True, hint=NO_LIMIT),
    Field("tpm_burst", "Token bucket, in minutes", "amount"),
    Field("max_usd_per_day", "US dollars a day (UTC)", "amount", is_open=True, hint=NO_LIMIT),
    Field("quotas", "Quotas", "names", is_open=True, hint="names, separated by commas"),
    Field("max_waiting", "Most waiting", is_open=True, hint=NO_LIMIT),
    Field("lease", "Lease, seconds", "seconds"),
    Field("timeout", "Timeout of an attempt, seconds", "seconds"),
    Field("max_attempts", "Attempts"),
    Field("max_releases", "Times handed back for free"),
    Field("backoff_base", "Shortest wait before a retry, seconds", "seconds"),
    Field("backoff_max", "Longest wait before a retry, seconds", "seconds"),
    Field("on_lost_lease", "After a lost lease", "text", choices=("retry", "fail")),
    Field("late_results", "Late results", "text", choices=("accept", "reject")),
    Field("default_estimated_tokens", "Tokens of a task without an estimate"),
    Field("aging", "Gain urgency every so many seconds", "seconds", is_open=True, hint="empty: no"),
    Field("reserve_after", "Nobody passes who waited for seconds", "seconds"),
    Field("fair_by_customer", "Customers take turns", "yes"),
    Field("max_deferrals", "Deferrals by a provider"),
    Field("max_deferral_time", "Deferred for at most, seconds", "seconds"),
    Field("retention", "Kept after the end, seconds", "seconds"),
)
READ_AS = {"quotas": "quota_names", "fair_by_customer": "is_fair_by_customer"}


async def _form(request: Request) -> FormData:
    return await request.form(max_files=0, max_fields=100)


@router.page("/agents/define")
def ask(request: Request, person: Admin, db: Db, agent: str = "") -> Response:
    """Show the settings of an agent as a form; without one, those that a new agent starts with."""
    if agent:
        with db.viewer() as conn:
            (state,) = viewer.agent_status(conn, agents=[agent])
        values = {field.name: _of(state, field.name) for field in FIELDS}
    else:
        parameters = signature(operator.register_agent).parameters
        values = {field.name: parameters[field.name].default for field in FIELDS}
    fields = [(field, _shown(values[field.name])) for field in FIELDS]
    return page(request, "agent_define.html", agent=agent, fields=fields)


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
            **settings(form),
            reason=str(form.get("reason", "")).strip() or None,
            actor=person.name,
        )
    return back(request, f"/agents/one?{urlencode({'agent': agent})}", f"{agent} is set.")


def settings(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of register_agent that a form says; raise Refusal for a wrong one."""
    return {field.name: _read(field, str(form.get(field.name, "")).strip()) for field in FIELDS}


def _read(field: Field, said: str) -> Any:
    if field.kind == "yes":
        return bool(said)
    if field.kind == "names":
        return [name.strip() for name in said.split(",") if name.strip()]
    if not said:
        if field.is_open:
            return None
        raise Refusal(400, f"{field.word} is missing.")
    try:
        return READERS[field.kind](said)
    except (ValueError, OverflowError, InvalidOperation):
        raise Refusal(400, f"{field.word} is no number of its kind: {said[:40]!r}.") from None


def _seconds(said: str) -> timedelta:
    seconds = Decimal(said)
    if not 0 <= seconds <= MOST_SECONDS:
        raise ValueError(said)
    return timedelta(seconds=float(seconds))


def _amount(said: str) -> Decimal:
    amount = Decimal(said)
    if not amount.is_finite():
        raise ValueError(said)
    return amount


READERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "whole": int,
    "amount": _amount,
    "seconds": _seconds,
}


def _of(state: AgentState, name: str) -> Any:
    return getattr(state, READ_AS.get(name, name))


def _shown(value: Any) -> str:
    """Return what a field of the form holds at first."""
    if value is None or value is False:
        return ""
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.6f}".rstrip("0").rstrip(".")
    if isinstance(value, list):
        return ", ".join(value)
    return "yes" if value is True else str(value)
