"""The stand-in over HTTP: it finds the route, has faults befall it, and logs what was asked."""

from __future__ import annotations

import gzip
import json
import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from forebay_lab.loopback import LoopbackServer, Served
from forebay_lab.workspace.access import Access, Principal
from forebay_lab.workspace.faults import Fault, Faults
from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, Route, route

TOKEN = "stand-in-token"
"""The personal access token of the workspace's first user, an admin."""

WORKSPACE_ID = "7405607"


@dataclass(frozen=True, slots=True)
class Logged:
    """One request that came, and the status it was answered with; 0: the answer was lost."""

    at: float
    method: str
    path: str
    query: dict[str, str]
    who: str | None
    status: int


class Workspace(Served):
    """Serve areas of the API while it is entered; `url` is DATABRICKS_HOST, `token` the token.

    `now` gives epoch seconds and can be replaced, for tokens and times.
    """

    def __init__(
        self,
        areas: Sequence[Area] = (),
        *,
        port: int = 0,
        workspace_id: str = WORKSPACE_ID,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.workspace_id = workspace_id
        self.now = now
        self.token = TOKEN
        self.access = Access(now=lambda: self.now())
        self.access.add(Principal("ada@example.com", is_service=False, is_admin=True), TOKEN)
        self.faults = Faults()
        self.log: list[Logged] = []
        self.closing = threading.Event()
        self.areas: list[Area] = [_Platform(self), *areas]
        self._routes: list[Route] = [one for area in self.areas for one in area.routes()]
        handler = type("Handler", (_Handler,), {"workspace": self})
        self._server = LoopbackServer(port, handler)

    def add(self, area: Area) -> None:
        """Serve another area."""
        self.areas.append(area)
        self._routes += area.routes()

    def calls(self, method: str, path: str) -> list[Logged]:
        """Return the requests that came for exactly this path."""
        return [one for one in list(self.log) if (one.method, one.path) == (method, path)]

    @contextmanager
    def down(self) -> Iterator[None]:
        """Have every request be answered with 503 for the block."""
        fault = self.faults.add(Fault("status", times=None, retry_after=1))
        try:
            yield
        finally:
            self.faults.remove(fault)

    def _end_waits(self) -> None:
        self.closing.set()

    def handle(self, request: Request) -> Answer:
        """Answer a request, or raise ApiError."""
        request.principal = self.access.who(request.headers)
        for one in self._routes:
            params = one.match(request.method, request.path)
            if params is None:
                continue
            if request.principal is None and not one.is_open:
                raise ApiError(401, "UNAUTHENTICATED", "Credential was not sent or was invalid.")
            request.params = params
            answer = one.handler(request)
            return answer if isinstance(answer, Answer) else Answer(answer)
        raise ApiError(404, "ENDPOINT_NOT_FOUND", f"No API found for '{request.path}'.")


class _Platform(Area):
    """What every workspace has: where to log in, and who one is."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @route("GET", "/.well-known/databricks-config", is_open=True)
    def config(self, request: Request) -> dict[str, str]:
        return {
            "oidc_endpoint": f"{request.base_url}/oidc",
            "workspace_id": self._workspace.workspace_id,
            "account_id": "stand-in-account",
            "cloud": "aws",
        }

    @route("GET", "/oidc/.well-known/oauth-authorization-server", is_open=True)
    def authorization_server(self, request: Request) -> dict[str, str]:
        return {
            "authorization_endpoint": f"{request.base_url}/oidc/v1/authorize",
            "token_endpoint": f"{request.base_url}/oidc/v1/token",
        }

    @route("POST", "/oidc/v1/token", is_open=True)
    def token(self, request: Request) -> Answer:
        access = self._workspace.access
        token = access.log_in(request.headers.get("authorization", ""))
        if token is None:
            why = "Client authentication failed"
            return Answer({"error": "invalid_client", "error_description": why}, 401)
        seconds = int(access.token_seconds)
        return Answer({"access_token": token, "token_type": "Bearer", "expires_in": seconds})

    @route("GET", "/api/2.0/preview/scim/v2/Me")
    def me(self, request: Request) -> Answer:
        assert request.principal is not None
        name = request.principal.name
        headers = {"X-Databricks-Org-Id": self._workspace.workspace_id}
        return Answer({"id": name, "userName": name, "active": True}, headers=headers)

    @route("GET", "/api/2.0/preview/scim/v2/Users")
    def users(self, request: Request) -> dict[str, Any]:
        return self._found(request, "userName", is_service=False)

    @route("GET", "/api/2.0/preview/scim/v2/ServicePrincipals")
    def service_principals(self, request: Request) -> dict[str, Any]:
        return self._found(request, "applicationId", is_service=True)

    def _found(self, request: Request, name: str, *, is_service: bool) -> dict[str, Any]:
        """Return whom a filter such as `userName eq "ada@example.com"` names, in any case."""
        begin, said = int(request.query.get("startIndex", 1)), request.query.get("filter", "")
        wanted = said.removeprefix(f'{name} eq "').removesuffix('"').casefold()
        found = self._workspace.access.find(wanted, is_service=is_service) if begin == 1 else None
        return {"Resources": [{"id": found.name, name: found.name}] if found else []}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    workspace: Workspace

    def _answer(self) -> None:
        split = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        request = Request(
            method=self.command,
            path=split.path,
            query=dict(parse_qsl(split.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=_Body(self.rfile, length),
            length=length,
            base_url=self.workspace.url,
        )
        fault = self.workspace.faults.take(request.method, request.path)
        if fault and fault.kind == "slow":
            self.workspace.closing.wait(fault.seconds)
        if fault and fault.kind == "reset":
            self._log(request, 0)
            return self._break()
        if fault and fault.kind == "break":
            self._log(request, 0)
            return self._break_within(request, fault.after)
        answer = _refused(fault) if fault and fault.kind == "status" else self._handled(request)
        if fault and fault.kind == "hang":
            self.workspace.closing.wait(fault.seconds)
        if fault and fault.kind == "lost":
            self._log(request, 0)
            return self._break()
        if fault and fault.kind == "drip":
            answer = self._dripping(answer, fault)
        self._log(request, answer.status)
        while request.body.read(1 << 16):
            pass  # what nobody read would be taken for the next request
        return self._send(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _answer  # noqa: N815

    def _handled(self, request: Request) -> Answer:
        try:
            return self.workspace.handle(request)
        except ApiError as error:
            body = {"error_code": error.code, "message": error.message}
            return Answer(body, error.status, error.headers)

    def _dripping(self, answer: Answer, fault: Fault) -> Answer:
        """Return an answer that takes the fault's seconds for each byte of its body."""
        content = json.dumps(answer.body).encode()
        ends = {"connection": "close"}
        if fault.coding == "length":
            ends = {"content-length": str(len(content))}
        elif fault.coding == "gzip":
            content, ends = gzip.compress(content), ends | {"content-encoding": "gzip"}
        is_over = self.workspace.closing.wait
        drops = (bytes([one]) for one in content if not is_over(fault.seconds))
        return Answer(status=answer.status, headers={**answer.headers, **ends}, chunks=drops)

    def _log(self, request: Request, status: int) -> None:
        who = request.principal.name if request.principal else None
        self.workspace.log.append(
            Logged(time.time(), request.method, request.path, dict(request.query), who, status)
        )

    def _send(self, answer: Answer, most: float = math.inf) -> None:
        """Send an answer, and of its chunks `most` bytes."""
        content = json.dumps(answer.body).encode() if answer.chunks is None else b""
        headers = {"content-type": "application/json"}
        if answer.chunks is None:
            headers["content-length"] = str(len(content))
        if answer.status == 204:
            content, headers = b"", {}
        headers |= {name.lower(): value for name, value in answer.headers.items()}
        try:
            self.send_response(answer.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                for chunk in [content] if answer.chunks is None else answer.chunks:
                    self.wfile.write(chunk if most > len(chunk) else chunk[: int(most)])
                    most -= len(chunk)
                    if most <= 0:
                        return
        except OSError:
            self.close_connection = True  # nobody waits for it any more

    def _break_within(self, request: Request, after: int) -> None:
        if request.method != "GET":
            while after > 0 and (chunk := request.body.read(min(after, 1 << 16))):
                after -= len(chunk)
            return self._break()
        self._send(self._handled(request), after)
        self.close_connection = True  # not at once as _break does it: what was sent is to arrive
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        return None

    def _break(self) -> None:
        self.close_connection = True
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the workspace keeps a log."""


class _Body:
    """The body of a request, and nothing beyond it."""

    def __init__(self, stream: Any, length: int) -> None:
        self._stream = stream
        self._left = length

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        chunk: bytes = self._stream.read(wanted) if wanted else b""
        self._left = self._left - len(chunk) if chunk else 0
        return chunk


def _refused(fault: Fault) -> Answer:
    headers = {} if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    if fault.location is not None:
        headers["location"] = fault.location
    if fault.page is not None:
        page = fault.page.encode()
        headers |= {"content-type": "text/html", "content-length": str(len(page))}
        return Answer(status=fault.status, headers=headers, chunks=[page])
    return Answer({"error_code": fault.code, "message": fault.message}, fault.status, headers)
