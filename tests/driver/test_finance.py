"""A month's costs to the cent: sums that add up, against whole numbers of 10^-18 US dollars."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.finance import CENT, Line, as_csv, month_bounds, month_lines, to_cents
from forebay.rows import CustomerCost, SharedCost

NOTHING = CustomerCost(
    customer="acme",
    agent="a",
    tasks=1,
    running_attempts=0,
    ended_attempts=1,
    retries=1,
    measured_attempts=1,
    priced_attempts=1,
    costed_attempts=1,
    provisional_attempts=0,
    input_tokens=10,
    output_tokens=1,
    cached_tokens=5,
    pages=Decimal(0),
    llm_usd=None,
    retry_llm_usd=None,
    compute_usd=None,
    retry_compute_usd=None,
    provisional_usd=None,
    retry_provisional_usd=None,
    llm_sources=["agent reported"],
    compute_sources=["billing"],
    compute_as_of=None,
)
D = Decimal
AMOUNTS = st.integers(-(10**19), 10**21).map(lambda units: Decimal(f"{units}e-18"))


def cost(**changes: object) -> CustomerCost:
    """Return a customer's cost; amounts are given as text."""
    told = {k: Decimal(v) if isinstance(v, str) and "usd" in k else v for k, v in changes.items()}
    return replace(NOTHING, **told)  # type: ignore[arg-type]


@given(st.lists(AMOUNTS, max_size=40))
@example([Decimal("0.005")] * 3)
@example([Decimal("0.333")] * 3)
@example([Decimal("-0.005"), Decimal("0.005")])
def test_cents_add_up(amounts: list[Decimal]) -> None:
    """To the rounded sum; each is one of its amount's two neighbouring cents."""
    cents = to_cents(amounts)
    units = sum(int(amount.scaleb(18)) for amount in amounts)
    halves = 10**16 // 2
    wanted = (abs(units) + halves) // 10**16 * (1 if units >= 0 else -1)
    assert sum(int(cent.scaleb(2)) for cent in cents) == wanted
    for cent, amount in zip(cents, amounts, strict=True):
        assert cent == cent.quantize(CENT)
        assert abs(cent - amount) < CENT


PARTS = ("llm", "retry_llm", "compute", "retry_compute", "provisional", "retry_provisional")
COLUMNS = {
    "llm_usd": PARTS[:2],
    "compute_usd": PARTS[2:],
    "total_usd": PARTS,
    "provisional_usd": PARTS[4:],
    "retries_usd": PARTS[1::2],
}
SMALL = st.integers(-1, 30).map(lambda thousandths: Decimal(thousandths) / 1000)
ANY = st.none() | AMOUNTS | SMALL


@given(st.lists(st.tuples(ANY, ANY, ANY, ANY, ANY, ANY), max_size=20))
@example([(D("0.005"), None, D("0.005"), None, None, None)])
@example([(None, None, D("0.008"), *[None] * 3), (*[None] * 4, D("0.006"), None)])
@example([(*[None] * 4, D(5), None), (*[None] * 4, D(-5), None)])
def test_a_months_lines_add_up(amounts: Sequence[tuple[Decimal | None, ...]]) -> None:
    """Each column's total is its exact sum, to the cent; each of its amounts is a neighbour."""
    costs = [
        replace(NOTHING, **{f"{name}_usd": usd for name, usd in zip(PARTS, each, strict=True)})
        for each in amounts
    ]
    *lines, total = month_lines("2026-11", costs, [])
    for column, names in COLUMNS.items():
        exact = [sum((getattr(one, f"{n}_usd") or D(0) for n in names), D(0)) for one in costs]
        rounded = [getattr(line, column) for line in lines]
        for amount, cents in zip(exact, rounded, strict=True):
            assert cents is None or abs(cents - amount) < CENT
            assert cents is not None or amount == 0
        wanted = sum(exact, D(0)).quantize(CENT, ROUND_HALF_UP)
        assert (getattr(total, column) or 0) == wanted
        assert sum(cents or 0 for cents in rounded) == wanted


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), *[ANY] * 6), max_size=20))
@example([("a", D("0.006"), *[None] * 5), ("b", D("0.006"), *[None] * 5)])
@example([(who, D("0.004"), *[None] * 5) for who in "ab"])
def test_a_customers_lines_are_the_same_alone(rows: Sequence[tuple[Any, ...]]) -> None:
    """Whose other lines there are moves no cent, and the total is that of the lines."""
    costs = [
        replace(
            NOTHING,
            customer=who,
            **{f"{name}_usd": usd for name, usd in zip(PARTS, usds, strict=True)},
        )
        for who, *usds in sorted(rows, key=lambda row: str(row[0]))
    ]
    *lines, total = month_lines("2026-11", costs, [])
    for customer in ("a", "b", None):
        own = [cost for cost in costs if cost.customer == customer]
        *alone, _ = month_lines("2026-11", own, [])
        assert alone == [line for line in lines if line.customer == customer]
    for column in COLUMNS:
        assert (getattr(total, column) or 0) == sum(getattr(line, column) or 0 for line in lines)


