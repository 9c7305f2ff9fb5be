"""The parts that layouts are put together from: pairs of label and value, items and sums."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from forebay_lab.samples.bill import Bill, Item
from forebay_lab.samples.market import Party
from forebay_lab.samples.sheet import LINE, Align, Column, Rules, Sheet
from forebay_lab.samples.table import table
from forebay_lab.samples.writing import Voice

Pairs = list[tuple[str, str]]
WIDTHS: dict[str, float] = {
    "position": 11,
    "code": 22,
    "quantity": 20,
    "unit": 18,
    "price": 27,
    "rate": 18,
    "amount": 30,
}
"""Millimetres of each column of items but the description, which takes the rest."""


def pairs(bill: Bill, voice: Voice) -> Pairs:
    """Return what tells a document from others: number, date, notes and when it is due."""
    found = [
        (voice.label(bill.word, "number"), bill.number),
        (voice.label(bill.word, "date"), voice.day(bill.day)),
        *((voice[key], value) for key, value in bill.notes),
    ]
    if bill.due and not bill.is_due_counted:
        found.append((voice["due"], voice.day(bill.due)))
    return found


def reach(party: Party, voice: Voice) -> list[str]:
    """Return the lines that say how to reach a party."""
    known = {"phone": party.phone, "mail": party.mail, "tax number": party.tax_number}
    return [f"{voice[key]} {value}" for key, value in known.items() if value]


def bank(party: Party, voice: Voice) -> list[str]:
    """Return the lines that say how to pay a party."""
    return [voice["bank"], f"{voice['account']} {party.account}"] if party.account else []


def beside(sheet: Sheet, x: float, y: float, rows: Pairs, gap: float, colon: str = "") -> float:
    """Write values right of their labels; returns the y below."""
    for label, value in rows:
        sheet.put(x, y, label + colon)
        sheet.put(x + gap, y, value)
        y += LINE
    return y


def glued(sheet: Sheet, x: float, y: float, rows: Pairs, align: Align = "left") -> float:
    """Write labels and values as one run of text; returns the y below."""
    for label, value in rows:
        sheet.put(x, y, f"{label}:{value}" if align == "left" else f"{label}: {value}", align=align)
        y += LINE
    return y


def stacked(sheet: Sheet, x: float, y: float, rows: Pairs) -> float:
    """Write each label above its value; returns the y below."""
    for label, value in rows:
        sheet.put(x, y, label, size=7, grey=True)
        sheet.put(x, y + LINE, value, bold=True)
        y += 2.6 * LINE
    return y


def boxed(sheet: Sheet, y: float, rows: Pairs) -> float:
    """Write labels above their values in a row of boxes; returns the y below."""
    width = (sheet.right - sheet.left) / len(rows)
    for number, (label, value) in enumerate(rows):
        x = sheet.left + number * width
        sheet.box(x, y, width, 11)
        sheet.put(x + 1.5, y + 4, label, size=7)
        sheet.put(x + 1.5, y + 9, value, size=9)
    return y + 11


def items(
    sheet: Sheet,
    bill: Bill,
    voice: Voice,
    keys: Sequence[str],
    rules: Rules,
    tail: Pairs | None = None,
    tail_at: int = 0,
) -> None:
    """Set the items in the columns that `keys` name.

    `tail` are sums as further rows, their labels in the column `tail_at`.
    """
    rest = sheet.right - sheet.left - sum(WIDTHS.get(key, 0) for key in keys)
    columns = [_column(key, voice, rest) for key in keys]
    rows = [_cells(item, number, voice, keys) for number, item in enumerate(bill.items, start=1)]
    for label, value in tail or ():
        row = [""] * (len(keys) - 1)
        row[tail_at] = label
        rows.append([*row, value])
    sums = [voice.number(total) for total in accumulate(item.amount for item in bill.items)]
    carry = (voice["carried"], voice["brought"])
    table(sheet, columns, rows, rules, running=sums, carry=carry if "amount" in keys else None)


def _column(key: str, voice: Voice, rest: float) -> Column:
    is_number = key in ("quantity", "price", "rate", "amount")
    title = "" if key == "unit" else voice[key]
    return Column(title, WIDTHS.get(key, rest), "right" if is_number else "left")


def _cells(item: Item, number: int, voice: Voice, keys: Sequence[str]) -> list[str]:
    said = {
        "position": str(number),
        "code": f"{len(item.description):02}-{4000 + 37 * number}",
        "item": item.description,
        "quantity": voice.number(item.quantity),
        "unit": item.unit,
        "price": voice.number(item.price),
        "rate": f"{item.rate}%",
        "amount": voice.number(item.amount),
    }
    return [said[key] for key in keys]


def sums(bill: Bill, voice: Voice) -> Pairs:
    """Return the sums from the items' to the total, and what of it is paid."""
    rows = []
    if bill.discount or bill.shipping is not None:
        rows.append((voice["subtotal"], voice.money(bill.subtotal)))
    if bill.discount:
        rows.append((voice["discount"].format(bill.discount), voice.money(-bill.reduction)))
    if bill.shipping is not None:
        rows.append((voice["shipping"], voice.money(bill.shipping)))
    if bill.taxes:
        rows.append((voice["net"], voice.money(bill.net)))
        rows += [
            (voice["tax"].format(rate), voice.money(t)) for rate, (_, t) in bill.by_rate.items()
        ]
    rows.append((voice["total"], voice.money(bill.total)))
    return rows


