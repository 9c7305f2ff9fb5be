"""A line to the server that can go dead without a word, as behind a firewall that drops packets."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack


class Relay:
    """Carry connections over TCP to a server's socket, until told to swallow what they say."""

    def __init__(self, socket_path: str) -> None:
        self._socket_path = socket_path
        self._entrance = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._entrance.getsockname()[1]
        self._dead = threading.Event()
        self._stack = ExitStack()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._entrance.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket_path)
            for ends in ((client, server), (server, client)):
                self._stack.callback(ends[0].close)
                carry = (*ends, self._dead)
                threading.Thread(target=self._carry, args=carry, daemon=True).start()

    def go_dead(self) -> None:
        """Swallow everything on the connections that there are; new ones work."""
        dead, self._dead = self._dead, threading.Event()
        dead.set()

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket, dead: threading.Event) -> None:
        try:
            while data := source.recv(65536):
                if not dead.is_set():
                    target.sendall(data)
            target.close()
        except OSError:
            target.close()

    def close(self) -> None:
        """Close every socket."""
        self._entrance.close()
        self._stack.close()
