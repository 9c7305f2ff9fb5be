"""A batch's results as files, written as they are read: JSON with all of it, CSV for tables."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from forebay.rows import BatchOutlook, BatchResult
from forebay_agents.findings import NAMES
from forebay_apps.intake.findings import Findings
from forebay_apps.intake.naming import name_of
from forebay_apps.web.visible import is_seen

BOM = "\ufeff"
"""By which spreadsheets know UTF-8."""

SIGNS = "=+-@＝＋－＠"
"""With which a formula begins, after what is not seen."""

NUMBER = re.compile(r"-?\d+(\.\d+)?")

DOCUMENTS = (
    *("document", "task_id", "state", *NAMES, "confidence", "pages", "notes", "error"),
    *("input_tokens", "output_tokens", "cost_usd", "submitted_at", "finished_at"),
)
LINES = ("document", "task_id", "line", "page", "description", "quantity", "unit_price", "amount")


def as_json(batch: BatchOutlook, results: Iterable[BatchResult]) -> Iterator[str]:
    """Yield one JSON object: the batch, and its documents in order; ids are strings."""
    yield f'{{"batch": {_dumped(_batch(batch))},\n "documents": ['
    for index, result in enumerate(results):
        yield f"{',' if index else ''}\n  {_dumped(_document(result))}"
    yield "\n ]}\n"


def document_as_json(row: BatchResult) -> str:
    """Return what is known of a document as one JSON object."""
    return _dumped(_document(row))


def _document(row: BatchResult) -> dict[str, Any]:
    """Return all that is known of a document, as JSON has it."""
    return {
        "task_id": str(row.task_id),
        "document": name_of(row.payload),
        "agent": row.agent,
        "state": row.status,
        "confidence": row.confidence,
        "error": row.error,
        "usage": {
            "input_tokens": row.used_input_tokens,
            "output_tokens": row.used_output_tokens,
            "cached_tokens": row.used_cached_tokens,
            "cost_usd": row.llm_usd,
        },
        "submitted_at": row.created_at,
        "finished_at": row.finished_at,
        "result": row.result,
    }


def as_csv(_: BatchOutlook, results: Iterable[BatchResult]) -> Iterator[str]:
    """Yield a table with one row a document."""
    return _table(DOCUMENTS, map(_document_row, results))


def lines_as_csv(_: BatchOutlook, results: Iterable[BatchResult]) -> Iterator[str]:
    """Yield a table with one row a line item."""
    return _table(LINES, (row for result in results for row in _line_rows(result)))


FILES = {
    "json": (as_json, "application/json"),
    "csv": (as_csv, "text/csv"),
    "lines.csv": (lines_as_csv, "text/csv"),
}
"""The forms that results come in: who writes each, and its media type."""


def _batch(batch: BatchOutlook) -> dict[str, Any]:
    return {
        "batch_id": str(batch.batch_id),
        "name": batch.name,
        "customer": batch.customer,
        "owner": batch.owner,
        "created_at": batch.created_at,
        "finished_at": batch.finished_at,
        "documents": batch.tasks,
    }


def _document_row(row: BatchResult) -> dict[str, Any]:
    findings = Findings(row.result)
    return {
        **{field.name: field.value for field in findings.fields},
        "document": name_of(row.payload),
        "task_id": row.task_id,
        "state": row.status,
        "confidence": row.confidence,
        "pages": findings.page_count,
        "notes": " ".join(findings.notes),
        "error": (row.error or {}).get("message"),
        "input_tokens": row.used_input_tokens,
        "output_tokens": row.used_output_tokens,
        "cost_usd": row.llm_usd,
        "submitted_at": row.created_at,
        "finished_at": row.finished_at,
    }


def _line_rows(row: BatchResult) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(Findings(row.result).lines, 1):
        yield {
            **line,
            "document": name_of(row.payload),
            "task_id": row.task_id,
            "line": number,
        }


def _table(columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    text.write(BOM)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([cell(row.get(column)) for column in columns])
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


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


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """Return what JSON has not in its terms: times in ISO 8601, decimals as numbers."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{value!r} is not JSON")
