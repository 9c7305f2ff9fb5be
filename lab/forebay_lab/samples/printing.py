"""Print a planned sample: find its layout, and draw it on a sheet of the right size."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from forebay_lab.samples.accounts import Account, Agreement
from forebay_lab.samples.bill import Bill, Truth
from forebay_lab.samples.layouts import agreements, banking, counter, japan, office, trade
from forebay_lab.samples.layouts.parts import number_pages
from forebay_lab.samples.plan import Plan
from forebay_lab.samples.sheet import A4, LANDSCAPE, LETTER, Sheet
from forebay_lab.samples.writing import Voice

Draw = Callable[[Sheet], None]

TRADE: dict[str, Callable[[Sheet, Bill, Voice], None]] = {
    "window": trade.window,
    "header_grid": trade.header_grid,
    "two_columns": trade.two_columns,
    "tax_table": trade.tax_table,
    "plain": trade.plain,
    "sidebar": trade.sidebar,
    "centred": trade.centred,
    "wide": trade.wide,
    "letter": trade.letter,
    "goods_only": trade.goods_only,
    "purchase": trade.purchase,
    "sentence": office.sentence,
    "ledger": office.ledger,
    "unlabelled": office.unlabelled,
    "till_roll": counter.till_roll,
    "online": counter.online,
    "hotel": counter.hotel,
    "utility": counter.utility,
    "framed": japan.framed,
    "ruled": japan.ruled,
    "slip": japan.slip,
}
BANKING: dict[str, Callable[[Sheet, Account, Voice], None]] = {
    "running": banking.running,
    "two_sides": banking.two_sides,
    "summary": banking.summary,
}
AGREEMENTS: dict[str, Callable[[Sheet, Agreement, Voice], None]] = {
    "prose": agreements.prose,
    "data_first": agreements.data_first,
}
"""The layouts by name: how documents of trade, of banks and of contract are drawn."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What came of printing: how many pages, and the truth about what they say."""

    pages: int
    truth: Truth


def print_plan(plan: Plan, path: Path, *, password: str | None = None) -> Printed:
    """Write what is planned to `path`."""
    draw, truth = _drawing(plan)
    pages = _draw(plan, path, draw, 1, password)
    if pages > 1:
        _draw(plan, path, draw, pages, password)
    return Printed(pages, _said(plan, truth))


def print_bill(plan: Plan, bill: Bill, path: Path) -> None:
    """Write another bill than the planned one in its layout; it must fit on one page."""
    _draw(plan, path, lambda sheet: TRADE[plan.layout](sheet, bill, plan.voice()), 1, None)


def _drawing(plan: Plan) -> tuple[Draw, Truth]:
    """Return what draws the document, and the truth about it."""
    layout, voice = plan.layout, plan.voice()
    if layout in BANKING:
        account = plan.account()
        return lambda sheet: BANKING[layout](sheet, account, voice), account.truth()
    if layout in AGREEMENTS:
        agreement = plan.agreement()
        return lambda sheet: AGREEMENTS[layout](sheet, agreement, voice), agreement.truth()
    bill = plan.bill()
    return lambda sheet: TRADE[layout](sheet, bill, voice), bill.truth()


def _draw(plan: Plan, path: Path, draw: Draw, pages: int, password: str | None) -> int:
    """Draw on a sheet of the right size; `pages` is how many it says that there are."""
    size, margin = (LETTER if plan.market == "us" else A4), 20.0
    if plan.layout == "wide":
        size = LANDSCAPE
    if plan.layout == "till_roll":
        size, margin = (80.0, 120.0 + 8 * plan.count), 5.0
    sheet = Sheet(path, plan.font or "sans", size, margin, password)
    if plan.layout != "till_roll":
        sheet.feet.append(number_pages(plan.voice(), pages))
    draw(sheet)
    return sheet.close()


def _said(plan: Plan, truth: Truth) -> Truth:
    """Leave out of the lines what the layout does not print."""
    if plan.layout == "slip":
        truth["lines"] = []
    for line in truth["lines"]:
        if plan.layout == "hotel":
            del line["unit_price"]
        if plan.layout == "till_roll" and line["quantity"] == "1":
            del line["quantity"], line["unit_price"]
    return truth
