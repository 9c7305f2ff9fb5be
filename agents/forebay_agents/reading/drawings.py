"""See what is drawn on a page besides words: pictures, lines that rule it, text without a font."""

from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_uint
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

from forebay_agents.pages import Box, Point
from forebay_agents.reading.fonts import Fontless
from forebay_agents.reading.geometry import Frame, Matrix, applied, times

OBJECTS = 20_000
POINTS = 50_000
"""How many objects of a page, and points of their paths, are looked at: more is a drawing."""

NESTED = 8
"""How deep objects may be nested."""

SHORTEST = 1.5
"""Points; what is shorter is the width of a line, not its length."""

STRAIGHT = 0.7
"""Points by which the ends of an upright or level line may differ."""

GRID = 32
"""Rows and columns of the places at which it is asked whether a picture covers the page."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A line that is level or upright: `at` across its direction, from `start` to `end` along."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Drawings:
    """Hold a page's pictures and rulings; `is_on_top` says that its last object is a picture.

    `filled` counts the points of paths that are filled with colour, as letters drawn as outlines
    are; `fontless` counts texts that show nothing. `is_whole` is False when there were too many
    objects to look at all of them.
    """

    pictures: list[Box] = field(default_factory=list)
    upright: list[Ruling] = field(default_factory=list)
    level: list[Ruling] = field(default_factory=list)
    filled: int = 0
    fontless: Fontless = field(default_factory=Fontless)
    is_on_top: bool = False
    is_whole: bool = True


def look(page: Any, frame: Frame) -> Drawings:
    """Return what is drawn on `page`, as shown in `frame`."""
    seen, points = Drawings(), POINTS
    for count, (item, kind, matrix) in enumerate(_objects(page)):
        if count == OBJECTS or points < 0:
            seen.is_whole = False
            break
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            points -= _add_path(seen, item, matrix, frame)
        elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            seen.pictures.append(_picture(item, matrix, frame))
        elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
            seen.fontless.add(item)
        if kind in (pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_IMAGE):
            seen.is_on_top = kind == pdfium.FPDF_PAGEOBJ_IMAGE
    return seen


def share_covered(boxes: list[Box], frame: Frame) -> float:
    """Return the share of the page's area that the boxes cover together, from 0 to 1."""
    if not boxes:
        return 0.0
    covered = sum(
        any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in boxes)
        for x in _steps(frame.width)
        for y in _steps(frame.height)
    )
    return covered / GRID**2


def _steps(length: float) -> list[float]:
    return [length * (step + 0.5) / GRID for step in range(GRID)]


def _objects(page: Any) -> Iterator[tuple[Any, int, Matrix]]:
    """Yield each object with its kind and the matrix of the form it is in, as they are drawn."""
    count, get = pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject
    stack = [(iter(_members(page, count, get)), IDENTITY)]
    while stack:
        members, matrix = stack[-1]
        item = next(members, None)
        if item is None:
            stack.pop()
            continue
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and len(stack) < NESTED:
            count, get = pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject
            stack.append((iter(_members(item, count, get)), times(_matrix(item), matrix)))
        yield item, kind, matrix


def _members(holder: Any, count: Any, get: Any) -> Iterator[Any]:
    return (get(holder, index) for index in range(count(holder)))


def _matrix(item: Any) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(item, found):
        return IDENTITY
    return found.a, found.b, found.c, found.d, found.e, found.f


def _picture(item: Any, matrix: Matrix, frame: Frame) -> Box:
    own = times(_matrix(item), matrix)  # a picture is drawn into the unit square
    x0, y0 = applied(own, 0, 0)
    x1, y1 = applied(own, 1, 1)
    return frame.box(x0, y0, x1, y1)


def _add_path(seen: Drawings, item: Any, matrix: Matrix, frame: Frame) -> int:
    """Add the rulings that a path draws; return how many points it has."""
    is_filled, is_stroked = _colours(item)
    if not is_filled and not is_stroked:
        return 1
    count = min(int(pdfium.FPDFPath_CountSegments(item)), POINTS)
    seen.filled += count if is_filled else 0
    own = times(_matrix(item), matrix)
    first = last = None
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(item, index)
        here = frame.point(*applied(own, *_point(segment)))
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            first = here
        elif kind == pdfium.FPDF_SEGMENT_LINETO and last:
            _add_ruling(seen, last, here)
        if first and pdfium.FPDFPathSegment_GetClose(segment):
            _add_ruling(seen, here, first)
        last = here
    return max(count, 1)


def _point(segment: Any) -> Point:
    x, y = c_float(), c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def _add_ruling(seen: Drawings, one: Point, other: Point) -> None:
    (x0, y0), (x1, y1) = one, other
    if abs(x0 - x1) <= STRAIGHT and abs(y0 - y1) >= SHORTEST:
        seen.upright.append(Ruling((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
    elif abs(y0 - y1) <= STRAIGHT and abs(x0 - x1) >= SHORTEST:
        seen.level.append(Ruling((y0 + y1) / 2, min(x0, x1), max(x0, x1)))


def _colours(item: Any) -> tuple[bool, bool]:
    """Tell whether a path is filled, and whether it is stroked, in a colour other than white."""
    fill, stroke = c_int(), c_int()
    pdfium.FPDFPath_GetDrawMode(item, fill, stroke)
    is_filled = fill.value and not _is_paper(item, pdfium.FPDFPageObj_GetFillColor)
    is_stroked = stroke.value and not _is_paper(item, pdfium.FPDFPageObj_GetStrokeColor)
    return bool(is_filled), bool(is_stroked)


def _is_paper(item: Any, get: Any) -> bool:
    """Tell whether a colour is white, or lets all shine through."""
    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint()
    if not get(item, byref(red), byref(green), byref(blue), byref(alpha)):
        return False
    return alpha.value == 0 or min(red.value, green.value, blue.value) >= 250
