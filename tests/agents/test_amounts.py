"""Sums are read as people write them, in the document's own way."""

from decimal import Decimal

import pytest

from forebay_agents.rules import currencies
from forebay_agents.rules.amounts import amounts, decimal_mark, only_amounts
from forebay_agents.rules.text import normal


@pytest.mark.parametrize(
    ("text", "value", "sign"),
    [
        ("1,234.56", "1234.56", None),
        ("1.234,56 EUR", "1234.56", "EUR"),
        ("1\u202f234,56\u00a0€", "1234.56", "€"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("Fr. 12.50", "12.50", "Fr."),
        ("$1,234", "1234", "$"),
        ("1.234.567", "1234567", None),
        ("1.234,-", "1234.00", None),
        ("CHF 50.--", "50.00", "CHF"),
        ("¥1,155,495", "1155495", "¥"),
        ("￥１，２３４", "1234", "¥"),
        ("12 345円", "12345", "円"),
        ("¥100,000-", "100000", "¥"),
        ("R$ 1.234,56", "1234.56", "R$"),
        ("R12 000.00", "12000.00", "R"),
        ("100 zł", "100", "zł"),
        ("1,23,456.00", "123456.00", None),
        ("1.250,00 Euro", "1250.00", "Euro"),
        ("$10.00 CAD", "10.00", "CAD"),
        ("(12.00)", "-12.00", None),
        ("12,00-", "-12.00", None),
        ("−104,90", "-104.90", None),
        ("- 5,00 €", "-5.00", "€"),
        ("0.125", "0.125", None),
    ],
)
def test_sums_are_read_as_people_write_them(text: str, value: str, sign: str | None) -> None:
    """The mark before the cents is told from the marks between thousands."""
    (amount,) = only_amounts(normal(text))
    assert amount.value(None) == Decimal(value)
    assert str(amount.value(None)) == value
    assert amount.sign == sign


@pytest.mark.parametrize(
    "text",
    ["12 items", "20%", "19,00 %", "3PCE", "INV-2026", "31/12/2026", "10:30", "1.234 kg", "none"],
)
def test_what_is_no_sum_is_not_taken_for_one(text: str) -> None:
    """Counts, rates, numbers, weights, dates and times are no sums of money."""
    assert only_amounts(text) == []


def test_the_document_decides_what_a_lone_mark_means() -> None:
    """1.234 is a thousand where cents follow a comma, and a little more than one elsewhere."""
    (amount,) = amounts("1.234")
    assert decimal_mark(["12,50", "1.200,00", "3.50"]) == ","
    assert decimal_mark(["12,50", "3.50"]) is None
    assert amount.value(",") == 1234
    assert amount.value(".") == Decimal("1.234")


@pytest.mark.parametrize(
    ("sign", "text", "mentioned", "code"),
    [
        ("€", "", set(), "EUR"),
        ("US$", "", set(), "USD"),
        ("$", "Total", set(), "USD"),
        ("$", "Total", {"CAD"}, "CAD"),
        ("$", "Montréal QC H3G 2S1, Canada", set(), "CAD"),
        ("¥", "合計 ありがとう", set(), "JPY"),
        ("¥", "人民币", set(), "CNY"),
        ("¥", "Total", set(), None),
        ("kr", "Stockholm, Sverige", set(), "SEK"),
        ("kr", "Total", set(), None),
        ("euros", "", set(), "EUR"),
    ],
)
def test_a_sign_means_a_currency_only_where_it_is_clear(
    sign: str, text: str, mentioned: set[str], code: str | None
) -> None:
    """$, ¥ and kr belong to several currencies: the document decides, or nothing does."""
    assert currencies.decide(sign, text, mentioned)[0] == code
