"""An e-invoice says its truth in XML: what that states is taken, and nothing else."""

import re

import pytest

from forebay_agents.einvoice import KNOWN_NAMES, SIZE_LIMIT, read_xml
from forebay_agents.findings import Findings, Line

CII = """<?xml version="1.0" encoding="UTF-8"?>
<r:CrossIndustryInvoice xmlns:r="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
  xmlns:a="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
  xmlns:u="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100">
 <r:ExchangedDocument>
  <a:ID>RE-7</a:ID><a:TypeCode>380</a:TypeCode>
  <a:IssueDateTime><u:DateTimeString format="102">20260302</u:DateTimeString></a:IssueDateTime>
 </r:ExchangedDocument>
 <r:SupplyChainTradeTransaction>
  <a:IncludedSupplyChainTradeLineItem>
   <a:AssociatedDocumentLineDocument><a:LineID>1</a:LineID></a:AssociatedDocumentLineDocument>
   <a:SpecifiedTradeProduct><a:Name>Dividers
     A4</a:Name></a:SpecifiedTradeProduct>
   <a:SpecifiedLineTradeAgreement>
    <a:GrossPriceProductTradePrice><a:ChargeAmount>60</a:ChargeAmount></a:GrossPriceProductTradePrice>
    <a:NetPriceProductTradePrice>
     <a:ChargeAmount>50.0000</a:ChargeAmount><a:BasisQuantity>100</a:BasisQuantity>
    </a:NetPriceProductTradePrice>
   </a:SpecifiedLineTradeAgreement>
   <a:SpecifiedLineTradeDelivery>
    <a:BilledQuantity unitCode="C62">200.0000</a:BilledQuantity>
   </a:SpecifiedLineTradeDelivery>
   <a:SpecifiedLineTradeSettlement>
    <a:SpecifiedTradeSettlementLineMonetarySummation>
     <a:LineTotalAmount>100.00</a:LineTotalAmount><a:GrandTotalAmount>119.00</a:GrandTotalAmount>
    </a:SpecifiedTradeSettlementLineMonetarySummation>
   </a:SpecifiedLineTradeSettlement>
  </a:IncludedSupplyChainTradeLineItem>
  <a:ApplicableHeaderTradeAgreement>
   <a:SellerTradeParty><a:Name>Weir &amp; Sons</a:Name></a:SellerTradeParty>
   <a:BuyerTradeParty><a:Name>Mühle AG</a:Name></a:BuyerTradeParty>
  </a:ApplicableHeaderTradeAgreement>
  <a:ApplicableHeaderTradeSettlement>
   <a:InvoiceCurrencyCode>EUR</a:InvoiceCurrencyCode>
   <a:SpecifiedTradePaymentTerms>
    <a:DueDateDateTime><u:DateTimeString>20260401</u:DateTimeString></a:DueDateDateTime>
   </a:SpecifiedTradePaymentTerms>
   <a:SpecifiedTradeSettlementHeaderMonetarySummation>
    <a:LineTotalAmount>100.00</a:LineTotalAmount>
    <a:TaxBasisTotalAmount>100.00</a:TaxBasisTotalAmount>
    <a:TaxTotalAmount currencyID="GBP">16.50</a:TaxTotalAmount>
    <a:TaxTotalAmount currencyID="EUR">19.00</a:TaxTotalAmount>
    <a:GrandTotalAmount>119.00</a:GrandTotalAmount>
    <a:TotalPrepaidAmount>9.00</a:TotalPrepaidAmount>
    <a:DuePayableAmount>110.00</a:DuePayableAmount>
   </a:SpecifiedTradeSettlementHeaderMonetarySummation>
  </a:ApplicableHeaderTradeSettlement>
 </r:SupplyChainTradeTransaction>
</r:CrossIndustryInvoice>"""

