"""Traces: a span for each request, by its route, and under it what the database was asked."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from apps.conftest import ClientOf, Outage, Serve
from apps.support.busy import Busy
from forebay_apps.orchestrator.announce import Announcer
from forebay_apps.web.tracing import Tracing
from support.waiting import until

SERVER, CLIENT, ERROR = 2, 3, 2


@contextmanager
def collecting() -> Iterator[tuple[str, list[bytes]]]:
    """Serve a collector of traces beside the block; give its address and what it was sent."""
    sent: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            is_zipped = self.headers.get("Content-Encoding") == "gzip"
            assert self.path == "/v1/traces"
            sent.append(gzip.decompress(body) if is_zipped else body)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_arguments: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def spans(sent: list[bytes]) -> list[tuple[str, Any]]:
    """Return the spans with the name of their service."""
    found = []
    for body in sent:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
            for scope in resource.scope_spans:
                found += [(named["service.name"], span) for span in scope.spans]
    return found


def test_requests_and_their_calls_are_spans(
    busy: Busy,
    serve: Serve,
    client: ClientOf,
    outage: Outage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Named by route and function, without addresses, arguments and answers; errors are marked."""
    with collecting() as (endpoint, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        app = serve("orchestrator", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint)
        vic = client(app, "vic")
        assert vic.get("/tasks?search=a-secret-number").status_code == 200
        assert vic.get("/healthz").status_code == 200
        with outage():
            assert vic.get("/metrics").status_code == 503
        assert app.app.state.tracing
        app.app.state.tracing.close()
        found = spans(sent)
    assert {service for service, _ in found} == {"forebay-orchestrator"}
    by_name = {span.name: span for _, span in found}
    page = by_name["GET /tasks"]
    calls = {span.name for _, span in found if span.trace_id == page.trace_id} - {"GET /tasks"}
    assert "forebay.list_tasks" in calls
    call = next(span for _, span in found if span.name == "forebay.list_tasks")
    assert (page.kind, call.kind) == (SERVER, CLIENT)
    assert call.parent_span_id
    assert by_name["GET /metrics"].status.code == ERROR
    assert not any("healthz" in span.name for _, span in found)
    assert b"a-secret-number" not in b"".join(sent)


def test_what_is_asked_beside_the_requests_is_no_trace(
    busy: Busy, serve: Serve, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The announcer looks again and again; what a person's request leaves to a thread is traced."""
    looked = threading.Event()
    looks = Announcer.step

    def step(self: Announcer) -> None:
        looks(self)
        looked.set()

    monkeypatch.setattr(Announcer, "step", step)
    with collecting() as (endpoint, sent):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        app = serve(
            "orchestrator",
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            FOREBAY_WEBHOOK_URL=endpoint,
            FOREBAY_WEBHOOK_SECRET="whsec_" + "A" * 32,
            FOREBAY_COMPUTE_USD_PER_HOUR="1",
        )
        assert looked.wait(10)
        vic = client(app, "vic")
        assert vic.post("/overview/compute").status_code == 303
        until(lambda: not app.app.state.compute.state.is_loading)
        assert app.app.state.tracing
        app.app.state.tracing.close()
        found = [span for _, span in spans(sent)]
    (asked,) = [span for span in found if span.name == "POST /overview/compute"]
    roots = {span.name for span in found if not span.parent_span_id}
    assert roots == {"POST /login", "POST /overview/compute"}
    assert "forebay.record_compute_usage" in {
        span.name for span in found if span.trace_id == asked.trace_id
    }


def test_the_service_is_called_as_its_settings_say() -> None:
    """Several dashboards of one collector are told apart."""
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    for settings, name in ((where, "forebay-x"), (where | {"OTEL_SERVICE_NAME": "own"}, "own")):
        tracing = Tracing.of(settings, "forebay-x")
        assert tracing
        assert tracing._provider.resource.attributes["service.name"] == name
        tracing.close()


def test_without_a_collector_there_are_none(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is set up, and nothing is sent."""
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    assert serve("orchestrator").app.state.tracing is None
