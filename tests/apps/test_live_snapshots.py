"""Answers are made one at a time, shared, never older than the last change, never out of order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.support.kit import NOWHERE
from forebay.pool import Database
from forebay_apps.live import snapshots as module
from forebay_apps.live.hub import Hub
from forebay_apps.live.snapshots import Slow, Snapshot, Snapshots


class Source:
    """What answers are made of: it counts, and answers when the test lets it."""

    def __init__(self) -> None:
        self.made = self.at_once = self.most_at_once = 0
        self.state = "first"
        self.gate = asyncio.Event()
        self.gate.set()

    async def make(self) -> bytes:
        self.made += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        seen = self.state  # the query sees the state at its start
        try:
            await self.gate.wait()
        finally:
            self.at_once -= 1
        if seen == "broken":
            raise RuntimeError(seen)
        return seen.encode()


def run(test: Callable[[Hub, Snapshots, Source], Awaitable[Any]]) -> None:
    """Run a test in a loop, with a hub that nothing reaches but the test."""

    async def main() -> None:
        hub = Hub(Database(NOWHERE))
        hub._loop = asyncio.get_running_loop()
        await test(hub, Snapshots(hub), Source())

    asyncio.run(main())


def number(snapshot: Snapshot) -> int:
    return int(snapshot.version.split(".")[1])


def test_many_who_ask_at_once_share_one_answer() -> None:
    """Fifty pages cost the database what one costs."""

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        found = await asyncio.gather(*(snapshots.answer("a", source.make) for _ in range(50)))
        again = await snapshots.answer("a", source.make)
        assert {each.version for each in [*found, again]} == {again.version}
        assert source.made == 1

    run(test)


def test_after_a_change_nobody_gets_an_answer_from_before_it() -> None:
    """Neither one that is kept nor one that was begun before the change."""

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        source.gate.clear()
        before = asyncio.create_task(snapshots.answer("a", source.make))
        await asyncio.sleep(0.01)
        source.state = "second"
        hub.changed()
        after = asyncio.create_task(snapshots.answer("a", source.make))
        await asyncio.sleep(0.01)
        source.gate.set()
        assert (await before).body == b"first"
        assert (await after).body == b"second"
        assert number(await after) > number(await before)
        assert (await snapshots.answer("a", source.make)).body == b"second"

    run(test)


def test_a_slow_database_is_asked_one_thing_at_a_time() -> None:
    """However often it changes and however many ask: one is made, one more waits for its turn."""

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        source.gate.clear()
        asking = []
        for _ in range(20):
            asking += [asyncio.create_task(snapshots.answer("a", source.make)) for _ in range(3)]
            await asyncio.sleep(0)
            hub.changed()
        await asyncio.sleep(0.01)
        assert source.made == 1
        source.gate.set()
        found = await asyncio.gather(*asking)
        assert source.most_at_once == 1
        assert source.made == 2
        versions = [number(each) for each in found]
        assert versions == sorted(versions)

    run(test)


def test_different_answers_share_a_bounded_room() -> None:
    """A hundred filters of a hundred people do not ask the database a hundred things at once."""

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        source.gate.clear()
        asking = [asyncio.create_task(snapshots.answer(n, source.make)) for n in range(100)]
        await asyncio.sleep(0.01)
        assert source.at_once == module.AT_ONCE
        source.gate.set()
        await asyncio.gather(*asking)
        assert source.most_at_once == module.AT_ONCE

    run(test)


def test_whoever_waits_too_long_gets_the_older_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its version and its age, so that the page can say that it is stale; or is told why."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.02)

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        first = await snapshots.answer("a", source.make)
        source.gate.clear()
        hub.changed()
        assert await snapshots.answer("a", source.make) is first
        with pytest.raises(Slow):
            await snapshots.answer("b", source.make)
        assert source.made == 3
        source.gate.set()

    run(test)


def test_an_answer_is_used_again_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """What changes without a notification (a lease, progress inside a document) shows soon too."""
    monkeypatch.setattr(module, "REUSE_SECONDS", 0.02)

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        await snapshots.answer("a", source.make)
        await asyncio.sleep(0.03)
        await snapshots.answer("a", source.make)
        assert source.made == 2

    run(test)


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    """The next one who asks has it made again."""

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        source.state = "broken"
        asking = (snapshots.answer("a", source.make) for _ in range(3))
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert [type(each) for each in found] == [RuntimeError] * 3
        source.state = "mended"
        assert (await snapshots.answer("a", source.make)).body == b"mended"
        assert source.made == 2

    run(test)


def test_a_browser_that_leaves_takes_nothing_from_the_others() -> None:
    """The answer that it began is finished for those who share it."""

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        source.gate.clear()
        leaving = asyncio.create_task(snapshots.answer("a", source.make))
        staying = asyncio.create_task(snapshots.answer("a", source.make))
        await asyncio.sleep(0.01)
        leaving.cancel()
        source.gate.set()
        assert (await staying).body == b"first"
        assert source.made == 1

    run(test)


def test_no_more_than_a_number_of_answers_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses are endless: a stranger's curiosity must not fill the memory."""
    monkeypatch.setattr(module, "KEPT", 3)

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        for key in range(10):
            await snapshots.answer(key, source.make)
        assert list(snapshots._kept) == [7, 8, 9]
        assert not snapshots._flights

    run(test)


