"""The simulated model that the demo reads with, and the quota that the queue holds for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from forebay.cli import output

if TYPE_CHECKING:
    import psycopg

    from forebay.cli.outcomes import Outcome
    from forebay.rows import QuotaState
    from forebay_lab.model_server import CallLog

NAME = "simulated-model"
"""Of the model, and of its quota."""

THROTTLED = "demo_documents"
"""The agent that reads with it."""

DEMO = "forebay demo"
"""Who acts, in the audit log."""

MADE_UP = "made up"
"""Why the quota and the price are as they are."""

SECONDS = 12
AMOUNTS = {"requests": 5, "tokens": 12_000}
"""What the endpoint allows in so many seconds, as a strict window; a sample may take nearly all."""


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
        self._told: set[tuple[int, Decimal]] = set()

    def register(self, conn: psycopg.Connection[Any]) -> None:
        """Register the quota that the endpoint enforces, and a made-up price."""
        from forebay.calls import operator, viewer

        limits = [
            {"unit": unit, "per": f"{SECONDS} seconds", "amount": amount, "kind": "window"}
            for unit, amount in AMOUNTS.items()
        ]
        operator.register_quota(
            conn, quota=NAME, limits=limits, headroom=Decimal(0), actor=DEMO, reason=MADE_UP
        )
        if not any(price.model == NAME for price in viewer.list_prices(conn)):
            operator.register_price(
                conn,
                model=NAME,
                usd_per_m_input=Decimal("1.00"),
                usd_per_m_output=Decimal("4.00"),
                usd_per_m_cached=Decimal("0.25"),
                actor=DEMO,
                reason=MADE_UP,
            )

    def tell_waits(self, conn: psycopg.Connection[Any], names: Mapping[int, str]) -> None:
        """Tell once of each call that waits: what it needs, until when, and what is lacking."""
        from forebay.calls import viewer

        limits = viewer.quota_status(conn, quotas=[NAME])
        if not any(limit.waiting_calls for limit in limits):
            return
        for task in viewer.list_tasks(conn, statuses=["processing"], agents=[THROTTLED]):
            found = viewer.explain_task(conn, task_id=task.task_id)
            is_told = (task.task_id, found.needs) in self._told
            if found.needs is None or is_told or task.task_id not in names:
                continue
            self._told.add((task.task_id, found.needs))
            output.note(
                f"{names[task.task_id]}: a call of {found.needs:,} tokens waits until"
                f" {output.show(found.waiting_until)[11:]}{_lacking(limits, found.needs)}"
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


def _lacking(limits: Iterable[QuotaState], needs: Decimal) -> str:
    """Return which limit has too little left for a call of so many tokens."""
    for limit in limits:
        left = limit.room or Decimal(0)
        if left < (1 if limit.unit == "requests" else needs):
            return f": {left:,.0f} of {limit.amount:,} {_unit(limit.unit)} are left in {SECONDS} s"
    return ", behind others"


def _unit(unit: str | None) -> str:
    return "calls" if unit == "requests" else str(unit)


def _allowed() -> str:
    said = " and ".join(f"{amount:,} {_unit(unit)}" for unit, amount in AMOUNTS.items())
    return f"{said} in any {SECONDS} seconds"