UBL = """<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
  xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
  xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
 <cbc:ID>RE-7</cbc:ID><cbc:IssueDate>2026-03-02+01:00</cbc:IssueDate>
 <cbc:DueDate>2026-04-01</cbc:DueDate><cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode>
 <cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
 <cac:OrderReference><cbc:ID>PO-1</cbc:ID></cac:OrderReference>
 <cac:AccountingSupplierParty><cac:Party>
  <cac:PartyName><cbc:Name>The shop</cbc:Name></cac:PartyName>
  <cac:PartyLegalEntity>
   <cbc:RegistrationName>Weir &amp; Sons</cbc:RegistrationName>
  </cac:PartyLegalEntity>
 </cac:Party></cac:AccountingSupplierParty>
 <cac:AccountingCustomerParty><cac:Party>
  <cac:PartyName><cbc:Name>Mühle AG</cbc:Name></cac:PartyName>
 </cac:Party></cac:AccountingCustomerParty>
 <cac:TaxTotal><cbc:TaxAmount currencyID="EUR">19.00</cbc:TaxAmount></cac:TaxTotal>
 <cac:LegalMonetaryTotal>
  <cbc:LineExtensionAmount currencyID="EUR">100.00</cbc:LineExtensionAmount>
  <cbc:TaxExclusiveAmount currencyID="EUR">100.00</cbc:TaxExclusiveAmount>
  <cbc:TaxInclusiveAmount currencyID="EUR">119.00</cbc:TaxInclusiveAmount>
  <cbc:PayableAmount currencyID="EUR">110.00</cbc:PayableAmount>
 </cac:LegalMonetaryTotal>
 <cac:InvoiceLine>
  <cbc:ID>1</cbc:ID><cbc:InvoicedQuantity unitCode="C62">200</cbc:InvoicedQuantity>
  <cbc:LineExtensionAmount currencyID="EUR">100.00</cbc:LineExtensionAmount>
  <cac:Item><cbc:Name>Dividers A4</cbc:Name></cac:Item>
  <cac:Price>
   <cbc:PriceAmount currencyID="EUR">50.00</cbc:PriceAmount><cbc:BaseQuantity>100</cbc:BaseQuantity>
  </cac:Price>
 </cac:InvoiceLine>
</Invoice>"""

OLD_NAMES = {
    "CrossIndustryInvoice": "CrossIndustryDocument",
    "ExchangedDocument": "HeaderExchangedDocument",
    "SupplyChainTradeTransaction": "SpecifiedSupplyChainTradeTransaction",
    "ApplicableHeaderTrade": "ApplicableSupplyChainTrade",
    "SpecifiedLineTrade": "SpecifiedSupplyChainTrade",
    "SpecifiedTradeSettlementHeaderMonetarySummation": "SpecifiedTradeSettlementMonetarySummation",
    "SpecifiedTradeSettlementLineMonetarySummation": "SpecifiedTradeSettlementMonetarySummation",
    "urn:un:unece:uncefact:data:standard": "urn:ferd",
}
"""What ZUGFeRD 1.0 called the elements."""

TRUTH = {
    "kind": "invoice",
    "number": "RE-7",
    "date": "2026-03-02",
    "due_date": "2026-04-01",
    "currency": "EUR",
    "total": "119.00",
    "total_net": "100.00",
    "tax": "19.00",
    "seller": "Weir & Sons",
    "buyer": "Mühle AG",
}
LINES = [Line("Dividers A4", "200", "0.50", "100.00")]


def zugferd_1() -> str:
    """Return the same invoice in ZUGFeRD 1.0, whose elements have other names and namespaces."""
    names = "|".join(OLD_NAMES)
    return re.sub(rf"(?<=[:\"])({names})", lambda match: OLD_NAMES[match[1]], CII)


def read(xml: str) -> Findings:
    """Return what the XML says."""
    return read_xml("factur-x.xml", xml.encode())


def values(findings: Findings) -> dict[str, str]:
    """Return the fields without their evidence."""
    return {name: found.value for name, found in findings.fields.items()}


