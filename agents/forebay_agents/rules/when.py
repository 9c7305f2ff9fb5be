"""Find the document's own date."""

import re
from collections.abc import Iterator
from datetime import date

from forebay_agents.findings import Found
from forebay_agents.rules import words
from forebay_agents.rules.calendars import Calendar
from forebay_agents.rules.candidates import Candidate, choose
from forebay_agents.rules.dates import readings
from forebay_agents.rules.kind import BEFORE, YOURS
from forebay_agents.rules.places import Answer, Document
from forebay_agents.rules.spots import Spot

TITLE_ROWS = 45
SENTENCE_ROWS = 25
HOW = {"within": 0.0, "right": 0.0, "below": -0.02}
GAP = re.compile(r"\W*(?:[^\W\d]+\.?\W*){0,3}")
"""What may stand between a label and its date: 'le', 'den', a day of the week."""

PLACE = re.compile(r"[A-ZÀ-Þ][\w'’./ -]{1,24},\s*(?:(?:le|den|the|il|el|lì|li|a|em|op)\s)?\s*")
"""What stands before the date of a letter: 'Berlin, den'."""


BEGINS = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, words.of_names('line', 'begins')))})(?!\w)", re.IGNORECASE
)
"""How contracts say from when on they hold, which is not when they were made."""


def find_date(document: Document, calendar: Calendar, kind: str) -> Found | None:
    """Return the date under a label for this kind or any, after the title, or alone on top."""

    def offers(name: str, confidence: float) -> list[Candidate]:
        return list(labelled(document, calendar, name, confidence, kind))

    own = [*offers(kind, 0.95), *_titled(document, calendar, kind)]
    period = _period_end(document, calendar) if kind == "statement" else None
    for offered in (
        [*own, *offers("any", 0.88)] if kind else [],
        own if kind else [],
        [period] if period else [],
        list(_in_sentences(document, calendar)) if kind == "contract" else [],
        offers("any", 0.88),
        offers("invoice", 0.8) if kind == "receipt" else [],
    ):
        if day := choose(document, offered):
            return day
    return _lone(document, calendar) or _only(document, calendar)


def _only(document: Document, calendar: Calendar) -> Found | None:
    """Return the one date that the document gives anywhere, if it gives one only."""
    offered = []
    for spot in document.spots:
        for reading in readings(spot.text):
            read = calendar.read(reading)
            if read is None or _is_of_other(document, spot) or BEGINS.search(spot.text):
                return None
            if not reading.is_compact:
                offered.append(Candidate(read[0].isoformat(), 0.5 * read[1], spot, spot.text))
    return choose(document, offered)


def _is_of_other(document: Document, spot: Spot) -> bool:
    """Tell whether a label in the same row says that it is another date."""
    labels = [label for each in document.row(spot)[: spot.column + 1] for label in each.labels]
    return any(label.leads and label.means("date", "other", "due") for label in labels)


def labelled(
    document: Document, calendar: Calendar, name: str, confidence: float, kind: str
) -> Iterator[Candidate]:
    for answers in document.answers("date", name):
        if name != "due" and _belongs_elsewhere(document, answers, kind):
            continue
        for answer in answers:
            read = _first(answer, calendar)
            if read is None or (answer.how == "below" and _is_column(document, answer)):
                continue
            day, certainty = read
            sure = (confidence + HOW[answer.how] - _doubt(answer, name)) * certainty
            yield Candidate(day.isoformat(), sure, answer.spot, answer.words)
            break


def _titled(document: Document, calendar: Calendar, kind: str) -> Iterator[Candidate]:
    """Yield the date in the title's line: 'Invoice 17 of 3 March 2026', 'Rechnung vom 3.3.2026'."""
    for spot in document.first:
        label = spot.labels[0] if spot.labels else None
        is_title = (
            label
            and BEFORE.fullmatch(spot.text[: label.start])
            and not (kind == "order" and YOURS.fullmatch(spot.text[: label.start]))
            and any(label.means(group, kind) for group in ("kind", "number", "date"))
        )
        dates = list(readings(spot.text)) if is_title else []
        read = calendar.read(dates[0]) if len(dates) == 1 else None
        between = spot.text[label.end : dates[0].start] if label and dates else ""
        if read and label and len(between.split()) <= 4 and not BEGINS.search(between):
            yield Candidate(read[0].isoformat(), 0.82 * read[1], spot, spot.text)


