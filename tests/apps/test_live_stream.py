"""The stream of hints: bounded in time, memory and patience, and gone when its browser is."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.types import Message

from apps.support.kit import NOWHERE
from forebay.pool import Database
from forebay_apps.live import hub as hubs
from forebay_apps.live import stream as module
from forebay_apps.live.hub import Hub
from forebay_apps.live.stream import EventStream
from support.waiting import PATIENCE


class Browser:
    """The other end of a stream, which may stall or leave."""

    def __init__(self, hub: Hub) -> None:
        self.heard: list[Message] = []
        self.takes = asyncio.Event()
        self.takes.set()
        self.gone = asyncio.Event()
        self.stream = asyncio.create_task(EventStream(hub, "vic")({}, self._receive, self._send))

    async def _receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.takes.wait()
        self.heard.append(message)

    @property
    def events(self) -> list[tuple[str, dict[str, Any]]]:
        """What was said: names and data."""
        text = b"".join(each.get("body", b"") for each in self.heard).decode()
        lines = [block.splitlines()[-2:] for block in text.split("\n\n") if block]
        return [(name[7:], json.loads(data[6:])) for name, data in lines]


def run(test: Callable[[Hub], Awaitable[Any]]) -> None:
    async def main() -> None:
        hub = Hub(Database(NOWHERE))
        hub._loop = asyncio.get_running_loop()
        await test(hub)
        await asyncio.sleep(0)
        assert hub.streams == 0

    asyncio.run(main())


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(0.005)


def test_it_begins_with_a_hint_and_says_how_to_come_back() -> None:
    """What happened while nobody listened is fetched on every start: UI6, UI10."""

    async def test(hub: Hub) -> None:
        browser = Browser(hub)
        await until(lambda: len(browser.events) == 1)
        assert browser.heard[1]["body"].startswith(b"retry: ")
        assert browser.events == [("hint", {"version": hub.version, "is_listening": False})]
        browser.gone.set()
        await browser.stream

    run(test)


def test_proxies_are_told_to_pass_it_on_at_once() -> None:
    """Neither buffered nor compressed: UI4."""

    async def test(hub: Hub) -> None:
        browser = Browser(hub)
        await until(lambda: bool(browser.heard))
        headers = dict(browser.heard[0]["headers"])
        assert headers[b"x-accel-buffering"] == b"no"
        assert b"no-transform" in headers[b"cache-control"]
        assert headers[b"content-type"].startswith(b"text/event-stream")
        browser.gone.set()
        await browser.stream

    run(test)


def test_many_changes_make_few_hints() -> None:
    """A thousand a second are a few: at most one in LEAST_SECONDS, and the last is never lost."""

    async def test(hub: Hub) -> None:
        browser = Browser(hub)
        await until(lambda: len(browser.events) == 1)
        for _ in range(1000):
            hub._hear()
            await asyncio.sleep(0)
        await until(lambda: len(browser.events) >= 2)
        await asyncio.sleep(hubs.LEAST_SECONDS * 1.5)
        names = [name for name, _ in browser.events]
        assert 2 <= names.count("hint") <= 4
        assert hub._timer is None
        browser.gone.set()
        await browser.stream

    run(test)


def test_a_change_while_one_is_told_is_told_too() -> None:
    """A browser that takes its time misses nothing: it gets one hint for all it missed."""

    async def test(hub: Hub) -> None:
        browser = Browser(hub)
        await until(lambda: len(browser.events) == 1)
        browser.takes.clear()
        hub._send()
        await asyncio.sleep(0.01)
        hub._send()
        hub._send()
        browser.takes.set()
        await until(lambda: len(browser.events) == 3)
        assert browser.events[-1][1]["version"] == hub.version
        browser.gone.set()
        await browser.stream

    run(test)


def test_hints_come_slower_where_many_pages_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each hint is answered by as many fetches as there are pages."""
    monkeypatch.setattr(hubs, "SECONDS_A_STREAM", 0.5)

    async def test(hub: Hub) -> None:
        hub.streams_of["vic"] = 2
        hub._send()
        hub._hint()
        assert hub._timer is not None
        assert 0.9 < hub._timer.when() - asyncio.get_running_loop().time() < 1.1
        hub._timer.cancel()
        hub.streams_of.clear()

    run(test)


def test_it_is_pinged_and_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a platform's proxy cuts it: UI3; a ping says whether changes are heard."""
    monkeypatch.setattr(module, "PING_EVERY", 0.02)
    monkeypatch.setattr(module, "END_AFTER", 0.1)

    async def test(hub: Hub) -> None:
        browser = Browser(hub)
        async with asyncio.timeout(PATIENCE):
            await browser.stream
        assert [name for name, _ in browser.events][:3] == ["hint", "ping", "ping"]
        assert browser.heard[-1]["more_body"] is False

    run(test)


def test_streams_and_pings_keep_clear_of_what_proxies_cut() -> None:
    """Platforms cut a request after 120 s, and common proxies one that is idle for 60 s; a page
    takes a silence of 35 s for a dead line (SILENCE_MS in live.js)."""
    assert module.END_AFTER + module.SEND_SECONDS < 120
    assert module.PING_EVERY + module.SEND_SECONDS < 35 < 60


def test_a_stalled_browser_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stopped reading without leaving: UI1. Nothing piles up for it, and its slot is free."""
    monkeypatch.setattr(module, "SEND_SECONDS", 0.05)

    async def test(hub: Hub) -> None:
        browser = Browser(hub)
        await until(lambda: len(browser.events) == 1)
        assert hub.streams == 1
        browser.takes.clear()
        hub._send()
        async with asyncio.timeout(PATIENCE):
            await browser.stream
        assert len(browser.heard) == 2

    run(test)


def test_a_thousand_browsers_come_and_go() -> None:
    """Each slot is counted where it is used, so none is lost: UI2. No task is left either."""

    async def test(hub: Hub) -> None:
        before = len(asyncio.all_tasks())
        for _ in range(20):
            browsers = [Browser(hub) for _ in range(50)]
            for number, browser in enumerate(browsers):
                if number % 3 == 0:
                    browser.stream.cancel()  # before anything was sent
                elif number % 3 == 1:
                    browser.gone.set()
            await asyncio.sleep(0.002)
            for browser in browsers:
                browser.gone.set()
            await asyncio.gather(*(each.stream for each in browsers), return_exceptions=True)
        assert hub.streams == 0
        assert len(asyncio.all_tasks()) == before

    run(test)


def test_all_end_at_once_when_the_app_is_to_stop() -> None:
    """The signal comes in another thread than the loop's, or in the middle of it."""

    async def test(hub: Hub) -> None:
        browsers = [Browser(hub) for _ in range(10)]
        await until(lambda: hub.streams == 10)
        threading.Thread(target=hub.begin_stop).start()
        async with asyncio.timeout(1):
            await asyncio.gather(*(each.stream for each in browsers))

    run(test)
