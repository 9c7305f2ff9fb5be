"""What agents and quotas have in use against their limits, as gauges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from forebay.rows import AgentState, QuotaState
from forebay_apps.web import formats

Amount = int | Decimal

PERIODS = {1: "a second", 60: "a minute", 3600: "an hour", 86400: "a day"}
TIGHT = 0.9


@dataclass(frozen=True, slots=True)
class Gauge:
    """A bar; share is how full it is, mark where the limit is now if refusals have lowered it.

    Both are percent of the limit that was set; without one share is None and no bar is drawn.
    """

    name: str
    words: str
    share: float | None = None
    mark: float | None = None
    note: str | None = None
    is_scarce: bool = True

    @property
    def is_tight(self) -> bool:
        """Tell whether nearly all of something scarce is used; slots are there to be full."""
        if not self.is_scarce:
            return False
        allowed = 100.0 if self.mark is None else self.mark
        return self.share is not None and self.share >= TIGHT * allowed


def of_agent(state: AgentState) -> list[Gauge]:
    """Return what an agent has in use, and what it may use."""
    gauges = [
        replace(
            _gauge(
                "running",
                state.in_use,
                state.max_concurrent_tasks,
                state.effective_concurrent_tasks,
            ),
            is_scarce=False,
        ),
        _gauge(
            "tokens in the last minute",
            state.tokens_last_minute,
            state.max_tpm,
            state.effective_tpm,
        ),
        _gauge(
            "starts in the last minute",
            state.starts_last_minute,
            state.max_rpm,
            state.effective_rpm,
        ),
    ]
    if state.max_usd_per_day is not None:
        gauges.append(_spent(state))
    return gauges


def _gauge(name: str, used: Amount, limit: Amount | None, now: Amount | None) -> Gauge:
    if limit is None:
        return Gauge(name, formats.number(used), note="no limit")
    is_lowered = now is not None and now < limit
    return Gauge(
        name,
        f"{formats.number(used)} of {formats.number(limit)}",
        share=_percent(used, limit),
        mark=_percent(now, limit) if is_lowered and now is not None else None,
        note=f"{formats.number(now)} after refusals" if is_lowered else None,
    )


def _spent(state: AgentState) -> Gauge:
    cap = state.max_usd_per_day or Decimal(0)
    more, of_what = state.usd_projected, "in flight or ended without a known cost"
    if not state.in_use:
        of_what = "of what ended without a known cost"
    return Gauge(
        "spent today (UTC)",
        f"{formats.usd(state.usd_today)} of {formats.usd(cap)}",
        share=_percent(state.usd_today, cap),
        note=f"up to {formats.usd(more)} more, {of_what}" if more else None,
    )


def of_quota(state: QuotaState) -> Gauge:
    """Return what counts against one limit of a quota."""
    if state.unit is None or state.amount is None:
        return Gauge("no limit", f"{formats.number(state.open_calls)} calls open")
    used = state.used or Decimal(0)
    effective = state.effective_amount
    is_lowered = effective is not None and effective < state.amount
    return Gauge(
        f"{state.unit.replace('_', ' ')} {_period(state.period)}".strip(),
        f"{formats.number(used)} of {formats.number(state.amount)}",
        share=_percent(used, state.amount),
        mark=_percent(effective, state.amount) if is_lowered and effective is not None else None,
        note=f"{formats.number(effective)} in force" if is_lowered else None,
    )


def _period(period: timedelta | None) -> str:
    seconds = period.total_seconds() if period else 0
    return PERIODS.get(int(seconds), f"in {formats.duration(period)}") if seconds else ""


def _percent(part: Amount, whole: Amount) -> float:
    """Return how much of the whole the part is, from 0 to 100; nothing of nothing is all of it."""
    return round(min(100.0, 100 * float(part) / float(whole)), 1) if whole else 100.0


def by_quota(rows: list[QuotaState]) -> Iterator[tuple[QuotaState, list[Gauge]]]:
    """Yield each quota with the gauges of its limits."""
    for name in dict.fromkeys(row.quota for row in rows):
        limits = [row for row in rows if row.quota == name]
        yield limits[0], [of_quota(row) for row in limits]