@pytest.mark.parametrize("xml", [CII, zugferd_1(), UBL], ids=["cii", "zugferd-1", "ubl"])
def test_every_syntax_says_the_same(xml: str) -> None:
    """One invoice in three syntaxes gives the same fields and lines, and nothing to note."""
    findings = read(xml)
    assert values(findings) == TRUTH
    assert findings.lines == LINES
    assert findings.notes == []


def test_evidence_names_the_file_the_element_and_its_text() -> None:
    """What the XML says stands on no page, is sure, and can be found in the XML again."""
    evidence = read(CII).fields["total"].evidence
    assert evidence.text == (
        "factur-x.xml: SpecifiedTradeSettlementHeaderMonetarySummation/GrandTotalAmount 119.00"
    )
    assert (evidence.source, evidence.confidence) == ("xml", 1.0)
    assert (evidence.page, evidence.box) == (None, None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((code, "invoice") for code in (380, 384, 386, 389, 326, 875, 876, 877, 751)),
        *((code, "credit_note") for code in (381, 261, 396)),
        (220, "order"),
    ],
)
def test_the_type_code_tells_the_kind(code: int, kind: str) -> None:
    """Corrections, prepayments and self-billed invoices are invoices; 381 is a credit note."""
    assert values(read(CII.replace("380", str(code))))["kind"] == kind


def test_a_credit_note_of_ubl_needs_no_code() -> None:
    """The root of UBL tells a credit note, whose lines and quantities have names of their own."""
    xml = UBL.replace("InvoiceLine", "CreditNoteLine").replace("InvoicedQ", "CreditedQ")
    xml = re.sub(r"<cbc:InvoiceTypeCode>.*?</cbc:InvoiceTypeCode>", "", xml)
    findings = read(re.sub(r"(</?)Invoice\b", r"\1CreditNote", xml))
    assert values(findings) == TRUTH | {"kind": "credit_note"}
    assert findings.lines == LINES


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("20260302", "2026-03-02"),
        ("202603021430", "2026-03-02"),
        ("20260302143059", "2026-03-02"),
        ("2026-03-02", "2026-03-02"),
        ("2026-03-02T00:00:00Z", "2026-03-02"),
        ("202610", None),
        ("20261302", None),
        ("02.03.2026", None),
        ("soon", None),
    ],
)
def test_dates_come_in_several_formats(text: str, day: str | None) -> None:
    """A day is read in each format; a week (616), a month or nonsense is no day, and is noted."""
    findings = read(CII.replace("20260302", text))
    assert values(findings).get("date") == day
    assert bool(findings.notes) == (day is None)


