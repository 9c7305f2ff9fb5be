"""Put text and tables on paper: the little of reportlab that the samples need."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reportlab.lib.colors import HexColor
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
MARGIN = 20 * mm
WIDTH = A4[0] - 2 * MARGIN
"""Points beside and between the margins."""

WHOLE = (0, 0), (-1, -1)
ALL_BUT_FIRST_COLUMN = (1, 0), (-1, -1)
"""Ranges of a table's cells."""

Block = Any
"""A piece of a story that flows over pages; reportlab has no types."""


class Paper:
    """Make the blocks of a document in one font, each with the space below it."""

    def __init__(self, font: str = LATIN_FONT) -> None:
        wrap = None
        if font == JAPANESE_FONT:
            pdfmetrics.registerFont(UnicodeCIDFont(font))
            wrap = "CJK"
        self._font = font
        self._text = ParagraphStyle("text", fontName=font, fontSize=9, leading=13, wordWrap=wrap)
        self._title = ParagraphStyle("title", self._text, fontSize=20, leading=30)

    def title(self, text: str) -> list[Block]:
        """Set a heading."""
        return [Paragraph(text, self._title), Spacer(1, 4 * mm)]

    def text(self, text: str) -> list[Block]:
        """Set a paragraph."""
        return [Paragraph(text, self._text), Spacer(1, 3 * mm)]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Block]:
        """Set labels beside their values, at the left margin and without rules."""
        return self._grid(pairs, [50 * mm, WIDTH - 50 * mm], [])

    def totals(self, pairs: Sequence[tuple[str, str]]) -> list[Block]:
        """Set sums at the right margin, without rules."""
        return self._grid(pairs, [WIDTH - 34 * mm, 34 * mm], [("ALIGN", *WHOLE, "RIGHT")])

    def table(self, rows: Sequence[Sequence[str]]) -> list[Block]:
        """Rule a table with a heading row; the first column is wide, the others are for numbers."""
        numbers = [26 * mm] * (len(rows[0]) - 1)
        style = [("GRID", *WHOLE, 0.4, RULE), ("ALIGN", *ALL_BUT_FIRST_COLUMN, "RIGHT")]
        return self._grid(rows, [WIDTH - sum(numbers), *numbers], style, repeatRows=1)

    def _grid(
        self,
        rows: Sequence[Sequence[str]],
        widths: list[float],
        style: list[tuple[Any, ...]],
        **options: Any,
    ) -> list[Block]:
        style = [("FONT", *WHOLE, self._font, 9), *style]
        return [Table(rows, colWidths=widths, style=style, **options), Spacer(1, 5 * mm)]


def print_pdf(path: Path, story: list[Block], password: str | None = None) -> int:
    """Write `story` to `path`, the same bytes every time; returns the number of pages."""
    encrypt = StandardEncryption(password, strength=128) if password else None
    document = SimpleDocTemplate(
        str(path),
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=MARGIN,
        bottomMargin=MARGIN,
        invariant=1,
        encrypt=encrypt,
        title=path.stem,
    )
    document.build(story, onFirstPage=_footer, onLaterPages=_footer)
    return int(document.page)


def _footer(canvas: Canvas, document: Any) -> None:
    canvas.setFont(LATIN_FONT, 7)
    canvas.drawRightString(A4[0] - MARGIN, 10 * mm, str(document.page))
