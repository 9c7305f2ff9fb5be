"""Read pages whose words the PDF does not give: with a vision model, else with OCR."""

from dataclasses import replace
from functools import partial
from typing import Any

from forebay.agent import Attempt, Reject
from forebay_agents.checkpoints import Checkpoints
from forebay_agents.languages import LANGUAGES
from forebay_agents.models import Vision
from forebay_agents.page_json import as_json, from_json
from forebay_agents.pages import Page
from forebay_agents.reading.errors import OcrUnavailable, PageFailed
from forebay_agents.reading.reader import Reader, ocr_is_installed
from forebay_agents.rules import language_of

NOBODY = "Pictures of text are read where tesseract is installed or a vision model is configured."


class ScanReader:
    """Read such pages of an open document; what was read before is not read again."""

    def __init__(self, reader: Reader, attempt: Attempt, checkpoints: Checkpoints) -> None:
        self._reader = reader
        self._attempt = attempt
        self._checkpoints = checkpoints
        self._vision = Vision.from_environment()
        self._has_ocr = ocr_is_installed()
        self._language: str | None = None

    def read(self, page: Page) -> Page:
        """Return the page with its words; as it is, when it needs no OCR or nothing can read it.

        Where the vision model did not read it, and OCR sees no word, nobody has read it.
        """
        if not page.needs_ocr:
            return page
        notes = list(page.notes)
        read = self._by_vision(page, notes) or self._by_ocr(page, notes)
        if read is None:
            return replace(page, notes=notes)
        told = list(dict.fromkeys([*notes, *read.notes]))
        return replace(
            read,
            is_scanned=page.is_scanned,
            needs_ocr=read.source == "none" and self._vision is not None,
            lacks_font=page.lacks_font,
            notes=told,
        )

    def _by_vision(self, page: Page, notes: list[str]) -> Page | None:
        """Return what the vision model reads; None, with a note if it was asked."""
        if self._vision is None:
            return None
        try:
            png = self._reader.image(page.number)
            return self._vision.read(page.number, png, page, self._attempt, self._checkpoints)
        except Reject as refusal:
            notes.append(f"The vision model did not read page {page.number}: {refusal.reason}")
        except PageFailed as failure:
            notes.append(failure.message)
        return None

    def _by_ocr(self, page: Page, notes: list[str]) -> Page | None:
        """Return what OCR reads, which is kept; None, with a note, when it cannot."""
        key = f"ocr-{page.number}"
        read = self._checkpoints.get(key, partial(_page, page.number))
        if read is None:
            try:
                read = self._ocr(page.number)
            except OcrUnavailable:
                notes += [] if self._vision else [NOBODY]
                return None
            except PageFailed as failure:
                notes.append(failure.message)
                return None
            self._checkpoints.put(key, as_json(read))
        self._language = self._language or language_of(read)
        return read

    def _ocr(self, number: int) -> Page:
        """Read a page in the document's language, which the first page with words tells.

        With several languages at once tesseract reads fewer accents, and is slower.
        """
        if not self._has_ocr:
            raise OcrUnavailable
        if self._language:
            return self._reader.ocr(number, [self._language])
        read = self._reader.ocr(number, LANGUAGES)
        language = language_of(read)
        return read if language in (None, "en") else self._reader.ocr(number, [language])


def _page(number: int, document: dict[str, Any]) -> Page:
    """Return the page that was kept; raises ValueError for that of another number."""
    page = from_json(document)
    if page.number != number:
        raise ValueError(f"page {page.number} stands in the place of page {number}")
    return page
