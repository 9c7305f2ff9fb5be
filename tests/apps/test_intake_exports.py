"""Results leave as files that programs can read and that spreadsheets carry nothing out of."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forebay.csv_cells import NUMBER, cell
from forebay.rows import BatchOutlook, BatchResult
from forebay.visible import is_seen
from forebay_apps.intake import exports
from forebay_apps.intake.findings import Findings, amount, in_short, level

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BIG = 9_007_199_254_740_993
"""An id that browsers would round."""

BATCH = BatchOutlook(
    batch_id=BIG,
    name="Post",
    customer=None,
    owner="mila",
    agents=["parse_document"],
    created_at=NOON,
    tasks=1,
    enqueued=0,
    processing=0,
    completed=1,
    failed=0,
    cancelled=0,
    finished_at=NOON,
    ahead=0,
    remaining_tokens=0,
    per_minute=None,
    limited_by=None,
    time_left=None,
    confidence_median=None,
    llm_usd=None,
    is_cost_known=False,
    as_of=NOON,
)
RESULT = BatchResult(
    task_id=BIG,
    agent="parse_document",
    status="completed",
    payload={"document": "uploads/x.pdf", "name": "七月.pdf"},
    result={
        "fields": {"kind": "invoice", "number": "=1+1", "total": "-12.50"},
        "lines": [{"description": "@SUM(A1)", "amount": "1.00"}, {"description": "Pump"}],
        "page_count": 2,
        "notes": ["One.", "Two."],
    },
    confidence=Decimal("0.93"),
    error=None,
    used_input_tokens=10,
    used_output_tokens=2,
    used_cached_tokens=0,
    llm_usd=None,
    is_cost_known=False,
    created_at=NOON,
    finished_at=NOON,
)


def table(pieces: Iterable[str]) -> list[dict[str, str]]:
    """Read a CSV as a spreadsheet does."""
    return list(csv.DictReader(io.StringIO("".join(pieces).removeprefix("\ufeff"))))


def test_json_has_all_of_it_and_ids_as_strings() -> None:
    """Whoever reads it in a browser gets the ids whole; what is unknown is null."""
    told = json.loads("".join(exports.as_json(BATCH, [RESULT, replace(RESULT, task_id=2)])))
    assert told["batch"]["batch_id"] == str(BIG)
    first, second = told["documents"]
    assert (first["task_id"], second["task_id"]) == (str(BIG), "2")
    assert first["document"] == "七月.pdf"
    assert first["result"] == RESULT.result
    assert (first["confidence"], first["usage"]["cost_usd"]) == (0.93, None)
    assert json.loads("".join(exports.as_json(BATCH, [])))["documents"] == []


def test_csv_has_a_row_for_each_document() -> None:
    """Fields are columns; numbers stay numbers, also below zero."""
    (row,) = table(exports.as_csv(BATCH, [RESULT]))
    assert (row["document"], row["task_id"], row["state"]) == ("七月.pdf", str(BIG), "completed")
    assert (row["number"], row["total"], row["cost_usd"]) == ("'=1+1", "-12.50", "")
    assert (row["pages"], row["notes"]) == ("2", "One. Two.")
    assert "".join(exports.as_csv(BATCH, [RESULT])).startswith("\ufeff")


def test_line_items_have_a_table_of_their_own() -> None:
    """Each tells its document and its place in it."""
    rows = table(exports.lines_as_csv(BATCH, [RESULT]))
    assert [row["line"] for row in rows] == ["1", "2"]
    assert [row["description"] for row in rows] == ["'@SUM(A1)", "Pump"]
    assert table(exports.lines_as_csv(BATCH, [replace(RESULT, result=None)])) == []


@pytest.mark.parametrize(
    "value",
    [
        *("=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t1", "\r1", "\n1", " =1"),
        *("＝1+1", "＋1", "－1", "＠x", "\u00a0=1", "--1", "-"),
        *(
            f"{unseen}=1+1"
            for unseen in ("\u200b", "\ufeff", "\u202e", "\x01", "\u2066 \x7f", "\ufe0f")
        ),
        *("\u200b+1", "\u202e@x", "\x01-5"),
    ],
)
def test_no_cell_is_a_formula(value: str) -> None:
    """What a spreadsheet might carry out begins with an apostrophe."""
    assert cell(value) == f"'{value}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x;=1+cmd|' /C calc'!A0;y", "x;'=1+cmd|' /C calc'!A0;y"),
        ("a\t=1\nb\r\n-1", "a\t'=1\nb\r\n'-1"),
        ("\t=1", "'\t'=1"),
        ('x; "=1', "x;' \"=1"),
        ("a;b\n1;'=1", "a;b\n1;''=1"),
    ],
)
def test_no_cell_is_a_formula_with_another_separator(value: str, said: str) -> None:
    """Many countries' spreadsheets read a file with ; and end a row where a line does."""
    assert cell(value) == said


