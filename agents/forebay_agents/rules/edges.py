"""The pages that fields are looked for on: titles stand on the first, totals on the last."""

from collections import deque

from forebay_agents.pages import Page

EDGE = 5
"""How many pages at each end are kept."""


class EdgePages:
    """Keep the first and the last pages of a document of any length."""

    def __init__(self) -> None:
        self._first: list[Page] = []
        self._last: deque[Page] = deque(maxlen=EDGE)

    @property
    def pages(self) -> list[Page]:
        """The pages kept so far, in order."""
        return [*self._first, *self._last]

    def add(self, page: Page) -> None:
        """Take the next page."""
        if len(self._first) < EDGE:
            self._first.append(page)
        else:
            self._last.append(page)
