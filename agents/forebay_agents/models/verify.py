"""Let an answer's values count only where the document says them, and say how surely they do."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from forebay_agents.findings import (
    AMOUNTS,
    DATES,
    PARTIES,
    Evidence,
    Findings,
    Found,
    Line,
    Name,
)
from forebay_agents.models import readings
from forebay_agents.models.answer import Answer, Stated, StatedLine
from forebay_agents.models.evidence import Location, SearchablePage, locations, squeezed
from forebay_agents.pages import Page

NAMED: tuple[Name, ...] = ("kind", "number", "currency", "seller", "buyer")

LABELLED = 0.9
"""A value in a row of its own, beside words that name it."""
BARE = 0.7
"""A number, day or name that no word beside it names, as in the head of a letter."""
UNSETTLED = 0.45
"""A sum that no known word beside it names, or a total beside other totals: the rules' labelled
sum goes before it."""
AMBIGUOUS = 0.5
"""A day that its words state in two ways, of which the model chose one."""
TOLD = 0.4
"""A value that stands in a sentence only, or sums that contradict each other."""

LONGEST_LABEL = 8
"""Words in a row with a label and its value; more make a sentence. Wide letters count half."""

LONGEST_LABELLED = 250
"""Characters of such a row, gaps included."""

LONGEST_QUOTE = 200
"""Characters of a quote: a longer one would bear out anything."""

ROWS_OF_ITEM = 4
"""Rows from a line item's description down in which its numbers stand."""

_WORDS = re.compile(r"[^\W\d_]{2,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def verified(answer: Answer, sent: Sequence[Page]) -> Findings:
    """Return what the pages that were sent bear out of an answer; notes tell what they do not."""
    pages = [SearchablePage(page) for page in sent]
    fields: dict[Name, Found] = {}
    notes: list[str] = []
    for name in (*NAMED, *DATES, *AMOUNTS):
        stated: Stated | None = getattr(answer, name)
        if stated is None:
            continue
        found = _found(name, stated, pages)
        if isinstance(found, Found):
            fields[name] = found
        else:
            notes.append(f"The model's {name.replace('_', ' ')} was left out: {found}.")
    if "total" in fields and (others := list(islice(_other_totals(fields["total"], pages), 2))):
        fields["total"] = at_most(fields["total"], UNSETTLED)
        notes += [f"The model reads total “{fields['total'].value}”, but {row}." for row in others]
    lines = [line for item in answer.lines if (line := _line(item, pages))]
    if lost := len(answer.lines) - len(lines):
        notes.append(
            f"{lost} of the model's line items were left out: they do not stand in the document so."
        )
    return Findings(fields, lines, notes)


def at_most(found: Found, most: float) -> Found:
    """Return the same value, no surer than that."""
    return found.with_confidence(min(most, found.confidence))


def _found(name: Name, stated: Stated, pages: Sequence[SearchablePage]) -> Found | str:
    """Return the value with its evidence, or why there is none."""
    text = " ".join(stated.quote.split())
    if len(text) > LONGEST_QUOTE:
        return "its quote is too long to be evidence"
    where = locations(pages, text, stated.page)
    if not where:
        return "its quote stands nowhere in the document"
    value = readings.plain_form(name, stated.value, stated.quote)
    if value is None:
        return "it does not follow from its quote"
    if name in PARTIES and readings.named(value) & set(AMOUNTS) and readings.sums(value):
        return "it states a sum"
    confidence, place = max(
        ((_confidence(name, place, stated.quote), place) for place in where), key=lambda one: one[0]
    )
    return Found(value, Evidence(text, confidence, place.page.number, place.box, "model"))


def _confidence(name: Name, place: Location, quote: str) -> float:
    """Return how surely a value at this place is the field's."""
    if name == "currency":
        return LABELLED
    if name not in PARTIES and _is_sentence(place.text):
        return TOLD
    if name in DATES and len(readings.days(quote)) > 1:
        return AMBIGUOUS
    if name == "kind" or name in readings.named(place.text) or name in _headings(place):
        return LABELLED
    return UNSETTLED if name in AMOUNTS else BARE


def _headings(place: Location) -> set[Name]:
    """Return the fields that headings over the place name: a row without any digit."""
    return set() if re.search(r"\d", place.above) else readings.named(place.above)


def _other_totals(total: Found, pages: Sequence[SearchablePage]) -> Iterator[str]:
    """Say which rows name another total than this: what documents order may look like a row."""
    for page in pages:
        for row in page.rows:
            if not _is_sentence(row) and "total" in readings.named(row):
                stated = readings.sums(row)
                if stated and abs(Decimal(total.value)) not in stated:
                    yield f"page {page.number} says “{' '.join(row.split())}”"


def _is_sentence(text: str) -> bool:
    wide = len(_WIDE.findall(text))
    words = len(_WORDS.findall(_WIDE.sub(" ", text))) + wide / 2
    return words > LONGEST_LABEL or len(text) > LONGEST_LABELLED


def _line(item: StatedLine, pages: Sequence[SearchablePage]) -> Line | None:
    """Return a line item whose words and numbers stand together, with the numbers as printed."""
    numbers = {"quantity": item.quantity, "unit_price": item.unit_price, "amount": item.amount}
    words = item.description.split()
    for place in _beginnings(words, item.page, pages):
        rows = range(place.rows.start, place.rows.stop - 1 + ROWS_OF_ITEM)
        near = place.page.text(rows)
        printed, spelled = readings.sums(near), squeezed(near)
        said = {
            name: readings.as_printed(value, printed) if value else None
            for name, value in numbers.items()
        }
        is_whole = all(squeezed(word) in spelled for word in words)
        if is_whole and all(said[name] for name, value in numbers.items() if value):
            return Line(" ".join(words), page=place.page.number, **said)
    return None


def _beginnings(
    words: Sequence[str], number: int, pages: Sequence[SearchablePage]
) -> list[Location]:
    """Return where a description begins: its other words may stand beyond its row's numbers."""
    while words:
        if found := locations(pages, "".join(words), number):
            return found
        words = words[: len(words) // 2]
    return []
