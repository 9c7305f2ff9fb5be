"""Compare what was found in documents with the truth about them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import product
from statistics import StatisticsError, correlation
from typing import Any, Literal, get_args

from forebay_agents.findings import Name

Verdict = Literal["right", "wrong", "missing", "invented"]
"""A field is invented when the truth does not know it."""

NAMES: tuple[str, ...] = get_args(Name)
SUMS = frozenset({"total", "total_net", "tax"})
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
    fields: dict[str, Verdict] = field(default_factory=dict)
    lines: Tally = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share of fields that are right, from 0 to 1."""
        right = sum(verdict == "right" for verdict in self.fields.values())
        return right / len(self.fields) if self.fields else 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """How well documents were read, in all and by groups."""

    documents: Sequence[Judged]

    def tallies(self, key: Callable[[Judged], str]) -> dict[str, Tally]:
        """Return the fields' verdicts for each group that `key` tells, the largest group first."""
        groups: dict[str, Tally] = defaultdict(Counter)
        for each in self.documents:
            if each.fields:
                groups[key(each)].update(each.fields.values())
        return dict(sorted(groups.items(), key=lambda group: (-group[1].total(), group[0])))

    @property
    def by_field(self) -> dict[str, Tally]:
        """Return the verdicts on each field, in the fields' own order."""
        fields: dict[str, Tally] = {name: Counter() for name in NAMES}
        for each in self.documents:
            for name, verdict in each.fields.items():
                fields[name][verdict] += 1
        return {name: tally for name, tally in fields.items() if tally}

    @property
    def fields(self) -> Tally:
        """Return the verdicts on all fields."""
        return sum(self.by_field.values(), Counter())

    @property
    def lines(self) -> Tally:
        """Return the verdicts on the lines of the documents whose truth has some."""
        return sum((each.lines for each in self.documents), Counter())

    @property
    def statuses(self) -> tuple[int, int]:
        """Return how many documents ended as they were to, and how many there are."""
        return sum(each.is_status_right for each in self.documents), len(self.documents)

    @property
    def rank_correlation(self) -> float | None:
        """Return Spearman's correlation of confidence with the share of right fields.

        None when one of the two never differs.
        """
        rated = self._rated
        try:
            return correlation(ranks([sure for sure, _ in rated]), ranks([s for _, s in rated]))
        except StatisticsError:
            return None

    @property
    def separation(self) -> float | None:
        """Return how often a document with a wrong field has less confidence than one without.

        Equal confidence counts half. None when all documents are right, or none is.
        """
        right = [sure for sure, share in self._rated if share == 1]
        wrong = [sure for sure, share in self._rated if share < 1]
        pairs = [(w < r) + (w == r) / 2 for w, r in product(wrong, right)]
        return sum(pairs) / len(pairs) if pairs else None

    @property
    def _rated(self) -> list[tuple[float, float]]:
        """Return confidence and share of right fields of each document that has both."""
        return [
            (each.confidence, each.share)
            for each in self.documents
            if each.fields and each.confidence is not None
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all numbers, and of each document what is not right."""
        right, count = self.statuses
        return {
            "documents": count,
            "ended_as_expected": right,
            "accuracy": accuracy(self.fields),
            "fields": _numbers(self.by_field),
            "kinds": _numbers(self.tallies(lambda each: each.kind)),
            "languages": _numbers(self.tallies(lambda each: each.language)),
            "sources": _numbers(self.tallies(lambda each: each.read)),
            "lines": _numbers({"all": self.lines})["all"],
            "rank_correlation": self.rank_correlation,
            "separation": self.separation,
            "misses": {each.document: each.misses for each in self.documents if each.misses},
        }

    def table(self) -> str:
        """Return the numbers for a terminal, and below them what is not right."""
        from forebay_agents.check_tables import as_text

        return as_text(self)

    def markdown(self) -> str:
        """Return the numbers as tables of Markdown."""
        from forebay_agents.check_tables import as_markdown

        return as_markdown(self)


def compare(pairs: Iterable[tuple[Row, Row]]) -> Report:
    """Compare rows, as `forebay parse --json --full` prints them, with the truth of each."""
    return Report([judge(row, truth) for row, truth in pairs])


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


def accuracy(tally: Tally) -> float | None:
    """Return the share that is right, from 0 to 1; None where there is nothing to judge."""
    return tally["right"] / tally.total() if tally else None


def ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1; equal ones share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def _verdict(name: str, found: str | None, told: str | None) -> Verdict:
    if told is None:
        return "invented"
    if found is None:
        return "missing"
    return "right" if _same(name, found, told) else "wrong"


def _same(name: str, found: str, told: str) -> bool:
    if name in SUMS:
        return _sum(found) == _sum(told)
    if name in ("seller", "buyer"):
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


def _numbers(tallies: Mapping[str, Tally]) -> dict[str, dict[str, Any]]:
    return {
        name: {verdict: tally[verdict] for verdict in get_args(Verdict)}
        | {"accuracy": accuracy(tally)}
        for name, tally in tallies.items()
    }
