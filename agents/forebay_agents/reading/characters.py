"""Take the characters of a page out of the PDF, and leave out those that nobody sees."""

import unicodedata
from ctypes import byref, c_double, c_uint, c_ulong, c_void_p, cast, sizeof
from dataclasses import dataclass, field
from math import degrees
from typing import Any, Literal, NamedTuple

import pypdfium2.raw as pdfium

from forebay_agents.pages import Box, contains, middle
from forebay_agents.reading.drawings import Drawings
from forebay_agents.reading.geometry import FAR, Frame

CHARACTERS = 200_000
"""How many characters of a page are read."""

LINE_HYPHEN = "\ufffe"
"""What stands for a hyphen at a line's end, where the word goes on in the next line."""

RADICALS = str.maketrans("⺠⻁⻄⻆⻑⻘⻝⻤⻩⻲", "民虎西角長青食鬼黄亀")
"""Parts of characters that printers confuse with whole ones, and that Unicode does not map."""

SLANT = 10
"""Degrees by which words may be off the level to count as level."""

Gap = Literal["", "meant", "guessed"]
"""What parts a character from the one before: nothing, a space drawn, or pdfium's own guess."""


class Character(NamedTuple):
    """One visible character: its box and the baseline's start, both as shown, and its angle.

    `space` is how wide the space before it was drawn, if there is one.
    """

    text: str
    box: Box
    origin: tuple[float, float]
    angle: int | None
    gap: Gap
    space: float = 0.0


@dataclass(slots=True)
class Characters:
    """Hold the characters in the order drawn, and what is known of those that are left out.

    `visible` counts what is drawn in a colour of its own, the rest is the words behind a scan;
    `unknown` counts characters whose font does not tell what they mean, `hidden` those that nobody
    sees, which are left out. `is_whole` is False when the page has more than are read.
    """

    found: list[Character] = field(default_factory=list)
    visible: int = 0
    unknown: int = 0
    hidden: int = 0
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class _Style:
    """How the characters of one text object look.

    Those that `may_be_hidden` are white, or of a layer that can be switched off.
    """

    is_invisible: bool
    may_be_hidden: bool
    angle: int | None


def read(textpage: Any, frame: Frame, drawings: Drawings, is_blank: Any) -> Characters:
    """Return the characters of a page.

    `is_blank(box)` tells whether the page shows nothing but one colour there; it is asked about
    white words and those of layers only. Words without any colour count where a picture lies under
    them.
    """
    count = textpage.count_chars()
    result = Characters(is_whole=count <= CHARACTERS)
    gap: Gap = ""
    space = 0.0
    reader = _Reader(textpage, frame)
    for index in range(min(count, CHARACTERS)):
        text = reader.text(index)
        if text.isspace():
            if gap != "meant":
                is_guess = pdfium.FPDFText_IsGenerated(textpage, index) == 1
                gap = "guessed" if is_guess or text in "\r\n" else "meant"
                space = 0.0 if gap == "guessed" else reader.length(index)
            continue
        if not text:
            continue
        style, box = reader.style(index), reader.box(index)
        if _is_hidden(style, box, frame, drawings, is_blank):
            result.hidden += 1
            continue
        result.visible += not style.is_invisible
        result.unknown += _is_unknown(text) or reader.is_unmapped(index)
        result.found.append(Character(text, box, reader.origin(index), style.angle, gap, space))
        gap, space = "", 0.0
    return result


def _is_hidden(style: _Style, box: Box, frame: Frame, drawings: Drawings, is_blank: Any) -> bool:
    if not frame.holds(box):
        return True
    if style.is_invisible:
        return not any(contains(picture, middle(box)) for picture in drawings.pictures)
    return style.may_be_hidden and is_blank(box)


def _is_optional(item: Any) -> bool:
    """Tell whether a text object belongs to a layer, which may be switched off."""
    name, length = (pdfium.FPDF_WCHAR * 16)(), c_ulong()
    for index in range(min(pdfium.FPDFPageObj_CountMarks(item), 16)):
        mark = pdfium.FPDFPageObj_GetMark(item, index)
        pdfium.FPDFPageObjMark_GetName(mark, name, sizeof(name), length)
        if bytes(name)[: length.value] == "OC\0".encode("utf-16-le"):
            return True
    return False


