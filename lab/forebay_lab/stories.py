"""Write invoices, receipts, statements and contracts as stories, and say what is true of each."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from reportlab.platypus import PageBreak

from forebay_lab.paper import Block, Paper
from forebay_lab.words import Language

BOOKINGS_A_PAGE = 24
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Story:
    """Hold a document before it is printed: the truth of its fields, and its blocks."""

    fields: dict[str, str]
    blocks: list[Block]


def invoice(
    language: Language, seller: str, number: str, day: date, currency: str, lines: int
) -> Story:
    """Bill `lines` items; their sum and a tenth of it for tax make the total."""
    paper = Paper(language.font)
    smallest = Decimal(1) if currency == "JPY" else CENT
    random = Random(number)
    rows = [[language[word] for word in ("item", "quantity", "price", "amount")]]
    net = Decimal(0)
    for line in range(lines):
        quantity, price = random.randint(1, 9), random.randint(100, 9000) * smallest * 10
        net += quantity * price
        sums = (language.sum(price, currency), language.sum(quantity * price, currency))
        rows.append([language.items[line % len(language.items)], str(quantity), *sums])
    tax = (net / 10).quantize(smallest)
    heading = {
        "invoice number": number,
        "invoice date": language.day(day),
        "due": language.day(day + timedelta(days=30)),
        "buyer": "Muster & Sample, 12 Weir Lane",
    }
    totals = {"net": net, "tax": tax, "total": net + tax}
    blocks = [
        *paper.text(seller),
        *paper.title(language["invoice"]),
        *paper.pairs([(language[word], value) for word, value in heading.items()]),
        *paper.table(rows),
        *paper.totals([(language[word], language.sum(totals[word], currency)) for word in totals]),
    ]
    return Story(_truth("invoice", number, day, currency, net + tax), blocks)


def receipt(
    language: Language, seller: str, number: str, day: date, currency: str, total: Decimal
) -> Story:
    """Acknowledge one payment."""
    paper = Paper(language.font)
    lines = {"receipt number": number, "date": language.day(day)}
    blocks = [
        *paper.text(seller),
        *paper.title(language["receipt"]),
        *paper.pairs([(language[word], value) for word, value in lines.items()]),
        *paper.totals([(language["total"], language.sum(total, currency))]),
    ]
    return Story(_truth("receipt", number, day, currency, total), blocks)


def statement(
    language: Language, bank: str, number: str, day: date, currency: str, pages: int
) -> Story:
    """List `pages` pages of bookings, from the opening balance to the closing one."""
    paper = Paper(language.font)
    random = Random(number)
    balance = random.randint(100_000, 900_000) * CENT
    heading = {
        "statement number": number,
        "statement date": language.day(day),
        "opening": language.sum(balance, currency),
    }
    blocks = [
        *paper.text(bank),
        *paper.title(language["statement"]),
        *paper.pairs([(language[word], value) for word, value in heading.items()]),
    ]
    for page in range(pages):
        rows = [[language[word] for word in ("item", "amount", "balance")]]
        for line in range(BOOKINGS_A_PAGE):
            booked = random.randint(100, 40_000) * CENT
            balance += booked
            text = f"{language.items[line % len(language.items)]} {page + 1}/{line + 1}"
            sums = (language.sum(booked, currency), language.sum(balance, currency))
            rows.append([text, *sums])
        blocks += [*paper.table(rows), PageBreak()]
    blocks[-1:] = paper.totals([(language["closing"], language.sum(balance, currency))])
    return Story(_truth("statement", number, day, currency, balance), blocks)


def contract(
    language: Language, parties: tuple[str, str], number: str, day: date, clauses: int
) -> Story:
    """Agree on `clauses` clauses of plain text; no total is stated."""
    paper = Paper(language.font)
    heading = {"contract number": number, "contract date": language.day(day)}
    blocks = [
        *paper.title(language["contract"]),
        *paper.text(language["parties"].format(*parties)),
        *paper.pairs([(language[word], value) for word, value in heading.items()]),
    ]
    random = Random(number)
    for clause in range(1, clauses + 1):
        sentences = random.choices(language.clauses, k=6)
        blocks += paper.text(f"§ {clause} " + " ".join(sentences))
    return Story(_truth("contract", number, day), blocks)


def _truth(
    kind: str, number: str, day: date, currency: str | None = None, total: Decimal | None = None
) -> dict[str, str]:
    truth = {"kind": kind, "number": number, "date": day.isoformat()}
    if currency is not None and total is not None:
        truth |= {"currency": currency, "total": str(total)}
    return truth
