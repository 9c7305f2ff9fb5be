"""Choose a field's value among those that the page offers, and keep the evidence for it."""

from collections.abc import Iterable
from dataclasses import dataclass

from forebay_agents.findings import Evidence, EvidenceSource, Found
from forebay_agents.rules.places import Document
from forebay_agents.rules.spots import Spot

SUREST = 0.97
"""No reading by rules is surer than this."""

TIE = 0.03
"""Two values whose confidences differ by less contradict each other."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that a field may have, the words that say so, and how surely it is the right one."""

    value: str
    confidence: float
    spot: Spot
    words: str


def choose(document: Document, candidates: Iterable[Candidate]) -> Found | None:
    """Return the surest value; None when there is none, or when another one is as sure."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        known = best.get(candidate.value)
        if known is None or candidate.confidence > known.confidence:
            best[candidate.value] = candidate
    ranked = sorted(best.values(), key=lambda candidate: -candidate.confidence)
    if not ranked or (len(ranked) > 1 and ranked[0].confidence - ranked[1].confidence < TIE):
        return None
    return found(document, ranked[0])


def found(document: Document, candidate: Candidate) -> Found:
    """Return a candidate as a found value with its evidence."""
    page = document.page(candidate.spot)
    source: EvidenceSource = "text" if page.source == "none" else page.source
    confidence = round(max(0.0, min(candidate.confidence, SUREST) * page.certainty), 3)
    evidence = Evidence(candidate.words, confidence, page.number, candidate.spot.box, source)
    return Found(candidate.value, evidence)
