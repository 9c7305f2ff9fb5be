"""Find texts in fonts that are neither in the PDF nor on this machine: pdfium draws nothing there.

Each of their characters is a point to it. So it takes a line for as high as nothing, and a single
character, or words written downwards, for as wide as nothing too: those it leaves out of the text.
"""

from ctypes import byref, c_float, c_void_p, cast
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

NOTHING = 0.01
"""Points; pdfium leaves out texts that are narrower."""

PROBES = [ord(character) for character in "一가"]
"""Fonts for Chinese and Japanese draw the first, and those for Korean the other at least."""

WIDE = 0.75
"""How wide, in heights of the text, a font for these takes a probe to be at least, drawn or not.

Other fonts give it the width of a space or of a letter."""


@dataclass(slots=True)
class Fontless:
    """Count the texts of a page whose font is nowhere, and how many of them pdfium leaves out.

    Texts with Latin letters or figures do not count: these pdfium draws in a font of its own. A
    space drawn alone in such a font does, since it looks like any other character that is lost.
    """

    texts: int = 0
    lost: int = 0
    _known: dict[int | None, bool] = field(default_factory=dict)

    def add(self, item: Any) -> None:
        """Take a text object; each font is looked at once."""
        width, height = _size(item)
        if width >= NOTHING and height >= NOTHING:
            return
        font = pdfium.FPDFTextObj_GetFont(item)
        key = cast(font, c_void_p).value
        if key not in self._known:
            self._known[key] = _is_nowhere(font)
        if self._known[key]:
            self.texts += 1
            self.lost += width < NOTHING


def _size(item: Any) -> tuple[float, float]:
    left, bottom, right, top = c_float(), c_float(), c_float(), c_float()
    pdfium.FPDFPageObj_GetBounds(item, byref(left), byref(bottom), byref(right), byref(top))
    return right.value - left.value, top.value - bottom.value


def _is_nowhere(font: Any) -> bool:
    """Tell a font of wide characters that is not embedded, and that nothing stands in for."""
    if pdfium.FPDFFont_GetIsEmbedded(font):
        return False
    if any(pdfium.FPDFFont_GetGlyphPath(font, probe, 1.0) for probe in PROBES):
        return False
    width = c_float()  # negative in a font that is written downwards
    pdfium.FPDFFont_GetGlyphWidth(font, PROBES[0], 1.0, byref(width))
    return abs(width.value) >= WIDE
