"""What agents and callers wrote, as JSON for people: as much of it as a page can bear."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MOST_LEVELS = 40  # of lists and objects in each other; what is deeper is an ellipsis
MOST_CHARACTERS = 100_000

_encoder = json.JSONEncoder(indent=2, ensure_ascii=False, default=float)


@dataclass(frozen=True, slots=True)
class Shown:
    """A document's text, and whether all of the document is in it."""

    text: str
    is_whole: bool


def shown(document: Any) -> Shown | None:
    """Return a document for people, or its beginning; None where there is none.

    Indented, a document of 1 MB can have hundreds: so no more is written than is shown.
    """
    if not document:
        return None
    shallow = _Shallow()
    text = _beginning(shallow.copy(document, MOST_LEVELS))
    return Shown(text[:MOST_CHARACTERS], not shallow.is_cut and len(text) <= MOST_CHARACTERS)


class _Shallow:
    """Copy a document without what is too deep in it, and note whether there was any."""

    def __init__(self) -> None:
        self.is_cut = False

    def copy(self, value: Any, levels: int) -> Any:
        """Return a copy with so many levels of lists and objects."""
        if not isinstance(value, dict | list) or not value:
            return value
        if not levels:
            self.is_cut = True
            return "…"
        if isinstance(value, dict):
            return {key: self.copy(part, levels - 1) for key, part in value.items()}
        return [self.copy(part, levels - 1) for part in value]


def _beginning(document: Any) -> str:
    """Return a document as text; of one that is too long, somewhat more than is shown."""
    pieces, size = [], 0
    for piece in _encoder.iterencode(document):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_CHARACTERS:
            break
    return "".join(pieces)
