"""The tokens of one call, from how providers tell them: input with what came from the cache.

Providers differ in what they call input. OpenAI counts cached tokens into it, so do Databricks'
endpoints, also of Claude, and so does MLflow when it records a call itself. Anthropic and Bedrock
tell them beside it, read and written apart. What is no number of tokens is unknown, and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 10**12  # that report_usage takes of one call
BESIDE = ("anthropic", "bedrock", "amazon")  # providers whose input leaves out cached tokens


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call used; None is unknown. `cached` is the part of `input` that a cache gave."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None


def tokens_of(usage: object, provider: object = None) -> Tokens:
    """Return the tokens that an object of usage tells, MLflow's or a provider's own."""
    if not isinstance(usage, Mapping):
        return Tokens()
    given = _first(usage, "input_tokens", "prompt_tokens", "inputTokens")
    output = _first(usage, "output_tokens", "completion_tokens", "outputTokens")
    read = _first(usage, "cache_read_input_tokens", "cacheReadInputTokens")
    written = _first(usage, "cache_creation_input_tokens", "cacheWriteInputTokens")
    apart = (read or 0) + (written or 0)
    if read is None:  # a detail of the input is part of it
        read = _detail(usage, "prompt_tokens_details", "input_tokens_details")
    if given is None:
        return Tokens(None, output, None)
    if apart and _is_beside(usage, provider, given, output or 0, apart):
        given = _count(given + apart)
    if given is None or (read is not None and read > given):
        return Tokens(given, output, None)
    return Tokens(given, output, read)


def _is_beside(
    usage: Mapping[str, Any], provider: object, given: int, output: int, apart: int
) -> bool:
    """Tell whether cached tokens are not in the input: by the sums, else by who says so.

    Anthropic's own object has no total; one that MLflow made of it has, and cached tokens are in
    the input there. A `prompt_tokens` holds them, unless the sums say that it cannot.
    """
    if "inputTokens" in usage:  # Bedrock's own
        return True
    if apart > given:
        return not _is_named(provider, "openai", "azure")
    total = _first(usage, "total_tokens", "totalTokens")
    if total is not None:
        return total == given + output + apart
    return "input_tokens" in usage and _is_named(provider, *BESIDE)


def _is_named(provider: object, *names: str) -> bool:
    return isinstance(provider, str) and any(name in provider.casefold() for name in names)


def _first(usage: Mapping[str, Any], *names: str) -> int | None:
    """Return the first of these that is a number of tokens."""
    return next((n for name in names if (n := _count(usage.get(name))) is not None), None)


def _detail(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        details = usage.get(name)
        if isinstance(details, Mapping):
            return _count(details.get("cached_tokens"))
    return None


def _count(value: object) -> int | None:
    """Return a value that is a number of tokens, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_TOKENS or value != int(value):  # also NaN
        return None
    return int(value)
