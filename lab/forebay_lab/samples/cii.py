"""The XML of e-invoices in the syntax of UN/CEFACT: Factur-X, ZUGFeRD 2 and the older ZUGFeRD 1."""

from datetime import date
from decimal import Decimal

from forebay_lab.samples.bill import Bill, Item
from forebay_lab.samples.market import Party
from forebay_lab.samples.xml import Tag, tag

UNECE = "urn:un:unece:uncefact:data:standard"
EN_16931 = "urn:cen.eu:en16931:2017"
ZUGFERD_1 = "urn:ferd:CrossIndustryDocument:invoice:1p0"
TYPES = {"invoice": "380", "credit_note": "381"}

SPACES = {
    "rsm": f"{UNECE}:CrossIndustryInvoice:100",
    "ram": f"{UNECE}:ReusableAggregateBusinessInformationEntity:100",
    "udt": f"{UNECE}:UnqualifiedDataType:100",
}
OLD_SPACES = {
    "rsm": ZUGFERD_1,
    "ram": f"{UNECE}:ReusableAggregateBusinessInformationEntity:12",
    "udt": f"{UNECE}:UnqualifiedDataType:15",
}
OLD_NAMES = {
    "rsm:CrossIndustryInvoice": "rsm:CrossIndustryDocument",
    "rsm:ExchangedDocumentContext": "rsm:SpecifiedExchangedDocumentContext",
    "rsm:ExchangedDocument": "rsm:HeaderExchangedDocument",
    "rsm:SupplyChainTradeTransaction": "rsm:SpecifiedSupplyChainTradeTransaction",
    "ram:RateApplicablePercent": "ram:ApplicablePercent",
    "ram:SpecifiedTradeSettlementHeaderMonetarySummation": (
        "ram:SpecifiedTradeSettlementMonetarySummation"
    ),
    "ram:SpecifiedTradeSettlementLineMonetarySummation": (
        "ram:SpecifiedTradeSettlementMonetarySummation"
    ),
    **{
        f"ram:{place}Trade{part}": f"ram:{old}SupplyChainTrade{part}"
        for place, old in (("ApplicableHeader", "Applicable"), ("SpecifiedLine", "Specified"))
        for part in ("Agreement", "Delivery", "Settlement")
    },
}
"""What ZUGFeRD 1 calls the elements that have other names since."""


def write(bill: Bill, profile: str = "") -> bytes:
    """Return a bill as Factur-X and ZUGFeRD 2 have it; `profile` ends the guideline's name."""
    lines = [tag("ram:IncludedSupplyChainTradeLineItem", *parts) for parts in _lines(bill)]
    return _document(bill, EN_16931 + profile, [*lines, *_head(bill)]).document(SPACES)


def write_old(bill: Bill) -> bytes:
    """Return a bill as ZUGFeRD 1 has it: other names, the lines last, in each the product last."""
    lines = [
        tag("ram:IncludedSupplyChainTradeLineItem", number, *parts, product)
        for number, product, *parts in _lines(bill)
    ]
    document = _document(bill, f"{ZUGFERD_1}:comfort", [*_head(bill), *lines])
    return document.renamed(OLD_NAMES).document(OLD_SPACES)


def _document(bill: Bill, guideline: str, trade: list[Tag]) -> Tag:
    named = tag("ram:GuidelineSpecifiedDocumentContextParameter", tag("ram:ID", guideline))
    return tag(
        "rsm:CrossIndustryInvoice",
        tag("rsm:ExchangedDocumentContext", named),
        tag(
            "rsm:ExchangedDocument",
            tag("ram:ID", bill.number),
            tag("ram:TypeCode", TYPES[bill.kind]),
            _time("ram:IssueDateTime", bill.day),
        ),
        tag("rsm:SupplyChainTradeTransaction", *trade),
    )


def _lines(bill: Bill) -> list[list[Tag]]:
    """Return the parts of each line: its number, its product, and what was agreed on it."""
    return [_line(number, item) for number, item in enumerate(bill.items, start=1)]


def _line(number: int, item: Item) -> list[Tag]:
    price = tag("ram:NetPriceProductTradePrice", tag("ram:ChargeAmount", str(item.price)))
    quantity = tag("ram:BilledQuantity", str(item.quantity), unitCode="C62")
    total = tag("ram:LineTotalAmount", str(item.amount))
    return [
        tag("ram:AssociatedDocumentLineDocument", tag("ram:LineID", str(number))),
        tag("ram:SpecifiedTradeProduct", tag("ram:Name", item.description)),
        tag("ram:SpecifiedLineTradeAgreement", price),
        tag("ram:SpecifiedLineTradeDelivery", quantity),
        tag(
            "ram:SpecifiedLineTradeSettlement",
            tag("ram:ApplicableTradeTax", *_rate(item.rate)),
            tag("ram:SpecifiedTradeSettlementLineMonetarySummation", total),
        ),
    ]


def _head(bill: Bill) -> list[Tag]:
    """Return what was agreed on the whole: parties, delivery, taxes and sums."""
    parties = {"Seller": bill.seller, "Buyer": bill.buyer}
    named = (_party(f"ram:{part}TradeParty", party) for part, party in parties.items() if party)
    return [
        tag("ram:ApplicableHeaderTradeAgreement", *named),
        tag("ram:ApplicableHeaderTradeDelivery"),
        _settlement(bill),
    ]


def _party(name: str, party: Party) -> Tag:
    code, _, city = party.town.partition(" ")
    address = {"PostcodeCode": code, "LineOne": party.street, "CityName": city}
    number = tag("ram:ID", party.tax_number.replace(" ", ""), schemeID="VA")
    return tag(
        name,
        tag("ram:Name", party.name),
        tag("ram:PostalTradeAddress", *(tag(f"ram:{key}", said) for key, said in address.items())),
        tag("ram:SpecifiedTaxRegistration", number),
    )


def _settlement(bill: Bill) -> Tag:
    taxes = [
        tag(
            "ram:ApplicableTradeTax",
            tag("ram:CalculatedAmount", str(tax)),
            *_rate(rate, tag("ram:BasisAmount", str(base))),
        )
        for rate, (base, tax) in bill.by_rate.items()
    ]
    due = [_time("ram:DueDateDateTime", bill.due)] if bill.due else []
    return tag(
        "ram:ApplicableHeaderTradeSettlement",
        tag("ram:InvoiceCurrencyCode", bill.market.currency),
        *taxes,
        tag("ram:SpecifiedTradePaymentTerms", *due),
        tag(
            "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
            tag("ram:LineTotalAmount", str(bill.subtotal)),
            tag("ram:TaxBasisTotalAmount", str(bill.net)),
            tag("ram:TaxTotalAmount", str(bill.tax), currencyID=bill.market.currency),
            tag("ram:GrandTotalAmount", str(bill.total)),
            tag("ram:DuePayableAmount", str(bill.total)),
        ),
    )


def _rate(rate: Decimal, *between: Tag) -> list[Tag]:
    """Return the tags of a tax rate in the order that the syntax asks for."""
    return [
        tag("ram:TypeCode", "VAT"),
        *between,
        tag("ram:CategoryCode", "S"),
        tag("ram:RateApplicablePercent", str(rate)),
    ]


def _time(name: str, day: date) -> Tag:
    return tag(name, tag("udt:DateTimeString", f"{day:%Y%m%d}", format="102"))
