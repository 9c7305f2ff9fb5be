"""Know the words at the heads of columns and at the ends of tables: those of words/heads.toml."""

import re
import tomllib
from importlib.resources import files
from typing import Literal, get_args

from forebay_agents.rules import words
from forebay_agents.rules.text import fold, normal

Concept = Literal[
    "position",
    "code",
    "date",
    "description",
    "quantity",
    "unit",
    "price",
    "discount",
    "tax",
    "amount",
    "debit",
    "credit",
    "balance",
    "other",
]
"""What stands in a column; "other" is anything else."""

_LETTER = r"[^\W\u3040-\u9fff]"
"""Letters that part words: Japanese has no spaces, so that its words may stand inside others."""


def _words() -> dict[str, list[str]]:
    """Return the words of each table of the file, in all languages, as they are compared."""
    text = files(words).joinpath("heads.toml").read_text("utf-8")
    return {
        name: sorted(
            {fold(normal(word)) for listed in languages.values() for word in listed.split(",")},
            key=len,
            reverse=True,
        )
        for name, languages in tomllib.loads(text).items()
    }


def _any(*tables: str) -> str:
    """Return a pattern for the words of `tables`, longer ones first."""
    found = sorted((word for table in tables for word in _WORDS[table]), key=len, reverse=True)
    return "|".join(map(re.escape, found))


_WORDS = _words()

CONCEPTS: dict[str, Concept] = {
    word: concept for concept in get_args(Concept) for word in _WORDS.get(concept, ())
}
HEAD = re.compile(rf"(?<!{_LETTER})(?:{_any(*set(CONCEPTS.values()))})(?!{_LETTER})")
THINGS = frozenset(_WORDS["thing"])
QUALIFIERS = frozenset(_WORDS["qualifier"])
FILLERS = frozenset(_WORDS["filler"])

_GOES_ON = rf"(?!{_LETTER})\W*(?:$|\d|(?:{_any('tail', 'total')})(?![^\W\d_]))"
_TOTAL = re.compile(
    rf"[^\w+]*(?:(?:{_any('total')}|[^\W\d_]+(?:summe|betrag|total|saldo|小計|合計))(?!{_LETTER}).{{0,40}}$"
    rf"|(?:\+ ?)?[\d., ]*%?\s?(?:{_any('tax-row')}){_GOES_ON})"
)
_CARRIED = re.compile(rf"\W*(?:{_any('carried')}){_GOES_ON}")


def compared(text: str) -> str:
    """Return `text` as heads are compared; as long as its normal form."""
    return fold(normal(text))


def is_total(label: str) -> bool:
    """Tell whether a row that begins so sums up a table, or tells a tax."""
    return _TOTAL.match(compared(label)) is not None


def is_carried(label: str) -> bool:
    """Tell whether a row that begins so carries a sum from page to page, or tells a balance."""
    return _CARRIED.match(compared(label)) is not None
