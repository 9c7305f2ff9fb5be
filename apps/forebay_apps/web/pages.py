"""How pages are made: templates, the live parts in them, messages over a redirect, and errors."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from fastapi.routing import APIRoute, APIRouter
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from forebay_apps.web.errors import Problem, problem
from forebay_apps.web.formats import FILTERS
from forebay_apps.web.people import Person, Role

KIT = Path(__file__).parent
FLASH = "forebay_said"
SLOT = re.compile(rb"<!--live (\S+)-->")  # where a page has a live part: see `live`
FLASH_CHARACTERS = 500


def environment(folders: Sequence[Path]) -> Environment:
    """Return the templates of these folders and of the kit, with the formats as filters."""
    made = Environment(
        loader=ChoiceLoader([FileSystemLoader([*folders, KIT / "templates"])]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS)
    made.globals["live"] = live
    return made


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Answer with a whole page: a template that extends base.html."""
    response = HTMLResponse(render(request, template, **values), status)
    if FLASH in request.cookies:
        response.delete_cookie(FLASH)
    return response


def fragment(request: Request, template: str, **values: Any) -> Response:
    """Answer with a part of a page: what goes into a section that is live."""
    return HTMLResponse(render(request, template, **values))


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
    return Markup(
        f'<section data-live="{escape(address)}"{said}><!--live {quote(address)}-->'
    ) + Markup("</section>")


def back(request: Request, address: str, said: str = "") -> Response:
    """Answer an act: go to address, and have the page there say what was done."""
    response = RedirectResponse(address, 303)
    return flash(response, said) if said else response


def flash(response: Response, said: str) -> Response:
    """Have the next page say this."""
    response.set_cookie(
        FLASH, quote(said[:FLASH_CHARACTERS]), max_age=60, httponly=True, samesite="lax"
    )
    return response


def failed(request: Request, error: Exception) -> Response:
    """Answer with what is told of an error, in the form that was asked for."""
    return problem_response(request, problem(error))


def problem_response(request: Request, found: Problem) -> Response:
    """Answer with a problem: as JSON, as a part of a page, or as a page."""
    headers = {"Retry-After": "5"} if found.status in (429, 503) else None
    accepted = request.headers.get("Accept", "")
    if request.url.path.startswith("/api/") or accepted.startswith("application/json"):
        return JSONResponse({"error": found.sentence}, found.status, headers)
    is_part = "X-Forebay-Live" in request.headers
    template = "problem_part.html" if is_part else "problem.html"
    body = render(request, template, problem=found)
    return HTMLResponse(body, found.status, headers)


class Pages(APIRouter):
    """A router of pages. `page` and `act` are get and post; `fragment` is what `live` shows."""

    def page(self, path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._route(path, "GET", PageRoute)

    def act(self, path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._route(path, "POST", APIRoute)

    def fragment(
        self, path: str, *, is_personal: bool = True
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a fragment, made once for all who may see the same.

        `is_personal` False: it is the same for everybody of a role, and made once for all of them;
        the function then sees a person with that role and no name.
        """
        return self._route(path, "GET", PersonalFragmentRoute if is_personal else FragmentRoute)

    def _route(
        self, path: str, method: str, kind: type[APIRoute]
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.add_api_route(
                path, function, methods=[method], response_model=None, route_class_override=kind
            )
            return function

        return add


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A page whose live parts are filled in before it is sent."""

    def get_route_handler(self) -> Handler:
        return partial(_page, super().get_route_handler())


class FragmentRoute(APIRoute):
    """A fragment that is made once for everybody of a role."""

    def get_route_handler(self) -> Handler:
        return partial(_fragment, super().get_route_handler(), False)


class PersonalFragmentRoute(APIRoute):
    """A fragment that is made once for a person."""

    def get_route_handler(self) -> Handler:
        return partial(_fragment, super().get_route_handler(), True)


async def _page(make: Handler, request: Request) -> Response:
    response = await make(request)
    if SLOT.search(response.body):
        addresses = [unquote(found.decode()) for found in SLOT.findall(response.body)]
        parts = await asyncio.gather(*(_part(request, address) for address in addresses))
        made = iter(parts)
        response.body = SLOT.sub(lambda _: next(made), response.body)
        response.headers["Content-Length"] = str(len(response.body))
    return response


async def _part(request: Request, address: str) -> bytes:
    """Return what a live part shows at first, or why it shows nothing."""
    from forebay_apps.live.inner import ask

    try:
        response = await ask(request, address)
        return bytes(response.body)
    except Exception as error:
        return render(request, "problem_part.html", problem=problem(error)).encode()


async def _fragment(make: Handler, is_personal: bool, request: Request) -> Response:
    from forebay_apps.live.inner import answer

    return await answer(request, make, is_personal=is_personal)


def shared(person: Person) -> Person:
    """Return the person that a fragment for a whole role is made for."""
    return Person("", person.role)


Nav = tuple[str, str, Role]
