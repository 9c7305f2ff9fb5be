"""Where each syntax of e-invoices keeps what is read: CII in all its versions, and UBL.

Elements are told by their local names alone, so that one table of paths serves every version of a
syntax. A step of a path may name an element in several ways, parted by bars.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forebay_agents.findings import Name

Paths = tuple[str, ...]
"""Where an element may be, the best place first."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """Where a syntax keeps the fields and, inside each `line`, the parts of a line item."""

    kind: str
    fields: Mapping[Name, Paths]
    line: str
    description: Paths
    quantity: str
    price: str
    per: str
    amount: str
    reason: str = ""


_DOCUMENT = "ExchangedDocument|HeaderExchangedDocument"
_TRADE = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
_PARTIES = f"{_TRADE}/ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
_SETTLEMENT = f"{_TRADE}/ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
_SUMS = "SpecifiedTradeSettlementMonetarySummation|SpecifiedTradeSettlement%sMonetarySummation"
_TOTALS = f"{_SETTLEMENT}/{_SUMS % 'Header'}"
_LINE_PRICE = (
    "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement/NetPriceProductTradePrice"
)
_MOMENT = "DateTimeString|DateTime|Date"

CII = Syntax(
    kind=f"{_DOCUMENT}/TypeCode",
    fields={
        "number": (f"{_DOCUMENT}/ID",),
        "date": (f"{_DOCUMENT}/IssueDateTime/{_MOMENT}",),
        "due_date": (f"{_SETTLEMENT}/SpecifiedTradePaymentTerms/DueDateDateTime/{_MOMENT}",),
        "currency": (f"{_SETTLEMENT}/InvoiceCurrencyCode|OrderCurrencyCode",),
        "total": (f"{_TOTALS}/GrandTotalAmount",),
        "total_net": (f"{_TOTALS}/TaxBasisTotalAmount",),
        "tax": (f"{_TOTALS}/TaxTotalAmount",),
        "seller": (f"{_PARTIES}/SellerTradeParty/Name",),
        "buyer": (f"{_PARTIES}/BuyerTradeParty/Name",),
    },
    line=f"{_TRADE}/IncludedSupplyChainTradeLineItem",
    description=("SpecifiedTradeProduct/Name", "SpecifiedTradeProduct/Description"),
    quantity="SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery"
    "/BilledQuantity|RequestedQuantity",
    price=f"{_LINE_PRICE}/ChargeAmount",
    per=f"{_LINE_PRICE}/BasisQuantity",
    amount="SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
    f"/{_SUMS % 'Line'}/LineTotalAmount",
    reason="AssociatedDocumentLineDocument/LineStatusReasonCode",
)
_UBL_PARTY = ("Party/PartyLegalEntity/RegistrationName", "Party/PartyName/Name")
UBL = Syntax(
    kind="InvoiceTypeCode|CreditNoteTypeCode",
    fields={
        "number": ("ID",),
        "date": ("IssueDate",),
        "due_date": ("DueDate", "PaymentMeans/PaymentDueDate"),
        "currency": ("DocumentCurrencyCode",),
        "total": ("LegalMonetaryTotal/TaxInclusiveAmount",),
        "total_net": ("LegalMonetaryTotal/TaxExclusiveAmount",),
        "tax": ("TaxTotal/TaxAmount",),
        "seller": tuple(f"AccountingSupplierParty/{path}" for path in _UBL_PARTY),
        "buyer": tuple(f"AccountingCustomerParty/{path}" for path in _UBL_PARTY),
    },
    line="InvoiceLine|CreditNoteLine",
    description=("Item/Name", "Item/Description"),
    quantity="InvoicedQuantity|CreditedQuantity",
    price="Price/PriceAmount",
    per="Price/BaseQuantity",
    amount="LineExtensionAmount",
)
SYNTAXES = {
    "CrossIndustryInvoice": CII,
    "CrossIndustryDocument": CII,
    "SCRDMCCBDACIOMessageStructure": CII,
    "Invoice": UBL,
    "CreditNote": UBL,
}
"""The syntax of each root element."""
