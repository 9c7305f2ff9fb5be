"""A receiver of webhooks on loopback: it checks every signature, and answers as it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

SECRET = "whsec_" + "c2VjcmV0" * 4
OTHER_SECRET = "whsec_" + "b3RoZXIh" * 4


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery whose signature was right."""

    message_id: str
    timestamp: int
    event: dict[str, Any]


@dataclass(slots=True)
class Receiver:
    """What came in, and what is answered: the statuses in turn, then 200 for ever."""

    url: str
    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answer: bytes = b'{"error": "a reason"}'
    drips: bool = False
    """Answer a byte now and then, without end."""
    hung_up: int = 0
    """How many senders closed the line while it dripped."""
    raw: bytes = b""
    """What is answered in place of HTTP."""


@contextmanager
def receiving(secret: str = SECRET, port: int = 0) -> Iterator[Receiver]:
    """Serve a receiver beside the block."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
    server.receiver, server.webhook = receiver, Webhook(secret)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.webhook.verify(body, dict(self.headers))  # type: ignore[attr-defined]
        receiver.paths.append(self.path)
        receiver.messages.append(
            Message(
                self.headers["webhook-id"],
                int(self.headers["webhook-timestamp"]),
                json.loads(body),
            )
        )
        if receiver.drips:
            self._drip(receiver)
            return
        if receiver.raw:
            self.wfile.write(receiver.raw)
            return
        self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
        for name, value in receiver.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(receiver.answer)

    do_GET = do_POST  # noqa: N815

    def _drip(self, receiver: Receiver) -> None:
        try:
            while True:
                self.wfile.write(b"H")
                time.sleep(0.05)
        except OSError:
            receiver.hung_up += 1

    def log_message(self, *_arguments: Any) -> None:
        return
