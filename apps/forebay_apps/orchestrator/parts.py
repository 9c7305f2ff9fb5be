"""What the orchestrator has besides its pages, as its settings want it."""

from __future__ import annotations

from fastapi import FastAPI

from forebay_apps.orchestrator import callbacks, monitoring
from forebay_apps.orchestrator.announce import Announcer
from forebay_apps.orchestrator.compute import ComputeCost
from forebay_apps.orchestrator.daemon import Supervisor
from forebay_apps.orchestrator.shared import Shared
from forebay_apps.orchestrator.traces import TraceReader
from forebay_apps.web.app import Part


def add_parts(app: FastAPI, *, with_daemon: bool) -> list[Part]:
    """Put what routes need into the app's state, and return what works beside them.

    `app.state.daemon` is None where no daemon is run here. Raises SettingError.
    """
    state = app.state
    state.webhooks = callbacks.read_webhooks(state.variables)
    state.metrics_token = monitoring.read_token(state.variables)
    state.compute = ComputeCost.of(state.variables, state.connections, state.hub.changed_elsewhere)
    state.reports = Shared(state.hub)
    announcer = Announcer.of(state.variables, state.connections)
    traces = TraceReader.of(state.variables, state.connections)
    state.daemon = Supervisor(state.variables) if with_daemon else None
    return [part for part in (announcer, traces, state.daemon) if part]
