"""Compare one document's fields and lines with the truth about it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from forebay_agents.findings import AMOUNTS, NAMES, PARTIES, Name

Verdict = Literal["right", "wrong", "missing", "invented"]
"""A field is invented when the truth does not know it."""

LINE_SUMS = ("quantity", "unit_price", "amount")

Tally = Counter[Verdict]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """What was right and wrong in one document.

    `read` tells where its words come from: text, ocr, vision, or the xml inside. `misses` say in
    sentences what is not right.
    """

    document: str
    kind: str
    language: str
    read: str
    is_status_right: bool
    confidence: float | None
    fields: dict[Name, Verdict] = field(default_factory=dict)
    lines: Tally = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share of fields that are right, from 0 to 1."""
        right = sum(verdict == "right" for verdict in self.fields.values())
        return right / len(self.fields) if self.fields else 0.0


def judge(row: Row, truth: Row) -> Judged:
    """Compare one document's row with its truth; one that is to fail has no fields to compare."""
    is_right = row["status"] == truth["status"]
    if truth["status"] == "failed":
        misses = [] if is_right else ["It was to fail and did not."]
        return Judged(row["document"], "unreadable", "-", "-", is_right, None, misses=misses)
    told, found = truth.get("fields", {}), row["fields"]
    fields = {
        name: _verdict(name, found.get(name), told.get(name))
        for name in NAMES
        if name in told or name in found
    }
    misses = [] if is_right else [f"It failed: {row['reason']}"]
    misses += [
        _miss(name, verdict, found.get(name), told.get(name))
        for name, verdict in fields.items()
        if verdict != "right" and is_right
    ]
    lines = _lines((row.get("result") or {}).get("lines", []), truth.get("lines"))
    if lines["missing"] or lines["invented"]:
        misses.append(
            f"lines: {lines['missing']} of {lines['missing'] + lines['right']} missing or not"
            f" right, {lines['invented']} not there"
        )
    return Judged(
        document=row["document"],
        kind=told.get("kind", "-"),
        language=told.get("language", "-"),
        read=_read(row),
        is_status_right=is_right,
        confidence=row["confidence"],
        fields=fields,
        lines=lines,
        misses=misses,
    )


def _verdict(name: str, found: str | None, told: str | None) -> Verdict:
    if told is None:
        return "invented"
    if found is None:
        return "missing"
    return "right" if _same(name, found, told) else "wrong"


def _same(name: str, found: str, told: str) -> bool:
    if name in AMOUNTS:
        return _sum(found) == _sum(told)
    if name in PARTIES:
        return _plain(found) == _plain(told)
    return found == told


def _miss(name: str, verdict: Verdict, found: str | None, told: str | None) -> str:
    return {
        "wrong": f"{name}: {found}, not {told}",
        "missing": f"{name}: not found, it is {told}",
        "invented": f"{name}: {found}, which is not there",
    }[verdict]


def _lines(found: Sequence[Row], told: Sequence[Row] | None) -> Tally:
    """Count the lines that are right: text and all numbers that the truth has; order is free."""
    if told is None:
        return Counter()
    left = defaultdict(list)
    for line in found:
        left[_plain(line["description"])].append(line)
    right = 0
    for line in told:
        like = left[_plain(line["description"])]
        match = next((each for each in like if _same_line(each, line)), None)
        if match is not None:
            like.remove(match)
            right += 1
    return Counter({"right": right, "missing": len(told) - right, "invented": len(found) - right})


def _same_line(found: Row, told: Row) -> bool:
    return all(_sum(found.get(key)) == _sum(told[key]) for key in LINE_SUMS if key in told)


def _sum(value: str | None) -> Decimal | None:
    try:
        return None if value is None else Decimal(value)
    except InvalidOperation:
        return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _read(row: Row) -> str:
    """Return what gave the document its words, the least sure first where there are several."""
    result = row.get("result") or {}
    evidence = {each.get("source") for each in result.get("evidence", {}).values()}
    if "xml" in evidence:
        return "xml"
    pages = {page.get("source") for page in result.get("pages", [])}
    return next((source for source in ("vision", "ocr", "text") if source in pages), "-")