def _is_unknown(text: str) -> bool:
    if text == "\ufffd":
        return True
    return text != LINE_HYPHEN and unicodedata.category(text[0]) in ("Cc", "Co", "Cn")


class _Reader:
    """Ask pdfium about single characters, with the room for its answers made once."""

    def __init__(self, textpage: Any, frame: Frame) -> None:
        self._page = textpage
        self._frame = frame
        self._rectangle = pdfium.FS_RECTF()
        self._x, self._y = c_double(), c_double()
        self._styles: dict[int | None, _Style] = {}

    def text(self, index: int) -> str:
        """Return a character, plain: ligatures as letters, radicals as the characters that look
        like them, no soft hyphen, never a surrogate.

        It is empty for the second half of one that pdfium gives in two.
        """
        code = self._code(index)
        if code is None:
            return ""
        if code == 2 and pdfium.FPDFText_IsHyphen(self._page, index) == 1:
            return LINE_HYPHEN
        if 0 < code < 0xAD:
            return chr(code)
        if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
            return "\ufffd"
        if code == 0xAD:
            return LINE_HYPHEN
        if 0xFB00 <= code <= 0xFB06 or 0x2F00 <= code <= 0x2FDF:
            return unicodedata.normalize("NFKC", chr(code))
        return chr(code).translate(RADICALS)

    def _code(self, index: int) -> int | None:
        """Return a character's number; None for the second half of one given in two."""
        code, high, low = self._raw(index), range(0xD800, 0xDC00), range(0xDC00, 0xE000)
        if code in high and self._raw(index + 1) in low:
            return 0x10000 + ((code - high.start) << 10) + self._raw(index + 1) - low.start
        return None if code in low and self._raw(index - 1) in high else code

    def _raw(self, index: int) -> int:
        return int(pdfium.FPDFText_GetUnicode(self._page, index))

    def box(self, index: int) -> Box:
        """Return a character's box, of its font's height, as shown."""
        box = self._rectangle
        pdfium.FPDFText_GetLooseCharBox(self._page, index, box)
        return self._frame.box(*(_near(v) for v in (box.left, box.bottom, box.right, box.top)))

    def length(self, index: int) -> float:
        """Return how long a character is along its line."""
        left, top, right, bottom = self.box(index)
        return bottom - top if self.style(index).angle in (90, 270) else right - left

    def origin(self, index: int) -> tuple[float, float]:
        """Return where a character stands on its baseline, as shown."""
        pdfium.FPDFText_GetCharOrigin(self._page, index, self._x, self._y)
        return self._frame.point(_near(self._x.value), _near(self._y.value))

    def is_unmapped(self, index: int) -> bool:
        """Tell whether the font does not say which character this is."""
        return bool(pdfium.FPDFText_HasUnicodeMapError(self._page, index) == 1)

    def style(self, index: int) -> _Style:
        """Return how the character's text object looks."""
        item = pdfium.FPDFText_GetTextObject(self._page, index)
        key = cast(item, c_void_p).value
        if key not in self._styles:
            self._styles[key] = self._new_style(item, index)
        return self._styles[key]

    def _new_style(self, item: Any, index: int) -> _Style:
        mode = pdfium.FPDFTextObj_GetTextRenderMode(item)
        color = [c_uint() for _ in "rgba"]
        pdfium.FPDFText_GetFillColor(self._page, index, *map(byref, color))
        red, green, blue, alpha = (part.value for part in color)
        is_filled = mode in (pdfium.FPDF_TEXTRENDERMODE_FILL, pdfium.FPDF_TEXTRENDERMODE_FILL_CLIP)
        is_white = is_filled and (alpha == 0 or min(red, green, blue) >= 250)
        return _Style(
            is_invisible=mode == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE,
            may_be_hidden=is_white or _is_optional(item),
            angle=self._angle(index),
        )

    def _angle(self, index: int) -> int | None:
        """Return the angle of the words as shown, anticlockwise; None if it is no right one."""
        clockwise = degrees(pdfium.FPDFText_GetCharAngle(self._page, index))
        turned = -clockwise - self._frame.rotation
        right = round(turned / 90) * 90
        return right % 360 if abs(turned - right) <= SLANT else None


def _near(value: float) -> float:
    """Return a coordinate that is a number and no farther than any page reaches."""
    if -FAR < value < FAR:
        return value
    return 0.0 if value != value else FAR if value > 0 else -FAR
