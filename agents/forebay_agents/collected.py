"""Gather pages into one result of bounded size, whatever the size of the document."""

from collections import deque
from decimal import Decimal
from typing import Any

from forebay import jsonb
from forebay.agent import Result
from forebay_agents.reading.documents import DocumentError, Page
from forebay_agents.reading.layout import Row
from forebay_agents.rules import labels
from forebay_agents.rules.fields import Found, find_fields

TEXT_LIMIT = 700_000
TABLES_LIMIT = 250_000
NOTES_LIMIT = 100
"""Bytes of JSON, bytes of JSON and notes: together they stay below a result's 1 MiB."""

EDGE_PAGES = 5
"""How many pages at each end are searched for fields: titles stand first, totals last."""


class Collected:
    """Hold what the pages said so far: `add` them in order, then take the `result`."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self._with_text = 0
        self._broken = 0
        self._lines: list[str] = []
        self._tables: list[dict[str, Any]] = []
        self._notes: list[str] = []
        self._first: list[list[Row]] = []
        self._last: deque[list[Row]] = deque(maxlen=EDGE_PAGES)
        self._text_budget = _Budget(TEXT_LIMIT)
        self._tables_budget = _Budget(TABLES_LIMIT)

    def add(self, page: Page) -> None:
        """Take what `page` says, as far as there is room for it."""
        self._with_text += bool(page.text)
        self._broken += page.is_broken
        edge = self._first if len(self._first) < EDGE_PAGES else self._last
        edge.append(page.rows)
        self._notes += page.notes
        self._add_text(page)
        self._add_tables(page)

    def result(self) -> Result:
        """Return the result; raises DocumentError when not one page could be read."""
        if self._broken == self._pages:
            raise DocumentError("bad_input", "The PDF is broken: none of its pages can be read.")
        if not self._with_text:
            self._notes.insert(0, "No page has text: this is a scan, or blank.")
        fields = find_fields([*self._first, *self._last])
        data = {
            "pages": self._pages,
            "page_count": self._pages,
            "text": "\n".join(self._lines),
            "tables": self._tables,
            "fields": {name: found.value for name, found in fields.items()},
            "notes": self._notes[:NOTES_LIMIT],
        }
        return Result(jsonb.mended(data), confidence(self._with_text / self._pages, fields))

    def _add_text(self, page: Page) -> None:
        for line in jsonb.mended(page.text).splitlines() if page.text else []:
            if not self._text_budget.take(line):
                break
            self._lines.append(line)
        if self._text_budget.just_spent():
            self._lines.append(f"[The text is cut here, on page {page.number} of {self._pages}.]")

    def _add_tables(self, page: Page) -> None:
        for table in jsonb.mended(page.tables):
            if self._tables_budget.take(table):
                self._tables.append({"page": page.number, "rows": table})
        if self._tables_budget.just_spent():
            self._notes.append(
                f"There are too many tables: some from page {page.number} on are left out."
            )


def confidence(coverage: float, fields: dict[str, Found]) -> Decimal:
    """Return from 0 to 1 how far a result can be trusted, from its evidence alone.

    It is the share of pages with text, times 0.3 for text that nothing was recognised in, up to 1
    when every field that documents of this kind have was found on the best evidence.
    """
    kind = fields["kind"].value if "kind" in fields else ""
    wanted = ("kind", *labels.EXPECTED.get(kind, ("date",)))
    evidence = sum(fields[name].strength for name in wanted if name in fields) / len(wanted)
    return Decimal(coverage * (0.3 + 0.7 * evidence)).quantize(Decimal("0.001"))


class _Budget:
    """Count down bytes of JSON; what does not fit closes it for all that follows."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._told = False

    def take(self, value: Any) -> bool:
        """Spend the size of `value`; False if that is more than was left."""
        if self._left >= 0:
            self._left -= jsonb.size(value) + 1
        return self._left >= 0

    def just_spent(self) -> bool:
        """Tell once that something did not fit."""
        told, self._told = self._told, self._left < 0
        return self._told and not told
