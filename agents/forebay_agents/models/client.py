"""One call to a chat endpoint: stopped in time, reported, and its refusals told apart."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from forebay.agent import Attempt, Retry
from forebay.jsonb import mended
from forebay.tokens import tokens_of
from forebay_agents import paid, stopping
from forebay_agents.checkpoints import Checkpoints
from forebay_agents.models import refusals
from forebay_agents.models.answer import (
    InvalidAnswer,
    Shape,
    read,
    response_format,
    schema_text,
)
from forebay_agents.models.estimate import CallSize
from forebay_agents.models.prompts import complaint
from forebay_agents.models.settings import Endpoint

if TYPE_CHECKING:
    from openai import APIError

    from forebay_agents.models.connection import Connection

Message = dict[str, Any]

LONGEST_REPEATED = 2000
"""Characters of an answer that the repair repeats: more may not fit the context beside another."""


class Truncated(Exception):
    """The answer ended at the endpoint's limit of output: ask about less text."""


@dataclass(frozen=True, slots=True)
class Call:
    """Name a call among those of its attempt, and say in words how far the attempt was.

    `key` is that of its answer among the checkpoints.
    """

    call_id: str
    key: str
    where: str

    def again(self) -> Call:
        """Return the call that asks for a better answer."""
        return replace(self, call_id=f"{self.call_id}-repair", key=f"{self.key}-repair")


class Client:
    """Ask one model; retries are off, since they belong to the queue."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._connection: Connection | None = None

    def answer(
        self,
        call: Call,
        messages: Sequence[Message],
        shape: type[Shape],
        attempt: Attempt,
        checkpoints: Checkpoints,
    ) -> Shape:
        """Return the model's answer in its shape, after one repair if it needs that.

        Answers that were paid for before are not asked for again. Raises InvalidAnswer when the
        second answer is no better, Truncated, ContextExceeded or Filtered where other text may
        help, Retry for every other refusal, for a stop, and for an answer that is none.
        """
        text = self._answer(call, messages, shape, attempt, checkpoints)
        try:
            return read(shape, text)
        except InvalidAnswer as invalid:
            about = complaint(str(invalid))
        again = [
            *messages,
            {"role": "assistant", "content": mended(text[:LONGEST_REPEATED])},
            {"role": "user", "content": about},
        ]
        return read(shape, self._answer(call.again(), again, shape, attempt, checkpoints))

    def _answer(
        self,
        call: Call,
        messages: Sequence[Message],
        shape: type[BaseModel],
        attempt: Attempt,
        checkpoints: Checkpoints,
    ) -> str:
        """Return the text of the model's answer, kept or asked for; raises as `answer` does."""
        said = paid.kept(checkpoints, call.key, _Said.model_validate, attempt)
        if said is None:
            answer, usage = self._asked(call, messages, shape, attempt)
            said = answer.said()
            if said is None:
                attempt.usage(usage)
                raise self._refusal(answer) from answer.error
            paid.keep(checkpoints, call.key, said.model_dump(), usage, attempt)
        return said.text()

    def _asked(
        self, call: Call, messages: Sequence[Message], shape: type[BaseModel], attempt: Attempt
    ) -> tuple[_Answer, dict[str, Any]]:
        """Make the call; return what came back, and what it used. Raises Retry for a stop."""
        connection = stopping.wait_for(attempt, call.where, self._connected)
        size = _size(messages, shape)
        attempt.wait_to_call(size.tokens, size.output_tokens, call.call_id)
        started, clock = datetime.now(UTC), time.monotonic()
        send = partial(_send, connection, self._request(messages, shape))
        try:
            answer = stopping.wait_for(attempt, call.where, send, self.endpoint.timeout)
        except TimeoutError:  # some endpoints keep the connection busy until there is an answer
            answer = _Answer(None, refusals.too_slow())
        return answer, self._usage(call, answer, started, time.monotonic() - clock)

    def _refusal(self, answer: _Answer) -> Exception:
        if answer.error is not None:
            return refusals.meaning(answer.error, self.endpoint)
        return Retry(
            "The model endpoint's answer holds no choice: check that it speaks the chat API."
        )

    def _request(self, messages: Sequence[Message], shape: type[BaseModel]) -> dict[str, Any]:
        form = response_format(shape, self.endpoint.structured)
        request = {"model": self.endpoint.name, "messages": list(messages)}
        return request | ({"response_format": form} if form else {})

    def _connected(self) -> Connection:
        """Return the client, which is slow to load: a call whose turn it is must go at once."""
        from forebay_agents.models.connection import Connection

        self._connection = self._connection or Connection(self.endpoint)
        return self._connection

    def _usage(
        self, call: Call, answer: _Answer, started: datetime, seconds: float
    ) -> dict[str, Any]:
        """Return what to report, also of a failed call: what it asked quotas for comes back."""
        nothing = {"input_tokens": 0, "output_tokens": 0} if refusals.is_free(answer.error) else {}
        told = {
            "call_id": call.call_id,
            "source": "agent",
            "model": self.endpoint.name,
            "started_at": started.isoformat(),
            "latency_ms": round(seconds * 1000),
        }
        return told | nothing | _used(answer.body)


class _Said(BaseModel):
    """What is kept of an answer: its text, and whether it has an end or was held back."""

    content: str
    end: Literal["stop", "length", "filtered"]

    def text(self) -> str:
        """Return the text; raises Truncated or Filtered."""
        match self.end:
            case "length":
                raise Truncated
            case "filtered":
                raise refusals.Filtered
        return self.content


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came back: the JSON of the body, None if it is none, and the error if it is one."""

    body: Any
    error: APIError | Retry | None = None

    def said(self) -> _Said | None:
        """Return what the model said, "" for an answer without text; None if it is no answer."""
        choices = None if self.error else _within(self.body, "choices")
        if not isinstance(choices, list) or not choices:
            return None
        reason, message = _within(choices[0], "finish_reason"), _within(choices[0], "message")
        if reason == "length":
            return _Said(content="", end="length")
        if reason == "content_filter" or _within(message, "refusal"):
            return _Said(content="", end="filtered")
        content = _within(message, "content")
        return _Said(content=content if isinstance(content, str) else "", end="stop")


def _send(connection: Connection, request: dict[str, Any], *, is_again: bool = False) -> _Answer:
    """Make the call; runs in a thread of its own, which a stop leaves behind.

    A bearer that was refused is renewed, and the call made again: no model has seen it.
    """
    from openai import APIError, AuthenticationError

    try:
        return _Answer(_json(connection.create(request)))
    except Retry as refused:
        return _Answer(None, refused)
    except APIError as failed:
        if isinstance(failed, AuthenticationError) and not is_again and connection.renew():
            return _send(connection, request, is_again=True)
        return _Answer(_json(getattr(getattr(failed, "response", None), "text", "")), failed)


def _size(messages: Sequence[Message], shape: type[BaseModel]) -> CallSize:
    """Return about how many tokens a request with these messages takes."""
    parts = [part for message in messages for part in _parts(message)]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    document = "\n".join(texts[1:])
    return CallSize.of(
        "\n".join([*texts, schema_text(shape)]), document, pictures=len(parts) - len(texts)
    )


def _parts(message: Message) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _used(body: Any) -> dict[str, int]:
    """Return the numbers of the usage that the body holds; one that is missing stays missing."""
    tokens = tokens_of(_within(body, "usage"))
    numbers = {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cached_tokens": tokens.cached,
    }
    return {name: number for name, number in numbers.items() if number is not None}


def _within(value: Any, *keys: str) -> Any:
    """Return what stands under the keys, None where there is no such place."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
