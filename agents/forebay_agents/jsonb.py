"""Make what was read from a document safe for a jsonb column."""

import json
import math
from typing import Any


def safe(value: Any) -> Any:
    """Return `value` with what jsonb refuses taken out, at any depth and in keys too.

    NUL characters go, lone surrogates become U+FFFD, NaN and infinite numbers become None; what is
    no JSON type (a Decimal, a date) becomes its text.
    """
    match value:
        case str():
            return safe_text(value)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {safe_text(str(key)): safe(item) for key, item in value.items()}
        case list() | tuple():
            return [safe(item) for item in value]
        case _:
            return safe_text(str(value))


def safe_text(text: str) -> str:
    """Return `text` without NUL and without surrogates; a pair of them becomes its character."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", "")


def size(value: Any) -> int:
    """Return how many bytes `value` takes as JSON in UTF-8, which is how the limits count."""
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
