"""A font that is neither in a PDF nor on the machine takes letters away: the result says so."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import reportlab
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from forebay_agents.pages import Page
from forebay_agents.reading import process as process_module
from forebay_agents.reading.reader import Reader
from forebay_agents.result import NO_FONT
from support.scans import FakeTesseract

from .conftest import Parse, RecordedAttempt
from .hostile import one_page, stream

FONTLESS_CHILD = """
import ctypes
import pypdfium2.raw as pdfium
from forebay_agents.reading.child import main

config = pdfium.FPDF_LIBRARY_CONFIG(version=2)
folders = (ctypes.c_char_p * 2)(b"/nonexistent", None)
config.m_pUserFontPaths = ctypes.cast(folders, type(config.m_pUserFontPaths))
pdfium.FPDF_DestroyLibrary()
pdfium.FPDF_InitLibraryWithConfig(config)
main()
"""

JAPANESE = Path("/usr/share/fonts/opentype/ipafont-gothic")

Words = list[tuple[int, int, str]]

LINES: Words = [(50, 700, "株式会社ミナミ"), (50, 680, "缶ビール")]
LETTERS: Words = [(50 + 40 * place, 650, letter) for place, letter in enumerate("御請求書")]


@pytest.fixture
def fontless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have PDFs be read as on a machine without any font."""
    monkeypatch.setattr(process_module, "COMMAND", (sys.executable, "-P", "-c", FONTLESS_CHILD))


def written(path: Path, *pages: Words, font: str = "HeiseiMin-W3") -> Path:
    """Print words in a font on each page, and none of it is embedded."""
    registerFont(UnicodeCIDFont(font))
    canvas = Canvas(str(path))
    for words in pages:
        canvas.setFont(font, 12)
        for x, y, text in words:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return path


def first_page(path: Path) -> Page:
    with Reader(path, RecordedAttempt({})) as reader:
        return reader.page(1)


@pytest.mark.usefixtures("fontless")
def test_letters_that_are_lost_are_told_once(tmp_path: Path, parse: Parse) -> None:
    """Lines are read all the same, single letters are not; one note names all their pages."""
    path = written(tmp_path / "cells.pdf", LINES, LINES + LETTERS, [(50, 700, "7")], LETTERS)
    data = parse(path).data
    assert data["notes"] == [f"{NO_FONT} Affected: pages 1-2, 4."]
    assert data["text"].split() == ["株式会社ミナミ", "缶ビール"] * 2 + ["7"]


@pytest.mark.usefixtures("fontless")
@pytest.mark.parametrize(
    ("font", "line"),
    [
        ("HeiseiMin-W3", "株式会社南"),
        ("HYGothic-Medium", "주식회사남"),
        ("STSong-Light", "股份有限公"),
        ("MSung-Light", "股份有限公"),
    ],
)
def test_the_share_of_lost_letters_is_what_is_not_certain(
    font: str, line: str, tmp_path: Path
) -> None:
    """Of five letters in a line and five alone half are certain, in any of these scripts."""
    alone: Words = [(50 + 40 * place, 650, letter) for place, letter in enumerate(line)]
    page = first_page(written(tmp_path / "half.pdf", [(50, 700, line), *alone], font=font))
    assert (page.text, page.certainty, page.lacks_font) == (line, 0.5, True)


@pytest.mark.usefixtures("fontless")
def test_a_page_of_which_all_letters_are_lost_is_not_blank(tmp_path: Path, parse: Parse) -> None:
    """Nothing was read, and nobody is told that there was nothing to read."""
    result = parse(written(tmp_path / "lost.pdf", LETTERS))
    assert result.data["notes"] == [f"{NO_FONT} Affected: page 1."]
    assert result.confidence is not None
    assert result.confidence < 0.1


