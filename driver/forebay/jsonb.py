"""JSON as Postgres stores it: no NaN, no NUL, no half of a surrogate pair."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from forebay.errors import InvalidDocumentError

REPLACEMENT = "\ufffd"
MOST_LEVELS = 1000
"""How deep lists and objects may be in each other for what is wrong in them to be mended."""

NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""A NUL in JSON text: not the letters u0000 after a backslash, which is written as two."""


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
    except RecursionError:
        raise InvalidDocumentError(f"{name} is nested too deep.") from None
    except (TypeError, ValueError) as error:
        raise InvalidDocumentError(f"{name} is not JSON: {error}.") from error
    if "\\u0000" in text and NUL.search(text):
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
        except RecursionError:
            raise InvalidDocumentError(f"{name} is nested too deep.") from None
        return dump(name, sound)


def dump_all_safe(name: str, values: Sequence[Any]) -> list[str]:
    """Return dump_safe of each value; an error names the place, counted from 1."""
    return [dump_safe(f"{name}[{place}]", value) for place, value in enumerate(values, 1)]


def mended(value: Any) -> Any:
    """Return value with what Postgres cannot store replaced, at any depth and in keys too.

    NUL and half surrogate pairs become U+FFFD; NaN and the infinities become None. Raises
    RecursionError for what is nested more than MOST_LEVELS deep, or holds itself.
    """
    whole = [_mended(value)]
    left: list[tuple[Any, int]] = [(whole, 0)]  # copies whose parts are the originals', and levels
    while left:
        parts, level = left.pop()
        if level > MOST_LEVELS:
            raise RecursionError("nested too deep")
        for place, part in parts.items() if isinstance(parts, dict) else enumerate(parts):
            parts[place] = copy = _mended(part)
            if isinstance(copy, dict | list):
                left.append((copy, level + 1))
    return whole[0]


def cut(text: str, most: int) -> str:
    """Return a text as Postgres can store it, of so many characters at most."""
    return str(_mended(text[:most]))


def _mended(value: Any) -> Any:
    """Return a text, a number or a key mended; of a list or object a copy, its parts as they are.

    A tuple becomes a list.
    """
    match value:
        case str():
            whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return whole.replace("\0", REPLACEMENT)
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {_key(key): part for key, part in value.items()}
        case list() | tuple():
            return list(value)
    return value


def _key(key: Any) -> Any:
    return _mended(key) if isinstance(key, str | float) else key


def size(value: Any) -> int:
    """Return how many bytes value, which can be stored, takes as JSON: so the limits count."""
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
