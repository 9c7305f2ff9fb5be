"""What is sent to browsers: templates with what is known, and problems in the form asked for."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, JSONResponse, Response

from forebay.visible import visible
from forebay_apps.web.errors import Problem, problem
from forebay_apps.web.formats import FILTERS
from forebay_apps.web.people import ROLES, Person, Role

KIT = Path(__file__).parent
FLASH = "forebay_said"  # the cookie of what the next page says
LIVE_HEADER = "X-Forebay-Live"  # set by live.js: the answer goes into a page that is open
ONLY = re.compile(rb"<!--for (\w+)-->(.*?)<!--end for-->", re.DOTALL)  # see `only`
SLOT = re.compile(rb"<!--live (\S+) (.*?)-->")  # where a page has a live part: see `live`


def environment(folders: Sequence[Path]) -> Environment:
    """Return the templates of these folders and of the kit, with the formats as filters."""
    made = Environment(
        loader=FileSystemLoader([*folders, KIT / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS, visible=visible)
    made.globals.update(live=live, only=only)
    return made


def render(request: Request, template: str, **values: Any) -> str:
    """Return what a template makes of the values, and of who asks for what."""
    state = request.app.state
    known = {
        "request": request,
        "person": getattr(request.state, "person", None),
        "site": state.site,
        "flashed": unquote(request.cookies.get(FLASH, "")),
    }
    return str(state.templates.get_template(template).render(known | values))


def live(path: str, query: str = "", **attributes: str) -> Markup:
    """Return a section that shows the fragment at path?query and keeps showing it anew.

    For templates. Attributes (id=, class_=, label=) are those of the section.
    """
    address = path + (f"?{query}" if query else "")
    named = {name.rstrip("_"): value for name, value in attributes.items()}
    if label := named.pop("label", ""):
        named["aria-label"] = label
    said = "".join(f' {name}="{escape(value)}"' for name, value in named.items())
    return Markup(f"<!--live {quote(address)} {said}-->")


def only(role: Role, caller: Callable[[], str]) -> Markup:
    """Mark what a fragment has for a role and those above it: others are sent it without.

    For templates: `{% call only("operator") %}…{% endcall %}`, not one in another. So everybody
    shares one answer of the database. It hides what somebody cannot use, never a secret.
    """
    return Markup(f"<!--for {role}-->{caller()}<!--end for-->")


def shown_to(person: Person, body: bytes) -> bytes:
    """Return a fragment as this person sees it: itself where it is the same for everybody."""
    if b"<!--for " not in body:
        return body
    mine = {role.encode() for role in ROLES if person.may(role)}
    return ONLY.sub(lambda part: part[2] if part[1] in mine else b"", body)


def failed(request: Request, error: Exception) -> Response:
    """Answer with what is told of an error, in the form that was asked for."""
    return problem_response(request, problem(error))


def problem_response(request: Request, found: Problem) -> Response:
    """Answer with a problem: as JSON, as a part of a page, or as a page."""
    headers = {"Retry-After": "5"} if found.status in (429, 503) else None
    accepted = request.headers.get("Accept", "")
    if request.scope["path"].startswith("/api/") or accepted.startswith("application/json"):
        return JSONResponse({"error": found.sentence}, found.status, headers)
    is_part = LIVE_HEADER in request.headers
    template = "problem_part.html" if is_part else "problem.html"
    body = render(request, template, problem=found)
    return HTMLResponse(body, found.status, headers)
