"""GET /metrics for Prometheus: what the stored function `monitoring` tells, and nothing else."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from forebay.calls import viewer
from forebay.errors import SettingError
from forebay.rows import Gauge
from forebay.settings import is_plain, text
from forebay_apps.web.errors import Refusal
from forebay_apps.web.people import Person

TOKEN = "FOREBAY_METRICS_TOKEN"
LEAST_LENGTH = 16


router = APIRouter()


def read_token(variables: Mapping[str, str]) -> str:
    """Return the token that a scraper bears; empty where none is set. Raises SettingError."""
    token = text(variables, TOKEN)
    if token and len(token) < LEAST_LENGTH:
        raise SettingError(f"{TOKEN} is too short: give it {LEAST_LENGTH} characters or more.")
    if not is_plain(token):
        raise SettingError(f"{TOKEN} cannot stand in a header: give it letters of ASCII alone.")
    return token


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Answer in the text format of Prometheus, to who bears the token or has logged in."""
    _check(request, request.app.state.metrics_token)
    with request.app.state.connections.as_role("viewer") as connection:
        return _response(viewer.monitoring(connection))


def _check(request: Request, token: str) -> None:
    """Raise Refusal unless the request bears the token, or comes from a viewer."""
    scheme, _, said = request.headers.get("authorization", "").partition(" ")
    is_borne = scheme.lower() == "bearer" and secrets.compare_digest(
        said.strip().encode(), token.encode()
    )
    if token and is_borne:
        return
    person: Person | None = request.app.state.identification.identify(request)
    if person is None or not person.may("viewer"):
        raise Refusal(401, f"Send the token of {TOKEN} as Authorization: Bearer TOKEN, or log in.")


def _response(gauges: Sequence[Gauge]) -> Response:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Gauges(gauges))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Gauges(Collector):
    def __init__(self, gauges: Sequence[Gauge]) -> None:
        self._gauges = sorted(gauges, key=lambda gauge: gauge.metric)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield a family for each metric."""
        for name, group in groupby(self._gauges, key=lambda gauge: gauge.metric):
            gauges = list(group)
            labels = sorted({label for gauge in gauges for label in gauge.labels})
            family = GaugeMetricFamily(name, gauges[0].help, labels=labels)
            for gauge in gauges:
                family.add_metric([gauge.labels.get(label, "") for label in labels], gauge.value)
            yield family
