"""What happens to pages after printing: scanned, turned, parted by a blank one."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from random import Random

from PIL import Image
from pypdf import PageObject, PdfReader, PdfWriter, Transformation
from pypdf.generic import NameObject, NumberObject, RectangleObject
from pypdfium2 import PdfDocument
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

DOTS = 200
"""Dots per inch of a scan."""

QUALITY = 62
"""Of JPEG, from 0 to 100."""


def scan(path: Path, only: Iterable[int] | None = None, *, turn: int = 0) -> None:
    """Put pictures in the place of all pages, or of those given by index, lying a little askew.

    `turn` is by how many degrees more each lies, a multiple of 90.
    """
    document = PdfDocument(path.read_bytes())
    scanned = set(range(len(document)) if only is None else only)
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    for index in sorted(scanned):
        picture = _pictured(document, index, turn)
        writer.insert_page(PdfReader(BytesIO(picture)).pages[0], index)
        writer.remove_page(index + 1)
    document.close()
    writer.write(path)


def part_with_blank(path: Path) -> int:
    """Put a blank page after the first; returns how many pages there are then."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    writer.insert_blank_page(index=1)
    writer.write(path)
    return len(writer.pages)


def lay_sideways(path: Path) -> None:
    """Let pages be written sideways and carry the entry that turns them upright again."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    for page in writer.pages:
        _lay(page)
    writer.write(path)


def stamp(path: Path, word: str) -> None:
    """Write a word across each page, large and grey, as copies and paid bills have it."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    for page in writer.pages:
        sheet = BytesIO()
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        canvas = Canvas(sheet, pagesize=(width, height), invariant=1)
        canvas.translate(width / 2, height / 2)
        canvas.rotate(52)
        canvas.setFillGray(0.85)
        canvas.setFont("Helvetica-Bold", 110)
        canvas.drawCentredString(0, 0, word)
        canvas.save()
        page.merge_page(PdfReader(sheet).pages[0], over=False)
    writer.write(path)


def _lay(page: PageObject) -> None:
    width, height = float(page.mediabox.width), float(page.mediabox.height)
    page.add_transformation(Transformation((0, 1, -1, 0, height, 0)))
    page.mediabox = RectangleObject((0, 0, height, width))
    page[NameObject("/Rotate")] = NumberObject(90)


def _pictured(document: PdfDocument, index: int, turn: int) -> bytes:
    """Return a PDF of one page that holds nothing but the picture of a page."""
    random = Random(index)
    page = document[index].render(scale=DOTS / 72, grayscale=True).to_pil().convert("L")
    askew = page.rotate(random.choice((-0.7, 0.5)), Image.Resampling.BICUBIC, fillcolor=250)
    grain = Image.frombytes("L", askew.size, random.randbytes(askew.width * askew.height))
    dirty = Image.blend(askew, grain, 0.08).rotate(turn, expand=True)
    photograph, sheet = BytesIO(), BytesIO()
    dirty.save(photograph, "JPEG", quality=QUALITY)
    size = (dirty.width * 72 / DOTS, dirty.height * 72 / DOTS)
    canvas = Canvas(sheet, pagesize=size, invariant=1)
    canvas.drawImage(ImageReader(photograph), 0, 0, *size)
    canvas.save()
    return sheet.getvalue()