def test_what_is_unknown_is_empty_and_not_zero() -> None:
    """Where nothing is known there is no amount, nor in the total; the attempts are counted."""
    unknown = cost(priced_attempts=0, costed_attempts=0, ended_attempts=3)
    half = cost(costed_attempts=0, llm_usd="1.234")
    running = cost(ended_attempts=0, priced_attempts=0, costed_attempts=0, running_attempts=1)
    idle = cost(ended_attempts=0, priced_attempts=0, costed_attempts=0, retries=0)
    assert shown([unknown]) == [(None,) * 5] * 2
    assert shown([running])[0] == (None,) * 5
    assert shown([idle]) == [(0,) * 5] * 2
    assert shown([unknown, half])[1:] == [(D("1.23"), None, D("1.23"), None, None)] * 2
    assert shown([replace(half, retries=0)])[0] == (D("1.23"), None, D("1.23"), None, 0)
    assert shown([]) == [(0,) * 5]
    lines = month_lines("2026-11", [unknown, half, idle], [])
    assert [line.attempts_without_compute_cost for line in lines] == [3, 1, 0, 4]
    assert [line.attempts_without_llm_cost for line in lines] == [3, 0, 0, 3]


def test_tokens_too_are_unknown_and_not_zero() -> None:
    """A total of nothing known is none."""
    silent = cost(input_tokens=None, output_tokens=None, cached_tokens=None)
    assert [line.input_tokens for line in month_lines("2026-11", [silent], [])] == [None, None]
    rows = read(month_lines("2026-11", [silent, cost()], []))
    assert [row["cached_tokens"] for row in rows] == ["", "5", "5"]


def test_of_which_is_never_more_than_all() -> None:
    """A third of a cent, all of it provisional and of retries, in many lines."""
    lines = month_lines("2026-11", [cost(retry_provisional_usd="0.004")] * 5, [])
    for line in lines:
        assert known(line.provisional_usd) <= known(line.compute_usd)
        assert known(line.retries_usd) <= known(line.total_usd)
    assert (lines[-1].compute_usd, lines[-1].provisional_usd) == (D("0.02"), D("0.02"))
    first, second, _ = month_lines(
        "2026-11", [cost(provisional_usd="0.006"), cost(compute_usd="0.008")], []
    )
    assert (first.provisional_usd, first.compute_usd, second.compute_usd) == (CENT, CENT, 0)


def test_a_line_adds_up_across_where_it_can() -> None:
    """Of a line's two cents the one is its total that its parts add up to."""
    parts = (("0.338", "0.004"), ("0.304", "0.004"), ("1.005", "0.004"))
    costs = [cost(llm_usd=llm, compute_usd=compute) for llm, compute in parts]
    for line in month_lines("2026-11", costs, []):
        assert line.total_usd == known(line.llm_usd) + known(line.compute_usd)


def test_a_correction_leaves_what_is_provisional_as_it_is() -> None:
    """A bill takes 5 back for good, and 0.50 may change."""
    [line, _] = month_lines("2026-11", [cost(compute_usd="-5", provisional_usd="0.5")], [])
    assert (line.compute_usd, line.provisional_usd) == (D("-4.50"), D("0.50"))


def test_a_total_that_is_nought_may_still_change() -> None:
    """5 and -5, both provisional: the count says so."""
    costs = [cost(provisional_usd=usd, provisional_attempts=1) for usd in ("5", "-5")]
    total = month_lines("2026-11", costs, [])[-1]
    assert (total.provisional_usd, total.provisional_attempts) == (0, 2)


