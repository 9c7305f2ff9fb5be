"""Sum up how well documents were read, in all and by groups."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import StatisticsError, correlation
from typing import Any

from forebay_agents.check.judging import Judged, Tally
from forebay_agents.check.tables import (
    VERDICTS,
    Groups,
    accuracy,
    as_markdown,
    as_text,
    percent,
)
from forebay_agents.findings import NAMES

SURE = 0.9
"""A confidence that is high."""

BANDS = {SURE: "0.9 and more", 0.7: "0.7 to 0.9", 0.5: "0.5 to 0.7", 0.0: "below 0.5"}
"""What confidences are grouped by: the least of each group, and what it is called."""


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
    def by_confidence(self) -> dict[str, Tally]:
        """Return the verdicts for each group of confidences, the highest first."""
        found = self.tallies(lambda each: _band(each.confidence))
        return {band: found[band] for band in (*BANDS.values(), "none") if band in found}

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
        return _correlation(self._confidences, self._shares)

    @property
    def best_correlation(self) -> float | None:
        """Return what the correlation would be if confidence put all documents in the right order.

        It is less than one where many documents are equally right and not equally sure.
        """
        return _correlation(sorted(self._confidences), sorted(self._shares))

    @property
    def separation(self) -> float | None:
        """Return how often a document with a wrong field has less confidence than one without.

        Equal confidence counts half. None when all documents are right, or none is.
        """
        rated = list(zip(self._confidences, self._shares, strict=True))
        right = [sure for sure, share in rated if share == 1]
        wrong = [sure for sure, share in rated if share < 1]
        pairs = [(w < r) + (w == r) / 2 for w, r in product(wrong, right)]
        return sum(pairs) / len(pairs) if pairs else None

    @property
    def _confidences(self) -> list[float]:
        return [each.confidence for each in self._rated if each.confidence is not None]

    @property
    def _shares(self) -> list[float]:
        return [each.share for each in self._rated]

    @property
    def _rated(self) -> list[Judged]:
        """Return the documents that have both a confidence and fields to judge."""
        return [each for each in self.documents if each.fields and each.confidence is not None]

    @property
    def groups(self) -> Groups:
        """Return the tallies that tables show: by field, kind, language, source, confidence."""
        return {
            "field": {**self.by_field, "all fields": self.fields, "lines": self.lines},
            "kind": self.tallies(lambda each: each.kind),
            "language": self.tallies(lambda each: each.language),
            "read from": self.tallies(lambda each: each.read),
            "confidence": self.by_confidence,
        }

    @property
    def sentences(self) -> list[str]:
        """Return what the tables do not show: how documents ended, and what confidence is worth."""
        right, count = self.statuses
        whole = sum(each.share == 1 for each in self.documents)
        said = [
            f"{right} of {count} documents ended as they were to: read, or refused.",
            f"{whole} have all their fields right.",
        ]
        rated = zip(self._confidences, self._shares, strict=True)
        if sure := [share for confidence, share in rated if confidence >= SURE]:
            said.append(
                f"Of {len(sure)} documents with a confidence of {SURE} and more,"
                f" {sum(share == 1 for share in sure)} have all their fields right."
            )
        if self.rank_correlation is not None:
            said.append(
                "Spearman's rank correlation of confidence with the share of right fields:"
                f" {self.rank_correlation:.2f}; in the best order it would be"
                f" {self.best_correlation:.2f}."
            )
        if self.separation is not None:
            said.append(
                "A document with a wrong field has less confidence than one without in"
                f" {percent(self.separation)} of all pairs."
            )
        return said

    def table(self) -> str:
        """Return the numbers for a terminal, and below them what is not right."""
        misses = [
            "\n  ".join([each.document, *each.misses]) for each in self.documents if each.misses
        ]
        return "\n\n".join([as_text(self.groups), "\n".join(self.sentences), *misses])

    def markdown(self) -> str:
        """Return the numbers as tables of Markdown."""
        return "\n\n".join([as_markdown(self.groups), *self.sentences])

    def as_json(self) -> dict[str, Any]:
        """Return all numbers, and of each document what is not right."""
        right, count = self.statuses
        return {
            "documents": count,
            "ended_as_expected": right,
            "accuracy": accuracy(self.fields),
            "fields": _numbers(self.by_field),
            "kinds": _numbers(self.groups["kind"]),
            "languages": _numbers(self.groups["language"]),
            "sources": _numbers(self.groups["read from"]),
            "confidences": _numbers(self.groups["confidence"]),
            "lines": _numbers({"all": self.lines})["all"],
            "rank_correlation": self.rank_correlation,
            "best_correlation": self.best_correlation,
            "separation": self.separation,
            "misses": {each.document: each.misses for each in self.documents if each.misses},
        }


def _band(confidence: float | None) -> str:
    """Return between which numbers a confidence is."""
    if confidence is None:
        return "none"
    return next(said for least, said in BANDS.items() if confidence >= least)


def ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1; equal ones share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    try:
        return correlation(ranks(one), ranks(other))
    except StatisticsError:
        return None


def _numbers(tallies: Mapping[str, Tally]) -> dict[str, dict[str, Any]]:
    return {
        name: {verdict: tally[verdict] for verdict in VERDICTS} | {"accuracy": accuracy(tally)}
        for name, tally in tallies.items()
    }
