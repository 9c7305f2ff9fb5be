"""The matrix of a drill: each cell is one run with one provider, workload and throttle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from forebay_lab.drills.quota.scale import Scale

Provider = Literal["bucket", "window"]
Throttle = Literal["none", "sum", "forebay"]

PROVIDERS: tuple[Provider, ...] = ("bucket", "window")
SIZES = (0.2, 0.7)
BIASES = (-0.3, 0.3)
DISPATCHERS = (1, 2, 4, 8)

CONCURRENT_CALLS = 48
"""Calls that the provider takes at once."""

SLOTS = 64
"""Tasks that all dispatchers of a cell together can have in hand."""

MAX_TASKS = 60
"""Tasks of Forebay's agent that may be in work at once."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: largest is the size of the largest task as a share of the budget."""

    provider: Provider
    largest: float
    bias: float
    dispatchers: int
    throttle: Throttle


@dataclass(frozen=True, slots=True)
class Plan:
    """How all cells of a drill are run; minutes are those of the model, lanes run at a time."""

    seed: int
    scale: Scale
    minutes: float
    lanes: int


def full() -> list[Cell]:
    """Return all cells of Forebay, and for each provider and size what it is compared with."""
    return [*_of_forebay(DISPATCHERS), *_compared()]


def short() -> list[Cell]:
    """Return one cell of Forebay for each provider."""
    return [Cell("bucket", 0.7, -0.3, 2, "forebay"), Cell("window", 0.7, 0.3, 2, "forebay")]


def _of_forebay(dispatchers: tuple[int, ...]) -> Iterator[Cell]:
    for provider, largest, bias, number in product(PROVIDERS, SIZES, BIASES, dispatchers):
        yield Cell(provider, largest, bias, number, "forebay")


def _compared() -> Iterator[Cell]:
    throttles: tuple[Throttle, ...] = ("none", "sum")
    for provider, largest, throttle in product(PROVIDERS, SIZES, throttles):
        yield Cell(provider, largest, -0.3, 4, throttle)
