"""What the log of the provider says: refusals, the share of the budget used, and who waited."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the provider enforced: tokens in a period of so many seconds, and calls at once.

    max_tasks is how many tasks of the agent may be in work at once; None: any number.
    """

    tokens: int
    period: float
    concurrent_calls: int
    max_tasks: int | None = None


@dataclass(frozen=True, slots=True)
class Measures:
    """What one run came to; times are real seconds.

    warm_seconds is how long the share of the budget was measured: from one period after the first
    call until the last moment at which a task had not made its first call. The way is what passes
    between a call's being let go and its arrival at the provider. A refusal for too many
    calls at once, or a moment with more tasks in work than there may be, is an over-admission.
    """

    calls: int
    refused: int
    refused_for_tokens: int
    over_admissions: int
    most_calls: int
    most_tasks: int
    warm_seconds: float
    used_share: float
    wait_p50: float
    wait_p99: float
    way_p50: float
    way_p99: float
    tasks_begun: int
    tasks_waiting: int

    @property
    def refused_share(self) -> float:
        """Return refusals as a share of all calls, from the first one on."""
        return self.refused / self.calls if self.calls else 0.0


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a log; its last line may be half written."""
    records = []
    for line in path.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            break
    return records


def label(task: int, attempt: int) -> str:
    """Return what a call says of itself, so that the log tells whose it was and how it came."""
    return f"{task}/{attempt}/{time.monotonic():.6f}"


def measure(
    log: Iterable[Record], limits: Limits, arrivals: Mapping[int, float], until: float
) -> Measures:
    """Judge a log up to the moment `until`; arrivals has when each task was sent.

    All moments are of the one monotonic clock of the machine.
    """
    records = [record for record in log if record["at"] <= until or record["event"] == "ended"]
    admitted = [record for record in records if record["event"] == "admitted"]
    refused = [record for record in records if record["event"] == "refused"]
    ended = {record["call"]: record for record in records if record["event"] == "ended"}
    first = _first_calls(admitted)
    begins, ends = _warm(admitted, limits, arrivals, first, until)
    used = sum(
        record["input"] + ended.get(record["call"], record)["output"]
        for record in admitted
        if begins < record["at"] <= ends
    )
    calls_at_once = _at_once((record["at"], ended.get(record["call"])) for record in admitted)
    tasks_at_once = _at_once(_spans(admitted, ended))
    crowded = [record for record in refused if record["why"].startswith("concurrent_calls")]
    waits = sorted(first.get(task, until) - sent for task, sent in arrivals.items() if sent < until)
    ways = sorted(record["at"] - _sent_at(record) for record in admitted + refused)
    allowed = limits.tokens / limits.period * (ends - begins)
    return Measures(
        calls=len(admitted) + len(refused),
        refused=len(refused),
        refused_for_tokens=len(refused) - len(crowded),
        over_admissions=len(crowded)
        + _above(calls_at_once, limits.concurrent_calls)
        + _above(tasks_at_once, limits.max_tasks),
        most_calls=max(calls_at_once, default=0),
        most_tasks=max(tasks_at_once, default=0),
        warm_seconds=ends - begins,
        used_share=used / allowed if allowed else 0.0,
        wait_p50=_quantile(waits, 0.5),
        wait_p99=_quantile(waits, 0.99),
        way_p50=_quantile(ways, 0.5),
        way_p99=_quantile(ways, 0.99),
        tasks_begun=len(first),
        tasks_waiting=len(waits) - len(first),
    )


def _first_calls(admitted: Iterable[Record]) -> dict[int, float]:
    """Return when each task made its first call."""
    first: dict[int, float] = {}
    for record in admitted:
        first.setdefault(_task(record), record["at"])
    return first


def _task(record: Record) -> int:
    return int(record["label"].split("/")[0])


def _attempt(record: Record) -> str:
    return str(record["label"].rpartition("/")[0])


def _sent_at(record: Record) -> float:
    return float(record["label"].rpartition("/")[2])


def _warm(
    admitted: list[Record],
    limits: Limits,
    arrivals: Mapping[int, float],
    first: Mapping[int, float],
    until: float,
) -> tuple[float, float]:
    """Return from when to when the budget could have been used up."""
    if not admitted:
        return until, until
    begins = admitted[0]["at"] + limits.period
    ends = max(min(first.get(task, until), until) for task in arrivals)
    return begins, max(begins, ends)


def _spans(
    admitted: Iterable[Record], ended: Mapping[int, Record]
) -> list[tuple[float, Record | None]]:
    """Return when each attempt made its first call, and the end of its last one."""
    spans: dict[str, tuple[float, Record | None]] = {}
    for record in admitted:
        begin, _ = spans.get(_attempt(record), (record["at"], None))
        spans[_attempt(record)] = begin, ended.get(record["call"])
    return list(spans.values())


def _at_once(spans: Iterable[tuple[float, Record | None]]) -> list[int]:
    """Return, for every beginning, how many are in work then, itself included."""
    moments = []
    for begin, end in spans:
        moments.append((begin, 1))
        moments.append((end["at"] if end else math.inf, -1))
    now, counts = 0, []
    for _, step in sorted(moments):  # at one moment ends come first
        now += step
        if step > 0:
            counts.append(now)
    return counts


def _above(counts: Iterable[int], limit: int | None) -> int:
    return 0 if limit is None else sum(count > limit for count in counts)


def _quantile(values: list[float], share: float) -> float:
    """Return the value that so large a share does not exceed; 0 of none."""
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else 0.0
