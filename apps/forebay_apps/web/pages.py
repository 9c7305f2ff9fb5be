"""How pages are made: pages, the live parts in them, acts, and messages over a redirect."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from fastapi import Request
from fastapi.routing import APIRoute, APIRouter
from markupsafe import escape
from starlette.responses import HTMLResponse, RedirectResponse, Response

from forebay_apps.live.fragments import answer, ask
from forebay_apps.web.errors import problem
from forebay_apps.web.people import ROLES, Person, Role
from forebay_apps.web.rendering import FLASH, SLOT, render, shown_to

FLASH_CHARACTERS = 500
KNOWN = {
    "data-version": "X-Forebay-Version",
    "data-age": "X-Forebay-Age",
    "data-tag": "ETag",
}


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """Answer with a whole page: a template that extends base.html."""
    response = HTMLResponse(render(request, template, **values), status)
    if FLASH in request.cookies:
        response.delete_cookie(FLASH)
    return response


def fragment(request: Request, template: str, **values: Any) -> Response:
    """Answer with a part of a page: what goes into a section that is live."""
    return HTMLResponse(render(request, template, **values))


def back(request: Request, address: str, said: str = "") -> Response:
    """Answer an act: go to address, and have the page there say what was done."""
    response = RedirectResponse(address, 303)
    return flash(response, said) if said else response


def local(address: str, otherwise: str = "/") -> str:
    """Return an address of this app that was sent to us, and `otherwise` for any other one."""
    is_path = address.startswith("/") and not address.startswith("//")
    return address if is_path and address.isprintable() and "\\" not in address else otherwise


def flash(response: Response, said: str) -> Response:
    """Have the next page say this."""
    response.set_cookie(
        FLASH, quote(said[:FLASH_CHARACTERS]), max_age=60, httponly=True, samesite="lax"
    )
    return response


class Pages(APIRouter):
    """A router of pages. `page` and `act` are get and post; `fragment` is what `live` shows."""

    def page(self, path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._route(path, "GET", PageRoute)

    def act(self, path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self._route(path, "POST", APIRoute)

    def fragment(
        self, path: str, *, is_personal: bool = True, role: Role = "viewer"
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a fragment, made once for all who may see the same.

        `is_personal` False: it is made once for everybody of `role` and above. The function then
        sees a person of that role without a name; what it shows to some of them only is marked in
        the template (`only`).
        """
        return self._route(path, "GET", _fragment_route(None if is_personal else role))

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


def _fragment_route(role: Role | None) -> type[APIRoute]:
    """Return the kind of a fragment made once for everybody of a role, or (None) for a person."""

    class FragmentRoute(APIRoute):
        def get_route_handler(self) -> Handler:
            return partial(_fragment, super().get_route_handler(), role)

    return FragmentRoute


async def _page(make: Handler, request: Request) -> Response:
    """Answer with the page, its live parts filled in."""
    response = await make(request)
    found = SLOT.findall(response.body)
    if found:
        parts = await asyncio.gather(*(_section(request, *slot) for slot in found))
        made = iter(parts)
        response.body = SLOT.sub(lambda _: next(made), response.body)
        response.headers["Content-Length"] = str(len(response.body))
    return response


async def _section(request: Request, address: bytes, attributes: bytes) -> bytes:
    """Return a live part with what it shows at first, or with why it shows nothing."""
    wanted = unquote(address.decode())
    try:
        found = await ask(request, wanted)
        body, known = bytes(found.body), dict(found.headers)
    except Exception as error:
        body, known = render(request, "problem_part.html", problem=problem(error)).encode(), {}
    said = {"data-live": wanted} | {
        name: known[header.lower()] for name, header in KNOWN.items() if header.lower() in known
    }
    start = "".join(f' {name}="{escape(value)}"' for name, value in said.items())
    return b"<section%s%s>%s</section>" % (start.encode(), attributes, body)


async def _fragment(make: Handler, role: Role | None, request: Request) -> Response:
    """Answer with the fragment as the person of the request sees it.

    Whoever is below the role asks in their own, and is refused.
    """
    person: Person = request.state.person
    seen_by = Person("", min(person.role, role, key=ROLES.index)) if role else person
    return await answer(request, make, seen_by=seen_by, shown=partial(shown_to, person))
