"""Values as cells of a CSV file that people open with a spreadsheet."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from forebay.visible import is_seen

BOM = "\ufeff"
"""By which spreadsheets know UTF-8."""

SIGNS = "=+-@＝＋－＠"
"""With which a formula begins, after what is not seen."""

NUMBER = re.compile(r"-?\d+(\.\d+)?")


def cell(value: Any) -> str:
    """Return a value for a table; what a spreadsheet might carry out gets an apostrophe."""
    if value is None:
        return ""
    said = value.isoformat() if isinstance(value, datetime) else str(value)
    said = said.replace("\0", "")
    return f"'{said}" if _may_be_formula(said) else said


def _may_be_formula(said: str) -> bool:
    """Tell whether a spreadsheet might take a cell for something to do."""
    if said.startswith(("\t", "\r", "\n")):
        return True
    first = next(filter(is_seen, said), "")
    return first != "" and first in SIGNS and not NUMBER.fullmatch(said)
