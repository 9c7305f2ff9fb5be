"""A month's costs to the cent: sums that add up, against whole numbers of 10^-18 US dollars."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.finance import CENT, Line, as_csv, month_bounds, month_lines, to_cents
from forebay.rows import CustomerCost, SharedCost

NOTHING = CustomerCost(
    customer="acme",
    agent="a",
    tasks=1,
    ended_attempts=1,
    measured_attempts=1,
    priced_attempts=1,
    costed_attempts=1,
    provisional_attempts=0,
    input_tokens=10,
    output_tokens=1,
    cached_tokens=5,
    pages=Decimal(0),
    llm_usd=Decimal(0),
    retry_llm_usd=Decimal(0),
    compute_usd=Decimal(0),
    retry_compute_usd=Decimal(0),
    provisional_usd=Decimal(0),
    retry_provisional_usd=Decimal(0),
)
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


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), max_size=20))
def test_a_months_lines_add_up(amounts: Sequence[tuple[Decimal, ...]]) -> None:
    """Across: LLM and compute are the total; down: the lines are the total's."""
    names = ("llm", "retry_llm", "compute", "retry_compute", "provisional", "retry_provisional")
    costs = [
        replace(NOTHING, **{f"{name}_usd": usd for name, usd in zip(names, each, strict=True)})
        for each in amounts
    ]
    *lines, total = month_lines("2026-11", costs, [])
    for line in [*lines, total]:
        assert line.total_usd == known(line.llm_usd) + known(line.compute_usd)
    for name in ("llm_usd", "compute_usd", "total_usd", "provisional_usd", "retries_usd"):
        assert getattr(total, name) == sum(known(getattr(line, name)) for line in lines)
    exact = sum((sum(each, Decimal(0)) for each in amounts), Decimal(0))
    assert abs(known(total.total_usd) - exact) <= CENT
    for line, each in zip(lines, amounts, strict=True):
        assert abs(known(line.llm_usd) - each[0] - each[1]) < CENT
        assert abs(known(line.compute_usd) - sum(each[2:])) < CENT


def test_what_is_unknown_is_empty_and_not_zero() -> None:
    """Without any known attempt there is no amount; its attempts are counted."""
    unknown = cost(priced_attempts=0, costed_attempts=0, ended_attempts=3)
    half = cost(costed_attempts=0, llm_usd="1.234")
    none_yet = cost(ended_attempts=0, measured_attempts=0, priced_attempts=0, costed_attempts=0)
    lines = month_lines("2026-11", [unknown, half, none_yet], [])
    assert [(line.llm_usd, line.compute_usd, line.total_usd) for line in lines] == [
        (None, None, None),
        (Decimal("1.23"), None, Decimal("1.23")),
        (0, 0, 0),
        (Decimal("1.23"), 0, Decimal("1.23")),
    ]
    assert [line.attempts_without_compute_cost for line in lines] == [3, 1, 0, 4]
    assert [line.attempts_without_llm_cost for line in lines] == [3, 0, 0, 3]


def test_of_which_is_never_more_than_all() -> None:
    """A third of a cent, all of it provisional and of retries, in many lines."""
    lines = month_lines("2026-11", [cost(retry_provisional_usd="0.004")] * 5, [])
    for line in lines:
        assert known(line.provisional_usd) <= known(line.compute_usd)
        assert known(line.retries_usd) <= known(line.total_usd)
    assert (lines[-1].compute_usd, lines[-1].provisional_usd) == (Decimal("0.02"), Decimal("0.02"))


def test_what_is_shared_is_in_no_total() -> None:
    """It has lines of its own, below the total."""
    shared = [
        SharedCost("billing", "SQL", Decimal("3.335"), True, None, None),
        SharedCost("billing", "APPS", Decimal("3.335"), False, None, None),
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


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "+1", "@x", "-2+3", "\t=1", "＝1"])
def test_no_name_is_a_formula(name: str) -> None:
    """A customer called like a formula gets an apostrophe; amounts below zero stay numbers."""
    lines = month_lines("2026-11", [cost(customer=name, llm_usd="-0.5", agent=name)], [])
    [row, _] = read(lines)
    assert row["customer"] == row["agent"] == f"'{name}"
    assert row["llm_usd"] == "-0.50"


def test_the_file_says_all_of_it() -> None:
    """One row a line, with the names of its columns; what is unknown is empty."""
    rows = read(month_lines("2026-11", [cost(customer=None, pages=Decimal("2.5"))], []))
    assert rows[0] | {"agent": "a", "pages": "2.5", "customer": "", "llm_usd": "0.00"} == rows[0]
    assert list(rows[0])[:4] == ["month", "line", "customer", "agent"]
    assert [row["line"] for row in rows] == ["customer", "total"]


def read(lines: Sequence[Line]) -> list[dict[str, str]]:
    """Return a file's rows, as a program reads them."""
    text = "".join(as_csv(lines))
    assert text[0] == "\ufeff"
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def known(usd: Decimal | None) -> Decimal:
    """Return an amount that has to be there."""
    assert usd is not None
    return usd
