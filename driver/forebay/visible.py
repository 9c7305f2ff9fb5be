"""What people call things, as a page shows it: every name has something to see, and stays in line.

A name is data and kept as it is. Shown, a control character or line end is a space, and characters
that are not seen but order or hide others (bidi overrides, zero-width spaces) are left out.
files.js has the same rule for files that are only picked yet.
"""

import unicodedata

JOINERS = "\u200c\u200d"  # of letters and emoji: they change what is seen
BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols of which nothing is seen
SPACES = ("Cc", "Zl", "Zp")  # control characters, ends of lines and paragraphs
UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Zs", "Mn", "Me", "Cs")  # alone, nothing of them is seen


def visible(name: str, otherwise: str) -> str:
    """Return a name as it is shown, or `otherwise` where nothing of it can be seen."""
    shown = "".join(map(_shown, name)).strip()
    return shown if any(map(is_seen, shown)) else otherwise


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in SPACES:
        return " "
    return "" if category in ("Cf", "Cs") and character not in JOINERS else character


def is_seen(character: str) -> bool:
    """Tell whether a character shows anything, by itself."""
    return character not in BLANKS and unicodedata.category(character) not in UNSEEN
