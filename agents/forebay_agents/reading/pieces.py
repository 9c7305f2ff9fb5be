"""Letters in their places, and how those that stand in one line become words.

Gaps are measured in heights of the text, which is about the line height that its font asks for.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf
from statistics import median

from forebay_agents.pages import Box, union
from forebay_agents.reading.characters import LINE_HYPHEN, Gap

WORD_GAP = 0.12
"""Gaps up to this width are those between the letters of a word."""

GUESSED_GAP = 0.08
"""Wider gaps part words, where pdfium sees a space too."""

STRAY_GAP = 0.3
"""Wider gaps part words in any case."""

WIDE_SPACE = 0.2
"""So do those between Chinese, Japanese and Korean characters where pdfium sees a space."""


@dataclass(slots=True)
class Piece:
    """Letters of one line, turned upright; `gaps` are what precedes each of them.

    `base` is where the line stands, `space` the width of a space drawn before the first letter,
    and `least` the smallest gap so far.
    """

    texts: list[str]
    gaps: list[tuple[float, Gap]]
    box: Box
    base: float
    space: float = 0.0
    least: float = inf

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1]

    @property
    def spacing(self) -> float:
        """How far the letters are spaced out at least; 0 as long as only two are known."""
        return max(self.least, 0.0) if len(self.gaps) > 2 else 0.0

    def copy(self) -> Piece:
        return replace(self, texts=[*self.texts], gaps=[*self.gaps])

    def add(self, other: Piece) -> None:
        """Put another piece behind this one."""
        gap = other.box[0] - self.box[2]
        self.texts += other.texts
        self.gaps += [(gap, other.gaps[0][1]), *other.gaps[1:]]
        self.box = union((self.box, other.box))
        self.least = min(self.least, gap, other.least)

    def text(self, hyphen: str = "-") -> str:
        """Return the words, with `hyphen` for one that parts a word at the line's end."""
        if is_leftward(self.texts[0]) and is_leftward(self.texts[-1]):
            return _joined(self.texts[::-1], [(0.0, ""), *self.gaps[:0:-1]], self.height)
        return _joined(self.texts, self.gaps, self.height).replace(LINE_HYPHEN, hyphen)


def column(run: list[Piece]) -> Piece:
    """Return pieces that stand one under the other as one."""
    texts = [text for piece in run for text in piece.texts]
    gaps: list[tuple[float, Gap]] = [(0.0, piece.gaps[0][1]) for piece in run]
    return Piece(texts, gaps, union(piece.box for piece in run), run[0].base)


def as_seen(pieces: list[Piece]) -> list[Piece]:
    """Return pieces with those that are written from right to left in the order seen."""
    seen: list[Piece] = []
    for leftward, same in groupby(pieces, key=lambda piece: is_leftward(piece.texts[0])):
        run = list(same)
        if leftward:
            run.reverse()
            kinds: list[Gap] = ["", *(piece.gaps[0][1] for piece in run)]
            for piece, kind in zip(run, kinds, strict=False):
                piece.gaps = [(0.0, kind)]
        seen += run
    return seen


def on_one_line(one: Piece, other: Piece) -> bool:
    """Tell whether two pieces stand on about the same line, be one of them bigger or not."""
    return abs(one.base - other.base) <= 0.5 * lower_height(one, other)


def lower_height(one: Piece, other: Piece) -> float:
    """Return the smaller height of two pieces."""
    return max(min(one.height, other.height), 1.0)


def is_wide(text: str) -> bool:
    """Tell whether a character is one of Chinese, Japanese or Korean."""
    return unicodedata.east_asian_width(text[0]) in "WF"


def is_leftward(text: str) -> bool:
    """Tell whether a character is one of a script written from right to left."""
    return text > "\u0590" and unicodedata.bidirectional(text[0]) in ("R", "AL")


def _joined(texts: list[str], gaps: list[tuple[float, Gap]], height: float) -> str:
    """Return letters with spaces between words, and none between spaced-out letters."""
    height = max(height, 1.0)
    spacing = _spacing(texts, gaps) / height
    bare_gap = WORD_GAP if _is_close(gaps, height) else STRAY_GAP
    parts = [texts[0]]
    for letter, (gap, kind) in zip(texts[1:], gaps[1:], strict=True):
        match is_wide(parts[-1]) + is_wide(letter):
            case 2:
                least = WIDE_SPACE if kind == "guessed" else inf
            case _ if spacing > WORD_GAP:
                least = spacing + STRAY_GAP
            case 1:
                least = STRAY_GAP
            case _:
                least = GUESSED_GAP if kind == "guessed" else bare_gap
        parts += [" ", letter] if kind == "meant" or gap > least * height else [letter]
    return _unspaced("".join(parts).strip())


def _is_close(gaps: list[tuple[float, Gap]], height: float) -> bool:
    """Tell whether letters touch wherever no gap parts words: then any gap that is bare does."""
    letters = [gap for gap, kind in gaps[1:] if kind == "" and gap <= WORD_GAP * height]
    touching = sum(abs(gap) < 0.02 * height for gap in letters)
    return len(letters) > 4 and touching > 0.9 * len(letters)


def _spacing(texts: list[str], gaps: list[tuple[float, Gap]]) -> float:
    """Return how far apart letters are set; 0 where some stand close, as they do in words."""
    letters = sorted(gap for gap, kind in gaps[1:] if kind != "meant")
    if len(letters) < 3 or sum(map(len, texts)) > 1.3 * len(texts):
        return 0.0
    return median(letters) if letters[len(letters) // 5] > 0.5 * median(letters) else 0.0


def _unspaced(text: str) -> str:
    """Close words whose letters are parted by spaces: I N V O I C E."""
    letters = text.split(" ")
    enough = 3 if is_wide(letters[0] or " ") else 5
    is_spaced = len(letters) >= enough and all(len(t) == 1 and t.isalpha() for t in letters)
    return "".join(letters) if is_spaced else text
