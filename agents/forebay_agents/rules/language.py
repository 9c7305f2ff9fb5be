"""Tell the language of a document by its labels, which an invoice has many of, and its prose."""

import re
from collections import defaultdict
from functools import cache
from typing import Any

from forebay_agents.findings import Evidence, Found
from forebay_agents.languages import LANGUAGES
from forebay_agents.pages import Page
from forebay_agents.rules.places import Document

KANA = re.compile(r"[\u3040-\u30ff]")
OTHERS = ("da", "sv", "no", "fi", "pl", "cs", "hu", "ro", "tr", "el", "ru", "uk", "zh", "ko", "ca")
"""Languages that are told, but whose labels are not known."""

ENOUGH_LABELS = 6.0
ENOUGH_LETTERS = 400
"""From how many labels and letters on they count in full."""

PROSE_LIMIT = 4000
"""How many characters of prose are looked at."""

SUREST, LEAST, CLEARLY = 0.98, 0.3, 0.5


def find_language(document: Document) -> Found | None:
    """Return the language that labels and prose agree on, or the one that is clearly ahead."""
    if len(KANA.findall(document.text)) >= 5:
        return _found("ja", SUREST, "")
    weights = defaultdict[str, float](float)
    labels, counted = label_shares(document)
    for language, share in labels.items():
        weights[language] += share * min(counted / ENOUGH_LABELS, 1.0)
    prose = _prose(document)
    if prose:
        for language, probability in _identifier().rank(prose)[:3]:
            weights[language] += probability * min(len(prose) / ENOUGH_LETTERS, 1.0)
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])
    if not ranked:
        return None
    (language, weight), rest = ranked[0], sum(weights.values()) - ranked[0][1]
    confidence = SUREST * weight / (weight + rest) * min(0.6 + weight / 3, 1.0)
    return _found(language, confidence, prose) if confidence >= LEAST else None


def language_of(page: Page) -> str | None:
    """Return the language of a page's words, when it is clear and its labels are known."""
    found = find_language(Document([page]))
    is_clear = found and found.evidence.confidence >= CLEARLY and found.value in LANGUAGES
    return found.value if found and is_clear else None


def label_shares(document: Document) -> tuple[dict[str, float], float]:
    """Return each language's share of the labels, and how many labels there are.

    A phrase that several languages say counts little for each of them.
    """
    shares = defaultdict[str, float](float)
    seen = set()
    for spot in document.spots:
        for label in spot.labels:
            word = spot.text[label.start : label.end].lower()
            if len(word) >= 4 and label.leads and word not in seen:
                seen.add(word)
                for language in label.languages:
                    shares[language] += len(label.languages) ** -2
    counted = sum(shares.values())
    return {language: share / counted for language, share in shares.items()}, counted


def _prose(document: Document) -> str:
    """Return the words of the document, without numbers, codes and addresses on the web."""
    words = re.sub(r"\S*[\d@/#<>_]\S*|www\S*", " ", document.text[:PROSE_LIMIT])
    plain = re.sub(r"\s+", " ", words).strip().lower()
    return plain if len(plain) >= 20 else ""


def _found(language: str, confidence: float, words: str) -> Found:
    return Found(language, Evidence(words[:80], round(confidence, 3)))


@cache
def _identifier() -> Any:
    """Load the model once; it takes a moment."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([*LANGUAGES, *OTHERS])
    return identifier
