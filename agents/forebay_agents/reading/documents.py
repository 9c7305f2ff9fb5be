"""Open a PDF and read it page by page, holding one page in memory at a time."""

import logging
import sys
from collections.abc import Iterator
from ctypes import c_double
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pypdfium2
import pypdfium2.raw as pdfium

from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.layout import Box, Row, rows, turned
from forebay_agents.reading.tables import Table, TableReader

__all__ = ["Document", "DocumentError", "Page"]

log = logging.getLogger(__name__)

HEADER_WINDOW = 1024
"""How many bytes may precede `%PDF-`: readers accept junk before it."""

LINE_HYPHEN = "\ufffe"
"""What the reader puts for a hyphen at a line's end, where the word goes on in the next line."""


@dataclass(frozen=True, slots=True)
class Page:
    """Hold what one page says: its text as drawn, its rows as seen, its tables cell by cell.

    `notes` tells what could not be read; a page without text is no error (a scan, a blank page).
    """

    number: int
    text: str = ""
    rows: list[Row] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_broken: bool = False


class Document:
    """Read the PDF at `path`; use it in a `with` block, and from one thread only.

    Raises DocumentError when the file is missing, empty, not a PDF, encrypted, broken or pageless.
    A PDF that only restricts printing or editing opens: no password is needed to read it.
    """

    def __init__(self, path: Path) -> None:
        _check_header(path)
        self._pdf = _open(path)
        self._tables = TableReader(path)
        if len(self) == 0:
            self.close()
            raise DocumentError("bad_input", "The PDF has no pages; export it again.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._pdf)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._pdf.close()
        self._tables.close()

    def pages(self) -> Iterator[Page]:
        """Yield every page in order; one that cannot be read comes without text, with a note."""
        for number in range(1, len(self) + 1):
            try:
                page = self._read(number)
            except pypdfium2.PdfiumError:
                notes = [f"Page {number} is broken and was skipped."]
                page = Page(number, notes=notes, is_broken=True)
            yield page

    def _read(self, number: int) -> Page:
        page = self._pdf[number - 1]
        try:
            text, seen = _read_text(page)
            ruled = bool(text) and _has_lines(page)
        finally:
            page.close()
        if not ruled:
            return Page(number, text, seen)
        try:
            return Page(number, text, seen, self._tables.read(number))
        except Exception:  # the table reader meets odd files with almost any class of error
            log.warning("tables_unreadable page=%d", number, exc_info=True)
            return Page(number, text, seen, notes=[f"Tables of page {number} cannot be read."])


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(HEADER_WINDOW)
    except FileNotFoundError:
        raise DocumentError("bad_input", "The file does not exist; upload it again.") from None
    except IsADirectoryError:
        raise DocumentError("bad_input", "This is a folder, not a PDF file.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DocumentError("infrastructure", f"The file cannot be read: {reason}.") from error
    if not head:
        raise DocumentError("bad_input", "The file is empty (0 bytes); upload it again.")
    if b"%PDF-" not in head:
        raise DocumentError(
            "bad_input", "The file is not a PDF (it does not start with %PDF-); export it as PDF."
        )


def _open(path: Path) -> Any:
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        match error.err_code:
            case pdfium.FPDF_ERR_PASSWORD:
                reason = "The PDF is encrypted and needs a password; save it without one."
            case pdfium.FPDF_ERR_SECURITY:
                reason = "The PDF is encrypted in a way that cannot be read; save it without."
            case _:
                reason = "The PDF is broken, cut off or without pages; export it again."
        raise DocumentError("bad_input", reason) from error


def _read_text(page: Any) -> tuple[str, list[Row]]:
    content = page.get_textpage()
    try:
        text = _clean(content.get_text_range())
        return text, rows(_characters(content, page.get_rotation()))
    finally:
        content.close()


def _characters(content: Any, rotation: int) -> Iterator[tuple[Box, str]]:
    """Yield each visible character, led by a space if one precedes it.

    Its box stands on the baseline, whatever the font: so all characters of one line align.
    """
    space, x, y = "", c_double(), c_double()
    for index in range(content.count_chars()):
        code = pdfium.FPDFText_GetUnicode(content, index)
        character = chr(code) if code <= sys.maxunicode else "\ufffd"
        if character.isspace():
            space = " "
        elif character != LINE_HYPHEN:
            left, _, right, top = turned(content.get_charbox(index, loose=True), rotation)
            pdfium.FPDFText_GetCharOrigin(content, index, x, y)
            _, baseline, _, _ = turned((x.value, y.value, x.value, y.value), rotation)
            yield (left, baseline, right, top), space + character
            space = ""


def _has_lines(page: Any) -> bool:
    """Tell whether anything is drawn that could rule a table; most pages skip that slow search."""
    return next(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH]), None) is not None


def _clean(text: str) -> str:
    """Close words that a hyphen parted at a line's end, and end lines in LF alone."""
    return text.replace(LINE_HYPHEN, "").replace("\r\n", "\n").strip()
