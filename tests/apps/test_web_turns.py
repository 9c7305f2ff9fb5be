"""What takes long has turns: who waits for one waits in the loop, and for nobody's thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

import httpx
import pytest
from anyio.to_thread import current_default_thread_limiter

from apps.conftest import ClientOf
from apps.support.documents import ReadBatch
from apps.support.serving import Served
from forebay_apps.intake import documents
from forebay_apps.intake.findings import Findings
from forebay_apps.intake.pictures import Pictures
from forebay_apps.web.errors import Refusal
from forebay_apps.web.turns import Turns
from forebay_apps.web.users import Users
from support.waiting import PATIENCE

MANY = 60
"""More than the threads that pages share."""


def test_one_too_many_is_told_so_and_takes_no_thread_of_the_pages() -> None:
    """Neither those who have a turn nor those who wait for one."""
    release = threading.Event()

    async def ask() -> list[object]:
        turns = Turns(2, 0.2, "Too many.")
        asked = [
            asyncio.create_task(turns.run(f"person {number}", release.wait, PATIENCE))
            for number in range(MANY)
        ]
        while sum(each.done() for each in asked) < MANY - 2:
            await asyncio.sleep(0.01)
        assert current_default_thread_limiter().borrowed_tokens == 0
        release.set()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert await turns.run("person 0", release.wait, 10)  # every turn was given back
        return list(found)

    found = asyncio.run(ask())
    refused = [each for each in found if isinstance(each, Refusal)]
    assert found.count(True) == 2
    assert {(each.status, str(each)) for each in refused} == {(503, "Too many.")}
    assert len(refused) == MANY - 2


def test_who_asks_for_much_waits_for_himself() -> None:
    """Another comes between, however many of the first are in the line."""
    order: list[str] = []

    async def ask() -> None:
        turns = Turns(1, 5, "Too many.", each=1)
        asked = [turns.run("mila", order.append, "mila") for _ in range(9)]
        await asyncio.gather(*asked, turns.run("alice", order.append, "alice"))

    asyncio.run(ask())
    assert order.index("alice") <= 2


class Unread(Findings):
    """What was found, but for the number of pages."""

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.page_count = None


def while_many_wait(ask: Callable[[], object], at_work: threading.Event, seen: httpx.Client) -> int:
    """Have many ask for what does not end, and return how a page of another is answered."""
    with ThreadPoolExecutor(MANY) as pool:
        asked = [pool.submit(ask) for _ in range(MANY)]
        assert at_work.wait(10)
        wait(asked, timeout=1)
        with suppress(httpx.TimeoutException):
            return seen.get("/batches", timeout=5).status_code
    return 0


@pytest.mark.parametrize("what", ["/pages/1.png", ""])
def test_pages_are_answered_while_one_person_looks_at_many(
    what: str,
    intake: Served,
    read_batch: ReadBatch,
    client: ClientOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pictures are drawn, and pages counted, in threads of their own."""
    at_work, release = threading.Event(), threading.Event()

    def stuck(*_arguments: object) -> bytes:
        at_work.set()
        release.wait(8)
        return b""

    monkeypatch.setattr(Pictures, "_drawn", stuck)
    monkeypatch.setattr(Pictures, "_counted", lambda *said: len(stuck(*said)) + 1)
    monkeypatch.setattr(documents, "Findings", Unread)
    alice, mila = client(intake, "alice"), client(intake, "mila")
    path = f"/batches/{read_batch.batch_id}/documents/{read_batch.tasks['invoice-long']}{what}"
    try:
        assert while_many_wait(lambda: alice.get(path, timeout=20), at_work, mila) == 200
    finally:
        release.set()


def test_pages_are_answered_while_many_log_in(
    intake: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passwords are checked in threads of their own; who waits too long is told so."""
    at_work, release = threading.Event(), threading.Event()

    def stuck(*_arguments: object) -> None:
        at_work.set()
        release.wait(8)

    mila = client(intake, "mila")
    monkeypatch.setattr(Users, "checked", stuck)
    monkeypatch.setattr("forebay_apps.web.tries.FREE", MANY)
    codes: list[int] = []

    def log_in() -> None:
        with httpx.Client(base_url=intake.url, headers={"Origin": intake.url}, timeout=20) as one:
            answer = one.post("/login", data={"name": "mila", "password": "guess"})
            codes.append(answer.status_code)
            if answer.status_code == 503:
                assert "Too many people log in at this moment: try again." in answer.text

    try:
        assert while_many_wait(log_in, at_work, mila) == 200
    finally:
        release.set()
    assert codes.count(503) == MANY - 2
