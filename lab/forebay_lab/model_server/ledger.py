"""Admit calls within the limits, one at a time, and write down every decision."""

import json
import math
import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay_lab.model_server.limits import Charge, Gauge, Limit, Unit

UNKNOWN_WAIT = 1.0
"""Seconds to wait where it depends on others: for the end of a call, or on what never fits."""


class CallLog:
    """Keep what the ledger decides: in `records`, or as JSON lines in a file.

    `at` is `time.monotonic()`, which all processes of a Linux machine share, and `wall` Unix time.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.records: list[dict[str, Any]] = []
        begin = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        self._file = os.open(path, begin, 0o644) if path else None

    def write(self, record: dict[str, Any]) -> None:
        """Add a record; the caller sees to the order."""
        if self._file is None:
            self.records.append(record)
        else:
            os.write(self._file, json.dumps(record).encode() + b"\n")


@dataclass(slots=True)
class Admitted:
    """A call that is under way: what it was charged, limit by limit."""

    number: int
    label: str | None
    tokens: tuple[int, int]
    charges: list[Charge]


@dataclass(frozen=True, slots=True)
class Exceeded:
    """Why a call was refused: the limit that it would have to wait for longest."""

    limit: Limit
    needs: float
    has: float
    wait: float


class Ledger:
    """Enforce limits: a call is admitted by all of them or charged to none.

    One lock makes every decision whole, and the log's order is that of the decisions.
    """

    def __init__(self, limits: Iterable[Limit] = (), log: CallLog | None = None) -> None:
        now = time.monotonic()
        self._gauges: list[tuple[Limit, Gauge]] = [(limit, limit.gauge(now)) for limit in limits]
        self._log = log
        self._lock = threading.Lock()
        self._calls = 0
        self._in_flight = 0

    def admit(
        self, input_tokens: int, output_tokens: int, label: str | None
    ) -> Admitted | Exceeded:
        """Charge a call to every limit, or say which one it exceeds."""
        tokens = input_tokens, output_tokens
        with self._lock:
            now = time.monotonic()
            self._calls += 1
            if exceeded := self._exceeded(now, tokens):
                why = {
                    "why": exceeded.limit.name,
                    "needs": exceeded.needs,
                    "has": exceeded.has,
                    "retry_after": exceeded.wait,
                }
                self._write("refused", now, self._calls, label, tokens, why)
                return exceeded
            self._in_flight += 1
            charges = [gauge.take(now, _need(limit.unit, tokens)) for limit, gauge in self._gauges]
            self._write("admitted", now, self._calls, label, tokens)
            return Admitted(self._calls, label, tokens, charges)

    def end(self, call: Admitted, output_tokens: int) -> None:
        """Let the call be over, with what its answer really took."""
        tokens = call.tokens[0], output_tokens
        with self._lock:
            now = time.monotonic()
            self._in_flight -= 1
            for (limit, gauge), charge in zip(self._gauges, call.charges, strict=True):
                gauge.correct(now, charge, _need(limit.unit, tokens))
                gauge.end(charge)
            self._write("ended", now, call.number, call.label, tokens)

    def headers(self) -> dict[str, str]:
        """Return what each unit has left, as x-ratelimit headers: of its limits the scarcest."""
        with self._lock:
            now = time.monotonic()
            scarcest: dict[Unit, tuple[float, Limit, Gauge]] = {}
            for limit, gauge in self._gauges:
                share = gauge.left(now) / (limit.amount or 1)
                if limit.unit not in scarcest or share < scarcest[limit.unit][0]:
                    scarcest[limit.unit] = share, limit, gauge
            return {
                f"x-ratelimit-{key}-{unit.replace('_', '-')}": text
                for unit, (_, limit, gauge) in scarcest.items()
                for key, text in _said(limit, gauge, now).items()
            }

    def _exceeded(self, now: float, tokens: tuple[int, int]) -> Exceeded | None:
        found = []
        for limit, gauge in self._gauges:
            need, has = _need(limit.unit, tokens), gauge.left(now)
            if has < need:
                wait = gauge.wait(now, need)
                wait = wait if wait < math.inf else limit.period or UNKNOWN_WAIT
                found.append(Exceeded(limit, need, has, wait))
        return max(found, key=lambda one: one.wait, default=None)

    def _write(
        self,
        event: str,
        now: float,
        number: int,
        label: str | None,
        tokens: tuple[int, int],
        more: dict[str, Any] | None = None,
    ) -> None:
        if self._log is None:
            return
        record = {
            "event": event,
            "call": number,
            "label": label,
            "at": now,
            "wall": time.time(),
            "input": tokens[0],
            "output": tokens[1],
            "in_flight": self._in_flight,
        }
        left = {limit.name: gauge.left(now) for limit, gauge in self._gauges}
        self._log.write(record | (more or {}) | {"left": left})


def _need(unit: Unit, tokens: tuple[int, int]) -> int:
    match unit:
        case "requests" | "concurrent_calls":
            return 1
        case "tokens":
            return sum(tokens)
        case "input_tokens":
            return tokens[0]
        case "output_tokens":
            return tokens[1]


def _said(limit: Limit, gauge: Gauge, now: float) -> dict[str, str]:
    """Return limit, remaining and reset as headers say them."""
    full = limit.amount if limit.burst is None else limit.burst
    wait = gauge.wait(now, full)
    said = {"limit": str(limit.amount), "remaining": str(max(0, math.floor(gauge.left(now))))}
    return said | ({} if wait == math.inf else {"reset": f"{wait:.3f}s"})
