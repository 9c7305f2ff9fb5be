"""What the drill has done: short and long tasks of every size, the same for the same seed."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

BUDGET = 60_000
"""Tokens a minute that the provider allows."""

SMALLEST = 0.005
"""The smallest task as a share of the budget."""

LARGEST_CALL = 0.12
"""No call is larger than this share of the budget: documents are read in chunks."""

SHORT, LONG = (1.0, 5.0), (60.0, 300.0)
"""Least and most seconds of model time that a task takes; every other task is a long one."""

SECONDS_A_CALL = {SHORT: 2.0, LONG: 30.0}
"""About how long one call of a task takes; large tasks make more calls."""

OUTPUT_SHARE = 0.25
"""The share of a call's tokens that may be its answer."""

NOISE = 0.3
"""Standard deviation of an estimate around the biased one."""

BACKLOG, DEMAND = 2.0, 1.1
"""Budgets that wait at the start, and budgets that arrive in each minute after it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: the prompt, the answer and what it may be at most, and model seconds."""

    input_tokens: int
    output_tokens: int
    max_output_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """One task; estimate is what its sender believes, arrives_at is in model seconds."""

    number: int
    calls: tuple[Call, ...]
    estimate: int
    arrives_at: float

    @property
    def tokens(self) -> int:
        """Return what it uses in fact."""
        return sum(call.input_tokens + call.output_tokens for call in self.calls)


def tasks(seed: int, largest: float, bias: float, minutes: float) -> list[Task]:
    """Return tasks for that many minutes; the bias of the estimates changes nothing else.

    Sizes are spread evenly over the orders of magnitude up to `largest` times the budget.
    """
    return list(_tasks(random.Random(seed), largest, bias, minutes))


def _tasks(dice: random.Random, largest: float, bias: float, minutes: float) -> Iterator[Task]:
    sent, number = 0, 0
    while (arrives_at := 60 * max(0.0, sent / BUDGET - BACKLOG) / DEMAND) < 60 * minutes:
        size = BUDGET * math.exp(dice.uniform(math.log(SMALLEST), math.log(largest)))
        calls = _calls(dice, size, LONG if number % 2 else SHORT)
        task = Task(number, calls, 0, arrives_at)
        believed = task.tokens * (1 + bias) * max(0.1, dice.gauss(1, NOISE))
        yield Task(number, calls, round(believed), arrives_at)
        sent += task.tokens
        number += 1


def _calls(dice: random.Random, size: float, length: tuple[float, float]) -> tuple[Call, ...]:
    """Return the calls of a task of about that size: uneven, and none too large."""
    seconds = dice.uniform(*length)
    usual = BUDGET * LARGEST_CALL * 0.7  # so that pieces of uneven size stay below the largest
    number = max(1, round(seconds / SECONDS_A_CALL[length]), math.ceil(size / usual))
    number = min(number, max(1, int(size / 40)))  # no call of fewer than 40 tokens
    return tuple(_call(dice, size * share, seconds * share) for share in _shares(dice, number))


def _shares(dice: random.Random, number: int) -> list[float]:
    """Return that many uneven shares of 1: even ones, each border moved by up to a fifth."""
    borders = [(at + dice.uniform(-0.2, 0.2)) / number for at in range(1, number)]
    return [after - before for before, after in pairwise([0.0, *borders, 1.0])]


def _call(dice: random.Random, size: float, seconds: float) -> Call:
    """Return a call that uses about `size` tokens; answers are shorter than they may be."""
    answer = size * OUTPUT_SHARE * dice.uniform(0.6, 1.0)
    longest = max(1, round(size * OUTPUT_SHARE))
    return Call(max(1, round(size - answer)), max(1, round(answer)), longest, seconds)
