"""Invoices from offices: data in a sentence, in rows without rules, or jotted without a label."""

from forebay_lab.samples.bill import Bill
from forebay_lab.samples.layouts import parts
from forebay_lab.samples.sheet import LINE, Column, Sheet
from forebay_lab.samples.table import table
from forebay_lab.samples.writing import Voice


def sentence(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write number and date as one sentence, no labels at addresses, dots before the sums."""
    sheet.block(sheet.left, 24, [*bill.seller.address, *parts.reach(bill.seller, voice)])
    if bill.buyer:
        sheet.block(118, 52, bill.buyer.address, size=10)
    said = voice["in a sentence"].format(bill.number, voice.day(bill.day))
    sheet.put(sheet.left, 88, said, size=13, bold=True)
    rest = [pair for pair in parts.pairs(bill, voice) if pair[1] not in said]
    sheet.y = parts.beside(sheet, sheet.left, 95, rest, 42, ":") + 4
    heads = [
        Column(voice["item"], 88),
        Column(voice["quantity"], 22, "right"),
        Column(voice["price"], 30, "right"),
        Column(voice["amount"], 30, "right"),
    ]
    rows = [
        [
            item.description,
            f"{voice.number(item.quantity)} {item.unit}",
            voice.money(item.price),
            voice.money(item.amount),
        ]
        for item in bill.items
    ]
    table(sheet, heads, rows, "lines")
    for label, value in parts.sums(bill, voice) + parts.settled(bill, voice):
        sheet.y += LINE
        sheet.put(sheet.left + 70, sheet.y, label + " " + "." * (46 - len(label)))
        sheet.put(sheet.right - 1.5, sheet.y, value, align="right", bold=label == voice["total"])
    sheet.y += 8
    parts.closing(sheet, bill, voice)
    for line in parts.bank(bill.seller, voice):
        sheet.write(line, size=8)


def ledger(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write labels as heads over values without rules, items with codes, and currencies apart."""
    sheet.put(sheet.right, 22, voice[bill.word], size=16, bold=True, align="right")
    sheet.put(sheet.left, 22, bill.seller.name, size=11, bold=True)
    sheet.block(sheet.left, 27, [*bill.seller.address[1:], *parts.reach(bill.seller, voice)], 8)
    if bill.buyer:
        for x, key in ((sheet.left, "buyer"), (115, "ship to")):
            sheet.put(x, 54, voice[key].upper(), size=7, bold=True)
            sheet.block(x, 59, bill.buyer.address)
    data = parts.pairs(bill, voice)
    width = (sheet.right - sheet.left) / len(data)
    for number, (label, value) in enumerate(data):
        sheet.put(sheet.left + number * width, 82, label, size=8, bold=True)
        sheet.put(sheet.left + number * width, 87, value)
    sheet.y = 94
    parts.items(sheet, bill, voice, ("code", "item", "quantity", "price", "amount"), "none")
    sheet.rule(sheet.left, sheet.y, sheet.right)
    sign = voice.sign
    for label, value in parts.sums(bill, voice) + parts.settled(bill, voice):
        sheet.y += LINE + 1
        sheet.put(sheet.right - 44, sheet.y, label, align="right", bold=label == voice["total"])
        sheet.put(sheet.right - 34, sheet.y, sign)
        sheet.put(sheet.right - 1.5, sheet.y, value.replace(sign, "").strip(), align="right")
    sheet.y += 10
    parts.closing(sheet, bill, voice)


def unlabelled(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write as someone jots it on a pad: dates, sums and names, and no word what they are."""
    sheet.put(sheet.left, 26, bill.seller.name, size=12)
    sheet.put(sheet.right, 26, f"{voice[bill.word]} {bill.number}", size=12, align="right")
    sheet.put(sheet.right, 33, voice.day(bill.day), size=12, align="right")
    if bill.buyer:
        sheet.block(sheet.left, 46, bill.buyer.address, size=12)
    sheet.y = 78
    jotted = [
        (f"{voice.number(item.quantity)} {item.description}", item.amount) for item in bill.items
    ]
    for text, value in (*jotted, *(("", value) for value in (bill.net, bill.tax, bill.total))):
        sheet.put(sheet.left, sheet.y, text, size=11)
        sheet.put(sheet.right, sheet.y, voice.number(value), size=11, align="right")
        sheet.y += 7.5
    if bill.due:
        sheet.put(sheet.left, sheet.y + 8, voice.day(bill.due), size=11)
