"""ai_parse_document and read_files of a warehouse: our own parser reads, version 2.0 answers.

Simulated: no model reads anything, and the answer says so in its metadata. Places are in pixels of
a picture with `DPI`, a run of words is an element, and a ruled table is one in HTML.
"""

from __future__ import annotations

import html
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay.agent import Reject
from forebay_agents.pages import Box, Page, Table, contains, middle
from forebay_agents.reading.reader import DocumentError, Reader
from forebay_agents.standalone import StandaloneAttempt
from forebay_lab.workspace.files import Files
from forebay_lab.workspace.routing import ApiError
from forebay_lab.workspace.sql_engine import SqlError
from forebay_lab.workspace.statements import Statements

DPI = 200
VERSION = "2.0"


class AiFunctions:
    """Both functions, on warehouses that read a workspace's Volumes.

    `parsed` holds how many pages each call was of: what would be billed. Pages in `broken` end in
    an error of their own, and so does a document that cannot be opened. `said`, as
    JSON, is answered in place of all that.
    """

    def __init__(self, statements: Statements, files: Files) -> None:
        self.parsed: list[int] = []
        self.broken: set[int] = set()
        self.said: str | None = None
        self._files = files
        statements.register_table("read_files", self._read_files)
        statements.register(
            "ai_parse_document", self._parse, ["BLOB", "MAP(VARCHAR, VARCHAR)"], "JSON"
        )

    def _read_files(self, placed: Sequence[Any], named: Mapping[str, Any]) -> list[dict[str, Any]]:
        path = str(placed[0])
        try:
            content = self._files.path(path).read_bytes()
        except (ApiError, OSError):
            raise SqlError(f"[PATH_NOT_FOUND] Path does not exist: {path}.", "42K03") from None
        return [{"path": path, "content": content}]

    def _parse(self, content: bytes, options: Mapping[str, str]) -> str:
        if options.get("version", VERSION) != VERSION:
            raise ValueError("version must be 2.0")
        if self.said is not None:
            return self.said
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(content)
            file.flush()
            try:
                with Reader(Path(file.name), StandaloneAttempt()) as reader:
                    pages = [reader.page(number + 1) for number in range(reader.pages)]
            except (DocumentError, Reject) as error:
                return json.dumps(_answer([], [], [{"error_message": str(error)}]))
        self.parsed.append(len(pages))
        elements = [one for page in pages if page.number not in self.broken for one in _of(page)]
        errors = [
            {"error_message": "The page could not be read.", "page_id": number - 1}
            for number in sorted(self.broken)
        ]
        return json.dumps(_answer(pages, elements, errors))


def _answer(
    pages: list[Page], elements: list[dict[str, Any]], errors: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "document": {
            "pages": [{"id": page.number - 1, "image_uri": None} for page in pages],
            "elements": [{"id": at, **element} for at, element in enumerate(elements)],
        },
        "error_status": errors,
        "metadata": {"id": "simulated", "version": f"{VERSION} (simulated)", "file_metadata": {}},
    }


def _of(page: Page) -> list[dict[str, Any]]:
    """Return the elements of a page, without the words that stand in its tables."""
    found = [_element(page, "table", _html(table), table.box) for table in page.tables]
    for segment in (segment for row in page.rows for segment in row):
        if not _is_in(segment.box, page.tables):
            found.append(_element(page, "text", segment.text, segment.box))
    return sorted(found, key=lambda element: element["bbox"][0]["coord"][1])


def _element(page: Page, kind: str, content: str, box: Box) -> dict[str, Any]:
    coord = [round(edge * DPI / 72) for edge in box]
    return {
        "type": kind,
        "content": content,
        "confidence": round(page.certainty * 0.98, 3),
        "bbox": [{"coord": coord, "page_id": page.number - 1}],
        "description": None,
    }


def _is_in(box: Box, tables: Sequence[Table]) -> bool:
    return any(contains(table.box, middle(box)) for table in tables)


def _html(table: Table) -> str:
    rows = (
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    return f"<table>{''.join(rows)}</table>"
