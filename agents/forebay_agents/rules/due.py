"""Find the day until which to pay: printed, or counted from the document's date."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

from forebay_agents.findings import Found
from forebay_agents.rules import currencies
from forebay_agents.rules.calendars import Calendar
from forebay_agents.rules.candidates import Candidate, choose, found
from forebay_agents.rules.dates import Reading, readings
from forebay_agents.rules.labels import Label
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.when import labelled
from forebay_agents.rules.words import phrases

LONG = 9
"""From how many letters on a label counts in the middle of a sentence."""

APPOSITION = re.compile(r" [^\d.,;:]{3,40}, ")
"""What stands between a label and a date that explains it: ' the first day of term, '."""

MOST_DAYS = 180
"""How many days after the document's date one has to pay at most."""


def find_due_date(document: Document, calendar: Calendar, day: Found | None) -> Found | None:
    """Return the printed day, else the one that terms give which count from the document's date."""
    offered = list(labelled(document, calendar, "due", 0.93, "due"))
    if not offered or (day and all(each.value < day.value for each in offered)):
        offered += _in_sentences(document, calendar)
    if day:
        latest = (date.fromisoformat(day.value) + timedelta(days=MOST_DAYS)).isoformat()
        offered = [each for each in offered if day.value <= each.value <= latest] or [
            each for each in offered if each.value < day.value
        ]
        offered = offered or list(_without_year(document, date.fromisoformat(day.value)))
    if offered:
        return choose(document, offered)
    return _from_terms(document, day) if day else None


def _without_year(document: Document, day: date) -> Iterator[Candidate]:
    """Yield the day after the document's that a month and day mean: 'お支払期日 8月7日'."""
    for answers in document.answers("date", "due"):
        for answer in answers:
            match = re.match(r"\D{0,3}(\d{1,2})月\s?(\d{1,2})日", answer.text)
            month, number = (int(match[1]), int(match[2])) if match else (0, 0)
            if 1 <= month <= 12 and 1 <= number <= 28 + 3 * (month != 2):
                due = date(
                    day.year + (month < day.month), month, min(number, 28 + 2 * (month != 2))
                )
                yield Candidate(due.isoformat(), 0.7, answer.spot, answer.words)
                break


def _in_sentences(document: Document, calendar: Calendar) -> Iterator[Candidate]:
    """Yield the dates beside the words for it in a sentence: '… will be debited on 5 May'."""
    for spot in document.spots:
        for label in spot.labels:
            if label.means("date", "due"):
                reading = _beside(spot.text, label)
                read = calendar.read(reading) if reading else None
                if read:
                    yield Candidate(read[0].isoformat(), 0.8 * read[1], spot, spot.text)


def _beside(text: str, label: Label) -> Reading | None:
    """Return the date right after a label, in apposition to what follows it, or right before it.

    'Payable before the first day of term, 21 April 2026', '… ist am 15.02.2026 fällig.'
    """
    after = next(readings(text[label.end :]), None)
    if after:
        gap = text[label.end :][: after.start]
        is_near = len(gap) < 6 or APPOSITION.fullmatch(gap) is not None
        is_said = not label.leads and label.end - label.start >= LONG
        return after if is_near and is_said else None
    before = list(readings(text[: label.start]))
    is_near = len(before) == 1 and text[before[0].end : label.start] == " "
    return before[0] if is_near and not re.search(r"\w", text[label.end :].split(".")[0]) else None


def _from_terms(document: Document, day: Found) -> Found | None:
    for spot in document.spots:
        match = None if _gives_sum(spot) else _terms().search(spot.text)
        days = next((int(each) for each in match.groups() if each), 0) if match else 0
        if match and 0 < days <= MOST_DAYS:
            due = date.fromisoformat(day.value) + timedelta(days=days)
            return found(document, Candidate(due.isoformat(), 0.6, spot, match[0]))
    return None


def _gives_sum(spot: Spot) -> bool:
    """Tell whether a line says how much, rather than when: 'Total net 30'."""
    label = spot.labels[0] if spot.labels and spot.labels[0].start <= 1 else None
    if label is None or label.means("amount", "other"):
        return False
    return label.means("amount") and " " in spot.text[: label.end].strip()


@cache
def _terms() -> re.Pattern[str]:
    """Return a pattern for terms that count from the document's date, with their days."""
    known = sorted(phrases("terms", "counted"), key=len, reverse=True)
    return re.compile("|".join(map(_pattern, known)), re.IGNORECASE)


def _pattern(phrase: str) -> str:
    """Return a pattern for a phrase in which {n} stands for a number of days."""
    plain = re.escape(phrase).replace(r"\ ", r"\s?[:.]?\s?").replace(r"\{n\}", r"(\d{1,3})")
    before, after = (r"(?<![\w.,/-])", r"(?!\w)") if phrase.isascii() else ("", "")
    is_open = phrase.endswith("{n}")
    last = rf"(?!\s?[-–/.,]?\s?\d)(?!\s?(?:{currencies.pattern()}|%))" if is_open else ""
    return f"{before}{plain}{after}{last}"
