"""A field is what the page says, or absent: never a guess."""

from datetime import date
from decimal import Decimal

import pytest

from forebay_agents.reading.layout import Row, Segment
from forebay_agents.rules.amounts import Amount, one_amount
from forebay_agents.rules.dates import find_dates
from forebay_agents.rules.fields import find_fields


def page(*lines: str) -> list[Row]:
    """Return rows whose segments are parted by bars, in columns 100 points wide."""
    return [
        [
            Segment(text.strip(), 100.0 * column, 100.0 * column + 90)
            for column, text in enumerate(line.split("|"))
            if text.strip()
        ]
        for line in lines
    ]


def found(*lines: str) -> dict[str, str]:
    """Return the fields of one page with these rows."""
    return {name: field.value for name, field in find_fields([page(*lines)]).items()}


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("1,234.56", "1234.56", None),
        ("1.234,56 EUR", "1234.56", "EUR"),
        ("1 234,56 €", "1234.56", "€"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("$1,234", "1234", "$"),
        ("1.234.567", "1234567", None),
        ("¥1,155,495", "1155495", "¥"),
        ("12345円", "12345", "円"),
        ("¥1,100(税込)", "1100", "¥"),
        ("-104,90", "-104.90", None),
        ("0.125", "0.125", None),
    ],
)
def test_sums_are_read_as_people_write_them(text: str, value: str, currency: str | None) -> None:
    """The mark before the cents is told from the marks between thousands."""
    assert one_amount(text) == Amount(Decimal(value), currency)


@pytest.mark.parametrize("text", ["12 items", "20%", "3PCE", "INV-2026", "31/12/2026", "", "none"])
def test_what_is_no_sum_is_not_taken_for_one(text: str) -> None:
    """Counts, rates, numbers and dates are no sums of money."""
    assert one_amount(text) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-04", date(2026, 3, 4)),
        ("4 March 2026", date(2026, 3, 4)),
        ("March 4th, 2026", date(2026, 3, 4)),
        ("04-Mar-2026", date(2026, 3, 4)),
        ("4. März 2026", date(2026, 3, 4)),
        ("04.03.2026", date(2026, 3, 4)),
        ("4.3.26", date(2026, 3, 4)),
        ("1er février 2026", date(2026, 2, 1)),
        ("2026年3月4日", date(2026, 3, 4)),
        ("令和8年3月4日", date(2026, 3, 4)),
        ("平成元年1月8日", date(1989, 1, 8)),
        ("31/01/2026", date(2026, 1, 31)),
        ("01/31/2026", date(2026, 1, 31)),
        ("03/04/2026", None),
        ("31.02.2026", None),
        ("12.2026", None),
    ],
)
def test_dates_are_read_when_they_mean_one_day(text: str, day: date | None) -> None:
    """Every common order is read; one that means two days, or none, is not."""
    assert [each for _, each in find_dates(text, None)] == ([day] if day else [])


def test_other_dates_of_the_document_settle_the_order() -> None:
    """03/04/2026 is read by the dates beside it that have one meaning, if they agree."""
    lines = ("Invoice", "Date: 03/04/2026")
    assert "date" not in found(*lines)
    assert found(*lines, "Due: 25/04/2026")["date"] == "2026-04-03"
    assert found(*lines, "Due: 04/25/2026")["date"] == "2026-03-04"
    assert "date" not in found(*lines, "Due: 25/04/2026", "Sent: 04/25/2026")


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("INVOICE", "invoice"),
        ("I N V O I C E", "invoice"),
        ("Tax Invoice", "invoice"),
        ("Rechnung Nr. 4711", "invoice"),
        ("御請求書", "invoice"),
        ("Master Services Agreement", "contract"),
        ("Mietvertrag", "contract"),
        ("業務委託契約書", "contract"),
        ("Statement of Account", "statement"),
        ("Kontoauszug", "statement"),
        ("Official Receipt", "receipt"),
        ("領収書", "receipt"),
        ("Application for Federal Assistance", "form"),
        ("Annual Report 2025", "report"),
        ("Credit Note", "credit_note"),
        ("A report creeps into camp that", None),
        ("we sent the invoice", None),
        ("Terms of the agreement between us", None),
    ],
)
def test_kinds_are_told_by_their_titles(title: str, kind: str | None) -> None:
    """A title names the kind; the same word inside a sentence does not."""
    assert found(title).get("kind") == kind


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


def test_labels_of_other_things_do_not_answer() -> None:
    """A due date is no date, a subtotal no total, another paper's number not this one's."""
    lines = ("Due date: 2026-04-04", "Subtotal: 90.00 EUR", "Total VAT: 9.50", "Order no: B-3")
    assert found("Invoice", *lines) == {"kind": "invoice"}


def test_a_field_said_in_two_ways_is_left_out() -> None:
    """Two totals, dates or numbers under one label are no fact."""
    lines = ("Total due: $10.00", "Total due: $12.00", "Invoice no: A1", "Invoice no: A2")
    assert found("Invoice", *lines) == {"kind": "invoice"}


@pytest.mark.parametrize(
    ("lines", "currency"),
    [
        (("Total: $10.00",), "USD"),
        (("Total: $10.00", "All sums in CAD"), None),
        (("Total: ¥1,000", "合計 ありがとう"), "JPY"),
        (("Total: ¥1,000", "人民币"), "CNY"),
        (("Total: ¥1,000",), None),
        (("Total: 10.00", "Currency: CHF"), "CHF"),
        (("Total (EUR): 10.00",), "EUR"),
        (("Gesamtbetrag in EUR: 10,00",), "EUR"),
        (("Total amount EUR | 10.00",), "EUR"),
        (("Total: 10.00", "Fee £3.00"), "GBP"),
        (("Total: 10.00", "Fee £3.00", "Toll €2.00"), None),
    ],
)
def test_a_sign_means_a_currency_only_where_it_is_clear(
    lines: tuple[str, ...], currency: str | None
) -> None:
    """$ and ¥ belong to several currencies: the document decides, or the field is absent."""
    assert found("Invoice", *lines).get("currency") == currency


def test_evidence_grows_when_net_and_tax_make_the_total() -> None:
    """A total that adds up is surer than a lone one, and one that does not is less sure."""

    def strength(*lines: str) -> float:
        return find_fields([page("Invoice", *lines)])["total"].strength

    alone = strength("Total due: 110.00 EUR")
    checked = strength("Subtotal: 100.00", "VAT: 10.00", "Total due: 110.00 EUR")
    wrong = strength("Subtotal: 100.00", "VAT: 19.00", "Total due: 110.00 EUR")
    assert wrong < alone < checked
