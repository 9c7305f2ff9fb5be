"""The comparison with the truth counts what it says it counts."""

import json
from typing import Any

import pytest

from forebay_agents.check import Report, compare, judge, read_truth
from forebay_agents.check.report import ranks

TRUTH = {
    "kind": "invoice",
    "number": "RE-1",
    "total": "119.00",
    "seller": "Oberwasser GmbH",
    "language": "de",
}


def row(
    fields: dict[str, str], confidence: float = 0.9, *, status: str = "completed", **result: Any
) -> dict[str, Any]:
    """Return what `forebay parse --json --full` prints for one file."""
    return {
        "document": "a.pdf",
        "status": status,
        "reason": None if status == "completed" else "It is broken.",
        "fields": fields,
        "confidence": confidence,
        "result": {"pages": [{"source": "text"}], "lines": [], "evidence": {}} | result,
    }


def truth(fields: dict[str, str] = TRUTH, **more: Any) -> dict[str, Any]:
    """Return a truth file."""
    return {"status": "completed", "pages": 1, "fields": fields} | more


def report(*shares: tuple[float, int]) -> Report:
    """Return a report on documents of some confidence, each with so many of five fields right."""
    pairs = []
    for confidence, right in shares:
        fields = dict(list(TRUTH.items())[:right])
        pairs.append((row(fields, confidence), truth()))
    return compare(pairs)


def test_a_field_is_right_wrong_missing_or_invented() -> None:
    """Each of the four is told, and all but the right ones are said in a sentence."""
    found = {"kind": "invoice", "number": "RE-2", "seller": "Oberwasser GmbH", "tax": "19.00"}
    judged = judge(row(found), truth())
    assert judged.fields == {
        "kind": "right",
        "number": "wrong",
        "total": "missing",
        "tax": "invented",
        "seller": "right",
        "language": "missing",
    }
    assert judged.misses == [
        "number: RE-2, not RE-1",
        "total: not found, it is 119.00",
        "tax: 19.00, which is not there",
        "language: not found, it is de",
    ]


@pytest.mark.parametrize(
    ("name", "found", "verdict"),
    [
        ("total", "119.0", "right"),
        ("total", "119", "right"),
        ("total", "11.90", "wrong"),
        ("total", "a lot", "wrong"),
        ("seller", "OBERWASSER  GmbH", "right"),
        ("seller", "Oberwasser", "wrong"),
        ("number", "re-1", "wrong"),
    ],
)
def test_sums_compare_by_value_and_names_without_case(name: str, found: str, verdict: str) -> None:
    """How a sum or a name is written does not matter; numbers of documents are exact."""
    assert judge(row(TRUTH | {name: found}), truth()).fields[name] == verdict


def test_lines_are_right_with_all_numbers_that_the_truth_has() -> None:
    """Order is free; a number that the truth lacks is not compared; each line counts once."""
    told = [
        {"description": "Pump", "quantity": "2", "amount": "20.00"},
        {"description": "Seal", "amount": "5.00"},
        {"description": "Seal", "amount": "5.00"},
    ]
    found = [
        {"description": "seal", "quantity": None, "amount": "5.0", "page": 1},
        {"description": "Pump", "quantity": "2.0", "unit_price": "10.00", "amount": "20.00"},
        {"description": "Total", "quantity": None, "amount": "30.00"},
    ]
    judged = judge(row(TRUTH, lines=found), truth(lines=told))
    assert judged.lines == {"right": 2, "missing": 1, "invented": 1}
    assert judged.misses == ["lines: 1 of 3 missing or not right, 1 not there"]


def test_lines_are_not_judged_where_the_truth_has_none() -> None:
    """A truth file without lines says nothing about them."""
    found = [{"description": "Pump", "amount": "20.00"}]
    assert not judge(row(TRUTH, lines=found), truth()).lines


def test_a_document_that_fails_against_the_truth_has_no_field_right() -> None:
    """All its fields are missing, and the reason is told once."""
    judged = judge(row({}, status="failed"), truth())
    assert set(judged.fields.values()) == {"missing"}
    assert judged.misses == ["It failed: It is broken."]


@pytest.mark.parametrize(("status", "right"), [("failed", 1), ("completed", 0)])
def test_a_document_that_is_to_fail_counts_by_its_end_alone(status: str, right: int) -> None:
    """Its fields are no part of the accuracy."""
    told = compare([(row({}, status=status), {"status": "failed"})])
    assert told.statuses == (right, 1)
    assert not told.fields


