"""The state of the simulated endpoint, and what it answers: all but HTTP."""

import json
import math
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from forebay_lab.model_server import pictures, readers
from forebay_lab.model_server.faults import REFUSALS, Fault, Refusal
from forebay_lab.model_server.jobs import LABEL, Job, most_output
from forebay_lab.model_server.ledger import CallLog, Exceeded, Ledger
from forebay_lab.model_server.limits import Limit
from forebay_lab.model_server.tokens import PromptCache, prompt_tokens, text_of
from forebay_lab.model_server.tokens import pictures as pictures_of

FINGERPRINT = "forebay-lab-simulated"
"""Stands in every answer: nothing here is a model."""

HUGE = 20_000_000
"""Bytes of a body that no client should take in."""

REMEMBERED = 1_000
"""Calls that the simulation remembers."""

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


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

    A call takes `latency` seconds and the time of its tokens at so many a second, `speed` times as
    fast. `limits` are what the endpoint holds its callers to; `log` is told of each decision.
    `fault` befalls every call, those of `queued` one call each, in order. `transcript` is what
    every picture says; OCR reads them while it is None. `said` replaces what it reads in
    documents, field by field, `used` what it tells of its usage. `requests` remembers the latest
    calls, `headers` those of each; synthetic calls, of which headers state the cost, meet no fault
    and are not remembered.
    """

    latency: float = 0.0
    input_rate: float = math.inf
    output_rate: float = math.inf
    speed: float = 1.0
    limits: tuple[Limit, ...] = ()
    log: CallLog | None = None
    context_tokens: int = 128_000
    is_gullible: bool = False
    api_key: str | None = None
    fault: Fault | None = None
    queued: deque[Fault] = field(default_factory=deque)
    transcript: list[str] | None = None
    said: dict[str, Any] = field(default_factory=dict)
    used: dict[str, Any] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hung: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._ledger = Ledger(self.limits, self.log)
        self._cache = PromptCache()
        self._numbers: Iterator[int] = count(1)

    def complete(
        self,
        request: dict[str, Any],
        api_key: str | None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Response:
        """Answer a chat completion; raise ConnectionLost where the fault is that.

        A call that is refused costs nothing of any limit, whatever the reason.
        """
        fault = None
        try:
            job = Job.synthetic(headers)
            if job is None:
                fault = self._remember(request, headers)
                job = Job.of(prompt_tokens(request))
            if refused := self._refusal(fault, api_key, job):
                return refused
            if not job.text:
                job = job.answered(self._text(request, fault.kind if fault else None))
        except (KeyError, TypeError, AttributeError, ValueError):
            return _refused(Refusal(400, "invalid_request", "The request has no valid messages."))
        return self._limited(request, job, fault, headers.get(LABEL))

    def _remember(self, request: dict[str, Any], headers: Mapping[str, str]) -> Fault | None:
        """Keep what was asked, and return what is to befall the call."""
        with self._lock:
            self.requests.append(request)
            self.headers.append(dict(headers))
            del self.requests[:-REMEMBERED], self.headers[:-REMEMBERED]
            return self.queued.popleft() if self.queued else self.fault

    def _refusal(self, fault: Fault | None, api_key: str | None, job: Job) -> Response | None:
        """Return why the call is refused before a model sees it."""
        if self.api_key is not None and api_key != self.api_key:
            return _refused(REFUSALS["unauthorized"])
        if job.input_tokens > self.context_tokens:
            return _refused(REFUSALS["context_exceeded"])
        if fault is None or fault.kind not in REFUSALS:
            return None
        usage = {"usage": _usage(job, 0)} if fault.reports_usage else {}
        return _refused(REFUSALS[fault.kind], dict(fault.headers), usage)

    def _limited(
        self, request: dict[str, Any], job: Job, fault: Fault | None, label: str | None
    ) -> Response:
        """Answer if the limits allow it: a limit of output is reserved, the rest known already."""
        most = most_output(request)
        job = job.cut(most)
        reserved = job.output_tokens if most is None else most
        call = self._ledger.admit(job.input_tokens, reserved, label)
        if isinstance(call, Exceeded):
            return _limit_reached(call, self._ledger.headers())
        try:
            self.hung.wait(self._seconds(job))
            response = self._answered(request, job, fault)
        finally:
            self._ledger.end(call, job.output_tokens)
        response.headers.update(self._ledger.headers())
        return response

    def _seconds(self, job: Job) -> float:
        if job.seconds is not None:
            return job.seconds
        reading, writing = job.input_tokens / self.input_rate, job.output_tokens / self.output_rate
        return (self.latency + reading + writing) / self.speed

    def _answered(self, request: dict[str, Any], job: Job, fault: Fault | None) -> Response:
        """Return the answer, or what a fault makes of it."""
        kind = fault.kind if fault else None
        if fault and kind in ("slow", "hang"):
            self.hung.wait(fault.seconds)
        if kind == "reset":
            raise ConnectionLost
        if kind == "broken_body":
            return Response(200, '{"id": "chatcmpl-')
        if kind == "huge_body":
            return Response(200, " " * HUGE)
        with self._lock:
            cached = self._cache.cached(job.prompt) if job.prompt else 0
            number = next(self._numbers)
        body = {
            "id": f"chatcmpl-simulated-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": request.get("model"),
            "system_fingerprint": FINGERPRINT,
            "choices": [] if kind == "no_choices" else [_choice(job, kind)],
        }
        return Response(
            200,
            body if kind == "no_usage" else body | {"usage": _usage(job, cached) | self.used},
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
        said = [text_of(one) for one in request["messages"] if one.get("role") == "user"]
        answer = readers.answer(said[0] if said else "", self.is_gullible) | self.said
        text = json.dumps(answer, ensure_ascii=False)
        return text[: len(text) // 2] if kind == "length" else text


def _choice(job: Job, kind: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": job.text, "refusal": None}
    reason = "length" if job.is_cut or kind == "length" else "stop"
    if kind == "refusal":
        message |= {"content": None, "refusal": "I cannot help with that."}
    elif kind == "answer_filtered":
        message, reason = message | {"content": None}, "content_filter"
    return {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}


def _usage(job: Job, cached: int) -> dict[str, Any]:
    return {
        "prompt_tokens": job.input_tokens,
        "completion_tokens": job.output_tokens,
        "total_tokens": job.input_tokens + job.output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _refused(
    refusal: Refusal,
    headers: dict[str, str] | None = None,
    more: dict[str, Any] | None = None,
) -> Response:
    body = refusal.body() | {"system_fingerprint": FINGERPRINT} | (more or {})
    return Response(refusal.status, body, headers or {})


def _limit_reached(exceeded: Exceeded, headers: dict[str, str]) -> Response:
    about = (
        f"Rate limit reached for {exceeded.limit.name}: limit {exceeded.limit.amount},"
        f" left {exceeded.has:g}, needed {exceeded.needs:g}."
    )
    wait = {
        "retry-after": str(max(1, math.ceil(exceeded.wait))),
        "retry-after-ms": str(max(1, math.ceil(exceeded.wait * 1000))),
    }
    return _refused(Refusal(429, "rate_limit_exceeded", about), headers | wait)
