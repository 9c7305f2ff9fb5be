"""Fixtures of tests of the kit: its small site served, and clients of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from apps.support.kit_site import make_site
from apps.support.serving import Served, running

ServeKit = Callable[..., Served]
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing?connect_timeout=1"


@pytest.fixture
def serve_kit(people: Path, tmp_path: Path) -> Iterator[ServeKit]:
    """Return a function: serve_kit(FOREBAY_LOGIN="proxy") serves the kit's site with settings.

    Without FOREBAY_DATABASE_URL there is no database: enough for all that happens at the door.
    """
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(people, home / "users.json")
    with ExitStack() as stack:

        def serve_kit(**settings: str) -> Served:
            own = {"FOREBAY_DATABASE_URL": NOWHERE, "FOREBAY_HOME": str(home)}
            app = make_site(own | settings, tmp_path)
            url = stack.enter_context(running(app))
            return Served("orchestrator", url, home, tmp_path, app)

        yield serve_kit


@pytest.fixture
def door(serve_kit: ServeKit) -> Served:
    """Serve the kit's site without a database."""
    return serve_kit()


@pytest.fixture
def kit(serve_kit: ServeKit, role_dsn: Callable[..., str]) -> Served:
    """Serve the kit's site on the test's database."""
    return serve_kit(FOREBAY_DATABASE_URL=role_dsn("all"))


def asking(served: Served, **headers: str) -> httpx.Client:
    """Return a client that nobody has logged in to, with these headers."""
    return httpx.Client(base_url=served.url, headers=headers, timeout=20)
