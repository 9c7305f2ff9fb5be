"""What one call asks for: how much it takes in, what comes out, and how long that takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forebay_lab.model_server.tokens import decode, encode

PREFIX = "x-lab-"
"""Headers that make a call cost what they say: x-lab-input-tokens, -output-tokens, -seconds."""

LABEL = f"{PREFIX}call"
"""A header that comes back in the log."""

MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """The work of one call; seconds None leaves the time to the endpoint's pace.

    `prompt` are its tokens, none where only their number is known.
    """

    input_tokens: int
    output_tokens: int = 0
    text: str = ""
    seconds: float | None = None
    prompt: Sequence[int] = ()
    is_cut: bool = False

    @classmethod
    def synthetic(cls, headers: Mapping[str, str]) -> "Job | None":
        """Return the work that x-lab headers state, None without them; raises ValueError."""
        if f"{PREFIX}input-tokens" not in headers:
            return None
        names = ("input-tokens", "output-tokens", "seconds")
        tokens, output, seconds = (float(headers.get(PREFIX + name, 0)) for name in names)
        if not all(0 <= number <= MOST for number in (tokens, output, seconds)):
            raise ValueError("x-lab headers state numbers from 0 on")
        return cls(int(tokens), int(output), "synthetic", seconds)

    @classmethod
    def of(cls, prompt: Sequence[int]) -> "Job":
        """Return the work of reading a prompt, without an answer yet."""
        return cls(len(prompt), prompt=prompt)

    def answered(self, text: str) -> "Job":
        """Return it with an answer."""
        return replace(self, text=text, output_tokens=len(encode(text)))

    def cut(self, most: int | None) -> "Job":
        """Return it with an answer of at most so many tokens."""
        if most is None or self.output_tokens <= most:
            return self
        text = decode(encode(self.text)[:most])
        return replace(self, text=text, output_tokens=most, is_cut=True)


def most_output(request: dict[str, Any]) -> int | None:
    """Return how many tokens a request lets its answer have, None where it sets no limit."""
    said = request.get("max_completion_tokens", request.get("max_tokens"))
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else None
