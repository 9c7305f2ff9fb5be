"""Read a PDF through a child process, so that no file harms the process that asks."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from forebay.agent import Attempt
from forebay_agents.page_json import from_json
from forebay_agents.pages import Page
from forebay_agents.reading import wire
from forebay_agents.reading.errors import DocumentError, OcrUnavailable, PageFailed
from forebay_agents.reading.limits import MEGABYTE, Limits
from forebay_agents.reading.process import Lost, ReadingProcess
from forebay_agents.reading.verdicts import (
    broken,
    check_pages,
    check_size,
    of_document,
    of_page,
    of_pages,
    raise_errors,
)
from forebay_agents.stopping import check

__all__ = ["DocumentError", "Limits", "OcrUnavailable", "PageFailed", "Reader", "ocr_is_installed"]

RENEW_ABOVE = 160 * MEGABYTE
"""A child that holds more memory than this after a page is replaced: pdfium keeps what it read."""


class Reader:
    """An open PDF; use it in a `with` block, and from one thread only.

    Whatever waits looks at the attempt every 0.1 seconds, and raises Retry once that is to stop.
    A page on which the child is lost, because it crashed or went over a limit, is broken, and a new
    child reads the others. `notes` tell in sentences what else could not be read.

    Raises DocumentError when the file cannot be opened, is larger or longer than the limits allow,
    or has cost too many children.
    """

    def __init__(self, path: Path, attempt: Attempt, limits: Limits | None = None) -> None:
        self.notes: list[str] = []
        self._path = path
        self._attempt = attempt
        self._limits = limits or Limits.from_environment()
        self._process: ReadingProcess | None = None
        self._losses = 0
        check_size(path, self._limits)
        self.pages = self._opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child; safe to call twice."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def attached(self, suffix: str, limit: int) -> dict[str, bytes]:
        """Return the attached files whose lower-case names end so, by these: mostly there are none.

        One with more bytes than `limit` is left out, with a note, and so is a second of a name.
        """
        command = {"do": "attachments", "suffix": suffix, "limit": limit}
        try:
            answer = self._ask(command, self._limits.seconds_per_page, "at its attachments")
        except Lost:
            answer = {"attachments": None}
        if answer["attachments"] is None:
            self.notes.append("The files attached to the PDF cannot be read.")
            return {}
        self.notes += answer["notes"]
        return {name: wire.to_bytes(data) for name, data in answer["attachments"].items()}

    def page(self, number: int) -> Page:
        """Read one page, counted from 1; one that cannot be read is broken and says why."""
        command, seconds = {"do": "page", "number": number}, self._limits.seconds_per_page
        try:
            return from_json(self._ask(command, seconds, self._where(number))["page"])
        except Lost as lost:
            problem = of_page(f"Page {number}", lost.loss, self._limits, seconds)
            return broken(number, f"{problem} and was skipped.")
        except PageFailed as failed:
            return broken(number, failed.message)

    def ocr(self, number: int, languages: Sequence[str]) -> Page:
        """Read one page with tesseract in these languages (ISO 639-1), as far as it has them.

        Without any language it is read in all that are installed, which takes longer. Raises
        PageFailed, and OcrUnavailable when tesseract or its languages are not installed.
        """
        command = {"do": "ocr", "number": number, "languages": list(languages)}
        seconds = self._limits.seconds_per_ocr_page
        return from_json(self._made(command, seconds, f"OCR of page {number}")["page"])

    def image(self, number: int, dpi: int = 150, rotation: int | None = None) -> bytes:
        """Draw one page as PNG; raises PageFailed.

        It is drawn as the PDF shows it, or turned by `rotation`, which a page that was read has:
        then the boxes of its words are where the picture shows them.
        """
        command = {"do": "image", "number": number, "dpi": dpi, "rotation": rotation}
        seconds = self._limits.seconds_per_page
        return wire.to_bytes(self._made(command, seconds, f"Drawing page {number}")["image"])

    def _made(self, command: dict[str, Any], seconds: int, what: str) -> dict[str, Any]:
        """Return what is made of a page; raises PageFailed."""
        try:
            return self._ask(command, seconds, self._where(command["number"]))
        except Lost as lost:
            raise PageFailed(f"{of_page(what, lost.loss, self._limits, seconds)}.") from lost

    def _where(self, number: int) -> str:
        return f"at page {number} of {self.pages}"

    def _ask(self, command: dict[str, Any], seconds: float, where: str) -> dict[str, Any]:
        """Return a child's answer; a lost child is counted, and replaced for the next question."""
        if self._process is None:  # it was lost, or had grown too large
            self._opened()
        assert self._process is not None
        try:
            answer = self._process.ask(command, seconds, lambda: check(self._attempt, where))
        except BaseException as error:
            self.close()
            if isinstance(error, Lost):
                self._count_loss(error)
            raise
        if self._process.resident > RENEW_ABOVE:
            self.close()
        raise_errors(answer)
        return answer

    def _count_loss(self, lost: Lost) -> None:
        self._losses += 1
        if self._losses > self._limits.losses:
            raise of_pages(self._losses) from lost

    def _opened(self) -> int:
        """Start a child, have it open the document, and return how many pages that has."""
        self._process = ReadingProcess(self._limits)
        try:
            return self._opened_by(self._process)
        except BaseException:
            self.close()
            raise

    def _opened_by(self, process: ReadingProcess) -> int:
        command = {"do": "open", "path": str(self._path.absolute())}
        seconds = self._limits.seconds_to_open
        try:
            answer = process.ask(
                command, seconds, lambda: check(self._attempt, "while opening the document")
            )
        except Lost as lost:
            raise of_document(lost.loss, self._limits) from lost
        raise_errors(answer)
        return check_pages(answer["pages"], self._limits)


def ocr_is_installed() -> bool:
    """Tell whether tesseract is installed."""
    return shutil.which("tesseract") is not None
