"""JSON as Postgres stores it: no NaN, no NUL, no half of a surrogate pair."""

import json
import math
from collections.abc import Sequence
from typing import Any

from forebay.errors import InvalidDocumentError

REPLACEMENT = "\ufffd"


def dump(name: str, value: Any) -> str:
    """Return value as JSON text; raise InvalidDocumentError, naming it, if it cannot be stored."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidDocumentError(
            f"{name} holds half of a surrogate pair (U+{ord(error.object[error.start]):04X}),"
            " which is not text: remove it."
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidDocumentError(f"{name} is not JSON: {error}.") from error
    if "\\u0000" in text and _holds_nul(value):
        raise InvalidDocumentError(f"{name} holds a NUL character, which Postgres cannot store.")
    return text


def dump_safe(name: str, value: Any) -> str:
    """Return value as JSON text after mending it: for what an agent found, which must not be lost.

    NaN and Infinity become null; NUL and half surrogate pairs become U+FFFD. What is no JSON at all
    still raises InvalidDocumentError.
    """
    try:
        return dump(name, value)
    except InvalidDocumentError:
        try:
            sound = mended(value)
        except RecursionError as error:
            raise InvalidDocumentError(f"{name} is not JSON: it is nested too deep.") from error
        return dump(name, sound)


def dump_all_safe(name: str, values: Sequence[Any]) -> list[str]:
    """Return dump_safe of each value; an error names the place, counted from 1."""
    return [dump_safe(f"{name}[{place}]", value) for place, value in enumerate(values, 1)]


def _holds_nul(value: Any) -> bool:
    """Tell a NUL from a backslash that happens to stand before the letters u0000."""
    match value:
        case str():
            return "\0" in value
        case dict():
            return any(_holds_nul(part) for pair in value.items() for part in pair)
        case list() | tuple():
            return any(map(_holds_nul, value))
    return False


def mended(value: Any) -> Any:
    """Return value with what Postgres cannot store replaced, at any depth and in keys too.

    NUL and half surrogate pairs become U+FFFD; NaN and the infinities become None. Raises
    RecursionError for what is nested too deep.
    """
    match value:
        case str():
            whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return whole.replace("\0", REPLACEMENT)
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {mended(key): mended(part) for key, part in value.items()}
        case list() | tuple():
            return [mended(part) for part in value]
    return value


def size(value: Any) -> int:
    """Return how many bytes value, which can be stored, takes as JSON: so the limits count."""
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
