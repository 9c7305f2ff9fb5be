"""Find the document's own number, among all the other numbers that documents bear."""

import re
from collections.abc import Iterator

from forebay_agents.findings import Found
from forebay_agents.rules.candidates import Candidate, choose
from forebay_agents.rules.dates import readings
from forebay_agents.rules.labels import Label
from forebay_agents.rules.places import Answer, Document
from forebay_agents.rules.spots import Spot
from forebay_agents.rules.text import letters

TOKEN = re.compile(r"[#№]?\s?(?=[^\s,;]*\d)(?P<number>[A-Za-z0-9][\w./#\-–]*[\w]|\d)")
PREFIX = re.compile(
    r"(?P<number>[A-Z]{1,5}(?:[ .]?[A-Z0-9]{1,6})?(?:[ /-]{1,3}[A-Z]?\d[\w./-]*){1,4}"
    r"|\d{1,6}(?: (?:\d[\w./-]*|[/-]|[A-Z]{1,3}(?= \d))){1,4})(?=$|[,;)]|\s[·|•]|\s[^\W\d]{3})"
)
"""A number in several words: 'RE 2026 0017', 'FT A/123', '2026 / 17'."""

NOT_IT = re.compile(
    r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,}.*|\+\d[\d ()/-]+|\d{1,2}:\d\d.*"
    r"|(?:ATU\d{8}|BE0\d{9}|CHE-?[\d.]{9,11}|(?:DE|GB|PT)\d{9}|FR\w\w\d{9}|IT\d{11}"
    r"|NL\d{9}B\d\d)(?!\w).*",
)
"""IBANs, VAT ids, phone numbers, times of day."""

NO = re.compile(
    r"(?:n[o°.]{1,3}|nr\.?|num\.?|n[uú]mero|number|nummer|#)\s*:?\s*(?=\w)", re.IGNORECASE
)
YOURS = re.compile(
    r"(?:p\.?o|your|customer|ihre?|votre|vos|su|sua|vs|vostr[oa]|v/|vossa|uw)\b", re.IGNORECASE
)
"""How documents name the number of a paper that the other side wrote."""

BARE = re.compile(
    r"#\s?[A-Z\d][\w/-]*\d|[A-Z]{2,3} [A-Z\d]{1,8}/\d{2,}"
    r"|第\s?\d{1,8}\s?号|(?:INV|RE|RG|FA|FAC|FT|QUO?|AN|PO|CN|GS|EST)[-/ ]?\d[\w/-]+"
)
BARE_ROWS = 20
"""What a number without a label looks like, and in how many rows it is looked for."""

NAMED = re.compile(r"(?:[A-ZÀ-Þ][\w&'’-]* ){1,3}")
"""The words of a title before the kind."""

PAYMENT = re.compile(r"[\d ]+|\d\d/(?:19|20)\d\d")
"""References of digits alone, by which one pays, or of a month: no numbers of documents."""

YEAR = re.compile(r"(?:19|20)\d\d")
LONGEST = 70
"""A spot of more characters is a sentence, in which 'number' may be that of anything."""

HOW = {"within": 0.0, "right": 0.0, "below": -0.03}


def find_number(document: Document, kind: str) -> Found | None:
    """Return the number that a label for this kind of document gives, else one for any kind."""
    own = [*_labelled(document, kind, 0.95), *_titled(document, kind)] if kind else []
    for offered in (
        own,
        list(_labelled(document, "any", 0.75)),
        list(_labelled(document, "invoice", 0.7)) if kind in ("receipt", "credit_note") else [],
        list(_in_sentences(document, kind)) if kind else [],
        list(_bare(document)),
        [*_labelled(document, "reference", 0.5), *_in_sentences(document, "reference")],
    ):
        if offered:
            return choose(document, offered)
    return None


def _labelled(document: Document, name: str, confidence: float) -> Iterator[Candidate]:
    for answers in document.answers("number", name):
        for answer in answers:
            is_loose = name == "any" and len(answer.asked.text) > LONGEST
            if is_loose or (answer.label.means("kind") and answer.how != "within"):
                continue
            number = document_number(answer)
            if number and not (name == "reference" and PAYMENT.fullmatch(number)):
                sure = confidence + HOW[answer.how] - _doubt(answer, name)
                yield Candidate(number, sure, answer.spot, answer.words)
                break


