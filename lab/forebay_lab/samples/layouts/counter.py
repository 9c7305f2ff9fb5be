"""What is handed over a counter or sent after a payment: till rolls, receipts, hotel bills."""

from datetime import timedelta

from forebay_lab.samples.bill import Bill
from forebay_lab.samples.layouts import parts
from forebay_lab.samples.sheet import LINE, Column, Sheet
from forebay_lab.samples.table import table
from forebay_lab.samples.writing import Voice


def till_roll(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write the roll of a shop's till: narrow and long, no columns but the sums."""
    middle, y = sheet.width / 2, 10.0
    for line in (*bill.seller.address, *parts.reach(bill.seller, voice)):
        sheet.put(middle, y, line, size=7.5, align="center")
        y += 3.8
    sheet.put(middle, y + 4, voice[bill.word], size=9, bold=True, align="center")
    sheet.y = y + 8
    for label, value in parts.pairs(bill, voice):
        _ends(sheet, f"{label} {value}", "")
    _ends(sheet, voice["till"], "")
    sheet.y += 2
    for item in bill.items:
        if item.quantity == 1:
            _ends(sheet, item.description, voice.number(item.amount))
        else:
            _ends(sheet, item.description, "")
            times = f"  {voice.number(item.quantity)} x {voice.number(item.price)}"
            _ends(sheet, times, voice.number(item.amount))
    sheet.rule(sheet.left, sheet.y + 1.6, sheet.right)
    sheet.y += 2
    _ends(sheet, voice["total"].upper(), voice.money(bill.total), bold=True)
    if bill.paid is not None:
        _ends(sheet, voice["cash"], voice.money(bill.paid))
        _ends(sheet, voice["change"], voice.money(bill.paid - bill.total))
    sheet.y += 2
    if bill.taxes:
        for rate, (base, tax) in bill.by_rate.items():
            _ends(sheet, f"{voice['tax'].format(rate)}", voice.number(tax))
            _ends(sheet, f"  {voice['base']}", voice.number(base))
    sheet.y += 5
    sheet.put(middle, sheet.y, voice["thanks"], size=7.5, align="center")


def _ends(sheet: Sheet, start: str, end: str, *, bold: bool = False) -> None:
    """Write one line of a roll, its start left and its end right."""
    sheet.y += 3.8
    sheet.put(sheet.left, sheet.y, start, size=7.5, bold=bold)
    sheet.put(sheet.right, sheet.y, end, size=7.5, bold=bold, align="right")


def online(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write what a web service sends after a payment: the sum in a headline, few rules."""
    sheet.put(sheet.left, 24, voice[bill.word], size=20, bold=True)
    sheet.put(sheet.right, 24, bill.seller.name, size=13, align="right", grey=True)
    parts.beside(sheet, sheet.left, 36, parts.pairs(bill, voice), 36)
    sheet.block(sheet.left, 66, [*bill.seller.address, *parts.reach(bill.seller, voice)])
    if bill.buyer:
        sheet.put(110, 66, voice["buyer"], bold=True)
        sheet.block(110, 71, bill.buyer.address)
    headline = f"{voice.money(bill.total)} - {voice.day(bill.day)}"
    sheet.put(sheet.left, 100, headline, size=14, bold=True)
    sheet.y = 108
    end = bill.day + timedelta(days=30)
    sheet.write(f"{voice.day(bill.day)} - {voice.day(end)}", size=8, gap=3)
    parts.items(sheet, bill, voice, ("item", "quantity", "price", "amount"), "head")
    parts.right_sums(sheet, bill, voice)
    sheet.y = 262
    sheet.write(voice["thanks"], size=8)


def hotel(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write a hotel's bill: a guest, a room, and a dated line for each night."""
    middle, nights = sheet.width / 2, len(bill.items)
    sheet.put(middle, 24, bill.seller.name, size=18, bold=True, align="center")
    sheet.put(middle, 30, ", ".join(bill.seller.address[1:]), size=8, align="center")
    sheet.put(middle, 34, "   ".join(parts.reach(bill.seller, voice)), size=8, align="center")
    sheet.put(sheet.left, 50, voice[bill.word], size=14, bold=True)
    if bill.buyer:
        sheet.put(sheet.left, 60, voice["guest"] + voice.colon)
        sheet.block(sheet.left + 26, 60, bill.buyer.address)
    arrival = bill.day - timedelta(days=nights)
    stay = [
        (voice["room"], "214"),
        (voice["arrival"], voice.day(arrival)),
        (voice["departure"], voice.day(bill.day)),
    ]
    parts.beside(sheet, 118, 60, parts.pairs(bill, voice) + stay, 36, voice.colon)
    sheet.y = 98
    heads = [
        Column(voice["booked"], 34),
        Column(voice["item"], 76),
        Column(voice["quantity"], 20, "right"),
        Column(voice["amount"], 40, "right"),
    ]
    rows = [
        [
            voice.day(arrival + timedelta(days=number)),
            item.description,
            voice.number(item.quantity),
            voice.number(item.amount),
        ]
        for number, item in enumerate(bill.items)
    ]
    table(sheet, heads, rows, "lines")
    rows_right = parts.sums(bill, voice)
    for label, value in rows_right:
        sheet.y += LINE
        is_total = label == voice["total"]
        sheet.put(sheet.right - 44, sheet.y, label, align="right", bold=is_total)
        sheet.put(sheet.right - 1.5, sheet.y, value, align="right", bold=is_total)
    sheet.y += 8
    sheet.write(voice["thanks"])


def utility(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write a utility's bill: a summary of the account in a shaded box, then the details."""
    sheet.put(sheet.left, 22, bill.seller.name, size=16, bold=True)
    sheet.put(sheet.left, 28, " · ".join(parts.reach(bill.seller, voice)), size=7.5)
    if bill.buyer:
        sheet.block(sheet.left, 44, bill.buyer.address, size=10)
    sheet.box(112, 38, sheet.right - 112, 52, fill=True)
    sheet.put(115, 45, voice[bill.word], size=12, bold=True)
    rows = parts.pairs(bill, voice)
    earlier = bill.total - 7
    summary = [
        (voice["previous bill"], voice.money(earlier)),
        (voice["payment received"], voice.money(-earlier)),
        (voice["new charges"], voice.money(bill.total)),
    ]
    y = 52.0
    for label, value in rows:
        sheet.put(115, y, label)
        sheet.put(sheet.right - 3, y, value, align="right")
        y += LINE
    y = 68.0
    for label, value in summary:
        sheet.put(sheet.left, y, label)
        sheet.put(100, y, value, align="right")
        y += LINE
    sheet.y = 100
    sheet.write(voice["usage"], size=11, bold=True, gap=2)
    parts.items(sheet, bill, voice, ("item", "quantity", "unit", "price", "amount"), "lines")
    parts.right_sums(sheet, bill, voice)
    parts.closing(sheet, bill, voice)
    for line in (*bill.seller.address, *parts.bank(bill.seller, voice)):
        sheet.write(line, size=7)
