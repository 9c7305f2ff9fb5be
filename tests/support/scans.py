"""Scanned documents for tests, and a stand-in for tesseract that counts what it is paid for."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

HEADINGS = "level page_num block_num par_num line_num word_num left top width height conf text"

TESSERACT = """#!/bin/sh
case "$*" in
*--version*) echo 'tesseract 5.3.0' ;;
*--list-langs*) printf 'List of available languages (1):\\neng\\n' ;;
*'--psm 0'*) exit 1 ;;  # which way it lies cannot be told
*) echo page >> '{count}'; sleep {seconds}; printf '{table}' > "$2.tsv" ;;
esac
"""


def write_scan(path: Path, pages: int) -> None:
    """Write a PDF whose pages are grey pictures, no two of them alike."""
    canvas = Canvas(str(path), pagesize=(300, 400))
    for number in range(pages):
        picture = Image.new("L", (30, 40), 200 - number % 100)
        canvas.drawImage(ImageReader(picture), 0, 0, 300, 400)
        canvas.showPage()
    canvas.save()


class FakeTesseract:
    """A program named tesseract that takes its time and sees the same words on every page."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._count = folder / "count"
        words = [["4", *"11110", *("100", "100", "900", "60"), "-1", ""]]
        for place, word in enumerate(("Invoice", "INV-7"), start=1):
            left = str(100 + 500 * (place - 1))
            words.append(["5", *"1111", str(place), left, "100", "380", "60", "96", word])
        table = "\\n".join("\\t".join(row) for row in (HEADINGS.split(), *words)) + "\\n"
        program = folder / "tesseract"
        program.write_text(TESSERACT.format(count=self._count, seconds=seconds, table=table))
        program.chmod(0o755)
        self.path = f"{folder}{os.pathsep}{os.environ['PATH']}"

    @property
    def calls(self) -> int:
        """How many pages it was asked to read."""
        return self._count.read_text().count("page") if self._count.exists() else 0
