"""A field is what the page says, or absent: never a guess."""

import time
from dataclasses import replace

import pytest

from forebay_agents.rules import find_fields

from .sheets import found, page


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("INVOICE", "invoice"),
        ("I N V O I C E", "invoice"),
        ("Tax Invoice", "invoice"),
        ("Rechnung Nr. 4711", "invoice"),
        ("Gebührenrechnung", "invoice"),
        ("Votre facture du 13 mars 2026", "invoice"),
        ("FATTURA N. 12/2026", "invoice"),
        ("Nota Fiscal", "invoice"),
        ("御請求書", "invoice"),
        ("Rechnungskorrektur", "credit_note"),
        ("Factura rectificativa", "credit_note"),
        ("Nota di credito", "credit_note"),
        ("Creditnota", "credit_note"),
        ("Factura simplificada", "receipt"),
        ("Official Receipt", "receipt"),
        ("Quittung", "receipt"),
        ("Kassabon", "receipt"),
        ("領収書", "receipt"),
        ("Statement of Account", "statement"),
        ("Kontoauszug 3/2026", "statement"),
        ("Extracto de cuenta", "statement"),
        ("Kostenvoranschlag", "quote"),
        ("Orçamento", "quote"),
        ("御見積書", "quote"),
        ("Orden de compra", "order"),
        ("Auftragsbestätigung", "order"),
        ("Lieferschein", "delivery_note"),
        ("Documento di trasporto", "delivery_note"),
        ("Master Services Agreement", "contract"),
        ("Wohnraummietvertrag", "contract"),
        ("業務委託契約書", "contract"),
        ("Application for Federal Assistance", "form"),
        ("Annual Report 2025", "report"),
        ("A report creeps into camp that", None),
        ("we sent the invoice", None),
        ("Terms of the agreement between us", None),
    ],
)
def test_kinds_are_told_by_their_titles(title: str, kind: str | None) -> None:
    """A title names the kind; the same word inside a sentence does not."""
    assert found(title).get("kind") == kind


def test_without_a_title_numbers_and_payment_tell_the_kind_with_less_confidence() -> None:
    """An invoice number makes an invoice, and a till's narrow paper with cash a receipt."""
    assert found("Invoice no: A-17", "Total: 9.00 EUR")["kind"] == "invoice"
    assert found("Total: 9.00 EUR", "Cash | 10.00", "Change | 1.00")["kind"] == "receipt"
    (titled, implied) = (
        find_fields([page(title, "Invoice no: A-17")])["kind"] for title in ("INVOICE", "")
    )
    assert implied.evidence.confidence < titled.evidence.confidence


def test_values_may_stand_beside_or_below_their_labels() -> None:
    """A label's value is in its segment, in the next one, or in the column below it."""
    truth = {
        "kind": "invoice",
        "number": "A-17",
        "date": "2026-03-04",
        "currency": "EUR",
        "total": "99.50",
    }
    below = ("Invoice no | Invoice date | Amount due", "A-17 | 2026-03-04 | 99.50 EUR")
    assert found("Invoice", *below) == truth
    beside = ("Invoice no: | A-17", "Invoice date: | 2026-03-04", "Amount due | 99.50 EUR")
    assert found("Invoice", *beside) == truth
    assert found("Invoice no: A-17 Date: 2026-03-04", "Amount due: EUR 99.50") == truth
    bilingual = ("Rechnungsnr. / Invoice no: A-17", "Datum / Date: 2026-03-04")
    assert found("Invoice", *bilingual, "Rechnungsbetrag / Total: 99.50 EUR") == truth


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Invoice #123", "123"),
        ("Rechnung Nr. 2026-001 vom 3.3.2026", "2026-001"),
        ("Factura F-2026/17", "F-2026/17"),
        ("Fatura nº: FT A/123", "FT A/123"),
        ("N° de facture : 10 204 887 331", "10 204 887 331"),
        ("Rechnungsnummer: RE 2026 0017", "RE 2026 0017"),
        ("請求書番号：INV-2026-0318", "INV-2026-0318"),
        ("Customer no: 4711", None),
        ("Order no: B-3", None),
        ("VAT no: GB123456789", None),
        ("IBAN: DE02 1203 0000 0000 2020 51", None),
        ("Invoice no: 03.03.2026", None),
    ],
)
def test_the_document_s_own_number_is_told_from_others(line: str, number: str | None) -> None:
    """A number is that of the document only under a label for it, or after its title."""
    fields = found("Invoice", line, "Total: 10.00 EUR")
    assert fields.get("number") == number


