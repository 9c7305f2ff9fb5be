"""Count tokens as real endpoints do: with a real tokenizer, and what is cached among them."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Any

import bpe_openai

ENCODING = "o200k_base"
FRAME = 4
"""Tokens that frame a message."""
PICTURE = 1000
"""Tokens that stand for a picture; real models count by its size."""

CACHED_FROM = 1024
CACHED_BY = 128
"""A prefix is cached from this many tokens on, in steps of so many."""
REMEMBERED = 50
"""Prompts that the cache remembers."""


@cache
def _encoding() -> Any:
    return bpe_openai.get_encoding(ENCODING)


def encode(text: str) -> list[int]:
    """Return the tokens of a text."""
    tokens: list[int] = _encoding().encode_ordinary(text)
    return tokens


def decode(tokens: list[int]) -> str:
    """Return the text of tokens; what is no whole character becomes a replacement."""
    text: str = _encoding().decode(tokens)
    return text


def prompt_tokens(request: dict[str, Any]) -> list[int]:
    """Return the tokens of a request: its schema first, which all requests of a kind share."""
    form = request.get("response_format") or {}
    schema = form.get("json_schema", {}).get("schema")
    tokens = encode(json.dumps(schema, separators=(",", ":"))) if schema else []
    for message in request["messages"]:
        tokens += [0] * FRAME + encode(text_of(message)) + [0] * PICTURE * len(pictures(message))
    return tokens


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, whose content may have parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def pictures(message: dict[str, Any]) -> list[str]:
    """Return the URLs of a message's pictures."""
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [part["image_url"]["url"] for part in content if part.get("type") == "image_url"]


class PromptCache:
    """Tell how much of a prompt is a prefix that was sent before."""

    def __init__(self) -> None:
        self._prompts: list[Sequence[int]] = []

    def cached(self, prompt: Sequence[int]) -> int:
        """Return the tokens of the longest known prefix, and remember the prompt."""
        longest = max((_common(prompt, known) for known in self._prompts), default=0)
        self._prompts = [*self._prompts, prompt][-REMEMBERED:]
        return longest // CACHED_BY * CACHED_BY if longest >= CACHED_FROM else 0


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
