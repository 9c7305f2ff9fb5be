"""Intake's app."""

import os
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

from forebay_apps.web.app import Site, build
from forebay_apps.web.pages import Pages, page

router = Pages()


@router.page("/")
def home(request: Request) -> Response:
    return page(request, "home.html")


def create_app(variables: Mapping[str, str] = os.environ) -> FastAPI:
    """Return intake for these settings."""
    site = Site(
        name="intake",
        title="Forebay intake",
        folder=Path(__file__).parent,
        routers=[router],
        nav=[("Upload", "/", "submitter")],
    )
    return build(site, variables)