def settled(bill: Bill, voice: Voice) -> Pairs:
    """Return what was paid already, and what is left."""
    if bill.paid is None:
        return []
    left = (voice["balance due"], voice.money(bill.total - bill.paid))
    return [(voice["paid"], voice.money(-bill.paid)), left]


def right_sums(sheet: Sheet, bill: Bill, voice: Voice, *, frame: bool = False) -> None:
    """Write the sums at the right margin, the total bold under a rule or, framed, in boxes."""
    rows = sums(bill, voice) + settled(bill, voice)
    x, width = sheet.right - 82, 82
    sheet.room(len(rows) * 6.5)
    for label, value in rows:
        is_total = label == voice["total"]
        if frame:
            sheet.box(x, sheet.y, width, 6.5)
        elif is_total:
            sheet.rule(x, sheet.y + 0.6, sheet.right)
        sheet.put(x + 1.5, sheet.y + 4.6, label, bold=is_total)
        sheet.put(sheet.right - 1.5, sheet.y + 4.6, value, bold=is_total, align="right")
        sheet.y += 6.5
    sheet.y += 4


def column_sums(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write the taxes as a small table, and the sums as heads over figures."""
    sheet.room(45)
    if bill.taxes:
        heads = [Column(voice[key], 28, "right") for key in ("base", "rate", "tax total")]
        rows = [
            [voice.number(base), f"{rate}%", voice.number(tax)]
            for rate, (base, tax) in bill.by_rate.items()
        ]
        table(sheet, heads, rows, "grid")
    figures = {"net": bill.net, "tax total": bill.tax, "total": bill.total}
    shown = figures if bill.taxes else {"total": bill.total}
    width = (sheet.right - sheet.left) / 3
    heads = [Column(voice[key], width, "center") for key in shown]
    table(sheet, heads, [[voice.money(value) for value in shown.values()]], "grid")


def closing(sheet: Sheet, bill: Bill, voice: Voice) -> None:
    """Write what stands below the sums: the reason for no tax, terms and thanks."""
    if bill.taxes == "reversed":
        sheet.write(voice["reverse charge"], gap=1)
    if bill.taxes is None and bill.kind != "delivery_note":
        sheet.write(voice["exempt"], gap=1)
    if bill.due:
        terms = "terms from date" if bill.is_due_counted else "terms"
        sheet.write(voice[terms].format((bill.due - bill.day).days), gap=1)
    elif bill.kind == "invoice":
        sheet.write(voice["at once"], gap=1)
    sheet.write(voice["thanks"], gap=3)


def number_pages(voice: Voice, pages: int) -> Callable[[Sheet], None]:
    """Return what writes the page's number at its foot."""

    def turning(sheet: Sheet) -> None:
        said = voice["page"].format(sheet.pages, pages)
        sheet.put(sheet.right, sheet.height - 9, said, size=7, align="right", grey=True)

    return turning
