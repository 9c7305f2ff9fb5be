"""Values as cells of a CSV file that people open with a spreadsheet."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from forebay.visible import is_seen

BOM = "\ufeff"
"""By which spreadsheets know UTF-8."""

SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫−"
"""With which a formula begins, after what is not seen."""

NUMBER = re.compile(r"-?\d+(\.\d+)?")


def cell(value: Any) -> str:
    """Return a value for a table; what a spreadsheet might carry out gets an apostrophe.

    So does what would look like that then, so that no two values are the same cell.
    """
    said = _text(value).replace("\0", "")
    return f"'{said}" if _may_be_formula(said.lstrip("'")) else said


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
    first = next(filter(is_seen, said), "")
    return first != "" and first in SIGNS and not NUMBER.fullmatch(said)