def test_what_is_kept_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some answers are documents and results: what is kept longest goes first."""
    monkeypatch.setattr(module, "KEPT_BYTES", 12)

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        for key in range(4):
            await snapshots.answer(key, source.make)  # 5 bytes each
        assert list(snapshots._kept) == [2, 3]
        hub.changed()
        await snapshots.answer(2, source.make)
        assert list(snapshots._kept) == [3, 2]
        source.state = "longer than all that may be kept"
        hub.changed()
        assert (await snapshots.answer(3, source.make)).body == source.state.encode()
        assert not snapshots._kept
        assert snapshots._bytes == 0

    run(test)


def test_nothing_stays_in_memory_that_nobody_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person has looked at is gone a minute later, also where nobody looks any more."""
    monkeypatch.setattr(module, "KEPT_SECONDS", 0.02)
    monkeypatch.setattr(module, "LOOK_EVERY", 0.01)

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        for _ in range(2):
            await snapshots.answer("a", source.make)
            assert snapshots._kept
            async with asyncio.timeout(5):
                while snapshots._kept or snapshots._timer:
                    await asyncio.sleep(0.01)

    run(test)


def test_an_answer_that_is_too_old_stands_in_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Better no figure than one of an hour ago."""
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.02)
    monkeypatch.setattr(module, "KEPT_SECONDS", 0.01)

    async def test(hub: Hub, snapshots: Snapshots, source: Source) -> None:
        await snapshots.answer("a", source.make)
        source.gate.clear()
        hub.changed()
        with pytest.raises(Slow):
            await snapshots.answer("a", source.make)
        assert "a" in snapshots._kept  # until the next look
        source.gate.set()

    run(test)


def test_content_that_differs_in_how_long_ago_something_was_has_the_same_tag() -> None:
    """Pages count that themselves: nothing is sent, and nothing swapped, for it."""

    def tag(body: str) -> str:
        return Snapshot(body.encode(), "b.1", 1, datetime.now(UTC), 0.0).tag

    at = '<p>1 task, <time datetime="2026-07-01T12:00:00Z" title="x">{} ago</time></p>'
    assert tag(at.format("3 s")) == tag(at.format("4 s"))
    assert tag(at.format("3 s")) != tag(at.format("3 s").replace("1 task", "2 tasks"))
    assert tag(at.format("3 s")) != tag(at.format("3 s").replace("07-01", "07-02"))
