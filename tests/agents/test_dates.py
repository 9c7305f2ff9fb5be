"""Dates are read when they mean one day."""

from datetime import date

import pytest

from forebay_agents.rules.dates import Order, readings
from forebay_agents.rules.text import normal

from .sheets import found


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-04", date(2026, 3, 4)),
        ("2026/3/4", date(2026, 3, 4)),
        ("4 March 2026", date(2026, 3, 4)),
        ("Wednesday, 4 March 2026", date(2026, 3, 4)),
        ("March 4th, 2026", date(2026, 3, 4)),
        ("04-Mar-26", date(2026, 3, 4)),
        ("den 4. März 2026", date(2026, 3, 4)),
        ("5.Mai 2026", date(2026, 5, 5)),
        ("04.03.2026", date(2026, 3, 4)),
        ("4.3.26", date(2026, 3, 4)),
        ("1er février 2026", date(2026, 2, 1)),
        ("3 de marzo de 2026", date(2026, 3, 3)),
        ("1º de março de 2026", date(2026, 3, 1)),
        ("3 gennaio 2026", date(2026, 1, 3)),
        ("9 december 2025", date(2025, 12, 9)),
        ("3 mrt. 2026", date(2026, 3, 3)),
        ("2026年3月4日", date(2026, 3, 4)),
        ("令和８年３月４日", date(2026, 3, 4)),
        ("R8.3.4", date(2026, 3, 4)),
        ("平成元年1月8日", date(1989, 1, 8)),
        ("20260304", date(2026, 3, 4)),
        ("31/01/2026", date(2026, 1, 31)),
        ("01/31/2026", date(2026, 1, 31)),
        ("03/04/2026", None),
        ("31.02.2026", None),
        ("12.2026", None),
        ("2 items, 2026", None),
    ],
)
def test_dates_are_read_when_they_mean_one_day(text: str, day: date | None) -> None:
    """Every common order is read; one that means two days, or none, is not."""
    read = [reading.day(None) for reading in readings(normal(text))]
    assert read == ([day] if day or read else [])


@pytest.mark.parametrize(
    ("order", "day"),
    [("day", date(2026, 4, 3)), ("month", date(2026, 3, 4)), ("year", None)],
)
def test_the_order_decides_a_date_of_plain_numbers(order: Order, day: date | None) -> None:
    """03/04/2026 is read in the order that the document has."""
    (reading,) = readings("03/04/2026")
    assert reading.day(order) == day


def test_other_dates_of_the_document_settle_the_order() -> None:
    """03/04/2026 is read by the dates beside it that have one meaning, if they agree."""
    lines = ("Invoice", "Date: 03/04/2026", "Total: $12.00")
    assert found(*lines, "Due: 25/04/2026")["date"] == "2026-04-03"
    assert found(*lines, "Due: 04/25/2026")["date"] == "2026-03-04"
    assert "date" not in found(*lines, "Printed: 25/04/2026", "Sent: 04/25/2026")


def test_language_and_country_settle_the_order_where_no_date_does() -> None:
    """The month comes first in the United States, the day elsewhere; A4 paper is no country."""
    assert "date" not in found("Invoice", "Date: 03/04/2026", "Total: USD 10.00")
    assert found("Rechnung", "Datum: 03/04/2026", "Summe: 10,00 €")["date"] == "2026-04-03"
    american = ("Invoice", "Date: 03/04/2026", "12 Main Street", "Dayton, OH 45402", "Sales tax")
    assert found(*american)["date"] == "2026-03-04"
    assert found("Invoice", "Date: 03/04/2026", "Leeds LS10 1QW")["date"] == "2026-04-03"


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("Due date: 2026-04-05", "2026-04-05"),
        ("Fällig am 05.04.2026", "2026-04-05"),
        ("À payer avant le 5 avril 2026", "2026-04-05"),
        ("The amount will be debited on 5 April 2026 from your account.", "2026-04-05"),
        ("Net 30", "2026-04-03"),
        ("Zahlbar innerhalb von 14 Tagen ab Rechnungsdatum", "2026-03-18"),
        ("30 jours date de facture", "2026-04-03"),
        ("お支払期限:4月5日", "2026-04-05"),
        ("Payment terms: Net 30", "2026-04-03"),
        ("Payable within 30 days", None),
        ("Payable net 10-30 days", None),
        ("Net 1,000.00 EUR", None),
        ("Net 14 EUR", None),
        ("Net 30.00", None),
        ("Total net 30", None),
        ("Due date: 2027-04-05", None),
    ],
)
def test_due_dates_are_printed_or_counted_from_the_date(line: str, due: str | None) -> None:
    """Terms give a day only when they say that they count from the document's date."""
    lines = ("Invoice", "Invoice no: A-17", "Date: 2026-03-04", line, "Total: 10.00 EUR")
    assert found(*lines).get("due_date") == due


def test_both_ends_of_a_period_are_read() -> None:
    """A comma between two dates does not hide the second."""
    assert len(list(readings("from 01.03.2024, 31.03.2024"))) == 2


def test_periods_and_the_dates_of_other_papers_are_no_date_of_the_document() -> None:
    """The order's date, a billing period and the rows of a table do not answer."""
    lines = (
        "Invoice no: A-17",
        "Order no: B-3 | Date: 2026-01-02",
        "Billing period: 2026-01-01 to 2026-01-31",
        "Description | Date | Amount",
        "Pump | 2026-01-05 | 10.00",
    )
    assert "date" not in found("Invoice", *lines, "Delivery date: 2026-02-02")


def test_a_due_date_may_stand_beside_the_number_of_an_order() -> None:
    """Orders have dates, but none until which to pay."""
    heads = "Invoice no | Date | Order no | Due date"
    values = "A-17 | 2026-03-04 | B-3 | 2026-04-05"
    assert found("Invoice", heads, values, "Total: 10.00 EUR")["due_date"] == "2026-04-05"


def test_a_month_s_last_day_may_be_said_without_its_number() -> None:
    """Japanese terms end with a month: 末日 is its last day."""
    lines = ("御請求書", "発行日：2026/01/25", "振込期限：2026年2月末日", "合計 ¥1,000")
    assert found(*lines)["due_date"] == "2026-02-28"


@pytest.mark.parametrize(
    ("line", "due"),
    [
        ("Der Betrag ist am 15.02.2026 fällig. Danke.", "2026-02-15"),
        ("Fees are payable on or before the first day of term, 21 April 2026.", "2026-04-21"),
        ("Was am 15.02.2026 fällig war, ist bezahlt.", None),
        ("Fees are payable on or before the day of our contract 21 April 2026.", None),
    ],
)
def test_a_sentence_may_say_the_due_date_before_its_word_or_after_an_apposition(
    line: str, due: str | None
) -> None:
    """The date stands right beside the word for it, or explains the day that it names."""
    assert found("Invoice A-17", "Date: 2026-01-04", line, "Total: 9.00 EUR").get("due_date") == due


def test_a_reminder_s_own_day_to_pay_by_is_not_that_of_the_overdue_invoice() -> None:
    """The one in a sentence counts where the labelled one is past."""
    lines = ("Zahlungserinnerung", "Datum: 20.02.2026", "Fällig am: 05.02.2026")
    asked = "Bitte überweisen Sie den offenen Betrag bis zum 02.03.2026."
    assert found(*lines, asked, "Gesamtbetrag: 141,20 €")["due_date"] == "2026-03-02"
