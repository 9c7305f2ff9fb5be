"""A document of any allowed size takes a bounded amount of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

PAGES, PICTURES, PICTURE_PIXELS = 1500, 50, (1160, 1160)
MEGABYTES = 500


def write_large(path: Path) -> None:
    """Write 1,500 dense pages, with pictures that make the file about 200 MB long."""
    canvas = Canvas(str(path), pageCompression=0)
    for page in range(PAGES):
        canvas.drawString(72, 800, f"Statement of account, page {page + 1}")
        for line in range(40):
            canvas.drawString(72, 780 - 17 * line, f"03.03.2026  Payment {page}/{line} to a firm")
            canvas.drawRightString(520, 780 - 17 * line, f"{page + line * 3.17:.2f}")
        if page < PICTURES:
            width, height = PICTURE_PIXELS
            picture = Image.frombytes("RGB", PICTURE_PIXELS, os.urandom(width * height * 3))
            canvas.drawImage(ImageReader(picture), 72, 10, 60, 60)
        canvas.showPage()
    canvas.save()


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that it started."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield from family(int(child))


def resident(pid: int) -> int:
    """Return the megabytes that a process and all that it started hold; 0 once it has ended."""
    try:
        status = [Path(f"/proc/{each}/status").read_text() for each in family(pid)]
    except (FileNotFoundError, ProcessLookupError):  # one has just ended
        return 0
    lines = [line for text in status for line in text.splitlines() if line.startswith("VmRSS")]
    return sum(int(line.split()[1]) for line in lines) // 1024


@pytest.mark.long
def test_fl6_fifteen_hundred_pages_and_two_hundred_megabytes(tmp_path: Path) -> None:
    """FL6: such a document is read to its last page within 500 MB, all processes together."""
    file = tmp_path / "large.pdf"
    write_large(file)
    assert file.stat().st_size > 190_000_000
    command = (sys.executable, "-m", "forebay.cli", "parse", str(file), "--json", "--full")
    with open(tmp_path / "out", "w") as out:
        process = subprocess.Popen(command, stdout=out)
    largest = 0
    try:
        while process.poll() is None:
            largest = max(largest, resident(process.pid))
            time.sleep(0.1)
    finally:
        process.kill()
    row = json.loads((tmp_path / "out").read_text())
    assert (row["status"], row["pages"]) == ("completed", PAGES)
    assert row["result"]["pages"][-1]["number"] > 1000
    assert 50 < largest < MEGABYTES
