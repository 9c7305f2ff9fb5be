"""Chromium for the tests of the apps: one a test process, a clean profile a page."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

VARIABLE = "FOREBAY_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
DESKTOP = {"width": 1280, "height": 900}
PATIENCE = 30_000
"""Milliseconds until something that a test waits for has failed to come."""

expect.set_options(timeout=PATIENCE)


def find_chromium(downloaded: str) -> str:
    """Return the browser that is named, on PATH, or was downloaded by playwright; or fail."""
    if named := os.environ.get(VARIABLE):
        if not os.access(named, os.X_OK):
            pytest.fail(f"{VARIABLE} is {named}, which is no program", pytrace=False)
        return named
    for name in NAMES:
        if found := shutil.which(name):
            return found
    if Path(downloaded).exists():
        return downloaded
    pytest.fail(
        "The tests of the web apps need Chromium: install it, on Debian with 'apt-get install"
        " chromium', elsewhere with '.venv/bin/playwright install chromium', or name one with"
        f" {VARIABLE}.",
        pytrace=False,
    )


class Chromium:
    """The browser of a test process.

    Playwright's event loop runs in the thread of the tests, where no other could run beside it: so
    the thread has it only while a test uses the browser.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._loop = asyncio._get_running_loop()
        asyncio._set_running_loop(None)

    @contextmanager
    def in_use(self) -> Iterator[Browser]:
        """Lend the browser to one test."""
        asyncio._set_running_loop(self._loop)
        try:
            yield self._browser
        finally:
            for context in self._browser.contexts:
                context.close()
            asyncio._set_running_loop(None)


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Run the browser within the block."""
    with sync_playwright() as playwright:
        program = find_chromium(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        lent = Chromium(browser)
        yield lent
        with lent.in_use():
            browser.close()
        asyncio._set_running_loop(lent._loop)


@dataclass(slots=True)
class Complaints:
    """What pages complained of: errors of scripts, what the policy refused, strange addresses.

    A test that provokes one says so with `expect`, in a piece of its text.
    """

    said: list[str] = field(default_factory=list)
    _expected: list[str] = field(default_factory=list)

    def expect(self, *pieces: str) -> None:
        """Let complaints with one of these pieces pass."""
        self._expected += pieces

    def watch(self, page: Page) -> None:
        """Note what this page complains of from now on."""
        page.on("console", lambda message: self._console(message))
        page.on("pageerror", lambda error: self.said.append(f"script error: {error}"))
        page.on("request", lambda request: self._address(request.url))

    def unexpected(self) -> list[str]:
        """Return those that the test did not expect."""
        return [
            complaint
            for complaint in self.said
            if not any(piece in complaint for piece in self._expected)
        ]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.said.append(f"{message.text} ({message.location.get('url', '')})")

    def _address(self, url: str) -> None:
        where = urlsplit(url)
        if where.scheme in ("http", "https", "ws", "wss") and where.hostname != "127.0.0.1":
            self.said.append(f"a page asked for {url}, which is not ours")


def new_page(context: BrowserContext, complaints: Complaints) -> Page:
    """Open a page that is watched."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints.watch(page)
    return page
