"""Fixtures for the web apps: served on the test's database, people of each role, a real browser.

    def test_the_task_says_why_it_waits(busy: Busy, orchestrator: Served, visit: Visit) -> None:
        page = visit(orchestrator, f"/tasks/{busy.paused}", "vic")
        look(page, "task-paused")

`visit` opens a page as somebody, `client` gives an HTTP client without a browser, `page` is a
browser page that nobody has logged in to, `look` checks how a page reads in every way. What a page
complains of (scripts, the content policy, addresses that are not ours) fails the test, unless it
said `complaints.expect("409")`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from playwright.sync_api import Browser, Page
from psycopg import sql

from apps.support.browser import DESKTOP, Chromium, Complaints, chromium, new_page
from apps.support.busy import Busy, make_busy
from apps.support.documents import ReadBatch, Samples, read_samples, store_batch
from apps.support.kit import door, kit, serve_kit  # noqa: F401  # fixtures
from apps.support.people import logged_in, write_people
from apps.support.serving import Served, Which, served
from conftest import Connect
from support.server import TestServer

Serve = Callable[..., Served]
Visit = Callable[..., Page]
ClientOf = Callable[..., httpx.Client]
Outage = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a users file with a person of each role."""
    file = tmp_path_factory.mktemp("people") / "users.json"
    write_people(file)
    return file


@pytest.fixture
def serve(role_dsn: Callable[..., str], people: Path, tmp_path: Path) -> Iterator[Serve]:
    """Return a function: serve("intake", FOREBAY_UPLOAD_MB="1") serves an app with settings.

    Both apps share a home, with the people in it, and a storage root.
    """
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(people, home / "users.json")
    with ExitStack() as stack:

        def serve(which: Which, **settings: str) -> Served:
            own = {"FOREBAY_DATABASE_URL": role_dsn("all"), "FOREBAY_LOGIN": "password"}
            return stack.enter_context(served(which, own | settings, tmp_path))

        yield serve


@pytest.fixture
def orchestrator(serve: Serve) -> Served:
    """Serve the dashboard."""
    return serve("orchestrator")


@pytest.fixture
def intake(serve: Serve) -> Served:
    """Serve the app of those who upload."""
    return serve("intake")


@pytest.fixture
def busy(superuser: psycopg.Connection, connect: Connect) -> Busy:
    """Put some hours of work into the test's database."""
    return make_busy(superuser, connect("all"))


@pytest.fixture(scope="session")
def _samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return read_samples(tmp_path_factory.mktemp("read"))


@pytest.fixture
def read_batch(intake: Served, connect: Connect, _samples: Samples) -> ReadBatch:
    """Put a batch of Alice's into intake, of documents that have been read: PDFs and results."""
    return store_batch(connect("all"), intake.storage, _samples)


@pytest.fixture
def client() -> Iterator[ClientOf]:
    """Return a function: client(app, "oscar") is an HTTP client in which Oscar has logged in."""
    with ExitStack() as stack:

        def client(app: Served, name: str = "vic") -> httpx.Client:
            return stack.enter_context(logged_in(app, name))

        yield client


@pytest.fixture(scope="session")
def chromium_process() -> Iterator[Chromium]:
    """Run one browser for all tests of this process."""
    with chromium() as lent:
        yield lent


@pytest.fixture
def browser(chromium_process: Chromium) -> Iterator[Browser]:
    """Lend the browser; what the test opens is closed after it."""
    with chromium_process.in_use() as browser:
        yield browser


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """Collect what pages complain of; what the test did not expect fails it."""
    complaints = Complaints()
    yield complaints
    assert not complaints.unexpected()


@pytest.fixture
def page(browser: Browser, complaints: Complaints) -> Page:
    """Open an empty page, in a profile of its own."""
    return new_page(browser.new_context(viewport=DESKTOP), complaints)


@pytest.fixture
def visit(browser: Browser, complaints: Complaints) -> Visit:
    """Return a function: visit(app, "/tasks", "oscar") is a page that Oscar has opened.

    Each has a profile of its own; further arguments are those of a playwright context, such as
    java_script_enabled=False.
    """

    def visit(app: Served, path: str = "/", name: str = "vic", **options: Any) -> Page:
        context = browser.new_context(viewport=DESKTOP, **options)
        with logged_in(app, name) as person:
            context.add_cookies(
                [
                    {"name": cookie.name, "value": cookie.value or "", "url": app.url}
                    for cookie in person.cookies.jar
                ]
            )
        page = new_page(context, complaints)
        page.goto(app.url + path)
        return page

    return visit


@pytest.fixture
def outage(server: TestServer, superuser: psycopg.Connection) -> Outage:
    """Return a function: in `with outage():` the test's database takes no connection."""
    name = sql.Identifier(superuser.info.dbname)

    @contextmanager
    def outage() -> Iterator[None]:
        with server.superuser() as conn:
            conn.execute(sql.SQL("alter database {} allow_connections false").format(name))
            try:
                conn.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where datname = %s and pid <> %s",
                    [superuser.info.dbname, superuser.info.backend_pid],
                )
                yield
            finally:
                conn.execute(sql.SQL("alter database {} allow_connections true").format(name))

    return outage
