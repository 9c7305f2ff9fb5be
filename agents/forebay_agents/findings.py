"""What was found in a document, each value with the evidence for it."""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from forebay_agents.pages import Box

Kind = Literal[
    "invoice",
    "credit_note",
    "receipt",
    "statement",
    "quote",
    "order",
    "delivery_note",
    "contract",
    "form",
    "report",
]
"""The kinds of documents that are told apart."""

Name = Literal[
    "kind",
    "number",
    "date",
    "due_date",
    "currency",
    "total",
    "total_net",
    "tax",
    "seller",
    "buyer",
    "language",
]
"""The fields: dates in ISO 8601, currency in ISO 4217, language in ISO 639-1, sums as decimals."""

NAMES: tuple[Name, ...] = get_args(Name)
AMOUNTS: tuple[Name, ...] = ("total", "total_net", "tax")
DATES: tuple[Name, ...] = ("date", "due_date")
PARTIES: tuple[Name, ...] = ("seller", "buyer")

EvidenceSource = Literal["text", "ocr", "vision", "ai_parse", "xml", "model"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a value stands: the page, its place there, and the words that say it.

    `confidence` is how surely the value is the field's, from 0 to 1. Page and box are None for
    what stands on no page: the XML inside an e-invoice, a language told from all words.
    """

    text: str
    confidence: float
    page: int | None = None
    box: Box | None = None
    source: EvidenceSource = "text"


@dataclass(frozen=True, slots=True)
class Found:
    """A field's value, as text in its plain form, and its evidence."""

    value: str
    evidence: Evidence

    @property
    def confidence(self) -> float:
        """How surely the value is the field's, from 0 to 1."""
        return self.evidence.confidence

    def with_confidence(self, confidence: float) -> "Found":
        """Return the same value, as sure as that."""
        return replace(self, evidence=replace(self.evidence, confidence=confidence))


@dataclass(frozen=True, slots=True)
class Line:
    """One line item; what it does not say is None. Numbers are decimals as text."""

    description: str
    quantity: str | None = None
    unit_price: str | None = None
    amount: str | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What one reader of a document found: rules, a model, or the XML of an e-invoice.

    `unanswered` is the share of what a model was asked that it gave no usable answer to, from 0 to
    1; nobody asked is 0.
    """

    fields: dict[Name, Found] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unanswered: float = 0.0
