"""What ai_parse_document answers (version 2.0), as far as it can be used: the rest is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forebay.jsonb import mended
from forebay_agents.pages import Box


@dataclass(frozen=True, slots=True)
class Element:
    """One element on one page, its box in pixels of the page's picture; confidence None: unsaid."""

    kind: str
    content: str
    box: Box
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The elements and the errors of each page, counted from 1; errors of none are `problems`."""

    version: str
    page_count: int
    elements: dict[int, list[Element]]
    errors: dict[int, str]
    problems: list[str]

    @classmethod
    def read(cls, document: Any) -> Answer:
        """Return what a document says; raises ValueError where it has not the shape at all."""
        inside = _dict(_dict(document).get("document"))
        pages, elements = inside.get("pages"), inside.get("elements")
        if not isinstance(pages, list) or not isinstance(elements, list):
            raise ValueError("no pages and elements")
        found: dict[int, list[Element]] = {}
        for one in elements:
            if placed := _element(_dict(one)):
                found.setdefault(placed[0], []).append(placed[1])
        errors: dict[int, str] = {}
        problems: list[str] = []
        for one in _list(_dict(document).get("error_status")):
            said = mended(str(_dict(one).get("error_message") or "no reason given"))
            number = _page_number(_dict(one).get("page_id"))
            if number is None:
                problems.append(said)
            else:
                errors[number] = said
        version = str(_dict(_dict(document).get("metadata")).get("version") or "unknown")
        return cls(mended(version), len(pages), found, errors, problems)


def _element(one: dict[str, Any]) -> tuple[int, Element] | None:
    """Return an element and its page: that of its first box; None for what says nothing."""
    content = one.get("content")
    first = next(iter(_list(one.get("bbox"))), None)
    number, box = _page_number(_dict(first).get("page_id")), _box(_dict(first).get("coord"))
    if not isinstance(content, str) or not content.strip() or number is None or box is None:
        return None
    confidence: Any = one.get("confidence")
    is_number = isinstance(confidence, int | float) and 0 <= confidence <= 1
    said = float(confidence) if is_number else None
    return number, Element(str(one.get("type")), mended(content), box, said)


def _page_number(page_id: Any) -> int | None:
    """Return the number of the page with this id, which counts from 0."""
    return page_id + 1 if isinstance(page_id, int) and page_id >= 0 else None


def _box(coord: Any) -> Box | None:
    try:
        left, top, right, bottom = (float(edge) for edge in coord)
    except (TypeError, ValueError):
        return None
    return (left, top, right, bottom) if left <= right and top <= bottom else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
