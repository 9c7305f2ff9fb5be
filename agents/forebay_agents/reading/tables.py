"""Find the ruled tables of a page; slow, so it is asked only about pages with lines on them."""

from pathlib import Path
from typing import Any, BinaryIO

import pdfplumber

Table = list[list[str]]


class TableReader:
    """Read tables of the PDF at `path`, which is opened when the first page is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._pdf: Any = None

    def close(self) -> None:
        """Close the file; safe to call twice."""
        if self._file is not None:
            self._file.close()

    def read(self, number: int) -> list[Table]:
        """Return the tables of page `number` that have two rows and two columns or more.

        Raises almost any exception on an odd file.
        """
        page = self._pages()[number - 1]
        try:
            found = page.extract_tables()
        finally:
            page.close()
        tables = ([[(cell or "").strip() for cell in row] for row in table] for table in found)
        return [table for table in tables if len(table) > 1 and len(table[0]) > 1]

    def _pages(self) -> Any:
        if self._pdf is None:
            self._file = self._path.open("rb")
            # Its own close() reads every page again and fails on a broken one; the file's does not.
            self._pdf = pdfplumber.open(self._file)
        return self._pdf.pages
