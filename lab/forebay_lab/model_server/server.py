"""The simulated endpoint over HTTP, on loopback."""

import gzip
import json
import socket
import struct
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

from forebay_lab.loopback import LoopbackServer, Served
from forebay_lab.model_server.faults import KINDS, Fault
from forebay_lab.model_server.simulation import ConnectionLost, Response, Simulation

MODEL = "simulated-model"
"""What /v1/models lists; any name is taken."""

LARGEST_BODY = 50_000_000

TRICKLE_EVERY = 0.1
"""Seconds between two spaces of an answer that trickles."""


class ModelServer(Served):
    """Serve a simulation while it is entered; `base_url` is where, `simulation` what."""

    def __init__(self, simulation: Simulation | None = None, port: int = 0) -> None:
        self.simulation = simulation or Simulation()
        handler = type("Handler", (_Handler,), {"simulation": self.simulation})
        self._server = LoopbackServer(port, handler)

    @property
    def base_url(self) -> str:
        """Where FOREBAY_MODEL_BASE_URL points to."""
        return f"{self._server.url}/v1"

    def _end_waits(self) -> None:
        self.simulation.hung.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    simulation: Simulation

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            listed = {"id": MODEL, "object": "model", "owned_by": "forebay-lab", "created": 0}
            self._send(Response(200, {"object": "list", "data": [listed]}))
        else:
            self._send(_not_found(self.path))

    def do_POST(self) -> None:
        try:
            body = json.loads(self._body())
        except ValueError:
            self._send(Response(400, {"error": {"message": "The body is not JSON."}}))
            return
        match self.path:
            case "/v1/chat/completions":
                self._complete(body)
            case "/lab/faults":
                self._send(self._queue(body))
            case path:
                self._send(_not_found(path))

    def _complete(self, request: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        key = headers.get("authorization", "").removeprefix("Bearer ") or None
        try:
            self._send(self.simulation.complete(request, key, headers))
        except ConnectionLost:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _queue(self, body: dict[str, Any]) -> Response:
        """Queue a fault, given as {"kind": …, "seconds": …, "headers": {…}}, for the next call."""
        if body.get("kind") not in KINDS:
            return Response(400, {"error": {"message": f"kind is one of {', '.join(KINDS)}."}})
        fault = Fault(body["kind"], headers=tuple((body.get("headers") or {}).items()))
        seconds = float(body.get("seconds", fault.seconds))
        self.simulation.queued.append(replace(fault, seconds=seconds))
        return Response(200, {"queued": len(self.simulation.queued)})

    def _body(self) -> bytes:
        length = int(self.headers.get("content-length", "0"))
        self.close_connection |= length > LARGEST_BODY
        return self.rfile.read(min(length, LARGEST_BODY))

    def _send(self, response: Response) -> None:
        is_json = isinstance(response.body, dict)
        content = (json.dumps(response.body) if is_json else str(response.body)).encode()
        if response.headers.get("content-encoding") == "gzip":
            content = gzip.compress(content)
        spaces = int(response.trickle / TRICKLE_EVERY)
        try:
            self.send_response(response.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(spaces + len(content)))
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            for _ in range(spaces):
                self.wfile.write(b" ")
                self.wfile.flush()
                self.simulation.hung.wait(TRICKLE_EVERY)
            self.wfile.write(content)
            self.wfile.flush()
        except OSError:
            self.close_connection = True  # nobody waits for it any more

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: tests have no use for it, and prompts are nobody's business."""


def _not_found(path: str) -> Response:
    return Response(
        404, {"error": {"message": f"There is nothing at {path}.", "code": "not_found"}}
    )
