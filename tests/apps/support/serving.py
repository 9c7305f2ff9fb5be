"""An app served in a thread of the test, on a free port of this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from fastapi import FastAPI

from forebay_apps.serve import GRACE_SECONDS, Server, listening, server

Which = Literal["intake", "orchestrator"]
SECONDS_TO_START = 20


@dataclass(frozen=True, slots=True)
class Served:
    """An app that answers at url; storage is the root of its documents, home its FOREBAY_HOME."""

    which: Which
    url: str
    home: Path
    storage: Path
    app: FastAPI


@contextmanager
def served(which: Which, environment: Mapping[str, str], folder: Path) -> Iterator[Served]:
    """Serve an app with these variables, and with a home and a storage root in the folder."""
    home, storage = folder / "home", folder / "storage"
    for path in (home, storage):
        path.mkdir(parents=True, exist_ok=True)
    own = {"FOREBAY_HOME": str(home), "FOREBAY_STORAGE_ROOTS": str(storage)}
    app = import_module(f"forebay_apps.{which}.app").create_app(own | dict(environment))
    with running(app) as url:
        yield Served(which, url, home, storage, app)


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """Serve any app of the kit, and give its address; it must stop when it is asked to."""
    with listening("127.0.0.1", 0) as entrance:
        running = server(app)
        thread = threading.Thread(target=running.run, args=([entrance],), daemon=True)
        thread.start()
        try:
            _wait_until_started(running, thread)
            yield f"http://127.0.0.1:{entrance.getsockname()[1]}"
        finally:
            app.state.begin_stop()
            running.should_exit = True
            thread.join(GRACE_SECONDS + 10)
    assert not thread.is_alive(), "the app did not stop"


def _wait_until_started(running: Server, thread: threading.Thread) -> None:
    give_up_at = time.monotonic() + SECONDS_TO_START
    while not running.started:
        assert thread.is_alive(), "the app ended while it started"
        assert time.monotonic() < give_up_at, "the app did not start in time"
        time.sleep(0.01)
