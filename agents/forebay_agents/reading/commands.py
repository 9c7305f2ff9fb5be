"""What the reading process can be asked to do; every answer is a JSON object."""

import io
from pathlib import Path
from typing import Any

from pypdfium2 import PdfiumError

from forebay_agents.page_json import as_json
from forebay_agents.reading import inspected, wire
from forebay_agents.reading.errors import DocumentError, OcrUnavailable, PageFailed
from forebay_agents.reading.pdf import Pdf


class Commands:
    """Hold the PDF that was opened, and answer what is asked about it.

    An answer with "error" and "kind" says why a document cannot be read, one with "page_failed"
    why a page cannot, one with "unavailable" that OCR is not installed.
    """

    def __init__(self) -> None:
        self._pdf: Pdf | None = None

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        """Do what `command["do"]` names, with the other items as arguments."""
        arguments = {name: value for name, value in command.items() if name != "do"}
        try:
            return dict(getattr(self, f"do_{command['do']}")(**arguments))
        except DocumentError as error:
            return {"error": error.message, "kind": error.kind}
        except PageFailed as error:
            return {"page_failed": error.message}
        except OcrUnavailable as error:
            return {"unavailable": str(error)}
        except PdfiumError:
            return {"error": "The PDF is broken; export it again.", "kind": "bad_input"}

    def do_start(self) -> dict[str, Any]:
        """Do nothing: whoever can be asked is loaded."""
        return {}

    def do_open(self, path: str) -> dict[str, Any]:
        """Open the PDF at `path`."""
        self._pdf = Pdf(Path(path))
        return {"pages": len(self._pdf)}

    def do_attachments(self, suffix: str, limit: int) -> dict[str, Any]:
        """Return the attached files whose names end so, as far as the limit lets."""
        try:
            found, notes = self._open.attachments(suffix, limit)
        except MemoryError:
            raise
        except Exception:  # a broken tree of names can fail in any way
            return {"attachments": None}
        files = {name: wire.from_bytes(data) for name, data in found.items()}
        return {"attachments": files, "notes": notes}

    def do_page(self, number: int) -> dict[str, Any]:
        """Read a page."""
        try:
            page = self._open.page(number)
        except MemoryError:
            raise
        except Exception as error:  # a broken page can fail in any way
            raise PageFailed(f"Page {number} is broken and was skipped.") from error
        return {"page": as_json(page)}

    def do_ocr(self, number: int, languages: list[str]) -> dict[str, Any]:
        """Read a page with tesseract."""
        from forebay_agents.reading import ocr

        try:
            page = ocr.read(self._open, number, languages)
        except (MemoryError, OcrUnavailable, OSError):  # the last one is the machine's fault
            raise
        except Exception as error:  # a broken page can fail in any way, and so can tesseract
            raise PageFailed(f"OCR of page {number} failed.") from error
        return {"page": as_json(page)}

    def do_image(self, number: int, dpi: int, rotation: int | None) -> dict[str, Any]:
        """Draw a page as PNG."""
        content = io.BytesIO()
        try:
            self._open.image(number, dpi, rotation).save(content, "PNG")
        except PdfiumError as error:
            raise PageFailed(f"Drawing page {number} failed.") from error
        return {"image": wire.from_bytes(content.getvalue())}

    def do_inspect(self, path: str, sample: int) -> dict[str, Any]:
        """Tell how long a document is, from a sample of so many pages."""
        return inspected.inspect(Path(path), sample)

    @property
    def _open(self) -> Pdf:
        assert self._pdf is not None, "open a file first"
        return self._pdf