@pytest.mark.parametrize("value", ["-12.50", "-3", "12", "a=b", "100 %", "x@y.example", "", "é"])
def test_what_is_harmless_stays_as_it_is(value: str) -> None:
    """Numbers and words are not touched."""
    assert cell(value) == value


@settings(deadline=None)
@given(st.text() | st.text("=-+@;,\t\r\n\"' a1"), st.sampled_from(",;\t"))
def test_a_cell_never_begins_a_formula(value: str, separator: str) -> None:
    """However a file is read, what is seen first in a cell is harmless, or it is a number."""
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerow(["a", cell(value), "b"])
    file.seek(0)
    for said in chain.from_iterable(csv.reader(file, delimiter=separator)):
        first = next((each for each in said if is_seen(each)), "")
        assert first not in set("=+-@＝＋－＠") or NUMBER.fullmatch(said)


@given(st.lists(st.text("=;\n' a"), min_size=2, max_size=2, unique=True))
def test_no_two_values_are_one_cell(values: list[str]) -> None:
    """What a guard was put into is not what looked like that before."""
    assert cell(values[0]) != cell(values[1])


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
HUGE = 10**400
"""What 1e400 is, that Postgres keeps, and that no float can be."""

NAMES = ("fields", "evidence", "lines", "tables", "pages", "notes", "text", "page_count")


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), JSON) | JSON)
@example({"evidence": {"a": {"confidence": HUGE}}, "fields": {"a": 1}})
@example({"page_count": HUGE, "pages": [{"number": 1, "width": HUGE, "height": 1}]})
def test_a_result_of_any_shape_is_shown_and_exported(result: Any) -> None:
    """Agents are other people's programs: what they return never breaks a page or a download."""
    findings = Findings(result)
    fields = result.get("fields") if isinstance(result, dict) else None
    shown = [(field.label, field.shown) for field in findings.fields]
    found = fields.values() if isinstance(fields, dict) else []
    assert len(shown) == sum(value is not None for value in found)
    findings.sheet(1)
    in_short(findings.values)
    row = replace(RESULT, result=result)
    assert len(table(exports.as_csv(BATCH, [row]))) == 1
    table(exports.lines_as_csv(BATCH, [row]))


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"evidence": {"date": {"page": 1, "box": [1, 2, 3]}}}, (1, None)),
        ({"evidence": {"date": {"page": True, "box": [1, 2, 3, "4"]}}}, (None, None)),
        ({"evidence": {"date": {"page": 2, "box": [1, 2, 3, 4]}}}, (2, (1.0, 2.0, 3.0, 4.0))),
        ({"evidence": {"date": None}}, (None, None)),
        ({"evidence": []}, (None, None)),
    ],
)
def test_evidence_is_shown_as_far_as_it_says_where(
    result: dict[str, object], expected: tuple[object, object]
) -> None:
    """A box needs four numbers, a page a number."""
    (field,) = Findings({"fields": {"date": "2026-03-01"}, **result}).fields
    assert (field.page, field.box) == expected


def test_values_are_written_as_people_write_them() -> None:
    """Amounts have their thousands apart, kinds are words; what is no amount stays."""
    fields = {"kind": "credit_note", "number": "7", "seller": "Weir", "total": "-1234567.80"}
    assert in_short({**fields, "currency": "EUR"}) == "Credit note 7 · Weir · -1,234,567.80 EUR"
    for plain in ("", "abc", "1e5", "0.5", "9" * 5000):
        assert amount(plain) == plain
    levels = [level(each) for each in (None, 0.69, 0.7, 0.9)]
    assert levels == ["unknown", "doubtful", "fair", "sure"]
    shown = {field.name: field.shown for field in Findings({"fields": {"language": "de"}}).fields}
    assert shown == {"language": "German"}
