"""A sheet of paper to write on, measured in millimetres from its top left corner."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reportlab.lib.colors import HexColor
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.units import mm
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

Align = Literal["left", "right", "center"]
Rules = Literal["grid", "lines", "head", "zebra", "none"]
"""A table with all rules, one under each row, one under its head, shades, or none."""

FONTS = {
    "sans": ("Helvetica", "Helvetica-Bold"),
    "serif": ("Times-Roman", "Times-Bold"),
    "mono": ("Courier", "Courier-Bold"),
    "vera": ("Vera", "VeraBd"),
    "gothic": ("HeiseiKakuGo-W5", "HeiseiKakuGo-W5"),
    "mincho": ("HeiseiMin-W3", "HeiseiMin-W3"),
}
"""Regular and bold; all but Vera, which comes with reportlab, are left to the reader to have."""

A4 = (210.0, 297.0)
LETTER = (215.9, 279.4)
LANDSCAPE = (297.0, 210.0)
LINE = 4.6
"""The height of a line of text."""

GREY, SHADE = HexColor("#8a94a0"), HexColor("#eef1f4")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head, its width in millimetres, and where its text goes."""

    title: str
    width: float
    align: Align = "left"


class Sheet:
    """Write text, rules and tables on pages of one size and font; `y` is how far down it is."""

    def __init__(
        self,
        path: Path,
        font: str = "sans",
        size: tuple[float, float] = A4,
        margin: float = 20,
        password: str | None = None,
    ) -> None:
        encrypt = StandardEncryption(password, strength=128) if password else None
        self.width, self.height = size
        self.left, self.right, self.bottom = margin, size[0] - margin, size[1] - margin
        self.top, self.y, self.pages = margin, margin, 1
        self.feet: list[Callable[[Sheet], None]] = []
        self._regular, self._bold = FONTS[font]
        _register(self._regular, self._bold)
        points = (self.width * mm, self.height * mm)
        self._canvas = Canvas(str(path), pagesize=points, invariant=1, encrypt=encrypt)
        self._canvas.setTitle(path.stem)

    def put(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 9,
        bold: bool = False,
        align: Align = "left",
        grey: bool = False,
    ) -> None:
        """Write text with its base line at y."""
        self._canvas.setFont(self._bold if bold else self._regular, size)
        self._canvas.setFillColor(GREY if grey else HexColor("#000000"))
        draw = {
            "left": self._canvas.drawString,
            "right": self._canvas.drawRightString,
            "center": self._canvas.drawCentredString,
        }[align]
        draw(x * mm, self._up(y), text)

    def write(self, text: str, *, size: float = 9, bold: bool = False, gap: float = 0) -> None:
        """Write text over the width of the page at `y`, broken into lines, and move down."""
        font = self._bold if bold else self._regular
        for line in self.split(text, self.right - self.left, size, font):
            self.room(LINE)
            self.y += size * 0.5
            self.put(self.left, self.y, line, size=size, bold=bold)
        self.y += gap

    def block(self, x: float, y: float, lines: Sequence[str], size: float = 9) -> float:
        """Write lines below each other from y; returns where the next would be."""
        for number, line in enumerate(lines):
            self.put(x, y + number * size * 0.5, line, size=size)
        return y + len(lines) * size * 0.5

    def rule(self, x: float, y: float, x2: float, width: float = 0.5) -> None:
        """Draw a line across."""
        self._canvas.setStrokeColor(GREY)
        self._canvas.setLineWidth(width)
        self._canvas.line(x * mm, self._up(y), x2 * mm, self._up(y))

    def box(self, x: float, y: float, width: float, height: float, *, fill: bool = False) -> None:
        """Draw a frame, or a shade without one."""
        self._canvas.setStrokeColor(GREY)
        self._canvas.setFillColor(SHADE)
        self._canvas.setLineWidth(0.5)
        corner = (x * mm, self._up(y + height))
        self._canvas.rect(*corner, width * mm, height * mm, stroke=not fill, fill=fill)

    def split(self, text: str, width: float, size: float = 9, font: str | None = None) -> list[str]:
        """Break text into lines that fit a width."""
        name = font or self._regular
        parts = simpleSplit(text, name, size, width * mm) or [""]
        return [line for part in parts for line in _broken(part, name, size, width * mm)]

    def room(self, height: float) -> bool:
        """Turn the page if height does not fit above the lower margin; returns whether it did."""
        if self.y + height <= self.bottom:
            return False
        self.turn()
        return True

    def turn(self) -> None:
        """Begin the next page; `feet` write what every page has."""
        for foot in self.feet:
            foot(self)
        self._canvas.showPage()
        self.pages += 1
        self.y = self.top

    def close(self) -> int:
        """End the last page and write the file; returns the number of pages."""
        for foot in self.feet:
            foot(self)
        self._canvas.showPage()
        self._canvas.save()
        return self.pages

    def _up(self, y: float) -> float:
        return float((self.height - y) * mm)


def _broken(text: str, font: str, size: float, width: float) -> Iterator[str]:
    """Break text without spaces, as Japanese is, wherever the width ends."""
    line = ""
    for character in text:
        if line and pdfmetrics.stringWidth(line + character, font, size) > width:
            yield line
            line = ""
        line += character
    yield line


def _register(*fonts: str) -> None:
    for font in fonts:
        if font.startswith("Heisei"):
            pdfmetrics.registerFont(UnicodeCIDFont(font))
        elif font.startswith("Vera"):
            pdfmetrics.registerFont(TTFont(font, f"{font}.ttf"))
