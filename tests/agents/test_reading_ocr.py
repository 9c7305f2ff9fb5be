"""Scans are read with tesseract, whichever way they lie."""

import io
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from forebay_agents.pages import Page
from forebay_agents.reading.characters import Character
from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.geometry import Frame
from forebay_agents.reading.reader import OcrUnavailable, PageFailed, Reader, ocr_is_installed
from forebay_agents.reading.rows import lay_out
from support.scans import FakeTesseract, write_scan

from .conftest import RecordedAttempt

LINES = [
    "Invoice RE-2026-17 of the Northern Pump Company",
    "Date of invoice: 12 March 2026",
    "We delivered seven pumps to your harbour in spring.",
    "Please pay within thirty days without any deduction.",
]


STUB = """#!/bin/sh
echo "$*" >> '{calls}'
case "$*" in
*--list-langs*) printf 'List of available languages (3):\\ndeu\\neng\\nosd\\n' ;;
*--version*) echo 'tesseract 5.3.0' ;;
*) exit 1 ;;
esac
"""
"""A tesseract that writes down how it was called, and fails at reading."""


def languages() -> set[str]:
    """Return tesseract's own names of the languages that are installed here."""
    if shutil.which("tesseract") is None:
        return set()
    listed = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True)
    return set(listed.stdout.split())


needs_tesseract = pytest.mark.skipif(
    "eng" not in languages(), reason="tesseract, or its English, is not installed"
)


def scan(path: Path, angle: int = 0, askew: float = 0) -> None:
    """Write a page that is a picture of words, turned anticlockwise by some degrees."""
    picture = Image.new("L", (1240, 1754), 255)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(36)
    for place, line in enumerate(LINES):
        draw.text((100, 150 + 90 * place), line, 0, font)
    draw.text((100, 900), "Total due", 0, font)
    draw.text((900, 900), "1,234.56", 0, font)
    content = io.BytesIO()
    picture = picture.rotate(askew, fillcolor=255)
    picture.rotate(angle, expand=True).save(content, "PNG")
    size = (595.2, 841.92) if angle % 180 == 0 else (841.92, 595.2)
    canvas = Canvas(str(path), pagesize=size)
    canvas.drawImage(ImageReader(content), 0, 0, *size)
    canvas.save()


def read(path: Path, asked: list[str]) -> Page:
    with Reader(path, RecordedAttempt({})) as reader:
        return reader.ocr(1, asked)


@needs_tesseract
@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_a_scan_is_read_whichever_way_it_lies(angle: int, tmp_path: Path) -> None:
    """The page is turned upright; words and boxes are those of the turned page."""
    scan(tmp_path / "scan.pdf", angle)
    page = read(tmp_path / "scan.pdf", ["en"])
    assert [segment.text for segment in page.rows[-1]] == ["Total due", "1,234.56"]
    assert "Date of invoice: 12 March 2026" in page.text
    assert (page.source, page.is_scanned, page.is_broken) == ("ocr", True, False)
    assert page.certainty > 0.8
    left, top, right, bottom = page.rows[-1][0].box
    assert abs((left + right) / 2 - 86) < 12
    assert abs((top + bottom) / 2 - 441) < 12
    assert page.width < page.height
    assert page.rotation == angle


@needs_tesseract
@pytest.mark.parametrize("askew", [-1.5, 1.5])
def test_a_scan_that_lies_askew_keeps_its_rows(askew: float, tmp_path: Path) -> None:
    """A label and its value are one row, though the paper was not laid straight."""
    scan(tmp_path / "scan.pdf", askew=askew)
    page = read(tmp_path / "scan.pdf", ["en"])
    label, value = page.rows[-1]
    assert (label.text, value.text) == ("Total due", "1,234.56")
    assert abs(label.box[3] - value.box[3]) > 5


@needs_tesseract
def test_a_page_of_the_same_words_is_laid_out_as_its_print(tmp_path: Path) -> None:
    """What OCR reads of a page has the size and places of that page."""
    scan(tmp_path / "scan.pdf")
    with Reader(tmp_path / "scan.pdf", RecordedAttempt({})) as reader:
        before, page = reader.page(1), reader.ocr(1, ["en"])
    assert (before.is_scanned, before.source, before.text) == (True, "none", "")
    assert (page.width, page.height, page.rotation) == (before.width, before.height, 0)
    assert 0 < page.coverage < 0.2


@needs_tesseract
def test_a_blank_scan_has_no_words(tmp_path: Path) -> None:
    """A picture without words gives a page without words, and no error."""
    write_scan(tmp_path / "grey.pdf", 1)
    page = read(tmp_path / "grey.pdf", ["en"])
    assert (page.text, page.source, page.certainty, page.is_broken) == ("", "none", 0.0, False)


@pytest.mark.parametrize(
    ("asked", "used"),
    [(["en", "de"], "eng+deu"), (["de"], "deu"), (["nl", "xx"], "eng+deu"), ([], "eng+deu")],
)
def test_languages_are_those_asked_for_and_installed(
    asked: list[str], used: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Languages that are not installed are passed over; all that are, if none is left."""
    calls = tmp_path / "calls"
    program = tmp_path / "tesseract"
    program.write_text(STUB.format(calls=calls))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    write_scan(tmp_path / "scan.pdf", 1)
    with pytest.raises(PageFailed, match=r"^OCR of page 1 failed\.$"):
        read(tmp_path / "scan.pdf", asked)
    assert f" -l {used} " in calls.read_text()


@pytest.mark.parametrize("end", ["kill -9 $$", "exit 0"], ids=["killed", "no_output"])
def test_what_the_machine_does_to_tesseract_is_no_fault_of_the_page(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tesseract that is killed, or cannot write, is to be tried again."""
    program = tmp_path / "tesseract"
    program.write_text(STUB.format(calls=tmp_path / "calls").replace("*) exit 1", f"*) {end}"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    write_scan(tmp_path / "scan.pdf", 1)
    with pytest.raises(DocumentError) as error:
        read(tmp_path / "scan.pdf", ["en"])
    assert error.value.kind == "infrastructure"


def test_without_tesseract_ocr_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine without tesseract says so, before and when it is asked to read."""
    monkeypatch.setenv("PATH", str(tmp_path))
    write_scan(tmp_path / "scan.pdf", 1)
    assert not ocr_is_installed()
    with pytest.raises(OcrUnavailable, match="not installed"):
        read(tmp_path / "scan.pdf", ["en"])
    monkeypatch.setenv("PATH", FakeTesseract(tmp_path, seconds=0).path)
    assert ocr_is_installed()
    assert [[s.text for s in row] for row in read(tmp_path / "scan.pdf", []).rows] == [
        ["Invoice", "INV-7"]
    ]


def test_japanese_has_no_spaces_between_its_characters() -> None:
    """Tesseract parts Japanese into characters, which are joined again; Latin words are not."""
    words = [("請", 50), ("求", 62), ("書", 74), ("No.", 130), ("17", 159)]
    characters = [
        Character(
            word,
            (x, 100.0, x + 5 + 7 * len(word), 112.0),
            (x, 112.0),
            0,
            "" if word[0] > "a" else "meant",
        )
        for word, x in words
    ]
    (row,), _ = lay_out(characters, Frame(0, 0, 600, 800))
    assert [segment.text for segment in row] == ["請求書", "No. 17"]
