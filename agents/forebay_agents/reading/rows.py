"""Put the characters of a page back into the rows that a reader sees.

A PDF holds text in the order in which it was drawn, so that a label and its value may be far apart
in the text. Their places on the page bring them together again. Gaps are measured in heights of
the text, which is about the line height that its font asks for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from statistics import median

from forebay_agents.pages import Box, Row, Segment
from forebay_agents.reading.characters import Character, Gap
from forebay_agents.reading.drawings import Rule
from forebay_agents.reading.geometry import Frame, as_shown, union, upright

WIDE_GAP = 0.75
"""Wider gaps part segments."""

BARE_GAP = 0.45
"""So do gaps of this width without a space in them, on a page that draws its spaces."""

WORD_GAP = 0.12
"""Wider gaps part words, where pdfium sees one too."""

STRAY_GAP = 0.3
"""Wider gaps part words in any case."""

LEADERS = frozenset("._·…‥ ")
LEADER = 5
"""So many equal marks in a row lead the eye from one cell to the next, and are no words.

Fewer are none either where they stand alone."""


@dataclass(slots=True)
class Piece:
    """Letters drawn one after the other, turned upright; `gaps` are what precedes each of them."""

    texts: list[str]
    gaps: list[tuple[float, Gap]]
    box: Box
    base: float

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1]

    @property
    def spacing(self) -> float:
        """How far the letters are spaced out at least; 0 as long as only two are known."""
        gaps = [gap for gap, _ in self.gaps[1:]]
        return max(min(gaps), 0.0) if len(gaps) > 1 else 0.0


def rows(characters: Sequence[Character], frame: Frame, walls: Sequence[Rule] = ()) -> list[Row]:
    """Group characters, given as drawn, into rows from top to bottom, each from left to right.

    `walls` are upright lines, which part words even where these stand close. Words that run
    another way than most follow after them, and slanted words come last, in one row.
    """
    groups = {angle: [c for c in characters if c.angle == angle] for angle in (0, 90, 180, 270)}
    slanted = [c for c in characters if c.angle is None]
    found: list[Row] = []
    for angle in sorted(groups, key=lambda angle: -len(groups[angle])):
        layout = _Layout(groups[angle], walls if angle == 0 else ())
        pieces = _pieces(groups[angle], angle, frame)
        for row in layout.rows(pieces):
            found.append([replace(s, box=_shown(s.box, angle, frame)) for s in row])
    return found + _slanted(slanted)


def _shown(box: Box, angle: int, frame: Frame) -> Box:
    left, top, right, bottom = as_shown(box, angle, frame.width, frame.height)
    return round(left, 1), round(top, 1), round(right, 1), round(bottom, 1)


def _pieces(characters: Sequence[Character], angle: int, frame: Frame) -> Iterator[Piece]:
    """Yield a piece for each character, turned upright and without leaders."""
    for text, same in groupby(characters, key=lambda character: character.text):
        run = list(same)
        if text in LEADERS and len(run) >= LEADER:
            continue
        for character in run:
            x, y = character.origin
            box = upright(character.box, angle, frame.width, frame.height)
            _, base, _, _ = upright((x, y, x, y), angle, frame.width, frame.height)
            yield Piece([character.text], [(0.0, character.gap)], box, base)


def _slanted(characters: Sequence[Character]) -> list[Row]:
    """Return words across the page, such as a watermark, as they were drawn."""
    if not characters:
        return []
    text = "".join(f" {c.text}" if c.gap else c.text for c in characters)
    return [[Segment(text.strip(), reduce(union, (c.box for c in characters)))]]


class _Layout:
    """Lay out the words of one direction."""

    def __init__(self, characters: Sequence[Character], walls: Sequence[Rule]) -> None:
        self._walls = sorted(walls, key=lambda wall: wall.at)
        self._places = [wall.at for wall in self._walls]
        spaces = sum(character.gap == "meant" for character in characters)
        guesses = sum(character.gap == "guessed" for character in characters)
        self._bare_gap = BARE_GAP if spaces > guesses else WIDE_GAP

    def rows(self, pieces: Iterable[Piece]) -> list[Row]:
        found = []
        for line in _lines(list(self._runs(pieces))):
            ordered = sorted(line, key=lambda piece: piece.box[0])
            row = [Segment(_text(run), run.box) for run in self._runs(_once(ordered))]
            found.append([segment for segment in row if not LEADERS.issuperset(segment.text)])
        return [row for row in found if row]

    def _runs(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Join each piece to the one before it, where nothing parts them."""
        run: Piece | None = None
        for piece in pieces:
            if run is not None and self._belong(run, piece):
                gap = (piece.box[0] - run.box[2], piece.gaps[0][1])
                run.texts += piece.texts
                run.gaps += [gap, *piece.gaps[1:]]
                run.box = union(run.box, piece.box)
            else:
                if run is not None:
                    yield run
                run = piece
        if run is not None:
            yield run

    def _belong(self, one: Piece, other: Piece) -> bool:
        if not _on_one_line(one, other):
            return False
        gap, height = other.box[0] - one.box[2], _height(one, other)
        if gap <= WORD_GAP * height:
            return gap > -height
        widest = WIDE_GAP if other.gaps[0][1] == "meant" else self._bare_gap
        return gap <= widest * height + 2 * one.spacing and not self._is_walled(one, other)

    def _is_walled(self, one: Piece, other: Piece) -> bool:
        """Tell whether a line stands between two pieces."""
        y = (one.box[1] + one.box[3]) / 2
        first = bisect_left(self._places, one.box[2] - 1)
        for wall in self._walls[first:]:
            if wall.at > other.box[0] + 1:
                break
            if wall.start <= y <= wall.end:
                return True
        return False


