"""The XML of e-invoices in the syntax of UN/CEFACT: Factur-X, ZUGFeRD 2 and the older ZUGFeRD 1."""

from dataclasses import dataclass
from datetime import date

from forebay_lab.samples.bill import Bill, Item
from forebay_lab.samples.market import Party
from forebay_lab.samples.xml import Tag, tag

TYPES = {"invoice": "380", "credit_note": "381"}
UNECE = "urn:un:unece:uncefact:data"


@dataclass(frozen=True, slots=True)
class Version:
    """What differs from one version of the syntax to another: name spaces, and names of parts."""

    guideline: str
    spaces: dict[str, str]
    root: str
    context: str
    document: str
    trade: str
    part: str
    line_part: str
    percent: str
    sums: str
    line_sums: str


MODERN = Version(
    guideline="urn:cen.eu:en16931:2017",
    spaces={
        "rsm": f"{UNECE}:standard:CrossIndustryInvoice:100",
        "ram": f"{UNECE}:standard:ReusableAggregateBusinessInformationEntity:100",
        "udt": f"{UNECE}:standard:UnqualifiedDataType:100",
    },
    root="rsm:CrossIndustryInvoice",
    context="rsm:ExchangedDocumentContext",
    document="rsm:ExchangedDocument",
    trade="rsm:SupplyChainTradeTransaction",
    part="ram:ApplicableHeaderTrade{}",
    line_part="ram:SpecifiedLineTrade{}",
    percent="ram:RateApplicablePercent",
    sums="ram:SpecifiedTradeSettlementHeaderMonetarySummation",
    line_sums="ram:SpecifiedTradeSettlementLineMonetarySummation",
)
OLD = Version(
    guideline="urn:ferd:CrossIndustryDocument:invoice:1p0:comfort",
    spaces={
        "rsm": "urn:ferd:CrossIndustryDocument:invoice:1p0",
        "ram": f"{UNECE}:standard:ReusableAggregateBusinessInformationEntity:12",
        "udt": f"{UNECE}:standard:UnqualifiedDataType:15",
    },
    root="rsm:CrossIndustryDocument",
    context="rsm:SpecifiedExchangedDocumentContext",
    document="rsm:HeaderExchangedDocument",
    trade="rsm:SpecifiedSupplyChainTradeTransaction",
    part="ram:ApplicableSupplyChainTrade{}",
    line_part="ram:SpecifiedSupplyChainTrade{}",
    percent="ram:ApplicablePercent",
    sums="ram:SpecifiedTradeSettlementMonetarySummation",
    line_sums="ram:SpecifiedTradeSettlementMonetarySummation",
)


def write(bill: Bill, version: Version = MODERN, suffix: str = "") -> bytes:
    """Return a bill as XML; `suffix` of the guideline names a profile."""
    guideline = tag("ram:ID", version.guideline + suffix)
    lines = [_line(number, item, version) for number, item in enumerate(bill.items, start=1)]
    head = [
        _agreement(bill, version),
        tag(version.part.format("Delivery")),
        _settlement(bill, version),
    ]
    trade = [*head, *lines] if version is OLD else [*lines, *head]
    root = tag(
        version.root,
        tag(version.context, tag("ram:GuidelineSpecifiedDocumentContextParameter", guideline)),
        tag(
            version.document,
            tag("ram:ID", bill.number),
            tag("ram:TypeCode", TYPES[bill.kind]),
            _time("ram:IssueDateTime", bill.day),
        ),
        tag(version.trade, *trade),
    )
    return root.document(version.spaces)


def _line(number: int, item: Item, version: Version) -> Tag:
    price = tag("ram:NetPriceProductTradePrice", tag("ram:ChargeAmount", str(item.price)))
    quantity = tag("ram:BilledQuantity", str(item.quantity), unitCode="C62")
    product = tag("ram:SpecifiedTradeProduct", tag("ram:Name", item.description))
    parts = [
        tag(version.line_part.format("Agreement"), price),
        tag(version.line_part.format("Delivery"), quantity),
        tag(
            version.line_part.format("Settlement"),
            tag("ram:ApplicableTradeTax", *_rate(str(item.rate), version)),
            tag(version.line_sums, tag("ram:LineTotalAmount", str(item.amount))),
        ),
    ]
    return tag(
        "ram:IncludedSupplyChainTradeLineItem",
        tag("ram:AssociatedDocumentLineDocument", tag("ram:LineID", str(number))),
        *([*parts, product] if version is OLD else [product, *parts]),
    )


def _agreement(bill: Bill, version: Version) -> Tag:
    parties = {"Seller": bill.seller, "Buyer": bill.buyer}
    return tag(
        version.part.format("Agreement"),
        *(_party(f"ram:{part}TradeParty", party) for part, party in parties.items() if party),
    )


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


def _settlement(bill: Bill, version: Version) -> Tag:
    taxes = [
        tag(
            "ram:ApplicableTradeTax",
            tag("ram:CalculatedAmount", str(tax)),
            *_rate(str(rate), version, tag("ram:BasisAmount", str(base))),
        )
        for rate, (base, tax) in bill.by_rate.items()
    ]
    terms = [_time("ram:DueDateDateTime", bill.due)] if bill.due else []
    sums = {
        "LineTotalAmount": bill.subtotal,
        "TaxBasisTotalAmount": bill.net,
        "TaxTotalAmount": bill.tax,
        "GrandTotalAmount": bill.total,
        "DuePayableAmount": bill.total,
    }
    return tag(
        version.part.format("Settlement"),
        tag("ram:InvoiceCurrencyCode", bill.market.currency),
        *taxes,
        tag("ram:SpecifiedTradePaymentTerms", *terms),
        tag(version.sums, *(_sum(f"ram:{name}", value, bill) for name, value in sums.items())),
    )


def _sum(name: str, value: object, bill: Bill) -> Tag:
    currency = {"currencyID": bill.market.currency} if name == "ram:TaxTotalAmount" else {}
    return tag(name, str(value), **currency)


def _rate(rate: str, version: Version, *between: Tag) -> list[Tag]:
    """Return the tags of a tax rate in the order that the syntax asks for."""
    return [
        tag("ram:TypeCode", "VAT"),
        *between,
        tag("ram:CategoryCode", "S"),
        tag(version.percent, rate),
    ]


def _time(name: str, day: date) -> Tag:
    return tag(name, tag("udt:DateTimeString", f"{day:%Y%m%d}", format="102"))
