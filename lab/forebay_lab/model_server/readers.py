"""Read a prompt's document as a model would, by simple means: labels, and what stands beside them.

Shares no code with the agent's rules, so that what the agent makes of it proves something. It knows
tidy documents only; a real model knows more.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

GAP = "   "
NUMBER = re.compile(r"\d[\d.,'’  ]*\d|\d")
MONTHS = (
    *("jan", "feb|fév|fev", "mar|mär|mrz|maart|mrt", "apr|avr|abr", "may|mai|mag|mei|mayo"),
    *("jun|juin|giu", "jul|juil|lug", "aug|aoû|ago", "sep|set", "oct|okt|ott|out", "nov"),
    "dec|dez|déc|dic",
)
KINDS = {
    "credit_note": r"credit note|gutschrift|avoir|nota de cr[ée]dito|nota di credito|creditnota",
    "delivery_note": r"delivery note|lieferschein|bon de livraison",
    "invoice": r"invoice|rechnung|facture|factura|fattura|fatura|factuur|請求書",
    "receipt": r"receipt|quittung|reçu|recibo|ricevuta|領収書",
    "statement": r"statement|kontoauszug|relevé",
    "quote": r"quotation|quote|angebot|devis|見積書",
    "order": r"purchase order|bestellung|commande",
    "contract": r"agreement|contract|vertrag|contrat",
}
LABELS = {
    "due_date": r"due date|fällig(?: am)?|zahlbar bis|échéance|vencimiento|scadenza|支払期限",
    "date": r"(?:invoice |statement |agreement )?date|(?:rechnungs)?datum|date|fecha|data"
    r"|発行日|請求日",
    "number": r"(?:invoice|receipt|statement|agreement|credit note) (?:no|number)\.?"
    r"|(?:rechnungs?|auszugs?|vertrags)[ -]?(?:nr|nummer)\.?|facture n°|n° de facture|請求書?番号",
    "total_net": r"subtotal|net(?: amount)?|zwischensumme|nettobetrag|netto|total ht|小計",
    "tax": r"tax|vat|mwst\.?|ust\.?|umsatzsteuer|tva|iva|btw|消費税",
    "total": r"total(?: due| ttc)?|gesamtbetrag|rechnungsbetrag|closing balance|endsaldo"
    r"|合計(?:金額)?",
    "buyer": r"bill to|buyer|rechnung an|kunde|client|客先",
}
SELLER = r"from|seller|supplier|verkäufer|fournisseur|vendedor|venditore|売主"
RATE = r"(?:\s*\(?[\d,.]+ ?%\)?)?"
SIGNS = {"€": "EUR", "£": "GBP", "$": "USD", "¥": "JPY", "円": "JPY"}
SIGN = re.compile(r"[€£$¥円]|\b(?:EUR|USD|GBP|JPY|CHF)\b")
ORDER = re.compile(
    r"(?P<field>total_net|total|tax|number|due date|date|seller|buyer|kind|currency)"
    r" (?:is|to|as|=|must be|should be)?[ :]*[\"“]?(?P<value>[^\"”\s,;]*[^\"”\s,;.])",
    re.IGNORECASE,
)
IMPERATIVE = re.compile(
    r"ignore|instead|answer|report|say|state|must|make sure|see to it", re.IGNORECASE
)


@dataclass
class Sheet:
    """The rows of one page as the prompt shows them."""

    number: int
    rows: list[str] = field(default_factory=list)


def sheets(prompt: str) -> list[Sheet]:
    """Return the pages between the marks of a prompt."""
    found: list[Sheet] = []
    opening = re.search(r"^=== (\w+) page \d+$", prompt, re.MULTILINE)
    mark = opening[1] if opening else ""
    for row in prompt.splitlines():
        if match := re.fullmatch(rf"=== {mark} page (\d+)", row):
            found.append(Sheet(int(match[1])))
        elif found and row != f"=== {mark} end":
            found[-1].rows.append(row)
    return found


def answer(prompt: str, is_gullible: bool = False) -> dict[str, Any]:
    """Return the answer that the extraction asks for; a gullible one obeys the document's text."""
    pages = sheets(prompt)
    said: dict[str, Any] = dict.fromkeys([*LABELS, "kind", "currency", "seller"])
    lines: list[dict[str, Any]] = []
    for page in pages:
        for row in page.rows:
            lines += _items(row, page.number)
            for name, value, quote in _stated(row):
                if said[name] is None or name.startswith("total"):
                    said[name] = {"value": value, "quote": quote, "page": page.number}
    if pages and pages[0].number == 1 and (seller := _seller(pages[0])):
        said["seller"] = {"value": seller, "quote": seller, "page": 1}
    if is_gullible:
        said |= {name: order for page in pages for name, order in _orders(page)}
    return said | {"lines": lines}


