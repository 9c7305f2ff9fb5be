"""A client of the stream of hints that is no browser: it reads in a thread of its own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx

from support.waiting import PATIENCE, until


class Hints:
    """What was heard so far."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []

    def until(
        self, is_so: Callable[[list[dict[str, Any]]], bool], seconds: float = PATIENCE
    ) -> None:
        """Wait until what was heard is enough; fail after a while."""
        until(lambda: is_so(self.heard), seconds)


@contextmanager
def listening_to(client: httpx.Client) -> Iterator[Hints]:
    """Hear the hints that a client gets, within the block; raises unless the stream opens."""
    hints = Hints()
    with client.stream("GET", "/events", timeout=30) as answer:
        assert answer.status_code == 200, answer.status_code

        def read() -> None:
            try:
                for line in answer.iter_lines():
                    if line.startswith("data: "):
                        hints.heard.append(json.loads(line.removeprefix("data: ")))
            except (httpx.HTTPError, httpx.StreamError):
                return  # the block ended, or the app did

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            hints.until(lambda heard: len(heard) > 0)
            yield hints
        finally:
            line = answer.extensions["network_stream"].get_extra_info("socket")
            with suppress(OSError):  # the app ended the stream
                line.shutdown(socket.SHUT_RDWR)
            reader.join()
