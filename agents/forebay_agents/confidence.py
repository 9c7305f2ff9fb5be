"""Say how far a document's result can be trusted, from its evidence alone.

Whatever speaks against a result is a doubt between 0 and 1: a field that is not sure, an expected
field that is missing, sums that do not add up, a date with two readings, pages that could not be
read. The confidence is what all doubts together leave: the product of 1 - doubt over all of them.
So each further doubt lowers it, none can be made good by other fields, and a result without any
doubt has 1. Sums that add up confirm the fields they are made of, whose own doubts then shrink.

The weights are in the tables below: they were set so that on the samples a confidence of 0.9 and
more means a result that is right in every field.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import prod

from forebay_agents.findings import AMOUNTS, DATES, PARTIES, Findings, Found, Name
from forebay_agents.pages import Page
from forebay_agents.rules.text import same_name
from forebay_agents.sums import lines_miss, sums, total_miss

UNSURE: Mapping[Name, float] = {
    "kind": 0.2,
    "number": 0.3,
    "date": 0.2,
    "due_date": 0.3,
    "currency": 0.2,
    "total": 0.6,
    "total_net": 0.4,
    "tax": 0.4,
    "seller": 0.5,
    "buyer": 0.5,
    "language": 0.3,
}
"""The doubt for each field that is not sure at all; it falls with the square of what is unsure."""

_OF_TRADE: Mapping[Name, float] = {
    "number": 0.3,
    "date": 0.4,
    "currency": 0.4,
    "total": 0.6,
    "seller": 0.4,
    "buyer": 0.4,
}

_TAXED: Mapping[Name, float] = {**_OF_TRADE, "total_net": 0.07, "tax": 0.07}

MISSING: Mapping[str, Mapping[Name, float]] = {
    "invoice": {**_TAXED, "due_date": 0.1},
    "credit_note": _TAXED,
    "receipt": {**_OF_TRADE, "number": 0.05, "buyer": 0.05},
    "quote": _TAXED,
    "order": _OF_TRADE,
    "statement": {**_OF_TRADE, "number": 0.05},
    "delivery_note": {"number": 0.3, "date": 0.4, "seller": 0.4, "buyer": 0.4},
    "contract": {"number": 0.05, "date": 0.3, "seller": 0.05, "buyer": 0.05},
    "form": {"date": 0.05},
    "report": {"date": 0.1},
}
"""The doubt for each field that documents of a kind have and this one does not say."""

NO_KIND = 0.6
"""The doubt about a document whose kind nobody could tell."""

CONFIRMED = 0.3
"""What is left of a sum's own doubt when the sums or the lines make it up."""

UNCONFIRMED = 0.04
"""The doubt about a total that no other sum confirms."""

WRONG_SUM = 0.25
"""The doubt when net and tax are stated and do not make the total."""

WRONG_LINES = 0.04
"""The doubt when the lines miss the sums."""

TWO_READINGS = 0.05
"""The doubt about a date such as 03/04/2026, unless the language tells its order."""

SAME_PARTY = 0.4
"""The doubt when seller and buyer are one: at least one of them was read in the wrong place."""

UNANSWERED = 0.1
"""The doubt when a model gave no usable answer; in proportion for some of its parts."""

UNREAD = 0.9
"""The doubt when no page could be read; in proportion for some, and for fields from no XML."""

FONTLESS = 0.1
"""What counts as unread of a page that lacks a font, beside the letters known to be lost."""

MONTH_FIRST_LANGUAGES = {"en"}
"""Languages in which some write the month first and others the day."""


def document_confidence(findings: Findings, pages: Sequence[Page]) -> Decimal:
    """Return from 0 to 1, with three decimals, how far the findings can be trusted.

    `pages` tell how each page could be read; their text is not needed.
    """
    doubts = (
        *_fields_unsure(findings),
        *_fields_missing(findings),
        *_sums_wrong(findings),
        *_dates_unclear(findings),
        *_parties_mixed(findings),
        UNANSWERED * findings.unanswered,
        UNREAD * _share_from_pages(findings) * (1 - _share_read(pages)),
    )
    return Decimal(prod(1 - doubt for doubt in doubts)).quantize(Decimal("0.001"))


def _fields_unsure(findings: Findings) -> Iterator[float]:
    confirmed = _confirmed(findings)
    for name, found in findings.fields.items():
        doubt = UNSURE[name] * (1 - found.confidence) ** 2
        yield doubt * CONFIRMED if name in confirmed else doubt


def _fields_missing(findings: Findings) -> Iterator[float]:
    if (kind := _kind(findings)) is None:
        yield NO_KIND
        return
    for name, doubt in MISSING.get(kind, {}).items():
        if name not in findings.fields:
            yield doubt


def _sums_wrong(findings: Findings) -> Iterator[float]:
    stated = sums(findings.fields)
    if total_miss(stated):
        yield WRONG_SUM
    if _lines_miss(findings):
        yield WRONG_LINES
    if "total" in stated and "total" not in _confirmed(findings):
        yield UNCONFIRMED


def _confirmed(findings: Findings) -> set[Name]:
    """Return the sums that others make up: net plus tax, or the lines."""
    stated = sums(findings.fields)
    if total_miss(stated) == 0:
        return set(AMOUNTS)
    is_made = _lines_miss(findings) == 0
    return {"total"} if is_made and total_miss(stated) is None else set()


def _lines_miss(findings: Findings) -> Decimal | None:
    """Return by how much the lines miss the sums, where lines should make them.

    A statement's need not, and an e-invoice may add discounts and charges to its lines.
    """
    total = findings.fields.get("total")
    if _kind(findings) == "statement" or (total and total.evidence.source == "xml"):
        return None
    return lines_miss(findings.lines, sums(findings.fields))


def _dates_unclear(findings: Findings) -> Iterator[float]:
    language = findings.fields.get("language")
    if language is None or language.value in MONTH_FIRST_LANGUAGES:
        for name in DATES:
            if name in findings.fields and _has_two_readings(findings.fields[name]):
                yield TWO_READINGS


def _has_two_readings(found: Found) -> bool:
    """Tell whether the words of the evidence give the day as 03/04/2026."""
    for day, month in re.findall(r"(?<!\d)(\d\d?)[/-](\d\d?)[/-]\d", found.evidence.text):
        if day != month and int(day) <= 12 and int(month) <= 12:
            return True
    return False


def _parties_mixed(findings: Findings) -> Iterator[float]:
    names = [findings.fields[name].value for name in PARTIES if name in findings.fields]
    if len(names) > 1 and same_name(*names):
        yield SAME_PARTY


def _kind(findings: Findings) -> str | None:
    return findings.fields["kind"].value if "kind" in findings.fields else None


def _share_from_pages(findings: Findings) -> float:
    """Return the share of the fields that pages say: the XML inside needs none to be read."""
    sources = [found.evidence.source for found in findings.fields.values()]
    return 1 - sources.count("xml") / len(sources) if sources else 1.0


def _share_read(pages: Sequence[Page]) -> float:
    """Return how much could be read, from 0 to 1, as a mean over the pages that have something."""
    shares = [_read(page) for page in pages if page.source != "none" or _is_unread(page)]
    return sum(shares) / len(shares) if shares else 0.0


def _read(page: Page) -> float:
    read = 0.0 if _is_unread(page) else min(max(page.certainty, 0.0), 1.0)
    return read * (1 - FONTLESS) if page.lacks_font else read


def _is_unread(page: Page) -> bool:
    """Tell a page that is broken, or whose words nobody read; a blank one is neither."""
    return page.is_broken or page.needs_ocr or (page.lacks_font and page.source == "none")
