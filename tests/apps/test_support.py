"""The checks that every page goes through notice what they are for."""

from __future__ import annotations

import asyncio

import pytest
from playwright.sync_api import Page

from apps.support.browser import Chromium, Complaints
from apps.support.screen import assert_fits, assert_reads_well, look, seen

GOOD = """<!doctype html><html lang="en"><title>Good</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<main><h1>A page</h1><p id="words">With words.</p></main></html>"""


def test_a_good_page_passes(page: Page) -> None:
    """Nothing is found where nothing is wrong."""
    page.set_content(GOOD)
    look(page, "good")


def test_words_that_are_hard_to_read_are_found(page: Page) -> None:
    """The finding says where, so that it can be mended."""
    page.set_content(GOOD.replace('id="words"', 'id="words" style="color: #ccc"'))
    with pytest.raises(AssertionError, match=r"thresholds at \['#words'\]"):
        assert_reads_well(page)


def test_what_is_dark_alone_is_looked_at_too(page: Page) -> None:
    """A page whose dark colours are bad does not pass for its light ones."""
    dark = "@media (prefers-color-scheme: dark) { body { background: #111 } p { color: #222 } }"
    page.set_content(GOOD.replace("<title>", f"<style>{dark}</style><title>"))
    assert_reads_well(page)
    with pytest.raises(AssertionError, match="contrast"):
        look(page, "dark")


def test_what_sticks_out_on_a_phone_is_found(page: Page) -> None:
    """It fits on a desk, and not on 375 px; afterwards the page is as wide as before."""
    page.set_content(GOOD.replace('id="words"', 'id="words" style="width: 600px"'))
    assert_fits(page)
    with seen(page, phone=True), pytest.raises(AssertionError, match=r'in 375: .*id="words"'):
        assert_fits(page)
    assert_fits(page)


def test_scripts_that_fail_and_strange_addresses_are_told(
    page: Page, complaints: Complaints
) -> None:
    """A test learns of what nobody sees on the page, unless it expects that."""
    page.set_content(GOOD)
    page.evaluate("setTimeout(() => { throw new Error('broken') })")
    page.evaluate("fetch('https://cdn.invalid/x.js').catch(() => null)")
    page.wait_for_timeout(100)
    assert [complaint[:30] for complaint in complaints.unexpected()][:2] == [
        "script error: broken",
        "a page asked for https://cdn.i",
    ]
    complaints.expect("broken", "cdn.invalid")
    assert not complaints.unexpected()


def test_another_event_loop_can_run_beside_the_browser(chromium_process: Chromium) -> None:
    """The browser goes on from test to test, and its loop is not in the way of those without it."""
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"
    with chromium_process.in_use() as browser:
        assert browser.new_page().evaluate("1 + 1") == 2
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"