def test_payment_in_parts_has_no_due_date() -> None:
    """Two due dates are not one; the same one said twice is."""
    terms = re.search(r"<a:SpecifiedTradePaymentTerms>.*</a:SpecifiedTradePaymentTerms>", CII, re.S)
    assert terms
    twice = CII.replace(terms[0], terms[0] * 2)
    assert values(read(twice))["due_date"] == "2026-04-01"
    findings = read(CII.replace(terms[0], terms[0] + terms[0].replace("20260401", "20260501")))
    assert "due_date" not in values(findings)
    assert "2026-04-01, 2026-05-01" in findings.notes[0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_every_encoding_of_xml_is_read(encoding: str) -> None:
    """Two bytes for a character, or a mark before the first, change nothing."""
    xml = CII.replace(' encoding="UTF-8"', "").encode(encoding)
    assert values(read_xml("factur-x.xml", xml)) == TRUTH


@pytest.mark.parametrize(("price", "per"), [("1" * 30, "3"), ("1" * 18, "0.0000000000000001")])
def test_numbers_beyond_belief_are_left_out(price: str, per: str) -> None:
    """No number is so long that it cannot be left out."""
    xml = CII.replace("50.0000", price).replace(">100</a:BasisQ", f">{per}</a:BasisQ")
    (line,) = read(xml).lines
    assert line == Line("Dividers A4", "200", None, "100.00")


@pytest.mark.parametrize("text", ["", "a lot", "1" * 30, "1,234.56", "NaN", "1e9", "--1"])
def test_a_sum_that_is_no_number_is_left_out(text: str) -> None:
    """What the XML says wrongly is no fact: the field is absent and a note says so."""
    findings = read(
        CII.replace(
            ">119.00</a:GrandTotalAmount>\n    <a:Total",
            f">{text}</a:GrandTotalAmount>\n    <a:Total",
        )
    )
    assert "total" not in values(findings)
    assert "GrandTotalAmount" in findings.notes[0]


def test_a_currency_is_one_that_exists() -> None:
    """A code that ISO 4217 does not have is left out, and a note says so."""
    found = read(CII.replace(">EUR<", ">ZZZ<"))
    assert "currency" not in found.fields
    assert any("no currency can be read" in note for note in found.notes)


def test_marks_that_nobody_sees_are_left_out() -> None:
    """What turns the direction of writing, or has no width, is no part of a value."""
    found = read(CII.replace("RE-7", "\u202eRE\u200b-7\u2066"))
    assert found.fields["number"].value == "RE-7"


def test_a_minimal_profile_leaves_out_what_it_does_not_say() -> None:
    """Without lines, tax and due date those are absent, and nothing is noted."""
    xml = re.sub(r"<a:IncludedSupply.*</a:IncludedSupplyChainTradeLineItem>", "", CII, flags=re.S)
    xml = re.sub(r"<a:SpecifiedTradePayment.*</a:SpecifiedTradePaymentTerms>", "", xml, flags=re.S)
    findings = read(re.sub(r"<a:TaxTotalAmount.*</a:TaxTotalAmount>", "", xml, flags=re.S))
    assert values(findings) == {
        name: value for name, value in TRUTH.items() if name not in ("tax", "due_date")
    }
    assert (findings.lines, findings.notes) == ([], [])


def test_lines_that_only_sum_up_others_are_no_lines() -> None:
    """In the extended profile a group repeats the amounts of its parts."""
    group = "<a:LineStatusReasonCode>GROUP</a:LineStatusReasonCode>"
    assert read(CII.replace("<a:LineID>1</a:LineID>", f"<a:LineID>1</a:LineID>{group}")).lines == []


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (b"", "no readable XML"),
        (b"%PDF-1.7", "no readable XML"),
        (CII.encode()[:900], "no readable XML"),
        (b"<?xml version='1.0' encoding='klingon'?><Invoice/>", "no readable XML"),
        (b"<!DOCTYPE Invoice [<!ENTITY a 'aa'>]><Invoice>&a;</Invoice>", "defines entities"),
        (b"<!DOCTYPE Invoice SYSTEM 'file:///etc/passwd'><Invoice/>", "defines entities"),
        (b"<html/>", "begins with html"),
        (b"<Invoice>" + b" " * SIZE_LIMIT + b"</Invoice>", "too big"),
    ],
)
def test_what_is_no_e_invoice_is_refused_with_a_sentence(xml: bytes, reason: str) -> None:
    """Broken, hostile or foreign XML raises a ValueError that names the file and the reason."""
    with pytest.raises(ValueError, match=rf"^factur-x\.xml inside the PDF .*{reason}.*\.$"):
        read_xml("factur-x.xml", xml)


def test_depth_does_not_matter() -> None:
    """A hundred thousand elements inside each other are read and found to say nothing."""
    deep = "<a>" * 100_000 + "</a>" * 100_000
    assert values(read(f"<Invoice>{deep}</Invoice>")) == {"kind": "invoice"}


def test_names_are_in_lower_case() -> None:
    """Readers compare a file's name in lower case, as writers do not agree on it."""
    assert {"factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml"} <= KNOWN_NAMES
    assert all(name == name.lower() for name in KNOWN_NAMES)
