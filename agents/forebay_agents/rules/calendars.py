"""Read dates in the order in which a document writes them."""

import re
from datetime import date

from forebay_agents.rules.country import countries
from forebay_agents.rules.dates import Order, Reading, readings
from forebay_agents.rules.places import Document


class Calendar:
    """Read dates in the order that this document has them in."""

    def __init__(self, document: Document, language: str | None) -> None:
        self.order, self.confidence = _order(document, language)

    def read(self, reading: Reading) -> tuple[date, float] | None:
        """Return the day and how surely it is meant; None when it could be another."""
        if reading.is_plain:
            day = reading.day(None)
            return (day, 1.0) if day else None
        day = reading.day(self.order)
        return (day, self.confidence) if day else None


def _by_paper(document: Document) -> frozenset[str]:
    """Return where the size of the paper points to: letter paper to the United States.

    A4 is what most software makes when nobody asks for anything, and points nowhere.
    """
    width, height = (
        (document.pages[0].width, document.pages[0].height) if document.pages else (0, 0)
    )
    is_letter = abs(width - 612) < 2 and abs(height - 792) < 2
    return frozenset({"US"}) if is_letter else frozenset()


def _order(document: Document, language: str | None) -> tuple[Order | None, float]:
    """Return what comes first in a plain date, by other dates, else by language and country."""
    seen: set[Order] = set()
    for reading in readings(document.text):
        orders = set(reading.meanings) & {"day", "month"}
        text = document.text[reading.start : reading.end]
        if len(orders) == 1 and re.fullmatch(r"\d{1,2}[/-]\d{1,2}[/-]\d+", text.replace(" ", "")):
            seen |= orders
    if seen:
        return (seen.pop(), 0.97) if len(seen) == 1 else (None, 0.0)
    where = countries(document.text) or _by_paper(document)
    if language == "ja":
        return "year", 0.9
    if language is not None and language != "en":
        return "day", 0.9
    if where - {"CA"} == {"US"}:
        return "month", 0.85
    if where and not where & {"US", "CA"}:
        return "day", 0.85
    return None, 0.0
