"""Talk to an endpoint with headers of ours only, and take answers of bounded size only.

Imports `openai`, which is slow to load: import this module where a call is made.
"""

import time
from collections.abc import Iterator

import httpx2
from openai import DefaultHttpxClient, Omit, OpenAI

from forebay_agents.models import refusals
from forebay_agents.models.settings import Endpoint

MOST_BYTES = 10_000_000
"""Of the body of an answer, a refusal's too; real ones have some kilobytes."""


def connect(endpoint: Endpoint) -> OpenAI:
    """Return a client that tries nothing again and raises Retry for answers that are too large."""
    return OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        timeout=endpoint.timeout,
        max_retries=0,
        http_client=DefaultHttpxClient(event_hooks={"response": [_bound]}),
    )


def own_headers(client: OpenAI) -> dict[str, str | Omit]:
    """Return the headers of a call: none that OPENAI_* variables of the machine add to them."""
    return {name.lower(): Omit() for name in client.default_headers} | {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "authorization": f"Bearer {client.api_key}",
    }


def _bound(response: httpx2.Response) -> None:
    """Bound the body of a response before it is read."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise refusals.too_large()
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream, response.request.extensions["timeout"]["read"])


class _Bounded(httpx2.SyncByteStream):
    """Pass a body on, as long as it is not too large and does not take too long."""

    def __init__(self, body: httpx2.SyncByteStream, seconds: float) -> None:
        self._body = body
        self._end = time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_BYTES
        for piece in self._body:
            left -= len(piece)
            if left < 0:
                raise refusals.too_large()
            if time.monotonic() > self._end:
                raise httpx2.ReadTimeout("The answer has no end.")
            yield piece

    def close(self) -> None:
        self._body.close()
