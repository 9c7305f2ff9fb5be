"""Make texts comparable: one form for each character, spaced-out words closed, accents aside."""

import re
import unicodedata
from functools import lru_cache

SPACED_OUT = re.compile(r"(?:[^\W\d_]\s){3,}[^\W\d_]|(?:\S\s){5,}\S")
IGNORED = frozenset(" -‐‑–_.'’`´()[]{}*\u200b\u00ad\t\n")
"""Characters between and around the words of a label that do not change what it says."""

JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff々〆]")
LETTER = re.compile(r"[^\W\d_]")


def normal(text: str) -> str:
    """Return `text` with full-width forms narrowed, single spaces, and I N V O I C E closed."""
    plain = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("−", "-")
    if SPACED_OUT.fullmatch(plain.strip()):
        words = re.split(r"\s{2,}", plain.strip())
        plain = " ".join(re.sub(r"\s", "", word) for word in words)
    return re.sub(
        r"(?<=[・、。])\s|\s(?=[・、。])|\s+(?=\s)", "", re.sub(r"\s", " ", plain)
    ).strip()


@lru_cache(maxsize=4096)
def folded(character: str) -> str:
    """Return one character without case and accent; always one character."""
    lower = character.lower()
    base = unicodedata.normalize("NFD", lower)
    if len(base) > 1 and all("\u0300" <= mark <= "\u036f" for mark in base[1:]):
        lower = base[0]
    return lower if len(lower) == 1 else character


def fold(text: str) -> str:
    """Return `text` without case and accents, as long as before."""
    return "".join(map(folded, text))


def squash(text: str) -> str:
    """Return what counts in `text` when labels are compared."""
    return "".join(character for character in fold(text) if character not in IGNORED)


def same_name(one: str, other: str) -> bool:
    """Tell whether two texts name one party: spaces, case and points do not count."""
    return squash(normal(one)) == squash(normal(other))


def letters(text: str) -> int:
    """Count the letters in `text`."""
    return sum(map(str.isalpha, text))
