"""Find text that gives orders to a model: it is kept from the model, and a note says so.

This knows the usual wordings in the languages of documents, not every wording: what passes it
still has to be located, and counts for little when it stands in a sentence (see `verify`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from forebay_agents.pages import Page, row_text
from forebay_agents.rules.text import normal

ROWS_AFTER = 2
"""Rows below an order that are kept back with it: orders go on beyond their first row."""

LONGEST_QUOTE = 80
"""Characters of the order that the note repeats."""

_FEW_WORDS = r"(?:\W+\w+){0,5}?\W+"
_ORDERS = (
    (r"ignore|disregard|forget|override|bypass", r"instructions?|prompts?|rules|guidelines"),
    (r"ignorier\w*|missacht\w*|vergiss|vergessen", r"anweisung\w*|instruktion\w*|vorgaben?|regeln"),
    (r"ignore[sz]?|oublie[sz]?", r"instructions?|consignes?|directives?|règles"),
    (
        r"ignor[ae]\w*|olvid\w+|desconsider\w+|esque[cç]\w+",
        r"instruc\w+|instruç\w+|indicac\w+|reg(?:la|ra)s",
    ),
    (r"ignora\w*|dimentica\w*", r"istruzion\w+|indicazion\w+|regole"),
    (r"negeer|vergeet", r"instructies?|opdracht\w*|aanwijzing\w*|regels"),
)
_PATTERNS = (
    *(rf"\b(?:{verb})\b{_FEW_WORDS}(?:{what})\b" for verb, what in _ORDERS),
    r"(?:指示|命令|プロンプト|指令).{0,12}(?:無視|忘れ)",
    r"\b(?:system|developer) (?:prompt|message)\b|(?:<\|?|\[)/?(?:im_start|im_end|inst|system)\b",
    r"\b(?:language model|sprachmodell|modèle de langage|modelo de linguagem|large language)\b",
    r"\b(?:you are|act as|du bist|sie sind|vous êtes|eres|sei) (?:an? |ein\w* |une? |un )?"
    r"(?:ai|ki|ia|assistant|chatbot|assistent\w*|llm)\b",
    r"\b(?:ai|llm|chatbot)s?\b.{0,30}\b(?:must|should|shall|please)\b",
    r"\b(?:your|the) (?:answer|output|response|json|reply)\b.{0,20}\b(?:must|should|shall)\b",
)
_ORDER = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))


def without_orders(page: Page) -> tuple[Page, list[str]]:
    """Return the page without rows that give orders to a model, and the notes on them."""
    texts = [normal(row_text(row)).casefold() for row in page.rows]
    found = list(_orders(texts))
    if not found:
        return page, []
    held = {row for first, last in found for row in range(first, last + 1 + ROWS_AFTER)}
    kept = [row for number, row in enumerate(page.rows) if number not in held]
    said = row_text(page.rows[found[0][0]])[:LONGEST_QUOTE]
    note = (
        f"Page {page.number} holds text that gives orders to a model, such as “{said}”:"
        " the model was not shown it."
    )
    return replace(page, rows=kept), [note]


def _orders(texts: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each order: one may run over the end of a row."""
    ends = list(accumulate(len(text) + 1 for text in texts))
    for match in _ORDER.finditer(" ".join(texts)):
        yield bisect_right(ends, match.start()), bisect_right(ends, match.end() - 1)