def _belongs_elsewhere(document: Document, answers: list[Answer], kind: str) -> bool:
    """Tell whether a date stands beside the number of another paper, as that of an order does."""
    if not answers:
        return False
    asked = answers[0].asked
    row = document.row(asked)
    left = row[asked.column - 1] if 0 < asked.column < len(row) else None
    papers = {"order", "delivery_note", "contract", "quote"} - {kind}
    return left is not None and any(
        label.means("number", *papers) and not label.means("number", kind, "any", "invoice")
        for label in left.labels
    )


def _is_column(document: Document, answer: Answer) -> bool:
    """Tell whether more dates stand below, so that the label heads a column of a table."""
    under = document.below(answer.spot)
    return any(reading.start == 0 for each in under for reading in readings(each.text))


def _period_end(document: Document, calendar: Calendar) -> Candidate | None:
    """Return the last day of the period that a statement covers: 'from 1 to 31 March 2026'."""
    for spot in document.first:
        days = [read for reading in readings(spot.text) if (read := calendar.read(reading))]
        if len(days) == 2 and spot.row < TITLE_ROWS:
            day, sure = max(days)
            return Candidate(day.isoformat(), 0.7 * sure, spot, spot.text)
    return None


def _doubt(answer: Answer, name: str) -> float:
    """Return what to take off for a label that may also name another date."""
    meant = {each for group, each in answer.label.meanings if group == "date"}
    is_short = answer.label.end - answer.label.start < 4
    return 0.05 * (is_short and name == "any") + 0.04 * ("other" in meant)


def _first(answer: Answer, calendar: Calendar) -> tuple[date, float] | None:
    """Return the date at the start of an answer, with no more than a few short words before it.

    A period is no date.
    """
    found = list(readings(answer.text))
    if not found or (len(found) > 1 and is_period(answer.text[found[0].end : found[1].start])):
        return None
    gap = answer.text[: found[0].start]
    is_short = answer.how != "within" and len(answer.text) < 40
    is_other = re.search(r"[^\W\d]\s*:", gap) is not None
    if is_other or not (is_short or (len(gap) < 25 and GAP.fullmatch(gap))):
        return None
    return calendar.read(found[0])


def is_period(between: str) -> bool:
    """Tell whether two dates with this between them are the ends of a period."""
    return (
        re.fullmatch(r"\s*(?:[-–—~〜～]|to|bis|au|al|a|t/m|tot|até|hasta|から)\s*", between)
        is not None
    )


def _in_sentences(document: Document, calendar: Calendar) -> Iterator[Candidate]:
    """Yield the dates that contracts give in sentences, or where they are signed.

    'This agreement is made on 3 March 2026 between …', 'Berlin, den 3. März 2026'.
    """
    for spot in document.spots:
        days = [
            (reading, read) for reading in readings(spot.text) if (read := calendar.read(reading))
        ]
        if len(days) != 1:
            continue
        reading, (day, certainty) = days[0]
        if BEGINS.search(spot.text[: reading.start]):
            continue
        is_early = spot in document.first and spot.row < SENTENCE_ROWS
        if is_early and any(label.means("date", "contract") for label in spot.labels):
            sure = 0.75
        elif PLACE.fullmatch(spot.text[: reading.start]) and len(spot.text) - reading.end < 4:
            sure = 0.7
        elif is_early and any(label.means("kind", "contract") for label in spot.labels):
            sure = 0.6
        else:
            continue
        yield Candidate(day.isoformat(), sure * certainty, spot, spot.text)


def _lone(document: Document, calendar: Calendar) -> Found | None:
    """Take the only date that stands by itself above the items, as a letter's does."""
    offered = []
    for spot in document.first:
        row = document.row(spot)
        if spot.row >= TITLE_ROWS or document.is_head(row):
            break
        for reading in readings(spot.text) if len(row) < 4 else ():
            rest = len(spot.text) - (reading.end - reading.start)
            place = PLACE.fullmatch(spot.text[: reading.start])
            read = calendar.read(reading)
            is_apart = re.search(r"(?:^|[·|•]\s*)$", spot.text[: reading.start]) and re.match(
                r"\s*[·|•,]", spot.text[reading.end :]
            )
            if read and (rest <= 3 or place or is_apart):
                sure = (0.7 if place else 0.55) * read[1]
                offered.append(Candidate(read[0].isoformat(), sure, spot, spot.text))
    return choose(document, offered)