def test_a_field_said_in_two_ways_is_left_out() -> None:
    """Two totals or numbers under one label are no fact."""
    lines = ("Total due: $10.00", "Total due: $12.00", "Invoice no: A1", "Invoice no: A2")
    fields = found("Invoice", *lines)
    assert "total" not in fields
    assert "number" not in fields


@pytest.mark.parametrize(
    ("lines", "total", "net", "tax"),
    [
        (("Subtotal | 100.00", "VAT 10% | 10.00", "Total | 110.00"), "110.00", "100.00", "10.00"),
        (("Net | VAT | Total", "100.00 | 10.00 | 110.00"), "110.00", "100.00", "10.00"),
        (("Netto | 100,00", "7 % MwSt | 0,70", "19 % MwSt | 17,10", "Gesamt | 117,80"),
         "117.80", "100.00", "17.80"),
        (("Total TTC | 120,00", "dont TVA 20 % | 20,00"), "120.00", None, "20.00"),
        (("Gesamt | 74,80 € (inkl. 11,94 € MwSt.)",), "74.80", None, "11.94"),
        (("Total | 50.00 | EUR", "Amount paid | 50.00", "Balance due | 0.00"), "50.00", None, None),
        (("Carried forward | 60.00", "Total | 110.00 EUR"), "110.00", None, None),
        (("Base imponible | 1.800,00", "IVA 21 % | 378,00", "Retención IRPF | -270,00",
          "Total a percibir | 1.908,00"), "1908.00", "1800.00", "378.00"),
        (("Honorar | 500,00", "Steuer 20 % | 100,00", "Zusammen | 600,00"),
         "600.00", "500.00", "100.00"),
        (("Total hours | 40", "Total weight | 12.50"), None, None, None),
    ],
)  # fmt: skip
def test_sums_that_add_up_are_net_tax_and_total(
    lines: tuple[str, ...], total: str | None, net: str | None, tax: str | None
) -> None:
    """Labels in any layout name the sums, and arithmetic chooses among them."""
    fields = found("Invoice", *lines)
    assert (fields.get("total"), fields.get("total_net"), fields.get("tax")) == (total, net, tax)


def test_the_closing_balance_is_the_total_of_a_statement() -> None:
    """Of several balances the last one counts."""
    lines = (
        "Kontoauszug 3/2026",
        "Kontostand am 27.02.2026 | 1.904,11 EUR",
        "02.03. | Miete | -780,00",
        "Kontostand am 31.03.2026 | 1.124,11 EUR",
    )
    assert found(*lines)["total"] == "1124.11"


@pytest.mark.parametrize(
    ("lines", "currency"),
    [
        (("Total: $10.00",), "USD"),
        (("Total: $10.00", "All sums in CAD"), "CAD"),
        (("Total: ¥1,000", "合計 ありがとう"), "JPY"),
        (("Total: ¥1,000",), None),
        (("Total: 10.00", "Currency: CHF"), "CHF"),
        (("Total (EUR): 10.00",), "EUR"),
        (("Gesamtbetrag in EUR: 10,00",), "EUR"),
        (("Total amount EUR | 10.00",), "EUR"),
        (("Total: 10.00", "Fee £3.00"), "GBP"),
        (("Total: 10.00", "Fee £3.00", "Toll €2.00"), None),
        (("Description | Amount EUR", "Pump | 10.00"), "EUR"),
    ],
)
def test_the_currency_is_the_total_s_or_the_only_one(
    lines: tuple[str, ...], currency: str | None
) -> None:
    """A sign beside the total goes first, then a label, then the only currency in use."""
    assert found("Invoice", *lines).get("currency") == currency


def test_evidence_grows_when_net_and_tax_make_the_total() -> None:
    """A total that adds up is surer than a lone one, and one that does not is less sure."""

    def sure(*lines: str) -> float:
        return find_fields([page("Invoice", *lines)])["total"].evidence.confidence

    alone = sure("Total due: 110.00 EUR")
    checked = sure("Subtotal: 100.00", "VAT: 10.00", "Total due: 110.00 EUR")
    wrong = sure("Subtotal: 100.00", "VAT: 19.00", "Total due: 110.00 EUR")
    assert wrong < alone < checked


