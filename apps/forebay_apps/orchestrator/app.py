"""The orchestrator's app: the operator's dashboard, callbacks, and the daemon beside them."""

import os
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI

from forebay_apps.orchestrator import (
    ROLES,
    acting,
    agents,
    attempts,
    audit,
    batches,
    callbacks,
    charts,
    compute,
    define,
    monitoring,
    overview,
    system,
    task,
    tasks,
)
from forebay_apps.orchestrator.announce import long_wait
from forebay_apps.orchestrator.links import Links
from forebay_apps.orchestrator.parts import add_parts
from forebay_apps.web.app import Part, Site, build

NAV = (
    ("Overview", "/"),
    ("Tasks", "/tasks"),
    ("Agents", "/agents"),
    ("Batches", "/batches"),
    ("Attempts", "/attempts"),
    ("Audit", "/audit"),
    ("System", "/system"),
)
PAGES = (overview, acting, tasks, task, agents, define, batches, attempts, audit, system)


def create_app(variables: Mapping[str, str] = os.environ, *, with_daemon: bool = False) -> FastAPI:
    """Return the orchestrator for these settings; `with_daemon` runs the daemon beside it."""

    def parts(app: FastAPI) -> list[Part]:
        return add_parts(app, with_daemon=with_daemon)

    site = Site(
        name="orchestrator",
        title="Forebay",
        folder=Path(__file__).parent,
        routers=[
            callbacks.router,
            monitoring.router,
            compute.router,
            *(module.router for module in PAGES),
        ],
        nav=[(label, path, "viewer") for label, path in NAV],
        needs="viewer",
        elsewhere="Documents are handed in, and their results read, in the intake app.",
        roles=ROLES,
        open_paths=["/api/callbacks", "/metrics"],
    )
    app = build(site, variables, parts)
    app.state.links = Links.read(variables)
    app.state.long_wait = long_wait(variables)
    app.state.templates.globals["states_in_a_bar"] = charts.STATUSES
    return app
