"""Invoices, credit notes, quotes, orders and delivery notes, in ten layouts."""

from forebay_lab.samples.bill import Bill
from forebay_lab.samples.layouts import parts
from forebay_lab.samples.sheet import LINE, Sheet
from forebay_lab.samples.writing import Voice


def window(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write a letter for a window envelope: sender small above the address, data at the right."""
    sheet.feet.append(lambda page: _three_columns(page, bill, voice))
    sheet.bottom -= 12
    seller, right = bill.seller, sheet.width / 2 + 20
    sheet.put(sheet.right, 18, seller.name, size=15, bold=True, align="right")
    sheet.put(sheet.left, 48, " · ".join(seller.address), size=6.5)
    sheet.rule(sheet.left, 49.5, sheet.left + 80)
    if bill.buyer:
        sheet.block(sheet.left, 56, bill.buyer.address, size=10)
    parts.beside(sheet, right, 56, parts.pairs(bill, voice), 38, voice.colon)
    sheet.put(sheet.left, 98, voice[bill.word], size=14, bold=True)
    sheet.y = 104
    sheet.write(voice["thanks"], gap=4)
    parts.items(
        sheet, bill, voice, ("position", "item", "quantity", "unit", "price", "amount"), "head"
    )
    parts.right_sums(sheet, bill, voice)
    parts.closing(sheet, bill, voice)


def _three_columns(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    y = sheet.height - 24
    sheet.rule(sheet.left, y - 4, sheet.right)
    third = (sheet.right - sheet.left) / 3
    blocks = (bill.seller.address, parts.reach(bill.seller, voice), parts.bank(bill.seller, voice))
    for number, lines in enumerate(blocks):
        sheet.block(sheet.left + number * third, y, lines, size=7)


def header_grid(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write the data in a row of boxes, and the sums as the last rows of a ruled table."""
    sheet.put(sheet.left, 22, bill.seller.name, size=12, bold=True)
    sheet.block(sheet.left, 27, [*bill.seller.address[1:], *parts.reach(bill.seller, voice)], 8)
    sheet.put(sheet.right, 24, voice[bill.word], size=20, bold=True, align="right")
    if bill.buyer:
        sheet.put(sheet.left, 54, voice["buyer"] + voice.colon, size=8, grey=True)
        sheet.block(sheet.left, 59, bill.buyer.address)
    sheet.y = parts.boxed(sheet, 78, parts.pairs(bill, voice)) + 6
    tail = parts.sums(bill, voice) + parts.settled(bill, voice)
    parts.items(sheet, bill, voice, ("item", "quantity", "price", "amount"), "grid", tail)
    parts.closing(sheet, bill, voice)
    for line in parts.bank(bill.seller, voice):
        sheet.write(line, size=8)


def two_columns(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write seller and buyer side by side, each under its label, and the sums in boxes."""
    middle = sheet.width / 2 + 5
    sheet.put(sheet.left, 24, voice[bill.word], size=22, bold=True)
    for x, key, party in ((sheet.left, "seller", bill.seller), (middle, "buyer", bill.buyer)):
        if party:
            sheet.put(x, 38, voice[key], bold=True)
            sheet.block(x, 43, [*party.address, *parts.reach(party, voice)])
    data = parts.pairs(bill, voice)
    half = (len(data) + 1) // 2
    parts.beside(sheet, sheet.left, 78, data[:half], 38, voice.colon)
    sheet.y = parts.beside(sheet, middle, 78, data[half:], 38, voice.colon) + 10
    parts.items(sheet, bill, voice, ("quantity", "item", "price", "rate", "amount"), "lines")
    parts.right_sums(sheet, bill, voice, frame=True)
    parts.closing(sheet, bill, voice)
    for line in parts.bank(bill.seller, voice):
        sheet.write(line, size=8)


def tax_table(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write the number as a heading, the buyer in a frame, and the sums as heads over figures."""
    sheet.feet.append(lambda page: _legal_line(page, bill, voice))
    sheet.put(sheet.left, 22, bill.seller.name, size=13, bold=True)
    sheet.block(sheet.left, 28, [*bill.seller.address[1:], *parts.reach(bill.seller, voice)], 8)
    if bill.buyer:
        sheet.box(118, 44, sheet.right - 118, 24)
        sheet.put(120, 49, voice["buyer"] + voice.colon, size=7)
        sheet.block(120, 55, bill.buyer.address)
    label = voice.label(bill.word, "number")
    sheet.put(sheet.left, 84, f"{label} {bill.number}", size=13, bold=True)
    rest = [(key, value) for key, value in parts.pairs(bill, voice) if value != bill.number]
    sheet.put(sheet.left, 77, voice[bill.word], size=9, grey=True)
    sheet.y = parts.beside(sheet, sheet.left, 91, rest, 42, voice.colon) + 4
    parts.items(sheet, bill, voice, ("item", "quantity", "price", "rate", "amount"), "grid")
    parts.column_sums(sheet, bill, voice)
    parts.closing(sheet, bill, voice)


def _legal_line(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    said = " - ".join([*bill.seller.address, *parts.bank(bill.seller, voice)])
    sheet.put(sheet.width / 2, sheet.height - 14, said, size=6.5, align="center")


def plain(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write without a single rule, labels and values glued together."""
    y = sheet.block(sheet.left, 24, [*bill.seller.address, *parts.reach(bill.seller, voice)])
    sheet.put(sheet.left, y + 8, voice[bill.word].upper(), size=11, bold=True)
    y = parts.glued(sheet, sheet.left, y + 14, parts.pairs(bill, voice)) + 4
    if bill.buyer:
        sheet.put(sheet.left, y, voice["buyer"] + ":")
        y = sheet.block(sheet.left, y + LINE, bill.buyer.address) + 4
    sheet.y = y
    parts.items(sheet, bill, voice, ("quantity", "unit", "item", "price", "amount"), "none")
    rows = parts.sums(bill, voice) + parts.settled(bill, voice)
    sheet.y = parts.glued(sheet, sheet.right, sheet.y + 4, rows, "right") + 4
    parts.closing(sheet, bill, voice)
    for line in parts.bank(bill.seller, voice):
        sheet.write(line)


def sidebar(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write labels above values down the left side, and the total large at the top right."""
    sheet.box(0, 0, 62, sheet.height, fill=True)
    parts.stacked(sheet, 12, 66, parts.pairs(bill, voice))
    sheet.put(12, 24, voice[bill.word], size=16, bold=True)
    sheet.put(12, 34, bill.seller.name, size=8)
    sheet.put(sheet.right, 26, voice.money(bill.total), size=22, bold=True, align="right")
    sheet.put(sheet.right, 33, voice["total"], size=8, align="right", grey=True)
    sheet.left, left = 72, sheet.left
    if bill.buyer:
        sheet.put(sheet.left, 46, voice["buyer"], size=7, grey=True)
        sheet.block(sheet.left, 51, bill.buyer.address)
    sheet.y = 76
    parts.items(sheet, bill, voice, ("item", "quantity", "price", "amount"), "zebra")
    parts.right_sums(sheet, bill, voice)
    parts.closing(sheet, bill, voice)
    for line in (*bill.seller.address, *parts.reach(bill.seller, voice)):
        sheet.write(line, size=8)
    sheet.left = left


def centred(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write a letterhead in the middle, the buyer below it, and the data right above the table."""
    middle = sheet.width / 2
    sheet.put(middle, 22, bill.seller.name, size=17, bold=True, align="center")
    sheet.put(middle, 28, " | ".join(bill.seller.address[1:]), size=8, align="center")
    sheet.put(middle, 32, " | ".join(parts.reach(bill.seller, voice)), size=8, align="center")
    sheet.rule(sheet.left, 36, sheet.right, 1.2)
    if bill.buyer:
        sheet.block(sheet.left, 48, bill.buyer.address, size=10)
    sheet.put(middle, 74, voice[bill.word], size=16, bold=True, align="center")
    y = 84.0
    for label, value in parts.pairs(bill, voice):
        sheet.put(sheet.right - 40, y, label + voice.colon, align="right")
        sheet.put(sheet.right, y, value, align="right")
        y += LINE
    sheet.y = y + 4
    parts.items(sheet, bill, voice, ("item", "quantity", "unit", "price", "amount"), "lines")
    parts.right_sums(sheet, bill, voice)
    parts.closing(sheet, bill, voice)
    for line in parts.bank(bill.seller, voice):
        sheet.write(line, size=8)


def wide(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write across a landscape page: seller, buyer and data in three columns, all item columns."""
    third = (sheet.right - sheet.left) / 3
    sheet.put(sheet.left, 20, voice[bill.word], size=18, bold=True)
    sheet.block(sheet.left, 30, [*bill.seller.address, *parts.reach(bill.seller, voice)])
    if bill.buyer:
        x = sheet.left + third
        sheet.put(x, 30, voice["buyer"] + voice.colon, bold=True)
        sheet.block(x, 35, bill.buyer.address)
    parts.beside(sheet, sheet.left + 2 * third, 30, parts.pairs(bill, voice), 42, voice.colon)
    sheet.y = 62
    keys = ("position", "item", "quantity", "unit", "price", "rate", "amount")
    parts.items(sheet, bill, voice, keys, "grid")
    parts.right_sums(sheet, bill, voice)
    parts.closing(sheet, bill, voice)


def letter(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write as a freelancer does: a personal letter with place and date, few items, no rules."""
    seller = bill.seller
    sheet.block(sheet.left, 24, [*seller.address, *parts.reach(seller, voice)], size=10)
    if bill.buyer:
        sheet.block(sheet.left, 56, bill.buyer.address, size=10)
    town = seller.town.split(",")[0].strip("0123456789- ")
    dated = voice["dated"].format(town, voice.day(bill.day))
    sheet.put(sheet.right, 82, dated, size=10, align="right")
    said = f"{voice.label(bill.word, 'number')} {bill.number}"
    sheet.put(sheet.left, 94, said, size=11, bold=True)
    sheet.y = 98
    for sentence in voice.market.words["letter"][:2]:
        sheet.write(sentence, size=10, gap=2)
    parts.items(sheet, bill, voice, ("item", "quantity", "price", "amount"), "none")
    parts.right_sums(sheet, bill, voice)
    if bill.due:
        sheet.write(f"{voice['due']}: {voice.day(bill.due)}", size=10, gap=2)
    for sentence in voice.market.words["letter"][2:]:
        sheet.write(sentence, size=10, gap=3)
    sheet.write(seller.name, size=10, gap=6)
    for line in (*parts.bank(seller, voice), voice["exempt"] if bill.taxes is None else ""):
        sheet.write(line, size=8)


def goods_only(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write a delivery note: what is delivered and how many, no prices."""
    sheet.put(sheet.left, 22, bill.seller.name, size=13, bold=True)
    sheet.block(sheet.left, 27, bill.seller.address[1:], 8)
    sheet.put(sheet.right, 24, voice[bill.word], size=18, bold=True, align="right")
    if bill.buyer:
        sheet.put(sheet.left, 46, voice["buyer"] + voice.colon, size=8, grey=True)
        sheet.block(sheet.left, 51, bill.buyer.address, size=10)
    parts.beside(sheet, sheet.width / 2 + 15, 48, parts.pairs(bill, voice), 42, voice.colon)
    sheet.y = 84
    parts.items(sheet, bill, voice, ("position", "item", "quantity", "unit"), "grid")
    sheet.write(voice["thanks"], gap=3)


def purchase(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write an order to a supplier on the paper of the one who orders."""
    assert bill.buyer is not None
    sheet.put(sheet.left, 22, bill.buyer.name, size=14, bold=True)
    sheet.block(sheet.left, 27, bill.buyer.address[1:], 8)
    sheet.put(sheet.right, 24, voice[bill.word], size=16, bold=True, align="right")
    for x, key, party in ((sheet.left, "supplier", bill.seller), (115, "buyer", bill.buyer)):
        sheet.put(x, 46, voice[key] + voice.colon, bold=True)
        sheet.block(x, 51, party.address)
    sheet.y = parts.boxed(sheet, 72, parts.pairs(bill, voice)) + 6
    parts.items(sheet, bill, voice, ("position", "item", "quantity", "price", "amount"), "grid")
    parts.right_sums(sheet, bill, voice)
