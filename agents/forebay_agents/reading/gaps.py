"""How wide the gaps of a page are between words that belong together, in heights of the text."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from forebay_agents.reading.pieces import WORD_GAP, Piece, is_wide, lower_height, on_one_line

WIDE_GAP = 0.75
"""Wider gaps part segments."""

BARE_GAP = 0.38
"""So do gaps of this width without a space in them, on a page with even spaces."""

ONE_SPACE = 1.3
"""A gap of up to so many widths of the space drawn in it parts nothing, however wide the space."""


def widest_gaps(pieces: Sequence[Piece]) -> tuple[float, float]:
    """Return how wide gaps without and with a space may be inside of a cell, in heights.

    The first is narrow where spaces between words are drawn, or all about equally wide. Gaps
    between letters that are all set apart, as in a title, tell nothing.
    """
    if pitch := _pitch(pieces):
        return ONE_SPACE * pitch, ONE_SPACE * pitch
    if words := _gaps_of_words(pieces):
        return WIDE_GAP, max(WIDE_GAP, 1.6 * median(words))
    gaps, drawn, was_close = [], 0, False
    for one, other in pairwise(pieces):
        gap = (other.box[0] - one.box[2]) / lower_height(one, other)
        is_close = gap <= WORD_GAP
        if was_close and not is_close and gap <= WIDE_GAP and on_one_line(one, other):
            gaps.append(gap)
            drawn += other.gaps[0][1] == "meant"
        was_close = is_close
    usual = median(gaps) if gaps else 0.0
    even = sum(abs(gap - usual) <= 0.2 * usual for gap in gaps)
    is_even = max(drawn, even) >= 0.6 * len(gaps)
    return max(BARE_GAP, 1.4 * usual) if is_even else WIDE_GAP, WIDE_GAP


def _gaps_of_words(pieces: Sequence[Piece]) -> list[float]:
    """Return the gaps in a line between pieces that are whole words, as OCR gives them."""
    if sum(len(piece.texts[0]) for piece in pieces) < 2 * len(pieces):
        return []
    pairs = [(one, other) for one, other in pairwise(pieces) if on_one_line(one, other)]
    gaps = [(other.box[0] - one.box[2]) / lower_height(one, other) for one, other in pairs]
    return [gap for gap in gaps if 0 < gap < 1.5]


def _pitch(pieces: Sequence[Piece]) -> float:
    """Return how wide each letter is, in heights, where all are equally wide; else 0."""
    widths = [
        (piece.box[2] - piece.box[0]) / max(piece.height, 1.0)
        for piece in pieces
        if piece.texts[0].isalpha() and not is_wide(piece.texts[0])
    ]
    usual = median(widths) if len(widths) >= 10 else 0.0
    even = sum(abs(width - usual) <= 0.1 * usual for width in widths)
    return usual if len(widths) and even >= 0.9 * len(widths) else 0.0
