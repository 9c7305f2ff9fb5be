"""Amounts in spans of traces: dollars and pages, to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from forebay.traces.spans import COST, OWN_COST, PAGES, USAGE, SpanSeen, calls_of

AMOUNTS = [
    (0.25, "0.25"),
    (1e-7, "0.0000001"),
    (1e-30, f"0.{'0' * 29}1"),
    ("0.25", "0.25"),
    ("0.123456789012345678901", "0.123456789012345678901"),
    ("1E+2", "100"),
    (3, "3"),
    ("1e-41", None),
    ("1e-999999999", None),
    (-1, None),
    ("-0.1", None),
    (float("nan"), None),
    ("NaN", None),
    ("sNaN", None),
    (1e300, None),
    pytest.param("9" * 5000, None, id="long text"),
    pytest.param(10**5000, None, id="a long number"),
    ("a dollar", None),
    ("", None),
    (True, None),
    (None, None),
]


def read(used: int | None = 5, **attributes: Any) -> dict[str, Any]:
    """Return the call that a span with these attributes tells of."""
    usage = {} if used is None else {USAGE: {"input_tokens": used, "output_tokens": used}}
    (found,) = calls_of("tr-1", [SpanSeen("1", None, "CHAT_MODEL", attributes | usage)])
    return found


@pytest.mark.parametrize(("cost", "wanted"), AMOUNTS)
def test_an_amount_counts_to_its_last_digit(cost: object, wanted: str | None) -> None:
    """As a number or as text, as a Decimal has to be written; what is no amount is unknown."""
    found = read(**{OWN_COST: cost})
    assert found.get("cost_usd") == wanted
    found = read(**{PAGES: cost})
    assert found.get("pages") == wanted


@pytest.mark.parametrize(
    ("cost", "wanted"),
    [({"input_cost": 0.1, "total_cost": 0.25}, "0.25"), ({}, None), (0.25, None), (None, None)],
)
def test_a_list_price_is_read_from_a_call(cost: Mapping[str, Any], wanted: str | None) -> None:
    """It is the total's; a call without usage has none."""
    found = read(**{COST: cost})
    assert found.get("list_usd") == wanted
    found = read(None, **{COST: cost})
    assert "list_usd" not in found
