"""How many tokens a document's prompts and a call have, told from their sizes alone.

The constants are measured on the samples: `python -m forebay_lab.prompt_sizes` prints how far off
the estimates are.
"""

import math
from dataclasses import dataclass
from unicodedata import east_asian_width

from forebay_agents.models.settings import DEFAULT_CONTEXT_TOKENS

PROMPT = 960
"""Tokens of a call without its text: the prompt, the schema, and what frames the messages."""

PAGE = 12
"""Tokens that mark where a page begins."""

CHARACTER = 0.25
"""Tokens for a character of narrow script that is no digit, spaces too."""

DIGIT = 1.1
"""Tokens for a digit, with the marks and the gaps that stand around numbers."""

WIDE = 0.8
"""Tokens for a wide character: Chinese, Japanese, Korean."""

DIGITS = 0.1
"""The share of digits among narrow characters where it is not known."""

ANSWER_SHARE = 2.0
"""Tokens of the answer for each token of text, at most: it repeats line items with their keys."""

CAUTION = 1.1
"""What a call is asked for, by its estimate: too little would be refused, too much comes back."""

USUAL_SHARE = 0.5
"""Tokens of the answer for each token of text, as a rule."""

SHORTEST_ANSWER = 150
"""Tokens of an answer that finds nothing."""

PICTURE = 1_500
"""Tokens that stand for a picture: as input, and of the answer that copies it."""

SAFETY = 0.8
"""The share of the room that a chunk may take, since sizes are estimates."""


@dataclass(frozen=True, slots=True)
class TextSize:
    """How much text there is; `digits` are narrow ones, None where they were not counted."""

    pages: int
    characters: int
    wide_characters: int = 0
    digits: int | None = None

    @classmethod
    def of(cls, text: str, pages: int = 1) -> "TextSize":
        """Return the size of a text."""
        wide = sum(east_asian_width(character) in "WF" for character in text)
        digits = sum(character in "0123456789" for character in text)
        return cls(pages, len(text), wide, digits)

    def tokens(self) -> int:
        """Return about how many tokens the text takes, without the prompt around it."""
        narrow = max(0, self.characters - self.wide_characters)
        digits = narrow * DIGITS if self.digits is None else min(self.digits, narrow)
        text = (narrow - digits) * CHARACTER + digits * DIGIT + self.wide_characters * WIDE
        return math.ceil(self.pages * PAGE + text)


def chunk_tokens(context_tokens: int) -> int:
    """Return how many tokens of text a call takes, so that the answer fits the context too.

    The context holds LEAST_CONTEXT_TOKENS or more: settings see to that.
    """
    return int((context_tokens - PROMPT) / (1 + ANSWER_SHARE) * SAFETY)


@dataclass(frozen=True, slots=True)
class CallSize:
    """About how many tokens a call takes in all, and how many of them its answer may have."""

    tokens: int
    output_tokens: int

    @classmethod
    def of(cls, prompt: str, document: str, pictures: int) -> "CallSize":
        """Return the size of a call, of whose prompt the document's text is a part."""
        given = TextSize.of(prompt, pages=0).tokens() * CAUTION + pictures * PICTURE
        said = TextSize.of(document, pages=0).tokens() * USUAL_SHARE + pictures * PICTURE
        answer = math.ceil(said) + SHORTEST_ANSWER
        return cls(math.ceil(given) + answer, answer)


def estimate_tokens(
    pages: int,
    characters: int,
    wide_characters: int,
    digits: int | None = None,
    context_tokens: int = DEFAULT_CONTEXT_TOKENS,
) -> int:
    """Return about how many tokens the prompts of all calls for a document have together.

    `wide_characters` and `digits` are parts of `characters`: those of Chinese, Japanese and Korean
    scripts, and the narrow digits; without the digits the estimate is coarser.
    """
    text = TextSize(pages, characters, wide_characters, digits).tokens()
    return math.ceil(text / chunk_tokens(context_tokens)) * PROMPT + text
