"""Traces of requests and of what they ask the database, where OpenTelemetry is set up.

Set OTEL_EXPORTER_OTLP_ENDPOINT, and what else the SDK reads, to have them exported. A span has the
route, the status, the stored function's name and how long it took; never an argument, an address
with its query, or an answer. What loops ask beside the requests, every few seconds, is no trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, StatusCode, get_current_span
from psycopg import Connection, Cursor
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forebay.settings import address, text

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
NAME = "OTEL_SERVICE_NAME"
QUIET = ("/static/", "/healthz", "/events")  # paths without spans
FUNCTION = re.compile(r"\bforebay\.\w+(?=\()")


class Tracing:
    """Make spans and export them."""

    def __init__(self, service: str, exporter: SpanExporter) -> None:
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("forebay")
        self._cursor = self._cursor_class()

    @classmethod
    def of(cls, environment: Mapping[str, str], service: str) -> Tracing | None:
        """Return what the environment sets up, or None; `service` is its name, if it has none.

        Raises SettingError.
        """
        if not address(environment, ENDPOINT):
            return None
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return cls(text(environment, NAME) or service, OTLPSpanExporter())

    def middleware(self, app: ASGIApp) -> ASGIApp:
        """Return the app with a span around each request, named by its route."""

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"].startswith(QUIET):
                await app(scope, receive, send)
                return
            with self._span(scope["method"], SpanKind.SERVER) as span:
                span.set_attribute("http.request.method", scope["method"])

                async def send_on(message: Message) -> None:
                    if message["type"] == "http.response.start":
                        _note(span, scope, message["status"])
                    await send(message)

                await app(scope, receive, send_on)

        return traced

    def configure(self, connection: Connection[Any]) -> None:
        """Have what this connection is asked become spans of the request that asks, if one does."""
        connection.cursor_factory = self._cursor

    def close(self) -> None:
        """Export what is left."""
        self._provider.shutdown()

    @contextmanager
    def _span(self, name: str, kind: SpanKind) -> Iterator[Span]:
        """Begin a span that is the parent of those inside; an error is noted without its text."""
        with self._tracer.start_as_current_span(
            name, kind=kind, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_status(StatusCode.ERROR, type(error).__name__)
                raise

    def _cursor_class(self) -> type[Cursor[Any]]:
        span = self._span

        class TracedCursor(Cursor[Any]):
            def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
                is_asked_for = get_current_span().get_span_context().is_valid
                found = FUNCTION.search(query) if isinstance(query, str) else None
                if not found or not is_asked_for:
                    return super().execute(query, *arguments, **options)
                with span(found[0], SpanKind.CLIENT) as call:
                    call.set_attribute("db.system.name", "postgresql")
                    return super().execute(query, *arguments, **options)

        return TracedCursor


def _note(span: Span, scope: Scope, status: int) -> None:
    """Name a request's span by its route, which is known once it is answered."""
    if path := getattr(scope.get("route"), "path", ""):
        span.update_name(f"{scope['method']} {path}")
        span.set_attribute("http.route", path)
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(StatusCode.ERROR)
