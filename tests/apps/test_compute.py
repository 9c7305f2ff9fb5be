"""What compute cost, on the overview: only when somebody asks, and honest about what it is."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import psycopg
import pytest
from playwright.sync_api import expect

from apps.conftest import ClientOf, Serve, Visit
from apps.support.busy import Busy
from forebay.calls import viewer
from forebay.compute import refresh_local
from forebay_apps.orchestrator import compute
from support.waiting import until

RATE = {"FOREBAY_COMPUTE_USD_PER_HOUR": "3.6"}


def test_it_is_worked_out_when_a_person_asks(
    busy: Busy, serve: Serve, visit: Visit, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it is unknown; while it goes on the page says loading, and shows it by itself."""
    may_go_on = threading.Event()

    def slowly(*arguments: Any, **named: Any) -> int:
        may_go_on.wait(20)
        return refresh_local(*arguments, **named)

    monkeypatch.setattr(compute, "refresh_local", slowly)
    app = serve("orchestrator", **RATE)
    page = visit(app, "/")
    tile = page.locator("section", has=page.get_by_role("heading", name="Compute cost")).last
    expect(tile).to_contain_text("unknown")
    assert viewer.metrics(db).costed_attempts == 0
    tile.get_by_role("button").click()
    expect(tile).to_contain_text("loading")
    may_go_on.set()
    expect(tile).to_contain_text("provisional", timeout=15_000)
    expect(tile).to_contain_text("$")
    assert viewer.metrics(db).costed_attempts > 0


def test_one_look_up_at_a_time(
    busy: Busy, serve: Serve, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks while it goes on waits for the same; an error is a sentence, and may pass."""
    begun: list[threading.Event] = []

    def fails(*_arguments: Any, **_named: Any) -> int:
        begun.append(threading.Event())
        begun[-1].wait(20)
        raise psycopg.OperationalError("server closed the connection")

    monkeypatch.setattr(compute, "refresh_local", fails)
    app = serve("orchestrator", **RATE)
    vic, oscar = client(app, "vic"), client(app, "oscar")
    for person in (vic, oscar):
        answer = ask(person, "/?range=7d&agent=x")
        assert (answer.status_code, answer.headers["Location"]) == (303, "/?range=7d&agent=x")
    until(lambda: begun)
    assert "loading" in vic.get("/").text
    begun[0].set()
    until(lambda: "loading" not in vic.get("/").text)
    assert len(begun) == 1
    assert "does not answer" in vic.get("/").text or "Try again" in vic.get("/").text
    monkeypatch.setattr(compute, "refresh_local", refresh_local)
    ask(vic)
    until(lambda: "provisional" in vic.get("/").text)
    assert "Try again" not in vic.get("/").text


def test_without_a_rate_it_says_what_to_set(serve: Serve, client: ClientOf) -> None:
    """And asks nobody."""
    app = serve("orchestrator")
    vic = client(app, "vic")
    assert "FOREBAY_COMPUTE_USD_PER_HOUR" in vic.get("/").text
    assert ask(vic).status_code == 303
    assert "loading" not in vic.get("/").text


@pytest.mark.parametrize("next", ["https://elsewhere/", "//elsewhere/", "javascript:alert(1)"])
def test_it_leads_nowhere_else(serve: Serve, client: ClientOf, next: str) -> None:
    """Back to a page of this app, whatever the form says."""
    answer = ask(client(serve("orchestrator", **RATE), "vic"), next)
    assert answer.headers["Location"] == "/"


def test_a_submitter_may_not_ask(serve: Serve, client: ClientOf) -> None:
    """It is for those who see the dashboard."""
    assert ask(client(serve("orchestrator", **RATE), "mila")).status_code == 403


def ask(person: httpx.Client, next: str = "/") -> httpx.Response:
    """Press the button."""
    return person.post("/overview/compute", data={"next": next})
