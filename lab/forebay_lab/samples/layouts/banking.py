"""Statements of accounts, in three layouts."""

from forebay_lab.samples.accounts import Account
from forebay_lab.samples.layouts import parts
from forebay_lab.samples.sheet import LINE, Column, Sheet
from forebay_lab.samples.table import table
from forebay_lab.samples.writing import Voice


def running(sheet: Sheet, account: Account, voice: Voice) -> None:
    """Write one signed sum and the balance after it in each row, ruled."""
    _head(sheet, account, voice)
    sheet.y = parts.beside(sheet, sheet.left, 68, _data(account, voice), 46, voice.colon) + 2
    sheet.write(f"{voice['opening']}{voice.colon} {voice.money(account.opening)}", gap=3)
    heads = [
        Column(voice["booked"], 30),
        Column(voice["text"], 74),
        Column(voice["sum"], 33, "right"),
        Column(voice["balance"], 33, "right"),
    ]
    rows = [
        [voice.day(each.day), each.text, voice.number(each.sum), voice.number(each.balance)]
        for each in account.bookings
    ]
    table(sheet, heads, rows, "grid")
    _end(sheet, account, voice)


def two_sides(sheet: Sheet, account: Account, voice: Voice) -> None:
    """Write what went out and what came in in columns of their own, with no rules between rows."""
    _head(sheet, account, voice)
    sheet.y = parts.beside(sheet, 108, 46, _data(account, voice), 36, voice.colon)
    sheet.y = max(sheet.y, 78)
    heads = [
        Column(voice["booked"], 28),
        Column(voice["text"], 62),
        Column(voice["debit"], 27, "right"),
        Column(voice["credit"], 27, "right"),
        Column(voice["balance"], 26, "right"),
    ]
    rows = [["", voice["opening"], "", "", voice.number(account.opening)]]
    for each in account.bookings:
        sides = (voice.number(-each.sum), "") if each.sum < 0 else ("", voice.number(each.sum))
        rows.append([voice.day(each.day), each.text, *sides, voice.number(each.balance)])
    table(sheet, heads, rows, "head")
    _end(sheet, account, voice)


def summary(sheet: Sheet, account: Account, voice: Voice) -> None:
    """Write the balances and both sums in boxes at the top, then shaded rows without a balance."""
    _head(sheet, account, voice)
    parts.beside(sheet, sheet.left, 66, _data(account, voice), 46, voice.colon)
    came = sum(each.sum for each in account.bookings if each.sum > 0)
    went = account.closing - account.opening - came
    boxes = [
        (voice["opening"], voice.money(account.opening)),
        (voice["credit"], voice.money(account.opening * 0 + came)),
        (voice["debit"], voice.money(went)),
        (voice["closing"], voice.money(account.closing)),
    ]
    sheet.y = parts.boxed(sheet, 92, boxes) + 6
    heads = [
        Column(voice["booked"], 34),
        Column(voice["text"], 96),
        Column(voice["sum"], 40, "right"),
    ]
    rows = [[voice.day(each.day), each.text, voice.money(each.sum)] for each in account.bookings]
    table(sheet, heads, rows, "zebra")


def _head(sheet: Sheet, account: Account, voice: Voice) -> None:
    sheet.put(sheet.left, 22, account.bank.name, size=15, bold=True)
    sheet.put(sheet.left, 27, " · ".join(account.bank.address[1:]), size=7.5, grey=True)
    sheet.put(sheet.right, 22, voice["statement"], size=14, bold=True, align="right")
    sheet.block(sheet.left, 44, account.holder.address)


def _data(account: Account, voice: Voice) -> parts.Pairs:
    rows = [
        (voice["statement date"], voice.day(account.day)),
        (voice["holder"], account.holder.name),
        (voice["account number"], account.holder.account or "0012 3456 78"),
    ]
    if account.number:
        rows.insert(0, (voice["statement number"], account.number))
    return rows


def _end(sheet: Sheet, account: Account, voice: Voice) -> None:
    sheet.room(3 * LINE)
    sheet.y += LINE
    sheet.put(sheet.right - 46, sheet.y, voice["closing"], bold=True, align="right")
    sheet.put(sheet.right - 1.5, sheet.y, voice.money(account.closing), bold=True, align="right")
