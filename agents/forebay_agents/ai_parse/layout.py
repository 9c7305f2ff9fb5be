"""Lay elements out as the rows, tables and text of a page, as our own reading would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forebay_agents.ai_parse import html_table
from forebay_agents.ai_parse.answer import Element
from forebay_agents.pages import GAP, Box, Page, Row, Segment, Table, row_text, union

POINTS = 72
"""To an inch."""

UNSAID = 0.9
"""The certainty of an element that tells none."""


def laid_out(page: Page, elements: Sequence[Element], dpi: float) -> Page:
    """Return the page with the words of these elements in place of its own.

    Their boxes are in pixels of a picture with so many `dpi`; where that puts one outside of the
    page, all are drawn in until they fit.
    """
    scale = _scale(page, elements, dpi)
    lines: list[_Line] = []
    tables: list[Table] = []
    for element in elements:
        box = _scaled(element.box, scale)
        cells = html_table.rows(element.content) if element.kind == "table" else []
        if cells:
            tables.append(Table(cells, box))
            lines += _table_lines(cells, box)
        else:
            lines += _text_lines(element.content, box)
    rows = _rows(lines)
    return replace(
        page,
        text="\n".join(map(row_text, rows)),
        rows=rows,
        tables=sorted(tables, key=lambda table: (table.box[1], table.box[0])),
        coverage=_coverage(page, rows),
        needs_ocr=False,
        lacks_font=False,
        is_broken=False,
        source="ai_parse",
        certainty=_certainty(elements),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    segments: Row
    box: Box


def _scale(page: Page, elements: Sequence[Element], dpi: float) -> float:
    _, _, right, bottom = union(element.box for element in elements)
    fits = [POINTS / dpi]
    fits += [page.width / right] if right > 0 and page.width > 0 else []
    fits += [page.height / bottom] if bottom > 0 and page.height > 0 else []
    return min(fits)


def _scaled(box: Box, scale: float) -> Box:
    left, top, right, bottom = (round(edge * scale, 1) for edge in box)
    return left, top, right, bottom


def _text_lines(content: str, box: Box) -> list[_Line]:
    """Return the lines of a text, evenly over its box; its letters are all equally wide."""
    texts = [text.strip() for text in content.splitlines() if text.strip()]
    left, top, right, bottom = box
    height = (bottom - top) / max(1, len(texts))
    letter = (right - left) / max(map(len, texts), default=1)
    return [
        _line(_segments(text, left, letter, (top + height * at, top + height * (at + 1))))
        for at, text in enumerate(texts)
    ]


def _segments(text: str, left: float, letter: float, edges: tuple[float, float]) -> Row:
    segments, start = [], 0
    for part in text.split(GAP):
        if part.strip():
            box = (left + start * letter, edges[0], left + (start + len(part)) * letter, edges[1])
            segments.append(Segment(part.strip(), box))
        start += len(part) + len(GAP)
    return segments


def _table_lines(cells: list[list[str]], box: Box) -> list[_Line]:
    """Return a line for each row of a table, its columns as wide as their longest text asks for."""
    left, top, right, bottom = box
    longest = [max(map(len, column), default=0) + 2 for column in zip(*cells, strict=True)]
    letter = (right - left) / sum(longest)
    starts = [left + letter * sum(longest[:at]) for at in range(len(longest))]
    height = (bottom - top) / len(cells)
    lines = []
    for at, row in enumerate(cells):
        edges = top + height * at, top + height * (at + 1)
        segments = [
            Segment(text, (start, edges[0], start + letter * len(text), edges[1]))
            for start, text in zip(starts, row, strict=True)
            if text
        ]
        lines += [_line(segments)] if segments else []
    return lines


def _line(segments: Row) -> _Line:
    return _Line(segments, union(segment.box for segment in segments))


def _rows(lines: list[_Line]) -> list[Row]:
    """Return the rows from top to bottom: lines whose middles lie within each other are one."""
    rows: list[list[_Line]] = []
    for line in sorted(lines, key=lambda line: (line.box[1] + line.box[3], line.box[0])):
        if rows and all(_is_beside(line.box, other.box) for other in rows[-1]):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [
        sorted((s for line in row for s in line.segments), key=lambda segment: segment.box[0])
        for row in rows
    ]


def _is_beside(one: Box, other: Box) -> bool:
    is_level = one[1] <= _middle(other) <= one[3] and other[1] <= _middle(one) <= other[3]
    return is_level and (one[2] <= other[0] or other[2] <= one[0])


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2


def _coverage(page: Page, rows: list[Row]) -> float:
    areas = sum((s.box[2] - s.box[0]) * (s.box[3] - s.box[1]) for row in rows for s in row)
    return min(1.0, areas / (page.width * page.height)) if page.width and page.height else 0.0


def _certainty(elements: Sequence[Element]) -> float:
    """Return the mean of the elements' confidences, weighted by their lengths."""
    weights = [len(element.content) for element in elements]
    said = [UNSAID if one.confidence is None else one.confidence for one in elements]
    return round(sum(w * c for w, c in zip(weights, said, strict=True)) / sum(weights), 3)
