"""Put text and tables on paper: the little of reportlab that the samples need."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

JAPANESE_FONT = "HeiseiKakuGo-W5"
LATIN_FONT = "Helvetica"
RULE = HexColor("#8a94a0")
WIDTH = A4[0] - 40 * mm
"""Points between the margins."""

Block = Any
"""A piece of a story that flows over pages; reportlab has no types."""


class Paper:
    """Make the blocks of a document in one font."""

    def __init__(self, font: str = LATIN_FONT) -> None:
        if font == JAPANESE_FONT:
            pdfmetrics.registerFont(UnicodeCIDFont(JAPANESE_FONT))
        wrap = "CJK" if font == JAPANESE_FONT else None
        self._font = font
        self._text = ParagraphStyle("text", fontName=font, fontSize=9, leading=13, wordWrap=wrap)
        self._title = ParagraphStyle("title", self._text, fontSize=20, leading=30)
        self._right = ParagraphStyle("right", self._text, alignment=TA_RIGHT)

    def title(self, text: str) -> list[Block]:
        return [Paragraph(text, self._title), Spacer(1, 4 * mm)]

    def text(self, text: str) -> list[Block]:
        return [Paragraph(text, self._text), Spacer(1, 3 * mm)]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Block]:
        """Set labels beside their values, without rules."""
        table = Table(pairs, colWidths=[50 * mm, WIDTH - 50 * mm], hAlign="LEFT")
        table.setStyle(
            [("FONT", (0, 0), (-1, -1), self._font, 9), ("LEFTPADDING", (0, 0), (0, -1), 0)]
        )
        return [table, Spacer(1, 6 * mm)]

    def table(self, rows: Sequence[Sequence[str]]) -> list[Block]:
        """Rule a table with a heading row; the first column is wide, the others are numbers."""
        narrow = 26 * mm
        widths = [WIDTH - narrow * (len(rows[0]) - 1), *[narrow] * (len(rows[0]) - 1)]
        table = Table([list(row) for row in rows], colWidths=widths, repeatRows=1)
        table.setStyle(
            [
                ("FONT", (0, 0), (-1, -1), self._font, 8),
                ("GRID", (0, 0), (-1, -1), 0.4, RULE),
                ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
            ]
        )
        return [table, Spacer(1, 5 * mm)]

    def totals(self, pairs: Sequence[tuple[str, str]]) -> list[Block]:
        """Set sums at the right margin."""
        table = Table(pairs, colWidths=[60 * mm, 34 * mm], hAlign="RIGHT")
        table.setStyle(
            [("FONT", (0, 0), (-1, -1), self._font, 9), ("ALIGN", (0, 0), (-1, -1), "RIGHT")]
        )
        return [table, Spacer(1, 6 * mm)]


def print_pdf(path: Path, story: list[Block], password: str | None = None) -> int:
    """Write `story` to `path`, the same bytes every time; returns the number of pages."""
    encrypt = StandardEncryption(password, strength=128) if password else None
    document = SimpleDocTemplate(
        str(path),
        pagesize=A4,
        margins=20 * mm,
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=20 * mm,
        bottomMargin=20 * mm,
        invariant=1,
        encrypt=encrypt,
        title=path.stem,
    )
    document.build(story, onFirstPage=_footer, onLaterPages=_footer)
    return int(document.page)


def _footer(canvas: Canvas, document: Any) -> None:
    canvas.setFont(LATIN_FONT, 7)
    canvas.drawRightString(A4[0] - 20 * mm, 10 * mm, str(document.page))
