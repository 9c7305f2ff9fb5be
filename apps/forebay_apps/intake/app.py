"""Intake's app."""

import os
from collections.abc import Mapping
from pathlib import Path

from fastapi import FastAPI

from forebay.storage import prepare
from forebay_apps.intake import ROLES, batches, documents, submitting, uploads
from forebay_apps.intake.cleaning import Cleaner
from forebay_apps.intake.findings import amount, in_short, level
from forebay_apps.intake.naming import left, reading_words, shown_name, why_words
from forebay_apps.intake.offer import Offer
from forebay_apps.intake.pictures import Pictures
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.web.app import Site, build


def create_app(variables: Mapping[str, str] = os.environ) -> FastAPI:
    """Return intake for these settings.

    app.state has, beside what every app has, intake (IntakeSettings) and pictures.
    """
    settings = IntakeSettings.read(variables)
    prepare(settings.storages)
    site = Site(
        name="intake",
        title="Forebay intake",
        folder=Path(__file__).parent,
        routers=[uploads.router, submitting.router, batches.router, documents.router],
        nav=[("New batch", "/", "submitter"), ("My batches", "/batches", "submitter")],
        roles=ROLES,
    )
    app = build(
        site,
        variables,
        lambda app: [
            Cleaner.of(variables, app.state.connections, settings),
            Offer(app.state.connections, settings.agents),
        ],
    )
    app.state.intake = settings
    app.state.pictures = Pictures(settings)
    app.state.templates.globals.update(
        shown_name=shown_name,
        in_short=in_short,
        level=level,
        why_words=why_words,
        reading_words=reading_words,
    )
    app.state.templates.filters.update(left=left, amount=amount)
    return app
