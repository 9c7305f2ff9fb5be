"""Requests, answers and routes: what every area of the stand-in is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

from forebay_lab.workspace.access import Principal


class ApiError(Exception):
    """An error as the API sends it: a status, an `error_code` and a message."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})


class Readable(Protocol):
    """What bytes can be read from, once."""

    def read(self, size: int = -1) -> bytes: ...


@dataclass(slots=True)
class Request:
    """One request. `params` are the parts of the path, `query` the last value of each name.

    `body` is read from the connection as it is asked for: at most `length` bytes.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Readable
    length: int
    base_url: str
    principal: Principal | None = None
    params: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """Return the body's JSON object. Raises ApiError for anything else."""
        try:
            read = json.loads(self.body.read() or b"{}")
        except ValueError:
            raise ApiError(400, "MALFORMED_REQUEST", "The body is not JSON.") from None
        if not isinstance(read, dict):
            raise ApiError(400, "MALFORMED_REQUEST", "The body is not a JSON object.")
        return read


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back: JSON, or chunks of bytes with their length among the headers."""

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None


Handler = Callable[[Request], Any]
H = TypeVar("H", bound=Callable[..., Any])


def route(method: str, path: str, *, is_open: bool = False) -> Callable[[H], H]:
    """Mark a method of an area as the handler of requests.

    `path` has `{name}` for a part, and `{name...}` for all that follows; `is_open` needs no token.
    The handler takes the Request and returns an Answer, or the JSON of a 200.
    """

    def mark(handler: H) -> H:
        marked = [*getattr(handler, "_routes", []), (method, path, is_open)]
        handler._routes = marked  # type: ignore[attr-defined]
        return handler

    return mark


class Area:
    """One part of the API, with what it keeps; its handlers are marked with `route`."""

    def routes(self) -> list[Route]:
        """Return the routes of the methods that are marked."""
        handlers = [getattr(self, name) for name in dir(type(self))]
        return [
            Route(method, _pattern(path), is_open, handler)
            for handler in handlers
            for method, path, is_open in getattr(handler, "_routes", [])
        ]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a handler is reached."""

    method: str
    pattern: re.Pattern[str]
    is_open: bool
    handler: Handler

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """Return the parts of a path that this route takes, decoded; None if it does not."""
        found = self.pattern.fullmatch(path) if method == self.method else None
        return None if found is None else {k: unquote(v) for k, v in found.groupdict().items()}


def _pattern(path: str) -> re.Pattern[str]:
    escaped = re.escape(path)
    everything = re.sub(r"\\\{(\w+)\\\.\\\.\\\.\\\}", r"(?P<\1>.*)", escaped)
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", everything))
