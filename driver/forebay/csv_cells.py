"""Values as cells of a CSV file that people open with a spreadsheet."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

BOM = "\ufeff"
"""By which spreadsheets know UTF-8."""

FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
"""How a cell begins that a spreadsheet might take for something to do."""

NUMBER = re.compile(r"-?\d+(\.\d+)?")


def cell(value: Any) -> str:
    """Return a value for a table; what a spreadsheet might carry out gets an apostrophe."""
    if value is None:
        return ""
    said = value.isoformat() if isinstance(value, datetime) else str(value)
    said = said.replace("\0", "")
    if FORMULA.match(said) and not NUMBER.fullmatch(said):
        return f"'{said}"
    return said
