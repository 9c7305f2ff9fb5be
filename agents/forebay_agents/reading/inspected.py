"""Tell how long a document is, without reading all of it."""

import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

from forebay_agents.reading.pdf import Pdf


def inspect(path: Path, sample: int) -> dict[str, Any]:
    """Return the pages of a document, its characters, and how many are wide (CJK) or digits.

    Characters are extrapolated from `sample` pages, spread over the document; a page that cannot
    be read has none. Raises DocumentError.
    """
    with closing(Pdf(path)) as pdf:
        count = min(sample, len(pdf))
        texts = [_text(pdf, len(pdf) * index // count + 1) for index in range(count)]
        share = len(pdf) / max(count, 1)
        characters = sum(map(len, texts))
        wide = sum(unicodedata.east_asian_width(c) in "WF" for text in texts for c in text)
        digits = sum(c in "0123456789" for text in texts for c in text)
        return {
            "pages": len(pdf),
            "characters": round(characters * share),
            "wide_characters": round(wide * share),
            "digits": round(digits * share),
        }


def _text(pdf: Pdf, number: int) -> str:
    try:
        return pdf.characters(number)
    except MemoryError:
        raise
    except Exception:  # a broken page can fail in any way
        return ""
