"""The XML of an XRechnung in the syntax of UBL."""

from decimal import Decimal

from forebay_lab.samples.bill import Bill, Item
from forebay_lab.samples.market import Party
from forebay_lab.samples.xml import Tag, tag

OASIS = "urn:oasis:names:specification:ubl:schema:xsd"
SPACES = {
    "": f"{OASIS}:Invoice-2",
    "cac": f"{OASIS}:CommonAggregateComponents-2",
    "cbc": f"{OASIS}:CommonBasicComponents-2",
}
GUIDELINE = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"


def write(bill: Bill) -> bytes:
    """Return an invoice with a buyer and a day on which it is due as XML."""
    assert bill.buyer is not None
    assert bill.due is not None
    currency = bill.market.currency
    root = tag(
        "Invoice",
        tag("cbc:CustomizationID", GUIDELINE),
        tag("cbc:ID", bill.number),
        tag("cbc:IssueDate", bill.day.isoformat()),
        tag("cbc:DueDate", bill.due.isoformat()),
        tag("cbc:InvoiceTypeCode", "380"),
        tag("cbc:DocumentCurrencyCode", currency),
        tag("cac:AccountingSupplierParty", _party(bill.seller)),
        tag("cac:AccountingCustomerParty", _party(bill.buyer)),
        tag("cac:TaxTotal", _sum("TaxAmount", bill.tax, currency)),
        tag(
            "cac:LegalMonetaryTotal",
            _sum("LineExtensionAmount", bill.subtotal, currency),
            _sum("TaxExclusiveAmount", bill.net, currency),
            _sum("TaxInclusiveAmount", bill.total, currency),
            _sum("PayableAmount", bill.total, currency),
        ),
        *(_line(number, item, currency) for number, item in enumerate(bill.items, start=1)),
    )
    return root.document(SPACES)


def _party(party: Party) -> Tag:
    code, _, city = party.town.partition(" ")
    return tag(
        "cac:Party",
        tag(
            "cac:PostalAddress",
            tag("cbc:StreetName", party.street),
            tag("cbc:CityName", city),
            tag("cbc:PostalZone", code),
        ),
        tag("cac:PartyLegalEntity", tag("cbc:RegistrationName", party.name)),
    )


def _line(number: int, item: Item, currency: str) -> Tag:
    return tag(
        "cac:InvoiceLine",
        tag("cbc:ID", str(number)),
        tag("cbc:InvoicedQuantity", str(item.quantity), unitCode="C62"),
        _sum("LineExtensionAmount", item.amount, currency),
        tag("cac:Item", tag("cbc:Name", item.description)),
        tag("cac:Price", _sum("PriceAmount", item.price, currency)),
    )


def _sum(name: str, value: Decimal, currency: str) -> Tag:
    return tag(f"cbc:{name}", str(value), currencyID=currency)
