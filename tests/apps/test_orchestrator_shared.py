"""What parts of a page share is asked for once, and never older than the last change."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from apps.support.kit import NOWHERE
from forebay.pool import Database
from forebay_apps.live.hub import Hub
from forebay_apps.orchestrator import shared as module
from forebay_apps.orchestrator.shared import Shared


class Source:
    """What is asked: it counts, and answers when the test lets it."""

    def __init__(self) -> None:
        self.asked = 0
        self.begun, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def __call__(self) -> int:
        self.asked += 1
        number = self.asked
        self.begun.set()
        assert self.gate.wait(20)
        return number


@pytest.fixture
def hub() -> Hub:
    """Give a hub that nothing reaches but the test."""
    return Hub(Database(NOWHERE))


def test_who_asks_meanwhile_waits_for_the_same_answer(hub: Hub) -> None:
    """Two parts of a page ask at once; another key does not wait for them."""
    shared: Shared[int] = Shared(hub)
    source = Source()
    source.gate.clear()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(shared.get, "a", source) for _ in range(3)]
        assert source.begun.wait(20)
        assert pool.submit(shared.get, "b", lambda: 7).result(20) == 7
        source.gate.set()
        assert [each.result(20) for each in asked] == [1, 1, 1]


def test_after_a_change_it_is_asked_anew(hub: Hub) -> None:
    """Also when the change came while it was being asked: what it found may be from before."""
    shared: Shared[int] = Shared(hub)
    source = Source()
    assert [shared.get("a", source), shared.get("a", source)] == [1, 1]
    hub.generation += 1
    assert shared.get("a", source) == 2

    def overtaken() -> int:
        hub.generation += 1
        return 0

    hub.generation += 1
    assert shared.get("a", overtaken) == 0
    assert shared.get("a", source) == 3


def test_it_is_kept_for_a_moment_alone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that nobody told of shows all the same, and what is old takes no room."""
    shared: Shared[int] = Shared(hub)
    source = Source()
    assert shared.get("a", source) == 1
    monkeypatch.setattr(module, "SECONDS", 0.0)
    assert shared.get("a", source) == 2
    for key in range(50):
        shared.get(key, source)
    assert len(shared._kept) < 3


def test_a_failure_is_not_kept(hub: Hub) -> None:
    """Who asks next asks again."""
    shared: Shared[int] = Shared(hub)

    def fails() -> int:
        raise RuntimeError("down")

    with pytest.raises(RuntimeError, match="down"):
        shared.get("a", fails)
    assert shared.get("a", lambda: 1) == 1