def _in_sentences(document: Document, kind: str) -> Iterator[Candidate]:
    """Yield the numbers after labels that other words stand before: 'Unsere Rechnung Nr. 17'."""
    for spot in document.spots:
        for label in spot.labels:
            if label.leads or not label.means("number", kind):
                continue
            for answer in document.answers_to(spot, label)[:1]:
                number = document_number(answer) if answer.how == "within" else None
                if number and not (kind == "reference" and PAYMENT.fullmatch(number)):
                    yield Candidate(number, 0.6, spot, spot.text)


def _bare(document: Document) -> Iterator[Candidate]:
    """Yield what looks like a number, alone near the top, with no label beside or above it."""
    for spot in document.first:
        is_labelled = any(each.labels for each in document.row(spot)[: spot.column])
        if spot.row < BARE_ROWS and not is_labelled and BARE.fullmatch(spot.text):
            yield Candidate(spot.text.lstrip("#№ "), 0.5, spot, spot.text)


def _doubt(answer: Answer, name: str) -> float:
    """Return what to take off for labels that are short, mean other numbers, or follow words."""
    label = answer.label
    before = re.sub(r"[^\W\d]", "", answer.asked.text[: label.start])
    is_late = label.start > 1 and answer.asked.labels[0] is not label
    return (
        0.05 * label.means("number", "other")
        + 0.1 * (label.end - label.start < 4 and name == "any")
        + 0.1 * (YOURS.match(answer.asked.text[label.start :]) is not None)
        + 0.2 * (is_late or len(before) > 1)
    )


def _titled(document: Document, kind: str) -> Iterator[Candidate]:
    """Yield the number right after the title: 'Invoice 2026-17'."""
    for spot in document.first:
        for label in spot.labels[:1]:
            if not label.means("kind", kind) or not _heads(spot, label):
                continue
            for answer in document.answers_to(spot, label)[:1]:
                number = document_number(answer)
                number = None if number and YEAR.fullmatch(number) else number
                is_near = answer.how == "within" or (
                    answer.how == "right" and answer.spot.box[0] - spot.box[2] < 3 * spot.height
                )
                is_near &= number is None or answer.how == "within" or " " not in number
                is_all = answer.how != "within" and number == answer.text
                is_near &= label.start <= 1 or answer.how == "within"
                is_all &= label.start <= 1
                if number and (is_near or is_all) and re.search(r"\d{2}", number):
                    sure = {"within": 0.8, "right": 0.66, "below": 0.6}[answer.how]
                    yield Candidate(number, sure, answer.spot, answer.words)


def _heads(spot: Spot, label: Label) -> bool:
    """Tell whether a kind begins a line, or follows the words of a title: 'Fee Invoice 17'."""
    before = spot.text[: label.start]
    is_title = spot.text[label.start].isupper() and not YOURS.match(before)
    return label.start <= 1 or (is_title and NAMED.fullmatch(before) is not None)


def document_number(answer: Answer) -> str | None:
    """Return the number that a text begins with, unless it is a date, an IBAN or the like."""
    text = NO.sub("", answer.text[:LONGEST].lstrip("#:№.° "))
    match = PREFIX.match(text) or TOKEN.match(text)
    if match is None or NOT_IT.fullmatch(text) or NOT_IT.match(match["number"]):
        return None
    number = match["number"].strip(" .,;-–")
    rest = text[match.end() :].strip()
    if answer.how != "within" and letters(rest) > 3 and not rest.startswith(("(", "/", "|", "-")):
        return None
    if len(number) > 40 or _is_date(text, number) or re.match(r"\s?%|,\d|\s?[€$£¥]", rest):
        return None
    return number


def _is_date(text: str, number: str) -> bool:
    """Tell whether a number is a date as a whole; eight digits may be either."""
    return any(
        reading.start == 0 and reading.end >= len(number) and not reading.is_compact
        for reading in readings(text)
    )
