"""How numbers, money and times are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from forebay_apps.web import formats


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "unknown"),
        ("0", "$0.00"),
        ("0.00001", "<$0.0001"),
        ("0.0123", "$0.0123"),
        ("0.5", "$0.5000"),
        ("1", "$1.00"),
        ("1234.505", "$1,234.51"),
        ("-2.5", "\N{MINUS SIGN}$2.50"),
    ],
)
def test_money(value: str | None, said: str) -> None:
    """What is not known is not 0, and neither is what is very little."""
    assert formats.usd(None if value is None else Decimal(value)) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 ms"),
        (0.0004, "0 ms"),
        (0.85, "850 ms"),
        (0.9996, "1 s"),
        (12.34, "12.3 s"),
        (59.94, "59.9 s"),
        (59.96, "1 m"),
        (80, "1 m 20 s"),
        (3599.6, "1 h"),
        (7500, "2 h 5 m"),
        (273_600, "3 d 4 h"),
        (-80, "\N{MINUS SIGN}1 m 20 s"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    """Two units at most, and no 60 s or 1000 ms by rounding."""
    assert formats.duration(timedelta(seconds=seconds)) == said
    assert formats.duration(seconds) == said


def test_numbers_and_shares() -> None:
    """With thousands apart; unknown stays unknown."""
    assert [formats.number(n) for n in (None, 0, 12345, Decimal("1234567"))] == [
        "unknown",
        "0",
        "12,345",
        "1,234,567",
    ]
    assert [formats.share(s) for s in (None, 0.874, Decimal(1))] == ["unknown", "87 %", "100 %"]
    assert [formats.confidence(c) for c in (None, Decimal("0.926"))] == ["unknown", "0.93"]


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "unknown"), (0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (999_600, "1.0 MB")],
)
def test_sizes(value: int | None, said: str) -> None:
    """In powers of a thousand."""
    assert formats.size(value) == said


def test_moments() -> None:
    """How long ago in words; the time itself in UTC for who points at it; a dash for none."""
    at = datetime.now(UTC) - timedelta(minutes=3)
    said = formats.moment(at)
    assert f'datetime="{at.isoformat(timespec="milliseconds")}"' in said
    assert f"{at:%Y-%m-%d %H:%M:%S} UTC" in said
    assert ">3 m ago<" in said
    assert ">in 2 h<" in formats.moment(datetime.now(UTC) + timedelta(hours=2, seconds=5))
    assert ">now<" in formats.moment(datetime.now(UTC))
    assert formats.moment(None) == "\N{EN DASH}"
