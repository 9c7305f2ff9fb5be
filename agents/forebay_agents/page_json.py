"""A page as JSON and back: how it passes from a process to another, and into a file."""

import json
from typing import Any

from forebay_agents.pages import Page, Segment, Table

SCALARS = (
    *("number", "width", "height", "rotation", "text", "coverage"),
    *("is_scanned", "is_broken", "needs_ocr", "source", "certainty", "notes"),
)


def as_json(page: Page) -> dict[str, Any]:
    """Return `page` as JSON has it: a segment is its text and the four numbers of its box."""
    document = {name: getattr(page, name) for name in SCALARS}
    document["rows"] = [[[part.text, *part.box] for part in row] for row in page.rows]
    document["tables"] = [{"rows": table.rows, "box": table.box} for table in page.tables]
    return document


def from_json(document: dict[str, Any]) -> Page:
    """Return the page; raises KeyError, TypeError or ValueError for what is none."""
    rows = [[Segment(text, _box(box)) for text, *box in row] for row in document["rows"]]
    tables = [Table(table["rows"], _box(table["box"])) for table in document["tables"]]
    return Page(**{name: document[name] for name in SCALARS}, rows=rows, tables=tables)


def dump(page: Page) -> bytes:
    """Return `page` as one line."""
    return json.dumps(as_json(page), separators=(",", ":")).encode() + b"\n"


def load(line: bytes) -> Page:
    """Return the page of a line that `dump` gave."""
    return from_json(json.loads(line))


def _box(numbers: list[float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = map(float, numbers)
    return left, top, right, bottom
