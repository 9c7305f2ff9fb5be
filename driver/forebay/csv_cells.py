"""Values as cells of a CSV file that people open with a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from forebay.visible import is_seen

BOM = "\ufeff"
"""By which spreadsheets know UTF-8."""

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫−"
"""With which a formula begins, after what is not seen."""

NUMBER = re.compile(r"-?\d+(\.\d+)?")
NEXT_CELL = re.compile(r"(?<=[;\t\r\n])")
"""Where another cell begins for who reads the file with another separator, as in many countries."""


def cell(value: Any) -> str:
    """Return a value for a table; what a spreadsheet might carry out gets an apostrophe.

    So does each part that is a cell of its own with another separator, and what would look like
    that then, so that no two values are the same cell.
    """
    first, *others = NEXT_CELL.split(_text(value).replace("\0", ""))
    said = first + "".join(_guarded(other, _may_begin_formula) for other in others)
    return _guarded(said, _may_be_formula)


def _guarded(said: str, is_risky: Callable[[str], bool]) -> str:
    return f"'{said}" if is_risky(said.lstrip("'")) else said


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, tuple | list):
        return ", ".join(map(_text, value))
    return str(value)


def _may_be_formula(said: str) -> bool:
    """Tell whether a spreadsheet might take a cell for something to do."""
    if said.startswith(("\t", "\r", "\n")):
        return True
    return _may_begin_formula(said) and not NUMBER.fullmatch(said)


def _may_begin_formula(said: str) -> bool:
    """Tell whether what is seen first is a sign; quotes around nothing are not seen in the end."""
    first = next(filter(is_seen, said.replace('"', "")), "")
    return first != "" and first in SIGNS
