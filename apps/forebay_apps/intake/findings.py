"""What an agent found in a document, as a page shows it; of a result of another shape, less."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from babel import Locale

from forebay_agents.findings import AMOUNTS, NAMES, PARTIES
from forebay_agents.pages import Box

SURE, FAIR = 0.9, 0.7
"""From which confidence a value is told as sure, and from which as fair."""

LARGEST = 1e9
"""Numbers beyond it are none that a page, a box or a confidence has."""

LABELS = {"due_date": "Due", "total_net": "Net"}
ENGLISH = Locale("en")
DECIMAL = re.compile(r"(-?)(\d{1,30})(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Field:
    """A value that was found, and where: page and box are None for what stands on no page."""

    name: str
    value: str
    text: str
    source: str
    confidence: float | None
    page: int | None
    box: Box | None

    @property
    def label(self) -> str:
        return LABELS.get(self.name, words(self.name))

    @property
    def shown(self) -> str:
        """The value as people write it."""
        if self.name in AMOUNTS:
            return amount(self.value)
        if self.name == "language":
            return str(ENGLISH.languages.get(self.value, self.value))
        return words(self.value) if self.name == "kind" else self.value


@dataclass(frozen=True, slots=True)
class Table:
    """A ruled table of a page."""

    page: int | None
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as it was read: its size in points, and the rotation that makes it upright."""

    width: float
    height: float
    rotation: int


class Findings:
    """Look into a result, whose parts may be missing: any agent may have written it."""

    def __init__(self, result: Any) -> None:
        self._result: Mapping[str, Any] = result if isinstance(result, dict) else {}
        self.values = self._object("fields")
        self.fields = list(self._fields())
        self.lines = self._objects("lines")
        self.tables = list(self._tables())
        self.notes = [str(note) for note in self._list("notes")]
        self.text = str(self._result.get("text") or "")
        pages = _whole(self._result.get("page_count"))
        self.page_count = pages if pages and pages > 0 else None
        self.cut = [part for part in ("text", "tables", "lines") if f"{part}_file" in self._result]

    def sheet(self, number: int) -> Sheet | None:
        """Return how a page was read, if the result tells it."""
        for page in self._objects("pages"):
            size = [_number(page.get(name)) for name in ("width", "height")]
            if page.get("number") == number and all(size):
                return Sheet(size[0] or 0, size[1] or 0, _whole(page.get("rotation")) or 0)
        return None

    def marks(self, number: int) -> list[Field]:
        """Return the fields that are seen on a page."""
        return [field for field in self.fields if field.page == number and field.box]

    def _fields(self) -> Iterator[Field]:
        evidence = self._object("evidence")
        values = {name: value for name, value in self.values.items() if value is not None}
        order: dict[str, int] = {name: place for place, name in enumerate(NAMES)}
        for name in sorted(values, key=lambda name: order.get(name, len(order))):
            seen = evidence.get(name)
            seen = seen if isinstance(seen, dict) else {}
            yield Field(
                name=name,
                value=str(values[name]),
                text=str(seen.get("text") or ""),
                source=str(seen.get("source") or ""),
                confidence=_number(seen.get("confidence")),
                page=_whole(seen.get("page")),
                box=_box(seen.get("box")),
            )

    def _tables(self) -> Iterator[Table]:
        for table in self._objects("tables"):
            rows = table.get("rows")
            if isinstance(rows, list) and all(isinstance(row, list) for row in rows):
                yield Table(
                    _whole(table.get("page")), [[str(cell) for cell in row] for row in rows]
                )

    def _object(self, name: str) -> dict[str, Any]:
        value = self._result.get(name)
        return value if isinstance(value, dict) else {}

    def _list(self, name: str) -> list[Any]:
        value = self._result.get(name)
        return value if isinstance(value, list) else []

    def _objects(self, name: str) -> list[dict[str, Any]]:
        return [each for each in self._list(name) if isinstance(each, dict)]


def level(confidence: float | None) -> str:
    """Return how sure a value is, in a word: sure, fair or doubtful."""
    if confidence is None:
        return "unknown"
    return "sure" if confidence >= SURE else "fair" if confidence >= FAIR else "doubtful"


def words(name: Any) -> str:
    """Return the name of a field or a kind as words: Credit note."""
    return str(name or "").replace("_", " ").capitalize()


def amount(value: Any) -> str:
    """Return a decimal with its thousands apart: 12,345.60; what is none stays as it is."""
    said = "" if value is None else str(value)
    if not (found := DECIMAL.fullmatch(said)):
        return said
    return f"{found[1]}{int(found[2]):,}{found[3] or ''}"


def in_short(fields: Any) -> str:
    """Return kind and number, who sent it, and the total in its currency, as far as found."""
    if not isinstance(fields, dict):
        return ""
    parts = (
        (words(fields.get("kind")), fields.get("number")),
        (fields.get(PARTIES[0]),),
        (amount(fields.get("total")), fields.get("currency")),
    )
    said = (" ".join(str(each) for each in part if each) for part in parts)
    return " · ".join(filter(None, said))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= LARGEST else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _box(value: Any) -> Box | None:
    if not isinstance(value, list) or len(value) != 4:
        return None
    edges = [number for each in value if (number := _number(each)) is not None]
    return (edges[0], edges[1], edges[2], edges[3]) if len(edges) == 4 else None
