"""What happens to pages after printing: scanned, turned, parted by a blank one."""

from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from random import Random

from PIL import Image
from pypdf import PageObject, PdfReader, PdfWriter, Transformation
from pypdf.generic import NameObject, NumberObject, RectangleObject
from pypdfium2 import PdfDocument
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

DOTS = 200
"""Dots per inch of a scan."""

QUALITY = 62
"""Of JPEG, from 0 to 100."""

Wear = Callable[[Image.Image, Random], Image.Image]
"""Does to the picture of a page, in shades of grey, what makes it hard to read."""


def scan(path: Path, only: Iterable[int] | None = None, *, turn: int = 0) -> None:
    """Put pictures in the place of all pages, or of those given by index, lying a little askew.

    `turn` is by how many degrees more each lies, a multiple of 90.
    """
    document = PdfDocument(path.read_bytes())
    scanned = set(range(len(document)) if only is None else only)
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    for index in sorted(scanned):
        picture = _pictured(_scanned(document, index, turn), DOTS)
        writer.insert_page(PdfReader(BytesIO(picture)).pages[0], index)
        writer.remove_page(index + 1)
    document.close()
    writer.write(path)


def photograph(path: Path, wears: Iterable[Wear], dots: int) -> None:
    """Put in the place of a page its picture with so many dots per inch, worn in turn."""
    document = PdfDocument(path.read_bytes())
    picture, random = _rendered(document, 0, dots), Random(path.stem)
    document.close()
    for wear in wears:
        picture = wear(picture, random)
    path.write_bytes(_pictured(picture, dots))


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

    def across(canvas: Canvas, width: float, height: float) -> None:
        canvas.translate(width / 2, height / 2)
        canvas.rotate(52)
        canvas.setFillGray(0.85)
        canvas.setFont("Helvetica-Bold", 110)
        canvas.drawCentredString(0, 0, word)

    _draw(path, across, over=False)


def add_line(path: Path, x: float, y: float, text: str) -> None:
    """Write a line more on each page, at millimetres from its top left corner."""

    def line(canvas: Canvas, width: float, height: float) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(x * mm, height - y * mm, text)

    _draw(path, line, over=True)


def _draw(path: Path, draw: Callable[[Canvas, float, float], None], *, over: bool) -> None:
    """Draw over or under what each page has; `draw` is told its width and height."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    for page in writer.pages:
        sheet = BytesIO()
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        canvas = Canvas(sheet, pagesize=(width, height), invariant=1)
        draw(canvas, width, height)
        canvas.save()
        page.merge_page(PdfReader(sheet).pages[0], over=over)
    writer.write(path)


def _lay(page: PageObject) -> None:
    width, height = float(page.mediabox.width), float(page.mediabox.height)
    page.add_transformation(Transformation((0, 1, -1, 0, height, 0)))
    page.mediabox = RectangleObject((0, 0, height, width))
    page[NameObject("/Rotate")] = NumberObject(90)


def _rendered(document: PdfDocument, index: int, dots: int) -> Image.Image:
    page: Image.Image = document[index].render(scale=dots / 72, grayscale=True).to_pil()
    return page.convert("L")


def _scanned(document: PdfDocument, index: int, turn: int) -> Image.Image:
    """Return the picture of a page as an office scanner makes it."""
    random = Random(index)
    page = _rendered(document, index, DOTS)
    askew = page.rotate(random.choice((-0.7, 0.5)), Image.Resampling.BICUBIC, fillcolor=250)
    grain = Image.frombytes("L", askew.size, random.randbytes(askew.width * askew.height))
    return Image.blend(askew, grain, 0.08).rotate(turn, expand=True)


def _pictured(picture: Image.Image, dots: int) -> bytes:
    """Return a PDF of one page that holds nothing but a picture."""
    photograph, sheet = BytesIO(), BytesIO()
    picture.save(photograph, "JPEG", quality=QUALITY)
    size = (picture.width * 72 / dots, picture.height * 72 / dots)
    canvas = Canvas(sheet, pagesize=size, invariant=1)
    canvas.drawImage(ImageReader(photograph), 0, 0, *size)
    canvas.save()
    return sheet.getvalue()
