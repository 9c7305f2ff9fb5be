"""The state of the simulated endpoint, and what it answers: all but HTTP."""

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from forebay_lab.model_server import pictures, readers
from forebay_lab.model_server.faults import REFUSALS, Fault, Refusal
from forebay_lab.model_server.tokens import PromptCache, encode, prompt_tokens, text_of
from forebay_lab.model_server.tokens import pictures as pictures_of

FINGERPRINT = "forebay-lab-simulated"
"""Stands in every answer: nothing here is a model."""

HUGE = 20_000_000
"""Bytes of a body that no client should take in."""


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back: a body that is no JSON as text, one that is as a dict.

    For `trickle` seconds only spaces come, before the body.
    """

    status: int
    body: dict[str, Any] | str
    headers: dict[str, str] = field(default_factory=dict)
    trickle: float = 0.0


class ConnectionLost(Exception):
    """The connection is to break without an answer."""


@dataclass
class Simulation:
    """A chat endpoint's settings and memory; tests change the settings between calls.

    `fault` befalls every call, those of `queued` one call each, in order. `transcript` is what
    every picture says; OCR reads them while it is None. `said` replaces what it reads in
    documents, field by field. `requests` remembers the calls, `headers` those of each.
    """

    latency: float = 0.0
    context_tokens: int = 128_000
    is_gullible: bool = False
    api_key: str | None = None
    fault: Fault | None = None
    queued: deque[Fault] = field(default_factory=deque)
    transcript: list[str] | None = None
    said: dict[str, Any] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hung: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._cache = PromptCache()
        self._numbers: Iterator[int] = count(1)

    def complete(self, request: dict[str, Any], api_key: str | None) -> Response:
        """Answer a chat completion; raise ConnectionLost where the fault is that."""
        with self._lock:
            self.requests.append(request)
            fault = self.queued.popleft() if self.queued else self.fault
        time.sleep(self.latency)
        try:
            prompt = prompt_tokens(request)
        except (KeyError, TypeError, AttributeError):
            return _refused(Refusal(400, "invalid_request", "The request has no valid messages."))
        if refused := self._refusal(fault, api_key, prompt):
            return refused
        return self._answered(request, fault, prompt)

    def _refusal(
        self, fault: Fault | None, api_key: str | None, prompt: list[int]
    ) -> Response | None:
        """Return why the call is refused before a model sees it."""
        if self.api_key is not None and api_key != self.api_key:
            return _refused(REFUSALS["unauthorized"])
        if len(prompt) > self.context_tokens:
            return _refused(REFUSALS["context_exceeded"])
        if fault is None or fault.kind not in REFUSALS:
            return None
        usage = {"usage": _usage(len(prompt), 0, 0)} if fault.reports_usage else {}
        return _refused(REFUSALS[fault.kind], dict(fault.headers), usage)

    def _answered(
        self, request: dict[str, Any], fault: Fault | None, prompt: list[int]
    ) -> Response:
        kind = fault.kind if fault else None
        if fault and kind in ("slow", "hang"):
            self.hung.wait(fault.seconds)
        if kind == "reset":
            raise ConnectionLost
        if kind == "broken_body":
            return Response(200, '{"id": "chatcmpl-')
        if kind == "huge_body":
            return Response(200, " " * HUGE)
        text = self._text(request, kind)
        with self._lock:
            cached = self._cache.cached(prompt)
            number = next(self._numbers)
        body = {
            "id": f"chatcmpl-simulated-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": request.get("model"),
            "system_fingerprint": FINGERPRINT,
            "choices": [] if kind == "no_choices" else [_choice(text, kind)],
        }
        used = _usage(len(prompt), len(encode(text)), cached)
        return Response(
            200,
            body if kind == "no_usage" else body | {"usage": used},
            {"content-encoding": "gzip"} if kind == "compressed" else {},
            trickle=fault.seconds if fault and kind == "trickle" else 0.0,
        )

    def _text(self, request: dict[str, Any], kind: str | None) -> str:
        """Return the text of the answer."""
        if kind == "no_json":
            return "I am afraid that I can only answer in prose."
        if kind == "wrong_shape":
            return json.dumps({"total": "a lot", "rows": "many"})
        urls = [url for message in request["messages"] for url in pictures_of(message)]
        if urls:
            rows = pictures.rows(urls[0]) if self.transcript is None else self.transcript
            return json.dumps({"rows": rows}, ensure_ascii=False)
        document = next(text_of(one) for one in request["messages"] if one.get("role") == "user")
        answer = readers.answer(document, self.is_gullible) | self.said
        text = json.dumps(answer, ensure_ascii=False)
        return text[: len(text) // 2] if kind == "length" else text


def _choice(text: str, kind: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    reason = "stop"
    if kind == "refusal":
        message |= {"content": None, "refusal": "I cannot help with that."}
    elif kind == "answer_filtered":
        message, reason = message | {"content": None}, "content_filter"
    elif kind == "length":
        reason = "length"
    return {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}


def _usage(prompt: int, completion: int, cached: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _refused(
    refusal: Refusal,
    headers: dict[str, str] | None = None,
    more: dict[str, Any] | None = None,
) -> Response:
    body = refusal.body() | {"system_fingerprint": FINGERPRINT} | (more or {})
    return Response(refusal.status, body, headers or {})
