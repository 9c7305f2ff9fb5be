"""Traces of what attempts used: looked for in MLflow again and again, if an experiment is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forebay.errors import SettingError
from forebay.extras import has, install
from forebay.logs import EventLog
from forebay.settings import text
from forebay.traces.harvest import Traces, refresh_traces
from forebay.traces.mlflow_settings import EXPERIMENT
from forebay_apps.web.database import Connections
from forebay_apps.web.loop import Loop

log = EventLog(__name__)

STATES = {
    "found": "what its traces tell was read",
    "partial": "not all of its traces is there",
    "awaited": "its trace is looked for",
    "missing": "no trace of it was found",
}
"""How far the search for an attempt's traces is, in words."""


class TraceReader(Loop):
    """Record what traces tell of attempts that have ended; several processes may."""

    name = "traces"
    every = 30.0
    after_an_error = 120.0

    def __init__(self, connections: Connections, connect: Callable[[], Traces]) -> None:
        super().__init__()
        self._connections = connections
        self._connect = connect
        self._traces: Traces | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str], connections: Connections) -> TraceReader | None:
        """Return the reader that is set up, or None. Raises SettingError."""
        if not text(environment, EXPERIMENT):
            return None
        if not has("databricks"):
            raise SettingError(f"{EXPERIMENT} needs more: {install('databricks')}.")

        def connect() -> Traces:
            from forebay.traces.mlflow_store import MlflowTraces  # takes a second to import

            traces = MlflowTraces.of(environment)
            assert traces is not None
            return traces

        return cls(connections, connect)

    def step(self) -> None:
        """Look for all that is due now. Raises TracesError where MLflow does not answer."""
        self._traces = self._traces or self._connect()
        done = refresh_traces(
            lambda: self._connections.as_role("upkeep"),
            self._traces,
            is_stopping=lambda: self.is_stopping,
        )
        if done.attempts:
            log.info("traces_read", attempts=done.attempts, calls=done.calls, **done.states)
