"""How a page looks and reads: light and dark, wide and at 375 px, to people and to assistants."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SCREENSHOTS = "FOREBAY_SCREENSHOTS"
PHONE = {"width": 375, "height": 812}

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

WIDER = """
() => [...document.querySelectorAll('body *')]
    .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(one => one.outerHTML.slice(0, 120)).slice(0, 5)
"""


def look(page: Page, name: str) -> None:
    """Check how the page reads in light and dark, wide and at 375 px; keep pictures if asked."""
    for scheme in SCHEMES:
        with seen(page, scheme):
            assert_reads_well(page)
            shoot(page, f"{name}-{scheme}")
        with seen(page, scheme, phone=True):
            assert_fits(page)
            shoot(page, f"{name}-{scheme}-375")
    with seen(page, "light", phone=True):
        assert_reads_well(page)


@contextmanager
def seen(page: Page, scheme: Scheme = "light", *, phone: bool = False) -> Iterator[None]:
    """Show the page in a colour scheme, on a phone if so, within the block."""
    before = page.viewport_size
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if phone:
        page.set_viewport_size(PHONE)
    try:
        yield
    finally:
        page.emulate_media(color_scheme="null", reduced_motion="null")
        if before and phone:
            page.set_viewport_size(before)


def assert_reads_well(page: Page) -> None:
    """Fail with what axe finds that is serious or critical, and where."""
    found = Axe().run(page).response["violations"]
    bad = [one for one in found if one["impact"] in ("serious", "critical")]
    assert not bad, "\n".join(_finding(one) for one in bad)


def assert_fits(page: Page) -> None:
    """Fail when the page has to be scrolled sideways, with what sticks out."""
    width, visible = page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width <= visible, f"{width} px in {visible}: {page.evaluate(WIDER)}"


def shoot(page: Page, name: str) -> None:
    """Keep a picture of the whole page in $FOREBAY_SCREENSHOTS, when that is set."""
    if folder := os.environ.get(SCREENSHOTS):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def _finding(violation: dict[str, Any]) -> str:
    where = [node["target"][0] for node in violation["nodes"][:5]]
    why = violation["nodes"][0].get("failureSummary", "")
    return f"{violation['impact']}: {violation['help']} at {where}: {why}"