def _lines(runs: list[Piece]) -> list[list[Piece]]:
    """Gather the runs of each line, the highest line first."""
    lines: list[list[Piece]] = []
    for run in sorted(runs, key=lambda run: run.base):
        near = [line for line in lines[-3:] if _on_one_line(line[0], run)]
        if near:
            min(near, key=lambda line: abs(line[0].base - run.base)).append(run)
        else:
            lines.append([run])
    return lines


def _once(line: Iterable[Piece]) -> Iterator[Piece]:
    """Leave out what is drawn twice, a little aside, to look bold or to throw a shadow."""
    before: list[Piece] = []
    for piece in line:
        near = 0.15 * piece.height
        if not any(
            other.texts == piece.texts and abs(other.box[0] - piece.box[0]) < near
            for other in before[-3:]
        ):
            before.append(piece)
            yield piece


def _on_one_line(one: Piece, other: Piece) -> bool:
    """Tell whether two pieces stand on about the same line, be one of them bigger or not."""
    return abs(one.base - other.base) <= 0.5 * _height(one, other)


def _height(one: Piece, other: Piece) -> float:
    """Return the smaller height of two pieces."""
    return max(min(one.height, other.height), 1.0)


def _text(run: Piece) -> str:
    """Return a run's text, with spaces between its words and not between spaced-out letters."""
    height = max(run.height, 1.0)
    spacing = _spacing(run) if len(run.texts) > 3 else 0.0
    is_spaced = spacing > WORD_GAP * height
    text = run.texts[0]
    for letter, (gap, kind) in zip(run.texts[1:], run.gaps[1:], strict=True):
        if is_spaced:
            parted = kind == "meant" or gap > spacing + STRAY_GAP * height
        else:
            least = {"meant": -height, "guessed": WORD_GAP * height, "": STRAY_GAP * height}
            parted = gap > least[kind]
        text += f" {letter}" if parted else letter
    return _unspaced(text.strip())


def _spacing(run: Piece) -> float:
    return median(gap for gap, _ in run.gaps[1:])


def _unspaced(text: str) -> str:
    """Close words whose letters are parted by spaces: I N V O I C E."""
    letters = text.split(" ")
    is_spaced = len(letters) > 4 and all(len(t) == 1 and t.isalpha() for t in letters)
    return "".join(letters) if is_spaced else text
