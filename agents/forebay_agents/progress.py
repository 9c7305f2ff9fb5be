"""Tell how far an attempt is: at once, at the end, and at most twice a second in between."""

import time

from forebay.agent import Attempt

INTERVAL = 0.5
"""Seconds between two reports."""


class Progress:
    """Report pages of one attempt as they are done."""

    def __init__(self, attempt: Attempt, total: int) -> None:
        self._attempt = attempt
        self._total = total
        self._next = 0.0

    def done(self, pages: int) -> None:
        """Say that so many pages are done, unless the last report is too young."""
        if time.monotonic() >= self._next or pages == self._total:
            self._attempt.progress(pages, self._total)
            self._next = time.monotonic() + INTERVAL
