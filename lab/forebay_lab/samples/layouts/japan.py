"""Invoices, quotes and receipts as issuers in Japan lay them out."""

from forebay_lab.samples.bill import Bill
from forebay_lab.samples.layouts import parts
from forebay_lab.samples.sheet import LINE, Sheet
from forebay_lab.samples.writing import Voice

HONOURS = {True: "御中", False: "様"}
"""What follows the name of a firm, and of a person."""


def framed(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write the title in the middle, the buyer left, the seller right, the total in a frame."""
    sheet.put(sheet.width / 2, 24, "　".join(voice[bill.word]), size=18, align="center")
    sheet.rule(80, 27, 130, 1)
    _addressed(sheet, bill, 40)
    y = parts.beside(sheet, 128, 36, parts.pairs(bill, voice), 30, voice.colon) + 3
    _seller(sheet, bill, voice, 128, y)
    sheet.y = 72
    sheet.write(voice["thanks"], gap=2)
    sheet.box(sheet.left, 80, 92, 13)
    sheet.put(sheet.left + 3, 88.5, voice["total"], size=11)
    sheet.put(sheet.left + 89, 88.5, voice.money(bill.total), size=15, align="right")
    sheet.y = 100
    keys = ("position", "item", "quantity", "unit", "price", "amount")
    parts.items(sheet, bill, voice, keys, "grid")
    parts.right_sums(sheet, bill, voice, frame=True)
    if bill.due:
        for line in parts.bank(bill.seller, voice):
            sheet.write(line)


def ruled(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write title and data left, the seller's block right, and the sums as rows of the table."""
    sheet.put(sheet.left, 24, voice[bill.word], size=20)
    sheet.put(
        sheet.right,
        24,
        f"{voice.label(bill.word, 'number')}{voice.colon} {bill.number}",
        align="right",
    )
    _addressed(sheet, bill, 42)
    rest = [(label, value) for label, value in parts.pairs(bill, voice) if value != bill.number]
    parts.beside(sheet, sheet.left, 58, rest, 34, voice.colon)
    _seller(sheet, bill, voice, 122, 42)
    sheet.y = 92
    tail = parts.sums(bill, voice) if bill.kind != "delivery_note" else None
    keys = ("item", "quantity", "unit", "price", "amount")
    parts.items(sheet, bill, voice, keys if tail else keys[:3], "grid", tail, len(keys) - 2)
    if bill.due:
        for line in parts.bank(bill.seller, voice):
            sheet.write(line)


def slip(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write a receipt by hand's pattern: 但 says for what, and the sum stands alone and large."""
    sheet.put(sheet.width / 2, 22, "　".join(voice[bill.word]), size=18, align="center")
    sheet.put(
        sheet.right, 20, f"{voice.label(bill.word, 'number')} {bill.number}", size=8, align="right"
    )
    sheet.put(
        sheet.right,
        25,
        f"{voice.label(bill.word, 'date')} {voice.day(bill.day)}",
        size=8,
        align="right",
    )
    _addressed(sheet, bill, 40)
    sheet.box(sheet.left + 20, 50, sheet.width - 2 * sheet.left - 40, 14, fill=True)
    sheet.put(sheet.width / 2, 60, voice.money(bill.total), size=20, align="center")
    what = "、".join(item.description for item in bill.items[:1])
    sheet.put(sheet.left + 20, 74, f"但 {what} 代として上記正に領収いたしました。")
    y = 88.0
    sheet.put(sheet.left, y, "内訳")
    for label, value in parts.sums(bill, voice)[:-1]:
        y += LINE
        sheet.put(sheet.left, y, label)
        sheet.put(sheet.left + 55, y, value, align="right")
    _seller(sheet, bill, voice, 118, 88)


def _addressed(sheet: Sheet, bill: Bill, y: float) -> None:
    if bill.buyer:
        honour = HONOURS[any(word in bill.buyer.name for word in ("会社", "旅館"))]
        sheet.put(sheet.left, y, f"{bill.buyer.name}　{honour}", size=13)
        sheet.rule(sheet.left, y + 2, sheet.left + 85)


def _seller(sheet: Sheet, bill: Bill, voice: Voice, x: float, y: float) -> None:
    name, street, town = bill.seller.address
    sheet.put(x, y, name, size=11)
    sheet.block(x, y + LINE, [town, street, *parts.reach(bill.seller, voice)], size=8)
    sheet.box(sheet.right - 14, y - 6, 14, 14)
