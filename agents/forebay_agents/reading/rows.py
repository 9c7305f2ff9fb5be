"""Put the characters of a page back into the rows that a reader sees.

A PDF holds text in the order in which it was drawn, so that a label and its value may be far apart
in the text. Their places on the page bring them together again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from forebay_agents.pages import Box, Row, Segment, rounded, union
from forebay_agents.reading.characters import LINE_HYPHEN, Character
from forebay_agents.reading.drawings import Ruling
from forebay_agents.reading.gaps import ONE_SPACE, widest_gaps
from forebay_agents.reading.geometry import Frame, as_shown, upright
from forebay_agents.reading.lines import lines_of
from forebay_agents.reading.pieces import (
    WORD_GAP,
    Piece,
    as_seen,
    column,
    is_wide,
    lower_height,
    on_one_line,
)

COLUMN = 4
"""So many wide characters, each right under the one before, are written from top to bottom."""

LEADERS = frozenset("._·…‥ ")
LEADER = 5
"""So many equal marks in a row lead the eye from one cell to the next, and are no words.

Fewer are none either where they stand alone."""


def lay_out(
    characters: Sequence[Character], frame: Frame, walls: Sequence[Ruling] = ()
) -> tuple[list[Row], str]:
    """Return the rows of a page, and its text line by line in the order drawn.

    Rows come from top to bottom, each from left to right. `walls` are upright lines, which part
    words even where these stand close. Words that run another way than most follow after them, and
    slanted words come last, in one row.
    """
    groups = {angle: [c for c in characters if c.angle == angle] for angle in (0, 90, 180, 270)}
    found: list[Row] = []
    texts: list[str] = []
    for angle in sorted(groups, key=lambda angle: -len(groups[angle])):
        pieces = as_seen(list(_pieces(groups[angle], angle, frame)))
        layout = _Layout(pieces, walls if angle == 0 else ())
        for row in layout.rows():
            found.append([replace(s, box=_shown(s.box, angle, frame)) for s in row])
        texts.append(layout.text())
    slanted = _slanted([c for c in characters if c.angle is None])
    texts += (segment.text for row in slanted for segment in row)
    return found + slanted, "\n".join(filter(None, texts))


def _shown(box: Box, angle: int, frame: Frame) -> Box:
    return rounded(as_shown(box, angle, frame.width, frame.height))


def _pieces(characters: Sequence[Character], angle: int, frame: Frame) -> Iterator[Piece]:
    """Yield a piece for each character, turned upright and without leaders."""
    for text, same in groupby(characters, key=lambda character: character.text):
        run = list(same)
        if text in LEADERS and len(run) >= LEADER:
            continue
        for character in run:
            x, y = character.origin
            left, *rest = upright(character.box, angle, frame.width, frame.height)
            start, base, _, _ = upright((x, y, x, y), angle, frame.width, frame.height)
            box = (min(left, max(start, left - rest[1] + rest[0])), rest[0], rest[1], rest[2])
            yield Piece([character.text], [(0.0, character.gap)], box, base, character.space)


def _slanted(characters: Sequence[Character]) -> list[Row]:
    """Return words across the page, such as a watermark, as they were drawn."""
    if not characters:
        return []
    text = "".join(f" {c.text}" if c.gap else c.text for c in characters)
    return [[Segment(text.strip(), union(c.box for c in characters))]]


class _Layout:
    """Lay out the words of one direction."""

    def __init__(self, pieces: Sequence[Piece], walls: Sequence[Ruling]) -> None:
        self._walls = sorted(walls, key=lambda wall: wall.at)
        self._places = [wall.at for wall in self._walls]
        self._bare_gap, self._wide_gap = widest_gaps(pieces)
        level, self._columns = _columns(pieces)
        self._drawn = list(self._runs(level))

    def rows(self) -> list[Row]:
        """Return the rows, from top to bottom; columns come after them."""
        runs = [run.copy() for run in self._drawn]
        lines = (self._runs(line) for line in lines_of(runs))
        rows = [[Segment(run.text(), run.box) for run in line] for line in lines]
        rows += [[Segment(piece.text(), piece.box)] for piece in self._columns]
        worded = ([s for s in row if not LEADERS.issuperset(s.text)] for row in rows)
        return [_closed_up(row) for row in worded if row]

    def text(self) -> str:
        """Return the lines in the order drawn; a word that a hyphen parts is whole."""
        text, before = "", None
        for run in [*self._drawn, *self._columns]:
            line = run.text(LINE_HYPHEN)
            if text.endswith(LINE_HYPHEN):
                text = text[:-1] + ("" if line[0].islower() else "-\n")
            elif before:
                text += " " if on_one_line(before, run) else "\n"
            text, before = text + line, run
        return text.replace(LINE_HYPHEN, "-")

    def _runs(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Join each piece to the one before it, where nothing parts them."""
        run: Piece | None = None
        for piece in pieces:
            if run is not None and self._belong(run, piece):
                run.add(piece)
            else:
                if run is not None:
                    yield run
                run = piece
        if run is not None:
            yield run

    def _belong(self, one: Piece, other: Piece) -> bool:
        if not on_one_line(one, other):
            return False
        gap, height = other.box[0] - one.box[2], lower_height(one, other)
        if gap <= WORD_GAP * height:
            return gap > -height
        widest = height * (self._wide_gap if other.gaps[0][1] == "meant" else self._bare_gap)
        widest = max(widest, ONE_SPACE * other.space) + 2 * one.spacing
        return gap <= widest and not self._is_walled(one, other)

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


def _columns(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Part what is written level from columns, which Japanese is written in from top to bottom."""
    level: list[Piece] = []
    columns: list[Piece] = []
    run: list[Piece] = []
    for piece in [*pieces, None]:
        if run and piece and _is_below(run[-1], piece):
            run.append(piece)
            continue
        if len(run) >= COLUMN:
            columns.append(column(run))
        else:
            level += run
        run = [piece] if piece else []
    return level, columns


def _is_below(one: Piece, other: Piece) -> bool:
    """Tell whether a wide character stands right under another."""
    size = one.box[2] - one.box[0]
    is_under = abs(one.box[0] - other.box[0]) < 0.3 * size
    steps = 2 if other.gaps[0][1] else 1
    is_near = 0.7 * size < other.base - one.base < 1.25 * size * steps
    return is_under and is_near and is_wide(one.texts[-1]) and is_wide(other.texts[0])


def _closed_up(row: Row) -> Row:
    """Join single characters that stand apart at even distances, as those of a title do."""
    found: Row = []
    for is_single, same in groupby(row, key=lambda segment: len(segment.text) == 1):
        run = list(same)
        found += [_title(run)] if is_single and _is_title(run) else run
    return found


def _is_title(run: Row) -> bool:
    if len(run) < 2 or not all(segment.text.isalpha() for segment in run):
        return False
    gaps = [other.box[0] - one.box[2] for one, other in pairwise(run)]
    height = run[0].box[3] - run[0].box[1]
    is_even = max(gaps) <= min(2.5 * height, 1.3 * max(min(gaps), 1.0))
    return is_even and (len(run) > 3 or all(is_wide(segment.text) for segment in run))


def _title(run: Row) -> Segment:
    return Segment("".join(s.text for s in run), union(s.box for s in run))
