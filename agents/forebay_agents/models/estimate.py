"""How many tokens a document's prompts have, told from its size alone.

The constants are measured: `python -m forebay_lab.prompt_sizes` prints how far they are off.
"""

import math

PROMPT = 1500
"""Tokens of a call without its text: the prompt, the schema, and what frames the messages."""

PAGE = 12
"""Tokens that mark where a page begins."""

CHARACTER = 0.33
"""Tokens for a character of text in narrow scripts, with the spaces between columns."""

WIDE = 0.85
"""Tokens for a wide character: Chinese, Japanese, Korean."""

ANSWER_SHARE = 2.0
"""Tokens of the answer for each token of text, at most: it repeats line items with their keys."""

SAFETY = 0.8
"""The share of the room that a chunk may take, since sizes are estimates."""


def text_tokens(pages: int, characters: int, wide_characters: int) -> int:
    """Return about how many tokens the text of pages takes, without the prompt around it."""
    narrow = max(0, characters - wide_characters)
    return math.ceil(pages * PAGE + narrow * CHARACTER + wide_characters * WIDE)


def chunk_tokens(context_tokens: int) -> int:
    """Return how many tokens of text a call takes, so that the answer fits the context too."""
    return max(PAGE, int((context_tokens - PROMPT) / (1 + ANSWER_SHARE) * SAFETY))


def estimate_tokens(
    pages: int, characters: int, wide_characters: int, context_tokens: int = 32_000
) -> int:
    """Return about how many tokens the prompts of all calls for a document have together.

    `wide_characters` are those among `characters` of Chinese, Japanese and Korean scripts.
    """
    text = text_tokens(pages, characters, wide_characters)
    calls = max(1, math.ceil(text / chunk_tokens(context_tokens)))
    return calls * PROMPT + text
