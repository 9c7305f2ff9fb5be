"""The orchestrator's app."""

import os
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

from forebay_apps.orchestrator import callbacks
from forebay_apps.orchestrator.parts import add_parts
from forebay_apps.web.app import Part, Site, build
from forebay_apps.web.pages import Pages, page

router = Pages()


@router.page("/")
def home(request: Request) -> Response:
    return page(request, "home.html")


def create_app(variables: Mapping[str, str] = os.environ, *, with_daemon: bool = False) -> FastAPI:
    """Return the orchestrator for these settings; `with_daemon` runs the daemon beside it."""

    def parts(app: FastAPI) -> list[Part]:
        return add_parts(app, with_daemon=with_daemon)

    site = Site(
        name="orchestrator",
        title="Forebay",
        folder=Path(__file__).parent,
        routers=[router, callbacks.router],
        nav=[("Overview", "/", "viewer")],
        needs="viewer",
        open_paths=["/api/callbacks", "/metrics"],
    )
    return build(site, variables, parts)
