"""A long and large document is read in little memory, in parent and child together."""

import os
import random
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from forebay_agents.reading.reader import Reader

from .conftest import RecordedAttempt

MEGABYTE = 1 << 20

ROWS = 6


def write(path: Path, pages: int, size: int) -> None:
    """Write a document of so many pages and at least so many bytes: tables, and pictures."""
    canvas, chance = Canvas(str(path), pageCompression=0), random.Random(5)
    for number in range(1, pages + 1):
        canvas.drawString(50, 780, f"Statement page {number}")
        for row in range(ROWS):
            y = 740 - 20 * row
            canvas.line(50, y, 550, y)
            for column in range(4):
                canvas.drawString(54 + 125 * column, y - 14, f"cell {row}.{column} of {number}")
        for column in range(5):
            canvas.line(50 + 125 * column, 740, 50 + 125 * column, 740 - 20 * (ROWS - 1))
        _draw_noise(canvas, chance.randbytes(size // pages))
        canvas.showPage()
    canvas.save()


def _draw_noise(canvas: Canvas, noise: bytes) -> None:
    """Draw a picture of random pixels, which nothing makes smaller."""
    width = 256
    height = len(noise) // width
    data = noise[: width * height].hex()
    canvas._code.append(
        f"q 200 0 0 100 50 60 cm BI /W {width} /H {height} /CS /G /BPC 8 /F /AHx ID\n{data}>\nEI Q"
    )


def resident(process: int) -> int:
    """Return how many bytes of memory a process holds, at its highest."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def read(path: Path, pages: int) -> int:
    """Read all pages; return how many bytes reading took at most, parent and child together."""
    own, most = resident(os.getpid()), 0
    with Reader(path, RecordedAttempt({})) as reader:
        assert reader.pages == pages
        for number in range(1, pages + 1):
            process = reader._process
            page = reader.page(number)
            assert page.text.startswith(f"Statement page {number}\n")
            assert len(page.tables[0].rows) == ROWS - 1
            if process is reader._process and process is not None:
                most = max(most, resident(process.pid))
    return most + resident(os.getpid()) - own


def test_a_document_of_a_hundred_pages_takes_little_memory(tmp_path: Path) -> None:
    """Pages that were read are forgotten: 30 MB of them stay below 150 MB."""
    write(tmp_path / "some.pdf", 100, 15 * MEGABYTE)
    assert read(tmp_path / "some.pdf", 100) < 150 * MEGABYTE


@pytest.mark.timeout(300)
def test_fl6_fifteen_hundred_pages_of_200_mb_stay_below_500_mb(tmp_path: Path) -> None:
    """A document as large as any is read page by page, parent and child within 500 MB."""
    path = tmp_path / "large.pdf"
    write(path, 1500, 100 * MEGABYTE)
    assert path.stat().st_size > 200_000_000
    own = resident(os.getpid())
    assert read(path, 1500) + min(own, 150 * MEGABYTE) < 500 * MEGABYTE
