"""Read a document's fields and lines with a language model, chunk by chunk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from forebay.agent import Attempt
from forebay_agents import stopping
from forebay_agents.checkpoints import Checkpoints
from forebay_agents.findings import Findings
from forebay_agents.models import prompts
from forebay_agents.models.answer import Answer, InvalidAnswer, schema_text
from forebay_agents.models.chunks import Chunk, Cutter, with_rows
from forebay_agents.models.client import Call, Client, Message, Truncated
from forebay_agents.models.estimate import chunk_tokens
from forebay_agents.models.instructions import without_orders
from forebay_agents.models.merge import merged
from forebay_agents.models.refusals import ContextExceeded, Filtered, context_too_small
from forebay_agents.models.settings import (
    DEFAULT_CONTEXT_TOKENS,
    Endpoint,
    Structured,
    model_endpoint,
)
from forebay_agents.models.verify import verified
from forebay_agents.pages import Page

MOST_HALVINGS = 5
"""How often a chunk is halved at most, so that an endpoint cannot make the calls go on for ever."""


class Model:
    """A language model at an OpenAI-compatible endpoint that reads documents."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._client = Client(endpoint)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Model | None:
        """Return the configured model, None when there is none; raises SettingError."""
        endpoint = model_endpoint(environment)
        return cls(endpoint) if endpoint else None

    def extract(
        self, pages: Iterable[Page], attempt: Attempt, checkpoints: Checkpoints
    ) -> Findings:
        """Return what the model finds, as far as the pages bear it out; notes tell what is amiss.

        Raises Retry for refusals of the endpoint and for a stop, Reject when the model's context
        holds not even a short piece of a page. An answer that stays invalid is a note.
        """
        held_back: list[str] = []
        reading = _Reading(self._client, attempt, checkpoints)
        parts = list(reading.findings(_shown(pages, held_back)))
        if not parts:
            return Findings(notes=held_back)
        found = merged(parts)
        what = "Read by" if found.unanswered < 1 else "Not read by"
        about = (
            f"{what} the model {self.endpoint.name} with the prompt {prompts.EXTRACT},"
            f" in {len(parts)} part{'s' if len(parts) > 1 else ''}."
        )
        return replace(found, notes=[about, *held_back, *found.notes])


def messages(chunk: Chunk, structured: Structured) -> list[Message]:
    """Return the prompt for a chunk, whose text is fenced off with a mark it does not hold."""
    system = prompts.system_prompt(prompts.EXTRACT, Answer, structured)
    fenced = chunk.fenced(prompts.fence(chunk.text()))
    return [{"role": "system", "content": system}, {"role": "user", "content": fenced}]


def prompt_of(pages: Iterable[Page], context_tokens: int = DEFAULT_CONTEXT_TOKENS) -> list[str]:
    """Return all text of each request that a document makes when the endpoint takes them all."""
    chunks = Cutter(chunk_tokens(context_tokens)).chunks(_shown(pages, []))
    requests = (messages(chunk, "json_schema") for chunk in chunks)
    shape = schema_text(Answer)
    return ["\n".join([system["content"], user["content"], shape]) for system, user in requests]


def _shown(pages: Iterable[Page], held_back: list[str]) -> Iterator[Page]:
    """Yield the pages that say something, without orders to a model; note those held back."""
    for page in pages:
        shown, notes = without_orders(with_rows(page))
        held_back += notes
        if shown.rows:
            yield shown


class _Reading:
    """One document's way through the model."""

    def __init__(self, client: Client, attempt: Attempt, checkpoints: Checkpoints) -> None:
        self._client = client
        self._attempt = attempt
        self._checkpoints = checkpoints
        self._cutter = Cutter(chunk_tokens(client.endpoint.context_tokens))

    def findings(self, pages: Iterable[Page]) -> Iterator[Findings]:
        """Yield what each chunk says, in order; the pages are taken as they are needed."""
        for chunk in self._cutter.chunks(pages):
            yield from self._read(chunk)

    def _read(self, chunk: Chunk, halvings: int = 0) -> Iterator[Findings]:
        """Yield the findings of a chunk, or of its halves where it is too long for the endpoint."""
        try:
            answer = self._answer(chunk)
            where = f"while the model's answer about {chunk.spoken} was checked"
            yield stopping.wait_for(self._attempt, where, lambda: verified(answer, chunk.pages))
        except Filtered:
            yield _unanswered(f"The model refused to read {chunk.spoken}.")
        except InvalidAnswer:
            yield _unanswered(f"The model's answer about {chunk.spoken} was not usable.")
        except (ContextExceeded, Truncated) as too_long:
            if isinstance(too_long, ContextExceeded):
                self._cutter.tokens = min(self._cutter.tokens, chunk.tokens() // 2)
            halves = chunk.halves() if halvings < MOST_HALVINGS else []
            for half in halves:
                yield from self._read(half, halvings + 1)
            if not halves:
                yield self._given_up(chunk, too_long)

    def _answer(self, chunk: Chunk) -> Answer:
        """Return the model's answer about a chunk."""
        where = f"while the model read {chunk.spoken}"
        call = Call(f"extract-{chunk.name}", self._key(chunk), where)
        prompt = messages(chunk, self._client.endpoint.structured)
        return self._client.answer(call, prompt, Answer, self._attempt, self._checkpoints)

    def _key(self, chunk: Chunk) -> str:
        endpoint = self._client.endpoint
        prompt = prompts.system_prompt(prompts.EXTRACT, Answer, endpoint.structured)
        asked = [endpoint.base_url, endpoint.name, prompt, schema_text(Answer), chunk.fenced("")]
        return f"chunk-{chunk.name}-{hashlib.sha256(repr(asked).encode()).hexdigest()[:8]}"

    def _given_up(self, chunk: Chunk, reason: Exception) -> Findings:
        if isinstance(reason, ContextExceeded):
            raise context_too_small(self._client.endpoint) from reason
        return _unanswered(f"The model's answer about {chunk.spoken} had no end.")


def _unanswered(note: str) -> Findings:
    return Findings(notes=[note], unanswered=1.0)
