"""A page as JSON and back: how it passes from a process to another, and into a file."""

import json
from typing import Any

from forebay_agents.pages import Page, Segment, Table

NUMBER = (int, float)

SCALARS: dict[str, type | tuple[type, ...]] = {
    "number": int,
    "width": NUMBER,
    "height": NUMBER,
    "rotation": int,
    "text": str,
    "coverage": NUMBER,
    "is_scanned": bool,
    "is_broken": bool,
    "needs_ocr": bool,
    "lacks_font": bool,
    "source": str,
    "certainty": NUMBER,
    "notes": list,
}
"""The fields of a page that JSON has as they are, each with its type."""


def as_json(page: Page) -> dict[str, Any]:
    """Return `page` as JSON has it: a segment is its text and the four numbers of its box."""
    document = {name: getattr(page, name) for name in SCALARS}
    document["rows"] = [[[part.text, *part.box] for part in row] for row in page.rows]
    document["tables"] = [{"rows": table.rows, "box": table.box} for table in page.tables]
    return document


def from_json(document: dict[str, Any]) -> Page:
    """Return the page; raises KeyError, TypeError or ValueError for what is none."""
    for name, kind in SCALARS.items():
        if not isinstance(document[name], kind):
            raise TypeError(f"{name} is {document[name]!r}")
    rows = [[Segment(_text(text), _box(box)) for text, *box in row] for row in document["rows"]]
    tables = [
        Table([[_text(cell) for cell in row] for row in table["rows"]], _box(table["box"]))
        for table in document["tables"]
    ]
    scalars = {name: document[name] for name in SCALARS}
    scalars["notes"] = [_text(note) for note in document["notes"]]
    return Page(**scalars, rows=rows, tables=tables)


def dump(page: Page) -> bytes:
    """Return `page` as one line."""
    return json.dumps(as_json(page), separators=(",", ":")).encode() + b"\n"


def load(line: bytes) -> Page:
    """Return the page of a line that `dump` gave."""
    return from_json(json.loads(line))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _box(numbers: list[float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = map(float, numbers)
    return left, top, right, bottom
