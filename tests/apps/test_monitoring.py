"""GET /metrics: what Prometheus reads, and who may."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from apps.conftest import ClientOf, Outage, Serve
from apps.support.busy import Busy
from apps.support.serving import Served
from forebay.calls import viewer
from forebay.errors import SettingError
from forebay_apps.orchestrator.app import create_app

TOKEN = "a token of the scraper's"


@pytest.fixture
def app(serve: Serve) -> Served:
    """Serve the dashboard with a token for scrapers."""
    return serve("orchestrator", FOREBAY_METRICS_TOKEN=TOKEN)


@pytest.fixture
def http(app: Served) -> Iterator[httpx.Client]:
    """Give a client that nobody has logged in with."""
    with httpx.Client(base_url=app.url, timeout=30) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    """Return the header that bears a token."""
    return {"Authorization": f"Bearer {token}"}


def test_it_says_what_the_stored_function_says(
    http: httpx.Client, busy: Busy, db: psycopg.Connection
) -> None:
    """Every gauge of it with its labels, as Prometheus parses them."""
    answer = http.get("/metrics", headers=bearer(TOKEN))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    families = list(text_string_to_metric_families(answer.text))
    assert all(family.documentation for family in families)
    found = {(s.name, tuple(sorted(s.labels.items()))) for f in families for s in f.samples}
    told = {(g.metric, tuple(sorted(g.labels.items()))) for g in viewer.monitoring(db)}
    assert {name for name, _ in found} == {name for name, _ in told}
    assert found >= told
    assert any("agent" in dict(labels) for _, labels in found)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        bearer("another token"),
        bearer(TOKEN + "x"),
        {"Authorization": TOKEN},
    ],
)
def test_strangers_are_refused(http: httpx.Client, headers: dict[str, str]) -> None:
    """401 without the token."""
    assert http.get("/metrics", headers=headers).status_code == 401


def test_viewers_may_look(app: Served, client: ClientOf, orchestrator: Served) -> None:
    """Who has logged in and may see the dashboard may see this; without a token nobody else."""
    assert client(app, "vic").get("/metrics").status_code == 200
    with httpx.Client(base_url=orchestrator.url) as stranger:
        assert stranger.get("/metrics", headers={"Authorization": "Bearer"}).status_code == 401


def test_without_the_database_it_says_so(http: httpx.Client, outage: Outage) -> None:
    """503: the scrape failed, and no figure is made up."""
    with outage():
        assert http.get("/metrics", headers=bearer(TOKEN)).status_code == 503
    assert http.get("/metrics", headers=bearer(TOKEN)).status_code == 200


def test_a_short_token_is_refused() -> None:
    """Nobody guesses one of 16 characters."""
    with pytest.raises(SettingError, match="FOREBAY_METRICS_TOKEN"):
        create_app({"FOREBAY_DATABASE_URL": "host=/nowhere", "FOREBAY_METRICS_TOKEN": "short"})
