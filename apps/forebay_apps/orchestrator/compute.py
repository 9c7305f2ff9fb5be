"""What compute cost: looked up only when a person asks, beside the request that asks.

The figures are kept in the database; pages show those until newer ones are there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import psycopg
from fastapi import Form, Request, Response

from forebay.compute import refresh_local
from forebay.databricks.bill_settings import WAREHOUSE, BillSettings
from forebay.errors import SettingError
from forebay.extras import has, install
from forebay.logs import EventLog
from forebay.settings import number, text
from forebay_apps.web.database import Connections
from forebay_apps.web.errors import problem
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, back, local

if TYPE_CHECKING:
    from forebay.databricks.billing import Refreshed

log = EventLog(__name__)

SOURCES = {
    "local": "local (run time × rate)",
    "billing": "the bill of the Databricks workspace (list prices)",
}
"""Sources of the database in words; others are called by their name."""
USD_PER_HOUR = "FOREBAY_COMPUTE_USD_PER_HOUR"

LookUp = Callable[[psycopg.Connection[Any]], str | None]
"""What records costs through a connection, and says in a sentence what it could not tell."""

router = Pages()


@dataclass(frozen=True, slots=True)
class ComputeState:
    """How the look-up is: `error` is what the last one ended with, as a sentence."""

    is_configured: bool
    is_loading: bool = False
    error: str | None = None


class ComputeCost:
    """Look up what compute cost, one look-up at a time, and call `changed` as it begins and ends.

    The source is the workspace's bill where a SQL warehouse is set, else run time times the rate
    that is set, else there is none.
    """

    def __init__(
        self, connections: Connections, look_up: LookUp | None, changed: Callable[[], None]
    ) -> None:
        self.state = ComputeState(is_configured=look_up is not None)
        self._connections = connections
        self._look_up = look_up
        self._changed = changed
        self._lock = threading.Lock()

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        connections: Connections,
        changed: Callable[[], None],
    ) -> ComputeCost:
        """Return it with the source of the settings. Raises SettingError."""
        rate = number(environment, USD_PER_HOUR, 0, least=0, most=10_000)
        look_up: LookUp | None = None
        if text(environment, USD_PER_HOUR):
            look_up = partial(_estimate, Decimal(str(rate)))
        if settings := BillSettings.read(environment):
            if not has("databricks"):
                raise SettingError(f"{WAREHOUSE} needs more: {install('databricks')}.")
            look_up = partial(_read_bill, settings)
        return cls(connections, look_up, changed)

    def ask(self) -> None:
        """Begin a look-up, unless one goes on or there is no source."""
        with self._lock:
            look_up = self._look_up
            if self.state.is_loading or look_up is None:
                return
            self.state = ComputeState(is_configured=True, is_loading=True)
        self._changed()
        run = partial(copy_context().run, self._run, look_up)  # in the request's trace
        threading.Thread(target=run, name="compute", daemon=True).start()

    def _run(self, look_up: LookUp) -> None:
        try:
            with self._connections.as_role("upkeep") as connection:
                error = look_up(connection)
        except Exception as failure:
            log.error("compute_not_known", error=type(failure).__name__)
            error = problem(failure).sentence
        self.state = ComputeState(is_configured=True, error=error)
        self._changed()


def _estimate(usd_per_hour: Decimal, connection: psycopg.Connection[Any]) -> None:
    refresh_local(connection, usd_per_hour=usd_per_hour)


def _read_bill(settings: BillSettings, connection: psycopg.Connection[Any]) -> str | None:
    from forebay.databricks.bill import Bill  # with the SDK, which only who reads a bill needs
    from forebay.databricks.billing import refresh_billing

    return _untold(refresh_billing(connection, Bill.of(settings)))


def _untold(done: Refreshed) -> str | None:
    """Return in a sentence what a reading of the bill could not tell."""
    told = []
    if done.unpriced_skus:
        skus = ", ".join(sorted(done.unpriced_skus))
        told.append(f"No price is listed for {skus}: what used that is left unknown.")
    if done.left_out:
        count, first = len(done.left_out), min(done.left_out)
        told.append(f"Of {count} lines of the bill no amount is recorded, such as {first}.")
    return " ".join(told) or None


@router.act("/overview/compute")
def ask(request: Request, person: Viewer, next: Annotated[str, Form()] = "/") -> Response:
    """Begin to look up what compute cost, and go back to the page that asked."""
    cost: ComputeCost = request.app.state.compute
    cost.ask()
    if not cost.state.is_configured:
        wanted = f"Set {USD_PER_HOUR} or {WAREHOUSE}: nothing else says what it costs."
        return back(request, local(next), wanted)
    return back(request, local(next))