def test_an_amount_may_be_of_any_size() -> None:
    """No digit is lost beside one of a hundred digits, and the others keep their cents."""
    huge = f"1{'0' * 99}"
    costs = [cost(compute_usd=f"{huge}.25"), cost(compute_usd="0.125")]
    rows = read(month_lines("2026-11", costs, []))
    assert [row["compute_usd"] for row in rows] == [f"{huge}.25", "0.13", f"{huge}.38"]


def test_every_line_says_where_its_amounts_are_from() -> None:
    """The total all of it; what lies in the month, and when the bill was read, are said too."""
    listed = cost(llm_sources=["trace list_price"], compute_as_of=datetime(2026, 12, 2, tzinfo=UTC))
    shared = [SharedCost("billing", "SQL", Decimal(1), True, None, None, None)]
    rows = read(month_lines("2026-11", [cost(compute_sources=["local"]), listed], shared))
    assert [(row["llm_sources"], row["compute_sources"]) for row in rows] == [
        ("agent reported", "local"),
        ("trace list_price", "billing"),
        ("agent reported, trace list_price", "billing, local"),
        ("", "billing"),
    ]
    assert [row["month_of"] for row in rows] == ["creation", "creation", "creation", "use"]
    assert [row["compute_as_of"][:10] for row in rows] == ["", "2026-12-02", "2026-12-02", ""]


def test_what_is_shared_is_in_no_total() -> None:
    """It has lines of its own, below the total."""
    shared = [
        SharedCost("billing", "SQL", Decimal("3.335"), True, None, None, None),
        SharedCost("billing", "APPS", Decimal("3.335"), False, None, None, None),
    ]
    lines = month_lines("2026-11", [cost(compute_usd="1")], shared)
    assert [(line.line, line.agent, line.total_usd, line.provisional_usd) for line in lines] == [
        ("customer", "a", 1, 0),
        ("total", None, 1, 0),
        ("shared", "SQL", Decimal("3.34"), 0),
        ("shared", "APPS", Decimal("3.33"), Decimal("3.33")),
    ]


def test_a_month_is_utc() -> None:
    """December ends with the year."""
    assert month_bounds(2026, 12) == (
        datetime(2026, 12, 1, tzinfo=UTC),
        datetime(2027, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    "name",
    ['=HYPERLINK("http://x")', "+1", "@x", "-2+3", "\t1", "＝1", "﹦1", "﹣1", "\N{MINUS SIGN}1"],
)
def test_no_name_is_a_formula(name: str) -> None:
    """A customer called like a formula gets an apostrophe; amounts below zero stay numbers."""
    lines = month_lines("2026-11", [cost(customer=name, llm_usd="-0.5", agent=name)], [])
    [row, _] = read(lines)
    assert row["customer"] == row["agent"] == f"'{name}"
    assert row["llm_usd"] == "-0.50"


def test_no_two_names_are_one_cell() -> None:
    """A name that begins with the apostrophe of a formula gets one more."""
    names = ["=1", "'=1", "''=1", "'t Hooft"]
    rows = read(month_lines("2026-11", [cost(customer=name) for name in names], []))
    assert [row["customer"] for row in rows[:-1]] == ["'=1", "''=1", "'" * 3 + "=1", "'t Hooft"]


def test_the_file_says_all_of_it() -> None:
    """One row a line, with the names of its columns; what is unknown is empty."""
    one = cost(customer=None, pages=Decimal("2.5"), llm_usd="0.25")
    rows = read(month_lines("2026-11", [one], []))
    assert rows[0] | {"agent": "a", "pages": "2.5", "customer": "", "llm_usd": "0.25"} == rows[0]
    assert list(rows[0])[:4] == ["month", "line", "customer", "agent"]
    assert [row["line"] for row in rows] == ["customer", "total"]


def shown(costs: Sequence[CustomerCost]) -> list[tuple[Decimal | None, ...]]:
    """Return the amounts of a month's lines."""
    return [
        tuple(getattr(line, name) for name in COLUMNS) for line in month_lines("2026-11", costs, [])
    ]


def read(lines: Sequence[Line]) -> list[dict[str, str]]:
    """Return a file's rows, as a program reads them."""
    text = "".join(as_csv(lines))
    assert text[0] == "\ufeff"
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def known(usd: Decimal | None) -> Decimal:
    """Return an amount that has to be there."""
    assert usd is not None
    return usd
