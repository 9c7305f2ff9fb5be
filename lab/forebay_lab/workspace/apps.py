"""Databricks Apps: what the workspace tells of them, and the proxy before each.

Simulated: an app runs wherever `upstream` is. Its proxy asks for an OAuth bearer, which only paths
below /api/ take; whoever has none is sent to log in.
"""

from __future__ import annotations

import http.client
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from forebay_lab.loopback import LoopbackServer, Served
from forebay_lab.workspace.access import Principal
from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

HOP = {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding"}
"""Headers that are not passed on."""


@dataclass(frozen=True, slots=True)
class Passed:
    """One request that came to a proxy: who sent it, and what was answered."""

    method: str
    path: str
    who: str | None
    status: int


class App(Served):
    """The proxy before an app, while it is entered; `seconds` is when it cuts a request off."""

    def __init__(
        self, workspace: Workspace, name: str, upstream: str, *, seconds: float = 120.0
    ) -> None:
        self.workspace = workspace
        self.name = name
        self.upstream = upstream
        self.seconds = seconds
        self.log: list[Passed] = []
        self._server = LoopbackServer(0, type("Handler", (_Handler,), {"app": self}))


class Apps(Area):
    """What the API tells of apps that are added; principals need CAN_USE on `apps/NAME`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._apps: dict[str, tuple[App, str]] = {}

    def add(self, app: App, *, client_id: str) -> App:
        """Have an app be known, that runs as the service principal with this client id."""
        self._apps[app.name] = app, client_id
        return app

    @route("GET", "/api/2.0/apps/{name}")
    def get(self, request: Request) -> dict[str, Any]:
        name = request.params["name"]
        if name not in self._apps:
            message = f"App with name {name} does not exist or is deleted."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        return self._shown(name)

    @route("GET", "/api/2.0/apps")
    def list_apps(self, request: Request) -> dict[str, Any]:
        return {"apps": [self._shown(name) for name in self._apps]}

    def _shown(self, name: str) -> dict[str, Any]:
        app, client_id = self._apps[name]
        return {
            "name": name,
            "url": app.url,
            "description": "Simulated: it does not run on Databricks.",
            "service_principal_client_id": client_id,
            "app_status": {"state": "RUNNING", "message": "App is running."},
            "compute_status": {"state": "ACTIVE", "message": "App compute is running."},
        }


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    app: App

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        who = self.app.workspace.access.who(
            {"authorization": self.headers.get("authorization", "")}
        )
        reply = self._refused(who) or self._forwarded(who, body)
        name = who.name if who else None
        self.app.log.append(Passed(self.command, self.path, name, reply.status))
        self._send(reply)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass  # noqa: N815

    def _refused(self, who: Principal | None) -> _Reply | None:
        """Return what the proxy itself answers: to who is not logged in, or may not come in."""
        if not urlsplit(self.path).path.startswith("/api/"):
            return _Reply(302, headers={"location": f"{self.app.workspace.url}/oidc/v1/authorize"})
        if who is None or self._is_personal():
            return _Reply(401, b"Unauthorized")
        if not self.app.workspace.access.may(who, f"apps/{self.app.name}", "CAN_USE"):
            return _Reply(403, b"Forbidden")
        return None

    def _is_personal(self) -> bool:
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        return self.app.workspace.access.is_personal(token)

    def _forwarded(self, who: Principal | None, body: bytes) -> _Reply:
        assert who is not None
        upstream = urlsplit(self.app.upstream)
        assert upstream.hostname is not None
        line = http.client.HTTPConnection(
            upstream.hostname, upstream.port, timeout=self.app.seconds
        )
        try:
            line.request(self.command, self.path, body, self._headers(who))
            answer = line.getresponse()
            kept = {n: v for n, v in answer.getheaders() if n.lower() not in HOP}
            return _Reply(answer.status, answer.read(), kept)
        except TimeoutError:
            return _Reply(504, b"upstream request timeout")
        except (OSError, http.client.HTTPException):
            return _Reply(502, b"App Not Available")
        finally:
            line.close()

    def _headers(self, who: Principal) -> dict[str, str]:
        """Return the request's headers, without the bearer, and with who it was."""
        given = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in HOP | {"authorization"}
            and not name.lower().startswith("x-forwarded-")
        }
        return given | {
            "X-Forwarded-Host": self.headers.get("host", ""),
            "X-Forwarded-Preferred-Username": who.name,
            "X-Forwarded-User": who.name,
            "X-Forwarded-Email": who.name,
            "X-Forwarded-Proto": "https",
            "X-Real-Ip": self.client_address[0],
            "X-Request-Id": str(uuid.uuid4()),
        }

    def _send(self, reply: _Reply) -> None:
        try:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:
            self.close_connection = True  # nobody waits for it any more

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the app keeps a log."""
