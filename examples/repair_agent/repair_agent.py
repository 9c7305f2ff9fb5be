"""An agent that repairs a table: its dates, amounts and countries get one plain form.

What a value leaves open, the others of its column settle; what stays open is told, not guessed.
"""

import csv
import io
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal

from babel import Locale

from forebay.agent import Attempt, Reject, Result

LOCALES = [Locale(language) for language in ("en", "de", "fr", "es", "it", "pt", "nl", "ja")]
COUNTRIES = {n.casefold(): c for each in LOCALES for c, n in each.territories.items() if len(c) < 3}
CURRENCY = "([A-Z]{3}|[€$£¥₹])"
MONTHS = {n.casefold(): m for each in LOCALES for m, n in each.months["format"]["wide"].items()}


def read_date(text: str, order: str) -> str | None:
    """Return the day in ISO 8601; without a year in front its parts stand in this order."""
    parts = re.findall(r"\d+|[^\W\d_]{3,}", text.casefold())
    said = dict(zip("YMD" if re.match(r"\d{4}", text) else order, parts, strict=False))
    try:
        month = MONTHS.get(said["M"]) or int(said["M"])
        return date.fromisoformat(f"{said['Y']}-{month:02}-{said['D']:0>2}").isoformat()
    except (KeyError, ValueError):
        return None


def read_amount(text: str, mark: str) -> str | None:
    """Return the sum as a decimal; `mark` is what stands before its cents."""
    other = "," if mark == "." else "."
    bare = re.sub(rf"^{CURRENCY}\s*|\s*{CURRENCY}$", "", text)
    digits = re.sub(r"(?<=\d)[\s'’](?=\d{3}(\D|$))", "", bare)
    if re.fullmatch(rf"-?(\d+|\d{{1,3}}(\{other}\d{{3}})+)(\{mark}\d+)?", digits):
        return digits.replace(other, "").replace(mark, ".")
    return None


def read_country(text: str, _: str) -> str | None:
    """Return the code of ISO 3166 for a country's code, or its name in any of the languages."""
    is_code = text.upper() in COUNTRIES.values()
    return text.upper() if is_code else COUNTRIES.get(text.casefold())


READERS: dict[str, tuple[Callable[[str, str], str | None], Sequence[str]]] = {
    "date": (read_date, ("DMY", "MDY")),
    "amount": (read_amount, (",", ".")),
    "country": (read_country, ("",)),
}


def repaired(values: Sequence[str], kind: str) -> list[str | None]:
    """Return each value's plain form; None where the habits that fit the column disagree."""
    read, habits = READERS[kind]
    known = [value for value in values if any(read(value, habit) for habit in habits)]
    fits = [habit for habit in habits if all(read(value, habit) for value in known)]
    readings = [{read(value, habit) for habit in fits or habits} for value in values]
    return [each.pop() if len(each) == 1 else None for each in readings]


def run(attempt: Attempt) -> Result:
    """Repair the table `csv`; `columns` are such as {"price": "amount", "from": "country"}."""
    rows = list(csv.DictReader(io.StringIO(str(attempt.payload.get("csv", "")))))
    columns = attempt.payload.get("columns") or {}
    is_known = set(columns) <= set(rows[0] if rows else ()) and set(columns.values()) <= set(
        READERS
    )
    if not columns or not is_known:
        raise Reject('The payload needs "csv" and "columns": a date, an amount or a country each.')
    changes, doubts, count = [], [], 0
    for done, (column, kind) in enumerate(columns.items(), start=1):
        filled = [(n, row) for n, row in enumerate(rows, 1) if (row[column] or "").strip()]
        values = repaired([row[column].strip() for _, row in filled], kind)
        for (number, row), value in zip(filled, values, strict=True):
            place = {"row": number, "column": column, "value": row[column]}
            if value is None:
                doubts.append(place)
            elif value != row[column]:
                changes.append(place | {"repaired": value})
                row[column] = value
        count += len(values)
        attempt.progress(done, len(columns))
    data = {"rows": rows, "changes": changes, "doubts": doubts}
    return Result(data, round(1 - Decimal(len(doubts)) / max(count, 1), 3))