def test_evidence_tells_the_page_the_place_and_the_words() -> None:
    """Each value can be found again on its page."""
    pages = [page("Invoice", "Invoice no: A-17"), page("Grand total | 10.00 EUR", number=2)]
    total = find_fields(pages)["total"].evidence
    assert (total.page, total.text, total.source) == (2, "Grand total 10.00 EUR", "text")
    assert total.box == pages[1].rows[0][1].box


@pytest.mark.parametrize(
    ("lines", "language"),
    [
        (("Rechnung", "Rechnungsnummer: 1", "Fällig am 1.1.2026", "Gesamtbetrag: 1,00"), "de"),
        (("Facture", "N° de facture : 1", "Date d'échéance", "Montant HT"), "fr"),
        (("Factura", "Fecha de vencimiento", "Base imponible", "Importe total"), "es"),
        (("Fattura", "Data scadenza", "Imponibile", "Totale documento"), "it"),
        (("Fatura", "Data de vencimento", "Valor total", "Contribuinte"), "pt"),
        (("Factuur", "Vervaldatum", "Te betalen", "Factuurnummer"), "nl"),
        (("Invoice", "Invoice number", "Due date", "Amount due"), "en"),
        (("請求書", "お支払期限", "ご請求金額", "消費税"), "ja"),
    ],
)
def test_labels_tell_the_language(lines: tuple[str, ...], language: str) -> None:
    """An invoice has little prose: its labels say what language it is in."""
    assert find_fields([page(*lines)])["language"].value == language


def test_an_empty_document_has_no_fields() -> None:
    """Pages without words give nothing."""
    assert find_fields([]) == {}
    assert find_fields([page()]) == {}


