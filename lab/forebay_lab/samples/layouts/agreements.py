"""Contracts, in two layouts."""

from forebay_lab.samples.accounts import Agreement
from forebay_lab.samples.layouts import parts
from forebay_lab.samples.sheet import Sheet
from forebay_lab.samples.writing import Voice


def prose(sheet: Sheet, agreement: Agreement, voice: Voice) -> None:
    """Write a title, one sentence that names the parties and the day, and numbered clauses."""
    sheet.y = 26
    title, _, _ = voice["contract"].split(";")
    sheet.write(title, size=17, bold=True, gap=3)
    sheet.write(f"{voice['contract number']} {agreement.number}", gap=4)
    names = (agreement.provider.name, agreement.client.name)
    sheet.write(voice["between"].format(voice.day(agreement.day), *names), size=10, gap=5)
    _clauses(sheet, agreement)
    sheet.write(voice["signed"], size=10, gap=14)
    _signatures(sheet, agreement)


def data_first(sheet: Sheet, agreement: Agreement, voice: Voice) -> None:
    """Write the parties and the data as labels beside values, then the clauses."""
    sheet.y = 26
    title, provider, client = voice["contract"].split(";")
    sheet.write(title, size=17, bold=True, gap=6)
    rows = [
        (voice["contract number"], agreement.number),
        (voice["contract date"], voice.day(agreement.day)),
        (provider, agreement.provider.name),
        (client, agreement.client.name),
        (voice["contract value"], voice.money(agreement.value)),
    ]
    sheet.y = parts.beside(sheet, sheet.left, sheet.y, rows, 52, voice.colon) + 5
    _clauses(sheet, agreement)
    sheet.write(voice["signed"], size=10, gap=14)
    _signatures(sheet, agreement)


def _clauses(sheet: Sheet, agreement: Agreement) -> None:
    for number, clause in enumerate(agreement.clauses, start=1):
        sheet.write(f"§ {number} {clause}", size=10, gap=3)


def _signatures(sheet: Sheet, agreement: Agreement) -> None:
    sheet.room(20)
    for x, party in ((sheet.left, agreement.provider), (120, agreement.client)):
        sheet.rule(x, sheet.y, x + 60)
        sheet.put(x, sheet.y + 5, party.name, size=8)
