"""Read pages that are pictures: with a vision model, else with OCR, else not at all."""

from dataclasses import replace

from forebay.agent import Attempt, Reject
from forebay_agents.checkpoints import Checkpoints
from forebay_agents.models import Vision
from forebay_agents.page_json import as_json, from_json
from forebay_agents.pages import Page
from forebay_agents.reading.reader import DocumentError, OcrUnavailable, Reader, ocr_is_installed
from forebay_agents.rules import language_of

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "ja")
"""What OCR looks for, as far as tesseract has the language."""


class ScanReader:
    """Read the scanned pages of an open document; a page that was read before is not read again."""

    def __init__(self, reader: Reader, attempt: Attempt, checkpoints: Checkpoints) -> None:
        self._reader = reader
        self._attempt = attempt
        self._checkpoints = checkpoints
        self._vision = Vision.from_environment()
        self._has_ocr = ocr_is_installed()
        self._language: str | None = None

    def read(self, page: Page) -> Page:
        """Return the page with its words; as it is, when it is no scan or nothing can read it."""
        if not page.is_scanned or page.source != "none":
            return page
        if self._vision is None:
            return self._by_ocr(page)
        try:
            return self._by_vision(self._vision, page)
        except (Reject, DocumentError) as error:  # this page only: others may be read
            reason = error.reason if isinstance(error, Reject) else error.message
            note = f"The vision model did not read page {page.number}: {reason}"
            read = self._by_ocr(page)
            return replace(read, notes=[*read.notes, note])

    def _by_vision(self, vision: Vision, page: Page) -> Page:
        return vision.read(
            page.number,
            self._reader.image(page.number),
            page,
            self._attempt,
            self._checkpoints,
        )

    def _by_ocr(self, page: Page) -> Page:
        if not self._has_ocr:
            return page
        key = f"ocr-{page.number}"
        read = self._checkpoints.get(key, from_json)
        if read is None:
            try:
                read = self._ocr(page.number)
            except OcrUnavailable:  # there is tesseract, but no language for it
                self._has_ocr = False
                return page
            self._checkpoints.put(key, as_json(read))
        self._language = self._language or language_of(read)
        return read

    def _ocr(self, number: int) -> Page:
        """Read a page in the document's language, which the first page with words tells.

        With several languages at once tesseract reads fewer accents, and is slower.
        """
        if self._language:
            return self._reader.ocr(number, [self._language])
        read = self._reader.ocr(number, LANGUAGES)
        language = language_of(read)
        return read if language in (None, "en") else self._reader.ocr(number, [language])
