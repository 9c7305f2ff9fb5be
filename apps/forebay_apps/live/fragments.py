"""Fragments: asked for by a browser or by a page that is being made, answered by a snapshot."""

from collections.abc import Awaitable, Callable, Hashable
from contextlib import AsyncExitStack
from operator import itemgetter
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from fastapi import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Message

from forebay_apps.live.snapshots import Snapshot, Snapshots, tag_of

TOLD = (b"etag", b"x-forebay-version", b"x-forebay-age", b"retry-after")
Handler = Callable[[Request], Awaitable[Response]]


class Failed(Exception):
    """The fragment's function answered with an error, which is not kept."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


async def answer(
    request: Request, make: Handler, *, seen_by: Hashable, shown: Callable[[bytes], bytes]
) -> Response:
    """Answer a request for a fragment with its snapshot, made for `seen_by` in a person's place.

    The person is sent what `shown` makes of it.
    """
    if request.scope.get("forebay.is_inner"):
        return await make(request)
    path, query = request.scope["path"], request.scope["query_string"].decode("latin-1")
    # Names in any order ask the same; values of one name in another order do not.
    asked = tuple(sorted(parse_qsl(query, keep_blank_values=True), key=itemgetter(0)))
    snapshots: Snapshots = request.app.state.snapshots
    try:
        found = await snapshots.answer(
            (path, asked, seen_by), lambda: _made(request, path, query, seen_by)
        )
    except Failed as failure:
        return _copy(failure.response)
    return _response(request, found, shown(found.body))


async def ask(request: Request, address: str) -> Response:
    """Return what this app answers to a fragment's address, for the person of the request."""
    parts = urlsplit(address)
    person = request.state.person
    return await _call(request, unquote(parts.path), parts.query, person, is_inner=False)


async def _made(request: Request, path: str, query: str, person: Hashable) -> bytes:
    response = await _call(request, path, query, person, is_inner=True)
    if response.status_code >= 400:
        raise Failed(response)
    return bytes(response.body)


async def _call(
    request: Request, path: str, query: str, person: Hashable, *, is_inner: bool
) -> Response:
    """Ask this app's router; the request that it sees has nothing of the browser's but the host."""
    kept = ("type", "asgi", "http_version", "scheme", "server", "client", "root_path", "app")
    scope: dict[str, Any] = {name: request.scope[name] for name in kept if name in request.scope}
    scope |= {
        "method": "GET",
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": query.encode("latin-1"),
        "headers": [(b"host", request.headers.get("host", "").encode()), (b"x-forebay-live", b"1")],
        "state": {"person": person},
        "starlette.exception_handlers": request.scope.get("starlette.exception_handlers"),
        "forebay.is_inner": is_inner,
    }
    status, sent, body = 500, [], bytearray()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, sent
        if message["type"] == "http.response.start":
            status, sent = message["status"], message["headers"]
        else:
            body.extend(message.get("body", b""))

    async with AsyncExitStack() as stack:
        scope["fastapi_middleware_astack"] = stack
        await request.app.router(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent if name in TOLD}
    return HTMLResponse(bytes(body), status, headers)


def _copy(response: Response) -> Response:
    """Return a response of one's own: each of those who share it adds headers to its own."""
    return Response(response.body, response.status_code, dict(response.headers))


def _response(request: Request, found: Snapshot, body: bytes) -> Response:
    tag = found.tag if body is found.body else tag_of(body)
    headers = {
        "ETag": tag,
        "X-Forebay-Version": found.version,
        "X-Forebay-As-Of": found.as_of.isoformat(timespec="milliseconds"),
        "X-Forebay-Age": f"{found.age:.3f}",
    }
    if request.headers.get("If-None-Match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(body, headers=headers)
