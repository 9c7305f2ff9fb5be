"""The simulated model that the demo reads with, and the quota that the queue holds for it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from forebay.cli import output

if TYPE_CHECKING:
    import psycopg

    from forebay.cli.outcomes import Outcome
    from forebay_lab.model_server import CallLog

NAME = "simulated-model"
"""Of the model, and of its quota."""

SECONDS = 6
AMOUNTS = {"requests": 6, "tokens": 100_000}
"""What the endpoint allows in so many seconds, as a strict window."""

TELL_EVERY = 2.0
"""Seconds, at most so often."""


@contextmanager
def model() -> Iterator[SimulatedModel]:
    """Serve the model beside the block."""
    from forebay_lab.model_server import CallLog, Limit, ModelServer, Simulation

    limits = tuple(Limit.parse(f"{unit}/{SECONDS}s={amount}") for unit, amount in AMOUNTS.items())
    log = CallLog()
    simulation = Simulation(latency=0.1, input_rate=40_000, output_rate=800, limits=limits, log=log)
    with ModelServer(simulation) as server:
        output.note(f"Reading with a simulated model, whose quota is {_allowed()}")
        yield SimulatedModel(server.base_url, log)


class SimulatedModel:
    """The endpoint as the queue and its agents know it, and what came of it."""

    def __init__(self, base_url: str, log: CallLog) -> None:
        self.environment = {
            "FOREBAY_MODEL_BASE_URL": base_url,
            "FOREBAY_MODEL_API_KEY": "any",
            "FOREBAY_MODEL_NAME": NAME,
            "FOREBAY_MODEL_CONTEXT_TOKENS": "128000",
        }
        self._log = log
        self._told_at = 0.0

    def register(self, conn: psycopg.Connection[Any]) -> None:
        """Register the quota that the endpoint enforces, and a made-up price."""
        from forebay.calls import operator, viewer

        limits = [
            {"unit": unit, "per": f"{SECONDS} seconds", "amount": amount, "kind": "window"}
            for unit, amount in AMOUNTS.items()
        ]
        operator.register_quota(
            conn, quota=NAME, limits=limits, headroom=Decimal(0), reason="forebay demo"
        )
        if not any(price.model == NAME for price in viewer.list_prices(conn)):
            operator.register_price(
                conn,
                model=NAME,
                usd_per_m_input=Decimal("1.00"),
                usd_per_m_output=Decimal("4.00"),
                usd_per_m_cached=Decimal("0.25"),
                reason="forebay demo: made up",
            )

    def tell_waits(self, conn: psycopg.Connection[Any]) -> None:
        """Tell how many calls wait, and what is left of the nearest limit; not all the time."""
        from forebay.calls import viewer

        if time.monotonic() < self._told_at + TELL_EVERY:
            return
        limits = viewer.quota_status(conn, quotas=[NAME])
        nearest = min(limits, key=lambda limit: (limit.room or 0) / (limit.amount or 1))
        if nearest.waiting_calls:
            self._told_at = time.monotonic()
            output.note(
                f"{nearest.waiting_calls} call{'s wait' if nearest.waiting_calls > 1 else ' waits'}"
                f" for the quota: it has {nearest.room:,.0f} of {nearest.amount:,} {nearest.unit}"
                f" left in {SECONDS} seconds"
            )

    def notes(self, outcomes: Iterable[Outcome]) -> Iterator[str]:
        """Yield what the quota did to documents and calls, and what the calls cost."""
        asked, refused = (self._count(event) for event in ("admitted", "refused"))
        waits = [outcome.waited for outcome in outcomes if outcome.waited]
        cost = sum(outcome.cost_usd for outcome in outcomes if outcome.cost_usd)
        yield (
            f"The model is simulated, with a quota of {_allowed()}: its calls waited"
            f" {sum(waits):.1f} s for their turn, in {len(waits)} of the documents. It answered"
            f" {asked} calls and refused {refused}."
        )
        yield f"At made-up prices its calls cost {cost:.2f} US dollars."

    def _count(self, event: str) -> int:
        return sum(record["event"] == event for record in self._log.records)


def _allowed() -> str:
    said = " and ".join(
        f"{amount:,} {'calls' if unit == 'requests' else unit}" for unit, amount in AMOUNTS.items()
    )
    return f"{said} in any {SECONDS} seconds"
