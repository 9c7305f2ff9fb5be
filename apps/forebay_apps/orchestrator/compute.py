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
from typing import Annotated

from fastapi import Form, Request, Response

from forebay.compute import refresh_local
from forebay.logs import EventLog
from forebay.settings import number, text
from forebay_apps.web.database import Connections
from forebay_apps.web.errors import problem
from forebay_apps.web.guard import Viewer
from forebay_apps.web.pages import Pages, back, local

log = EventLog(__name__)

SOURCES = {"local": "local (run time × rate)"}
"""Sources of the database in words; others are called by their name."""
USD_PER_HOUR = "FOREBAY_COMPUTE_USD_PER_HOUR"

router = Pages()


@dataclass(frozen=True, slots=True)
class ComputeState:
    """How the look-up is: `error` is what the last one ended with, as a sentence."""

    is_configured: bool
    is_loading: bool = False
    error: str | None = None


class ComputeCost:
    """Look up what compute cost, one look-up at a time, and call `changed` as it begins and ends.

    Today's only source is the local one: run seconds times a rate.
    """

    def __init__(
        self, connections: Connections, usd_per_hour: Decimal | None, changed: Callable[[], None]
    ) -> None:
        self.state = ComputeState(is_configured=usd_per_hour is not None)
        self._connections = connections
        self._usd_per_hour = usd_per_hour
        self._changed = changed
        self._lock = threading.Lock()

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        connections: Connections,
        changed: Callable[[], None],
    ) -> ComputeCost:
        """Return it with the rate of the settings. Raises SettingError."""
        rate = number(environment, USD_PER_HOUR, 0, least=0, most=10_000)
        is_set = bool(text(environment, USD_PER_HOUR))
        return cls(connections, Decimal(str(rate)) if is_set else None, changed)

    def ask(self) -> None:
        """Begin a look-up, unless one goes on or there is no rate."""
        with self._lock:
            rate = self._usd_per_hour
            if self.state.is_loading or rate is None:
                return
            self.state = ComputeState(is_configured=True, is_loading=True)
        self._changed()
        look_up = partial(copy_context().run, self._look_up, rate)  # in the request's trace
        threading.Thread(target=look_up, name="compute", daemon=True).start()

    def _look_up(self, usd_per_hour: Decimal) -> None:
        error = None
        try:
            with self._connections.as_role("upkeep") as connection:
                refresh_local(connection, usd_per_hour=usd_per_hour)
        except Exception as failure:
            log.error("compute_not_known", error=type(failure).__name__)
            error = problem(failure).sentence
        self.state = ComputeState(is_configured=True, error=error)
        self._changed()


@router.act("/overview/compute")
def ask(request: Request, person: Viewer, next: Annotated[str, Form()] = "/") -> Response:
    """Begin to look up what compute cost, and go back to the page that asked."""
    cost: ComputeCost = request.app.state.compute
    cost.ask()
    if not cost.state.is_configured:
        return back(request, local(next), f"Set {USD_PER_HOUR}: nothing else says what it costs.")
    return back(request, local(next))
