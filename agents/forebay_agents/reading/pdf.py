"""Open a PDF and read its pages: this runs in the child process, where nothing is safe."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from forebay.pdf import HEADER_WINDOW, header_problem
from forebay_agents.pages import Page, Row
from forebay_agents.reading import drawings
from forebay_agents.reading.characters import Character, Characters, read
from forebay_agents.reading.drawings import Drawings
from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.geometry import Frame
from forebay_agents.reading.grids import tables
from forebay_agents.reading.rendering import Paper, draw, turned
from forebay_agents.reading.rows import lay_out

OUTLINES = 500
"""So many points of filled paths may be the outlines of letters."""

FILLED = 0.6
"""The share of a page that pictures cover at least when the page is a scan."""

MOSTLY = 0.5
"""The share of characters without a meaning above which a page's text is no text.

Also that of characters which run another way above which the page is turned to read it."""

LAYER_CERTAINTY = 0.9
"""How far the words behind a scan are trusted; how sure their OCR was, the PDF does not say."""

ATTACHMENTS = 1000
"""How many attached files are looked at."""

HANDED_OVER = 8
"""How many of them are handed over."""

SHOWN_ANNOTATIONS = (pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP)


class Pdf:
    """An open PDF.

    Raises DocumentError when the file is missing, empty, not a PDF, encrypted, broken or pageless.
    A PDF that only restricts printing or editing opens: no password is needed to read it.
    """

    def __init__(self, path: Path) -> None:
        _check_header(path)
        self._pdf = _open(path)
        self._pdf.init_forms()
        if len(self) == 0:
            self.close()
            raise DocumentError("bad_input", "The PDF has no pages; export it again.")

    def __len__(self) -> int:
        return len(self._pdf)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._pdf.close()

    def page(self, number: int) -> Page:
        """Read one page, turned so that most of its words are upright.

        Raises PdfiumError and other errors on a broken page.
        """
        with closing(self._page(number)) as page, closing(page.get_textpage()) as textpage:
            frame = _frame(page)
            drawn, words = _seen(page, textpage, frame)
            if angle := _usual_angle(words.found):
                frame = frame.turned(angle)
                drawn, words = _seen(page, textpage, frame)
        return _page(number, frame, drawn, words)

    def characters(self, number: int) -> str:
        """Return the text of a page, quickly and with whatever is hidden in it."""
        with closing(self._pdf[number - 1]) as page, closing(page.get_textpage()) as textpage:
            return str(textpage.get_text_range())

    def image(self, number: int, dpi: int, rotation: int | None = None) -> Image.Image:
        """Draw a page with `dpi` dots per inch or fewer, as shown, or turned as `rotation` says."""
        with closing(self._pdf[number - 1]) as page:
            turn = 0 if rotation is None else rotation - page.get_rotation()
            return turned(draw(page, dpi / 72), turn)

    def frame(self, number: int) -> Frame:
        """Return how a page is shown."""
        with closing(self._pdf[number - 1]) as page:
            return _frame(page)

    def attachments(self, suffix: str, limit: int) -> tuple[dict[str, bytes], list[str]]:
        """Return the attached files whose lower-case names end so, by these names, and notes.

        Those with more bytes than `limit`, all but the first of a name, and those beyond a few are
        left out: the notes tell so in sentences.
        """
        found: dict[str, bytes] = {}
        notes = []
        count = self._pdf.count_attachments()
        for index in range(min(count, ATTACHMENTS)):
            attachment = self._pdf.get_attachment(index)
            name = attachment.get_name().rpartition("/")[2].lower()
            if not name.endswith(suffix):
                continue
            if len(found) == HANDED_OVER:
                notes.append(f"The PDF holds more than {HANDED_OVER} {suffix} files: not all read.")
                break
            data = bytes(attachment.get_data())
            if len(data) > limit:
                notes.append(f"{name} inside the PDF has over {limit:,} bytes and was not read.")
            elif found.setdefault(name, data) != data:
                notes.append(f"The PDF holds another {name}, which was not read.")
        if count > ATTACHMENTS:
            notes.append(f"The PDF holds {count:,} files; {ATTACHMENTS:,} were looked at.")
        return found, notes

    def _page(self, number: int) -> Any:
        """Load a page; what is filled into its form or stamped on it is made part of it."""
        page = self._pdf[number - 1]
        if not _has_annotations(page):
            return page
        pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
        page.close()
        return self._pdf[number - 1]


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
    if problem := header_problem(head):
        raise DocumentError("bad_input", f"The file {problem}")


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


def _frame(page: Any) -> Frame:
    left, bottom, right, top = page.get_bbox()
    return Frame(left, bottom, right, top, page.get_rotation())


def _seen(page: Any, textpage: Any, frame: Frame) -> tuple[Drawings, Characters]:
    drawn = drawings.look(page, frame)
    return drawn, read(textpage, frame, drawn, Paper(page, frame).is_blank)


def _usual_angle(characters: Sequence[Character]) -> int:
    """Return the angle at which most words of a page run, 0 if there is no such angle."""
    angles = Counter(character.angle for character in characters)
    angle, count = angles.most_common(1)[0] if angles else (0, 0)
    return angle if angle and count > MOSTLY * len(characters) else 0


def _has_annotations(page: Any) -> bool:
    """Tell whether anything on the page shows words that are not part of it."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), 10_000)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if annotation:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            pdfium.FPDFPage_CloseAnnot(annotation)
            if kind in SHOWN_ANNOTATIONS:
                return True
    return False


def _page(number: int, frame: Frame, drawn: Drawings, words: Characters) -> Page:
    """Put together what a page says."""
    notes = []
    unknown = words.unknown / len(words.found) if words.found else 0.0
    laid_out, text = lay_out(words.found, frame, drawn.upright)
    if unknown > MOSTLY:
        notes.append(f"The fonts of page {number} do not say what its characters mean.")
        text, laid_out = "", []
    if words.hidden:
        notes.append(f"Page {number} holds words that nobody sees; they are left out.")
    if not words.is_whole:
        notes.append(f"Page {number} holds too many characters; some are left out.")
    if not drawn.is_whole:
        notes.append(f"Page {number} holds too many drawings; tables may be missing.")
    is_covered = drawings.share_covered(drawn.pictures, frame) >= FILLED
    is_scanned = is_covered and (not words.visible or drawn.is_on_top)
    shows_something = bool(words.found or drawn.pictures or drawn.filled >= OUTLINES)
    told = (1.0 - unknown) * len(words.found) / max(len(words.found) + drawn.fontless.lost, 1)
    certainty = told * (LAYER_CERTAINTY if is_scanned else 1.0) if text else 0.0
    return Page(
        number,
        width=round(frame.width, 1),
        height=round(frame.height, 1),
        rotation=frame.rotation,
        text=text,
        rows=laid_out,
        tables=tables(drawn.upright, drawn.level, laid_out) if text else [],
        coverage=coverage(laid_out, frame),
        is_scanned=is_scanned,
        needs_ocr=not text and shows_something,
        lacks_font=drawn.fontless.texts > 0,
        source="text" if text else "none",
        certainty=round(certainty, 3),
        notes=notes,
    )


def coverage(laid_out: list[Row], frame: Frame) -> float:
    """Return the share of the page's area that its words cover, from 0 to 1."""
    boxes = (segment.box for row in laid_out for segment in row)
    area = sum((right - left) * (bottom - top) for left, top, right, bottom in boxes)
    return round(min(area / max(frame.width * frame.height, 1.0), 1.0), 4)
