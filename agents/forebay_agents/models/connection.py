"""Talk to an endpoint with headers of ours only, and take answers of bounded size only.

Imports `openai`, which is slow to load: import this module where a call is made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx2
from openai import DefaultHttpxClient, Omit, OpenAI

from forebay.agent import Retry
from forebay.databricks.bearer import Bearer, NoBearer, ambient
from forebay.errors import SettingError
from forebay_agents.models import refusals
from forebay_agents.models.settings import Endpoint

MOST_BYTES = 10_000_000
"""Of the body of an answer, a refusal's too; real ones have some kilobytes."""


class Connection:
    """A client that tries nothing again and raises Retry for answers that are too large.

    For a serving endpoint of Databricks it takes a bearer for each call. Raises Retry where the
    workspace gives none, or none is configured.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._bearer: Bearer | None = ambient() if endpoint.is_databricks else None
        try:
            host = self._bearer.host() if self._bearer else ""
        except (NoBearer, SettingError) as error:
            raise Retry(str(error)) from error
        self._openai = OpenAI(
            base_url=f"{host}/serving-endpoints" if self._bearer else endpoint.base_url,
            api_key=endpoint.api_key,
            timeout=endpoint.timeout,
            max_retries=0,
            http_client=DefaultHttpxClient(event_hooks={"response": [_bound]}),
        )

    def create(self, request: dict[str, Any]) -> str:
        """Make a call and return the body of its answer; raises Retry, and APIError of `openai`."""
        chat = self._openai.chat.completions.with_raw_response
        response = chat.create(**request, extra_headers=self._headers())
        return response.http_response.text

    def renew(self) -> bool:
        """Take another bearer from now on, since it was refused; False where there is none."""
        if self._bearer is not None:
            self._bearer.renew()
        return self._bearer is not None

    def _headers(self) -> dict[str, str | Omit]:
        """Return the headers of a call: none that OPENAI_* variables of the machine add to them."""
        try:
            key = self._bearer.token() if self._bearer else self._openai.api_key
        except (NoBearer, SettingError) as error:
            raise Retry(str(error)) from error
        return {name.lower(): Omit() for name in self._openai.default_headers} | {
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "authorization": f"Bearer {key}",
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
