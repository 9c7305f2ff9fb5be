"""An app served in a thread of the test, on a free port of this machine."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import uvicorn

Which = Literal["intake", "orchestrator"]
SECONDS_TO_START = 20
GRACE = 2
"""Seconds that open streams get when the app stops, as in production."""


@dataclass(frozen=True, slots=True)
class Served:
    """An app that answers at url; storage is the root of its documents, home its FOREBAY_HOME."""

    which: Which
    url: str
    home: Path
    storage: Path


@contextmanager
def served(which: Which, environment: Mapping[str, str], folder: Path) -> Iterator[Served]:
    """Serve an app with these variables, and with a home and a storage root in the folder."""
    home, storage = folder / "home", folder / "storage"
    for path in (home, storage):
        path.mkdir(parents=True, exist_ok=True)
    own = {"FOREBAY_HOME": str(home), "FOREBAY_STORAGE_ROOTS": str(storage)}
    app = import_module(f"forebay_apps.{which}.app").create_app(own | dict(environment))
    with socket.create_server(("127.0.0.1", 0)) as entrance:
        config = uvicorn.Config(
            app, log_config=None, timeout_graceful_shutdown=GRACE, proxy_headers=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([entrance],), daemon=True)
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield Served(which, f"http://127.0.0.1:{entrance.getsockname()[1]}", home, storage)
        finally:
            server.should_exit = True
            thread.join(GRACE + 10)
    assert not thread.is_alive(), f"{which} did not stop"


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    give_up_at = time.monotonic() + SECONDS_TO_START
    while not server.started:
        assert thread.is_alive(), "the app ended while it started"
        assert time.monotonic() < give_up_at, "the app did not start in time"
        time.sleep(0.01)