def test_a_search_that_fails_costs_its_own_fields_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """One bug loses one group of fields, and a note says which."""

    def fail(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr("forebay_agents.rules.fields.find_totals", fail)
    notes: list[str] = []
    fields = find_fields([page("Invoice no: A-17", "Date: 2026-03-04", "Total: 10.00 EUR")], notes)
    assert fields["number"].value == "A-17"
    assert fields["date"].value == "2026-03-04"
    assert notes == ["Looking for the sums failed: that is a bug of the agent."]


def test_a_first_page_without_words_is_passed_over() -> None:
    """Rows that hold a soft hyphen only are none."""
    empty, second = page("\u00ad"), page("Invoice no: A-17", "Total: 5.00 EUR", number=2)
    assert find_fields([empty, second])["total"].value == "5.00"


def test_a_label_may_be_broken_over_two_rows() -> None:
    """The total of such a label has a currency too."""
    fields = found("請求書", "ご請求", "金額 12,345")
    assert (fields["total"], fields["currency"]) == ("12345", "JPY")


def test_negative_totals_may_stand_in_brackets() -> None:
    """Brackets around a sum are its sign, those around words are a remark."""
    assert found("Credit note CN-7", "Total | (119.00) EUR")["total"] == "-119.00"
    assert found("Invoice INV-7", "Total: 119.00 EUR (incl. VAT 19.00)")["total"] == "119.00"


def test_nothing_has_no_sign() -> None:
    """A total of -0.00 is 0.00."""
    assert found("Invoice no: A-17", "Total: EUR -0.00")["total"] == "0.00"


def test_titles_and_sums_are_no_sellers() -> None:
    """A line that begins with the word for a document, a number or a sum names nobody."""
    assert "seller" not in found("Invoice INV-7", "Net total 100.00 EUR", "Total USD 110.00")


def test_only_so_much_of_a_page_is_looked_at() -> None:
    """Texts and rows without end are cut, so that labels without end take no time."""
    endless = page("Rechnung Nr. " * 4000, *["Nr. 1"] * 5000)
    began = time.process_time()
    find_fields([endless])
    assert time.process_time() - began < 5


def test_a_net_is_not_the_total_where_a_tax_is_added() -> None:
    """Three sums below each other of which two make the third are net, tax and total."""
    fields = found("Presupuesto n.º P-1", "Suma | 100,00 €", "IVA 21 % | 21,00 €", "A | 121,00 €")
    assert (fields["total"], fields["total_net"], fields["tax"]) == ("121.00", "100.00", "21.00")


def test_the_only_sum_is_the_total() -> None:
    """A bill that has one sum needs no label for it."""
    assert found("Invoice no: A-17", "Kindly transfer", "212.00 EUR")["total"] == "212.00"


def test_a_stated_currency_says_which_dollars_are_meant() -> None:
    """What a sentence says goes before the country."""
    lines = ("Invoice no: A-17", "Collins Street, VIC 8007 Australia", "Total: $101.00")
    assert found(*lines)["currency"] == "AUD"
    assert found(*lines, "Print this page. All prices are in US dollars.")["currency"] == "USD"


def test_a_reference_to_pay_by_is_no_number_of_the_document() -> None:
    """Digits alone after a word for a reference are for the bank."""
    assert "number" not in found(
        "Fatura", "Entidade 21188 · Referência 220 411 882", "Total: 87,00 €"
    )
    assert (
        found("Fatura", "Entidade 21188 · Referência NP-44118", "Total: 87,00 €")["number"]
        == "NP-44118"
    )


def test_a_contract_is_not_dated_by_its_beginning() -> None:
    """From when on it holds is not when it was made."""
    beginning = "Der Vertrag beginnt am 01.01.2026"
    assert "date" not in found("Dienstvertrag", beginning)
    assert found("Dienstvertrag", beginning, "Bremen, den 18.12.2025")["date"] == "2025-12-18"


def test_a_total_is_surer_where_other_sums_make_it() -> None:
    """Of several labelled sums the one that two others make is the total."""
    lines = ("Invoice no: A-17", "Total call | 472.75", "Balance | 13.45", "To pay | 486.20 EUR")
    assert found(*lines)["total"] == "486.20"


def test_a_table_of_counts_has_no_total() -> None:
    """Where neither a kind nor a currency is said, a total is none of money."""
    counts = ("Population by county", "Net | 9,522.6", "Tax | 1,540.0", "Total | 11,062.6")
    assert "total" not in found(*counts)
    assert found(*counts[1:], "All amounts in EUR")["total"] == "11062.6"


def test_words_for_a_due_date_or_a_reference_name_no_kind() -> None:
    """However large they are printed, they are no titles."""
    sheet = page("Due date: 2026-04-05", "one", "two", "three", "four")
    (due,), *rest = sheet.rows
    left, top, right, bottom = due.box
    large = replace(due, box=(left, top - 20, right, bottom))
    assert "kind" not in find_fields([replace(sheet, rows=[[large], *rest])])


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("Número da fatura FT 202603/1188204 · Conta cliente 17", "FT 202603/1188204"),
        ("有限会社 大和興業 殿 | 第118号", "第118号"),
    ],
)
def test_numbers_of_several_parts_end_where_the_next_field_begins(line: str, number: str) -> None:
    """A point in the middle of a line parts fields; a Japanese number counts itself."""
    assert found("Invoice", line, "Total: 10.00 EUR")["number"] == number


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("Fee Invoice S-26-0441 — Summer Term 2026", "S-26-0441"),
        ("Your Invoice S-26-0441", None),
        ("We thank you for the Invoice S-26-0441", None),
    ],
)
def test_a_number_follows_a_title_of_several_words(title: str, number: str | None) -> None:
    """Words with capitals before the kind belong to the title; those of a sentence do not."""
    assert found(title, "Date: 2026-01-04", "Total: 9.00 EUR").get("number") == number


def test_the_sum_beside_the_day_to_pay_by_is_the_total() -> None:
    """It is so where nothing else names the total."""
    lines = ("Factuur 17", "Heffing | € 302,15", "Eenheden | € 100,00")
    one = found(*lines, "Te betalen vóór 31 maart 2026 | € 402,15", columns=200)
    two = found(*lines, "Te betalen vóór 31 maart 2026 | € 2,15 | € 400,00", columns=200)
    assert (one["total"], two.get("total")) == ("402.15", None)


def test_net_and_tax_may_stand_in_a_row_of_boxes_below_their_names() -> None:
    """The row itself names neither a rate nor a sum."""
    heads = "BASE IMPONIBLE | CUOTA | VENCIMIENTO | TOTAL FACTURA EUROS"
    values = "2.424,00 | 509,04 | 12-08-2026 | 2.933,04"
    fields = found("FACTURA 17", "Fecha: 12-06-2026", heads, values)
    assert (fields["total_net"], fields["tax"], fields["total"]) == ("2424.00", "509.04", "2933.04")


def test_a_label_may_end_with_the_currency() -> None:
    """The words of a total hold it: 'TOTAL EUROS'."""
    assert found("FACTURA 17", "Cliente: Norte", "TOTAL EUROS | 71,50")["currency"] == "EUR"
