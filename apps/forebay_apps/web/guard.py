"""Who gets past the door: nobody who is not identified, and nothing that another site sends."""

from collections.abc import Callable, Iterable
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forebay_apps.web.bodies import FORM_BYTES, STRANGERS_BYTES, Body
from forebay_apps.web.errors import Forbidden, Problem, problem
from forebay_apps.web.people import Identification, Person, Role
from forebay_apps.web.rendering import LIVE_HEADER, failed, problem_response

SAFE = ("GET", "HEAD", "OPTIONS")
OPEN = ("/healthz", "/login")
STATIC = "/static/"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
        " object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
ELSEWHERE = Problem(403, "Not allowed", "This request came from another site: nothing was done.")


class Guard:
    """ASGI middleware: identify the person, refuse strangers and cross-site requests.

    Open are OPEN, static files and `open_paths`, which answer for themselves and bound what they
    are sent. Whatever changes something makes the pages that are open fetch anew. Every answer has
    HEADERS, an unexpected error's too; one that refuses a body that has not all arrived closes the
    connection, since nobody waits for the rest for long.
    """

    def __init__(
        self,
        app: ASGIApp,
        open_paths: Iterable[str],
        needs: Role,
        elsewhere: str,
        changed: Callable[[], None],
    ) -> None:
        self._app = app
        self._needs = needs
        self._elsewhere = elsewhere
        self._machines = frozenset(open_paths)
        self._changed = changed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        is_unsafe = request.method not in SAFE
        refusal = self._refusal(request)
        body = request.state.body = self._body(request, receive)
        has_begun = is_last = False

        async def send_on(message: Message) -> None:
            nonlocal has_begun, is_last
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if message["status"] >= 400 and not body.is_whole:
                    headers["Connection"] = "close"
                    is_last = True
                if is_unsafe and message["status"] < 400:
                    self._changed()
            elif is_last and not message.get("more_body"):
                await send({**message, "more_body": True})
                await body.drain()
                message = {"type": "http.response.body"}
            await send(message)

        try:
            await (refusal or self._app)(scope, body.receive, send_on)
        except Exception as error:
            if has_begun:
                raise
            await failed(request, error)(scope, body.receive, send_on)

    def _body(self, request: Request, receive: Receive) -> Body:
        """Return the body, which is bounded by who sends it; open paths bound it themselves."""
        is_known = getattr(request.state, "person", None) is not None
        body = Body(receive, request.headers, FORM_BYTES if is_known else STRANGERS_BYTES)
        if request.scope["path"] in self._machines:
            body.lift()
        return body

    def _refusal(self, request: Request) -> Response | None:
        """Return the answer to who may not come in; else note the person in the request's state."""
        path: str = request.scope["path"]  # what routes see, whatever the address looks like
        if path in self._machines:
            return None
        if request.method not in SAFE and not is_same_origin(request):
            return problem_response(request, ELSEWHERE)
        person = request.app.state.identification.identify(request)
        request.state.person = person
        if path in OPEN or path.startswith(STATIC):
            return None
        if person is None:
            return _stranger(request)
        if not person.may(self._needs) and path != "/logout":
            return problem_response(request, problem(Forbidden(self._needs, self._elsewhere)))
        return None


def requires(role: Role) -> Callable[[Request], Person]:
    """Return the dependency that lets a route go on for a person with this role, and gives them."""

    def check(request: Request) -> Person:
        person: Person = request.state.person
        if not person.may(role):
            raise Forbidden(role)
        return person

    return check


def is_same_origin(request: HTTPConnection) -> bool:
    """Tell whether a page of this very site sent the request.

    Browsers say so in Sec-Fetch-Site, and where they do not (plain http) in Origin.
    """
    if site := request.headers.get("Sec-Fetch-Site"):
        return site == "same-origin"
    host = request.headers.get("Host")
    return bool(host) and request.headers.get("Origin") in (f"http://{host}", f"https://{host}")


def _stranger(request: Request) -> Response:
    identification: Identification = request.app.state.identification
    has_login_page = identification.has_login_page
    is_page = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
    if not has_login_page or not is_page or LIVE_HEADER in request.headers:
        title = "Log in" if has_login_page else "Who are you?"
        return problem_response(request, Problem(401, title, identification.why_unknown(request)))
    path, query = quote(request.scope["path"]), request.scope["query_string"].decode("latin-1")
    wanted = path + (f"?{query}" if query else "")
    return RedirectResponse("/login" if wanted == "/" else f"/login?next={quote(wanted)}", 303)


Viewer = Annotated[Person, Depends(requires("viewer"))]
Operator = Annotated[Person, Depends(requires("operator"))]
Admin = Annotated[Person, Depends(requires("admin"))]
