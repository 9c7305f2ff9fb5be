"""HTTP on loopback, for what the lab imitates: a thread a connection, ended as a whole."""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from forebay.errors import ForebayError


class PortTakenError(ForebayError):
    """Something else listens on the port, or it is not to be had."""


class LoopbackServer(ThreadingHTTPServer):
    """A thread a connection; closing it ends those that clients keep open."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[Any] = set()
        try:
            super().__init__(("127.0.0.1", port), handler)
        except OSError as error:
            raise PortTakenError(
                f"Port {port} cannot be listened on ({error.strerror}): take another."
            ) from error

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """End the serving and all connections."""
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that break their connection off, and all of what is a bug."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        for request in list(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)


class Served:
    """What is served on loopback while it is entered; a subclass makes the server."""

    _server: LoopbackServer

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return self._server.url

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end_waits()
        self._server.stop()

    def _end_waits(self) -> None:
        """End what requests wait for, before the server stops."""

    def serve(self) -> None:
        """Serve until interrupted."""
        self._server.serve_forever()