def test_groups_are_told_apart() -> None:
    """Verdicts are counted by field, kind, language, and by what the words were read from."""
    french = TRUTH | {"kind": "receipt", "language": "fr"}
    scan = row(french, pages=[{"source": "text"}, {"source": "ocr"}])
    xml = row(TRUTH, evidence={"total": {"source": "xml"}})
    told = compare([(row(TRUTH), truth()), (scan, truth(french)), (xml, truth())])
    assert {name: tally["right"] for name, tally in told.by_field.items()} == dict.fromkeys(
        TRUTH, 3
    )
    assert set(told.tallies(lambda each: each.kind)) == {"invoice", "receipt"}
    assert set(told.tallies(lambda each: each.language)) == {"de", "fr"}
    assert set(told.tallies(lambda each: each.read)) == {"text", "ocr", "xml"}


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    """Ranks begin with one, and their sum does not depend on ties."""
    assert ranks([0.3, 0.1, 0.3, 0.9]) == [2.5, 1, 2.5, 4]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([(0.2, 1), (0.5, 3), (0.9, 5)], 1),
        ([(0.9, 1), (0.5, 3), (0.2, 5)], -1),
        ([(0.5, 1), (0.5, 5)], None),
    ],
)
def test_confidence_is_ranked_against_the_share_of_right_fields(
    shares: list[tuple[float, int]], expected: float | None
) -> None:
    """The correlation is one for the same order, minus one for the opposite one."""
    assert report(*shares).rank_correlation == pytest.approx(expected)


def test_the_best_correlation_is_that_of_the_right_order() -> None:
    """Where most are equally right it is below one, and no order has a higher one."""
    told = report((0.2, 5), (0.5, 4), (0.9, 5), (0.7, 5))
    assert told.best_correlation == report((0.2, 4), (0.5, 5), (0.9, 5), (0.7, 5)).rank_correlation
    assert told.rank_correlation < told.best_correlation < 1


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([(0.2, 4), (0.8, 5), (0.9, 5)], 1),
        ([(0.8, 4), (0.8, 5), (0.9, 5)], 0.75),
        ([(0.95, 4), (0.8, 5), (0.9, 5)], 0),
        ([(0.8, 5), (0.9, 5)], None),
    ],
)
def test_wrong_documents_are_to_stand_below_right_ones(
    shares: list[tuple[float, int]], expected: float | None
) -> None:
    """The share of pairs in which they do is told; a tie counts half."""
    assert report(*shares).separation == expected


def test_confidence_is_told_in_groups() -> None:
    """Verdicts are counted by how sure they are, and documents of high confidence are told."""
    told = report((0.95, 5), (0.9, 4), (0.6, 5), (0.1, 3))
    assert {band: tally["right"] for band, tally in told.by_confidence.items()} == {
        "0.9 and more": 9,
        "0.5 to 0.7": 5,
        "below 0.5": 3,
    }
    assert (
        "Of 2 documents with a confidence of 0.9 and more, 1 have all their fields right."
        in told.sentences
    )


def test_a_truth_file_is_read_as_it_is_written() -> None:
    """What it leaves out is left out."""
    said = {"status": "completed", "fields": TRUTH, "lines": [{"description": "Pump"}]}
    assert read_truth(json.dumps(said).encode()) == said
    assert read_truth(b'{"status": "failed"}') == {"status": "failed", "fields": {}}


def test_a_truth_file_may_be_written_as_programs_do() -> None:
    """Numbers keep their decimals, null is absent, other keys and a BOM are passed over."""
    said = b'{"by": "me", "pages": 2, "fields": {"total": 10927.00, "tax": null, "number": 17}}'
    told = {"status": "completed", "pages": 2, "fields": {"total": "10927.00", "number": "17"}}
    assert read_truth(b"\xef\xbb\xbf" + said) == told


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not JSON in UTF-8"),
        (b"\xff{}", "not JSON in UTF-8"),
        (b"[]", "no JSON object"),
        (b'{"status": "done"}', "status: Input should be 'completed' or 'failed'"),
        (b'{"status": "completed", "fields": null}', "fields: "),
        (b'{"status": "completed", "fields": {"number": []}}', "fields.number: .* string"),
        (b'{"status": "completed", "fields": {"sum": "1"}}', "fields.sum: choose among kind, "),
        (b'{"status": "completed", "fields": {"total": "1,5"}}', "1,5 is no plain number"),
        (b'{"status": "completed", "fields": {"total": "NaN"}}', "NaN is no plain number"),
        (b'{"status": "completed", "fields": {"date": "1.5.26"}}', "Invalid isoformat"),
        (b'{"status": "completed", "lines": [{"amount": "1"}]}', "lines.0.description: Field"),
    ],
)
def test_what_is_wrong_with_a_truth_file_is_told(content: bytes, reason: str) -> None:
    """The sentence names the place in the file."""
    with pytest.raises(ValueError, match=reason):
        read_truth(content)


def test_the_report_is_printed_as_table_markdown_and_json() -> None:
    """All three say the accuracy; a terminal and scripts also get each miss."""
    told = report((0.9, 5), (0.4, 3))
    assert "all fields      8      0        2         0    80.0 %" in told.table()
    assert "  total: not found" not in told.table()
    assert "a.pdf\n  seller: not found, it is Oberwasser GmbH" in told.table()
    assert "| all fields | 8 | 0 | 2 | 0 | 80.0 % |" in told.markdown()
    assert told.as_json()["accuracy"] == 0.8
    assert told.as_json()["misses"]["a.pdf"][0].startswith("seller")
