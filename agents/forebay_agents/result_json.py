"""The parts of a result as JSON has them."""

from dataclasses import asdict
from typing import Any

from forebay_agents.findings import Evidence, Line
from forebay_agents.pages import Page, Table, rounded

WORDS_LENGTH = 200
"""Characters of the words that an evidence repeats."""


def page_entry(page: Page) -> dict[str, Any]:
    """Return how large a page is and how it was read, without its words."""
    return {
        "number": page.number,
        "width": round(page.width, 1),
        "height": round(page.height, 1),
        "rotation": page.rotation,
        "coverage": round(page.coverage, 3),
        "is_scanned": page.is_scanned,
        "source": page.source,
    }


def line_entry(line: Line) -> dict[str, Any]:
    """Return a line item, as far as it says anything."""
    return {name: value for name, value in asdict(line).items() if value is not None}


def evidence_entry(evidence: Evidence) -> dict[str, Any]:
    """Return an evidence; its words are cut where they are many."""
    return {
        "page": evidence.page,
        "box": evidence.box and list(rounded(evidence.box)),
        "text": evidence.text[:WORDS_LENGTH],
        "source": evidence.source,
        "confidence": round(evidence.confidence, 3),
    }


def table_entry(table: Table, page: int) -> dict[str, Any]:
    """Return a table with the number of its page."""
    return {"page": page, "box": list(rounded(table.box)), "rows": table.rows}