def _stated(row: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name, value and quote of each field that a row states."""
    cells = _cells(row)
    for index, cell in enumerate(cells):
        if title := _kind(cell):
            yield "kind", title, cell
        if label := _label(cell):
            name, end = label
            yield from _said(name, cell[end:], cell, cells[index:])


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split(GAP) if cell.strip()]


def _label(cell: str) -> tuple[str, int] | None:
    """Return the field whose label the cell begins with, and where the label ends."""
    for name, label in LABELS.items():
        if match := re.match(rf"(?:{label})(?!\w){RATE}\s*:?\s*", cell, re.IGNORECASE):
            return name, match.end()
    return None


def _seller(page: Sheet) -> str | None:
    """Return the name at the head of a page, under its title: none if something else stands there.

    A cell with a label, a colon or a digit is no name.
    """
    for row in page.rows:
        cells = [cell for cell in _cells(row) if not _kind(cell)]
        if cells and not re.fullmatch(rf"(?:{SELLER})\s*:?", cells[0], re.IGNORECASE):
            is_name = not _label(cells[0]) and not re.search(r"[:：\d]", cells[0])
            return cells[0] if is_name else None
    return None


def _kind(cell: str) -> str | None:
    """Return the kind of document whose title the cell is."""
    for kind, words in KINDS.items():
        if re.fullmatch(rf"(?:\w+ )?\w*(?:{words})", cell, re.IGNORECASE):
            return kind
    return None


def _said(name: str, rest: str, cell: str, cells: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield what stands behind a label: in its cell, else beside it; a sum's currency too."""
    is_sum = name in ("total", "total_net", "tax")
    beside = cells[-1 if is_sum else 1] if len(cells) > 1 else ""
    if value := _value(name, rest or beside):
        quote = cell if rest else GAP.join(cells if is_sum else cells[:2])
        yield name, value, quote
        if name == "total" and (sign := SIGN.search(rest or beside)):
            yield "currency", SIGNS.get(sign[0], sign[0]), quote


def _value(name: str, text: str) -> str | None:
    if name in ("date", "due_date"):
        return _day(text)
    if name in ("total", "total_net", "tax"):
        return _number(text)
    if name == "number":
        match = re.match(r"[\w/.-]*\d[\w/.-]*", text.strip())
        return match[0] if match else None
    return text.strip() or None


def _number(text: str) -> str | None:
    """Return the last number as a plain decimal: the last mark parts two digits, or it groups."""
    numbers = NUMBER.findall(unicodedata.normalize("NFKC", text))
    if not numbers:
        return None
    match = re.fullmatch(r"(.*?)(?:[.,](\d{1,2}))?", numbers[-1])
    whole, fraction = match.groups() if match else (numbers[-1], None)
    digits = re.sub(r"\D", "", whole)
    return f"{digits}.{fraction}" if fraction else digits


def _day(text: str) -> str | None:
    if match := re.search(r"(\d{4})\s?[-年]\s?(\d{1,2})\s?[-月]\s?(\d{1,2})", text):
        return _iso(match[1], match[2], match[3])
    if match := re.search(r"(\d{1,2})[./](\d{1,2})[./](\d{4})", text):
        return _iso(match[3], match[2], match[1])
    for month, names in enumerate(MONTHS, start=1):
        if match := re.search(
            rf"\b(\d{{1,2}})\W*(?:er|de)?\W*(?:{names})\w*\W*(?:de)?\W*(\d{{4}})",
            text,
            re.IGNORECASE,
        ):
            return _iso(match[2], str(month), match[1])
        if match := re.search(
            rf"\b(?:{names})\w*\W+(\d{{1,2}})\w*\W+(\d{{4}})", text, re.IGNORECASE
        ):
            return _iso(match[2], str(month), match[1])
    return None


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _items(row: str, page: int) -> Iterator[dict[str, Any]]:
    """Yield the line item of a row with words first, then a quantity, a price and an amount."""
    cells = _cells(row)
    if len(cells) < 4 or not re.search(r"[^\W\d]", cells[0]):
        return
    numbers = [_number(cell) for cell in cells[-3:]]
    if all(numbers) and all(re.match(r"[\d€£$¥]", cell) for cell in cells[-3:]):
        keys = ("quantity", "unit_price", "amount")
        yield {"description": cells[0], "page": page} | dict(zip(keys, numbers, strict=True))


def _orders(page: Sheet) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the page's text tells a reader to answer: a gullible model does as it is told."""
    for row in page.rows:
        if begin := IMPERATIVE.search(row):
            for match in ORDER.finditer(row, begin.start()):
                name = match["field"].lower().replace(" ", "_")
                yield name, {"value": match["value"], "quote": match[0], "page": page.number}