@pytest.mark.usefixtures("fontless")
def test_a_picture_between_lost_letters_is_read_and_the_note_stays(
    tmp_path: Path, parse: Parse, tesseract: Callable[[float], FakeTesseract]
) -> None:
    """OCR sees the page as pdfium draws it, which is without these letters."""
    tesseract(0)
    registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    canvas = Canvas(str(tmp_path / "logo.pdf"), pagesize=(300, 400))
    canvas.drawImage(ImageReader(Image.new("L", (30, 40), 200)), 0, 0, 300, 400)
    canvas.setFont("HeiseiMin-W3", 12)
    canvas.drawString(50, 200, "缶")
    canvas.save()
    data = parse(tmp_path / "logo.pdf").data
    assert "INV-7" in data["text"]
    assert data["notes"] == [f"{NO_FONT} Affected: page 1."]


@pytest.mark.usefixtures("fontless")
@pytest.mark.parametrize("font", ["Helvetica", "Courier", "Times-Roman", "ZapfDingbats", "Vera"])
def test_spaces_drawn_alone_are_no_lost_letters(font: str, tmp_path: Path) -> None:
    """pdfium has stand-ins for fonts of letters, and leaves out spaces that stand alone."""
    registerFont(TTFont("Vera", "Vera.ttf"))
    canvas = Canvas(str(tmp_path / "spaces.pdf"))
    canvas.setFont(font, 12)
    for x, text in ((50, "7"), (57, " "), (60, "8"), (70, " ")):
        canvas.drawString(x, 700, text)
    canvas.save()
    page = first_page(tmp_path / "spaces.pdf")
    assert (page.lacks_font, page.certainty) == (False, 1.0)


def test_a_space_in_an_embedded_font_of_wide_characters_is_none_either(tmp_path: Path) -> None:
    """Such a font holds the few characters that the PDF shows, and no others."""
    entries = b"/Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[7 0 R]"
    wide = (
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/DW 1000/FontDescriptor 8 0 R/CIDSystemInfo"
        b"<</Registry(Adobe)/Ordering(Korea1)/Supplement 2>>/CIDToGIDMap/Identity>>"
    )
    about = b"<</Type/FontDescriptor/FontName/X/Flags 4/FontFile2 9 0 R>>"
    program = stream((Path(reportlab.__file__).parent / "fonts" / "Vera.ttf").read_bytes())
    content = b"BT /W 12 Tf 50 700 Td <00240025> Tj 40 0 Td <0003> Tj ET"
    more = {6: b"<<%s>>" % entries, 7: wide, 8: about, 9: program}
    embedded = one_page(content, more=more).replace(b"/F 4 0 R", b"/W 6 0 R")
    (tmp_path / "wide.pdf").write_bytes(embedded)
    page = first_page(tmp_path / "wide.pdf")
    assert (len(page.text), page.lacks_font) == (2, False)


@pytest.mark.usefixtures("fontless")
def test_figures_in_a_missing_font_are_not_lost(tmp_path: Path) -> None:
    """They are drawn in another font."""
    page = first_page(written(tmp_path / "figures.pdf", [(50, 700, "INV-7"), (50, 680, "8")]))
    assert (page.text, page.lacks_font, page.certainty) == ("INV-7\n8", False, 1.0)


@pytest.mark.usefixtures("fontless")
def test_words_written_downwards_are_lost_too(tmp_path: Path) -> None:
    """pdfium leaves out all of a text whose characters have no width across."""
    registerFont(UnicodeCIDFont("HeiseiMin-W3", isVertical=True))
    canvas = Canvas(str(tmp_path / "down.pdf"))
    canvas.setFont("HeiseiMin-W3", 12)
    canvas.drawString(50, 700, "株式会社")
    canvas.save()
    page = first_page(tmp_path / "down.pdf")
    assert (page.lacks_font, page.text) == (True, "")


@pytest.mark.skipif(not JAPANESE.exists(), reason="fonts-ipafont-gothic is not installed")
def test_on_a_machine_with_the_font_nothing_is_lost(tmp_path: Path, parse: Parse) -> None:
    """Letters that stand alone are read, and no note is made; a space alone is no lost letter."""
    data = parse(written(tmp_path / "cells.pdf", [*LINES, (300, 700, " "), *LETTERS])).data
    assert data["text"].split() == ["株式会社ミナミ", "缶ビール", *"御請求書"]
    assert data["notes"] == []
