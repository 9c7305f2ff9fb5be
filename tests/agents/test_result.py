"""A result holds what was found, has a bounded size, and loses nothing that it does not say."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forebay import jsonb
from forebay.storage import FolderStorage
from forebay_agents.findings import NAMES, Evidence, Findings, Found, Line
from forebay_agents.pages import Page, Table
from forebay_agents.result import NO_FONT, RESULT_BYTES, ResultBuilder
from forebay_agents.rules import EdgePages

BOX = (1.0, 2.04, 3.0, 4.0)
TEXT = Page(1, text="Invoice")


def result(folder: Path, pages: Iterable[Page], findings: Findings | None = None) -> dict[str, Any]:
    """Gather the pages of "a.pdf", and return the result's data."""
    all_pages = list(pages)
    with ResultBuilder(len(all_pages)) as builder:
        for page in all_pages:
            builder.add(page)
        findings = findings or Findings()
        return builder.finish(findings, Decimal("0.5"), FolderStorage(folder), "a.pdf").data


def test_a_result_has_the_shape_that_the_documents_promise(tmp_path: Path) -> None:
    """Fields are plain values; evidence, lines, tables and pages stand beside them."""
    evidence = Evidence("Total 9.90 €", 0.98765, page=1, box=BOX)
    page = Page(1, 595.28, 841.89, 90, "Total", [], [Table([["a"], [""]], BOX)], 0.08333)
    findings = Findings({"total": Found("9.90", evidence)}, [Line("Pump", amount="9.90", page=1)])
    assert result(tmp_path, [page], findings) == {
        "fields": {"total": "9.90"},
        "evidence": {
            "total": {
                "page": 1,
                "box": [1.0, 2.0, 3.0, 4.0],
                "text": "Total 9.90 €",
                "source": "text",
                "confidence": 0.988,
            }
        },
        "lines": [{"description": "Pump", "amount": "9.90", "page": 1}],
        "tables": [{"page": 1, "box": [1.0, 2.0, 3.0, 4.0], "rows": [["a"], [""]]}],
        "pages": [
            {
                "number": 1,
                "width": 595.3,
                "height": 841.9,
                "rotation": 90,
                "coverage": 0.083,
                "is_scanned": False,
                "source": "text",
            }
        ],
        "page_count": 1,
        "text": "Total",
        "notes": [],
    }
    assert list(tmp_path.iterdir()) == []


def test_js1_what_jsonb_refuses_is_replaced_everywhere(tmp_path: Path) -> None:
    """NUL and lone surrogates in text, tables, notes and values never reach the result."""
    bad = "a\0b\ud800"
    page = Page(1, text=bad, tables=[Table([[bad], ["1"]], BOX)], notes=[bad])
    found = Found(bad, Evidence(bad, 1.0))
    data = result(tmp_path, [page], Findings({"seller": found}, [Line(bad)], [bad]))
    assert "a\ufffdb\ufffd" == data["text"] == data["fields"]["seller"] == data["notes"][0]
    assert jsonb.dump("the result", data)


def test_what_does_not_fit_is_whole_in_a_file(tmp_path: Path) -> None:
    """Text, tables, pages and lines above their share are kept whole beside the document."""
    rows = [["x" * 100, "y" * 100]] * 10
    pages = [
        Page(number, text=f"page {number}: {'wörter ' * 100}", tables=[Table(rows, BOX)])
        for number in range(1, 3001)
    ]
    lines = [Line(f"Item {number}", "1", "2.00", "2.00", page=1) for number in range(2000)]
    data = result(tmp_path, pages, Findings(lines=lines))
    assert jsonb.size(data) <= RESULT_BYTES
    assert data["page_count"] == 3000
    kept = {key: (tmp_path / data[f"{key}_file"]).read_text() for key in ("text", "tables")}
    assert kept["text"] == "".join(f"{page.text}\n" for page in pages)
    assert kept["text"].startswith(data["text"])
    assert len(data["text"]) > 300_000
    tables = [json.loads(line) for line in kept["tables"].splitlines()]
    assert [table["page"] for table in tables] == [page.number for page in pages]
    assert tables[: len(data["tables"])] == data["tables"]
    for key, count in (("pages", 3000), ("lines", 2000)):
        file = (tmp_path / data[f"{key}_file"]).read_text().splitlines()
        assert len(file) == count > len(data[key]) > 500
    names = {f"a.pdf.{part}" for part in ("text.txt", "tables.jsonl", "pages.jsonl", "lines.jsonl")}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_fifteen_hundred_pages_are_all_listed(tmp_path: Path) -> None:
    """The list of pages has room for a long document."""
    data = result(tmp_path, (Page(n, 595.3, 841.9, coverage=0.123) for n in range(1, 1501)))
    assert len(data["pages"]) > 1200
    assert data["page_count"] == 1500


def test_one_line_without_an_end_is_cut_within(tmp_path: Path) -> None:
    """A text of a single huge line still gives its beginning."""
    data = result(tmp_path, [Page(1, text="界" * 1_000_000)])
    assert 50_000 < len(data["text"]) < 200_000
    assert (tmp_path / data["text_file"]).read_text() == "界" * 1_000_000 + "\n"
    assert jsonb.size(data) <= RESULT_BYTES


def test_a_second_attempt_writes_the_file_anew(tmp_path: Path) -> None:
    """What an attempt that was lost has left is replaced."""
    (tmp_path / "a.pdf.text.txt").write_text("old")
    result(tmp_path, [Page(1, text="long " * 200_000)])
    assert (tmp_path / "a.pdf.text.txt").read_text().startswith("long ")


def test_only_the_edges_are_held() -> None:
    """Of a long document the first and the last pages are kept whole, and no other is."""
    edges = EdgePages()
    with ResultBuilder(100) as builder:
        for number in range(1, 101):
            page = Page(number, text="text", tables=[Table([["a"]], BOX)])
            edges.add(page)
            builder.add(page)
        assert [page.number for page in edges.pages] == [*range(1, 6), *range(96, 101)]
        assert all(page.text for page in edges.pages)
        assert len(builder.summaries) == 100
        assert not any(page.text or page.tables or page.rows for page in builder.summaries)


@pytest.mark.parametrize(
    ("pages", "notes"),
    [
        ([Page(1, source="none")], ["No page has text: the document is blank."]),
        ([TEXT, Page(2, source="none")], []),
        (
            [Page(n, source="none", needs_ocr=n != 4) for n in range(1, 8)],
            ["Shown as pictures or drawings, and not read: pages 1-3, 5-7."],
        ),
        (
            [TEXT, Page(2, source="none", needs_ocr=True)],
            ["Shown as pictures or drawings, and not read: page 2."],
        ),
        ([Page(1, source="none", is_broken=True, notes=["broken"])], ["broken"]),
        ([Page(1, source="none", lacks_font=True)], [f"{NO_FONT} Affected: page 1."]),
        (
            [Page(n, text="x", lacks_font=n != 2) for n in range(1, 5)],
            [f"{NO_FONT} Affected: pages 1, 3-4."],
        ),
    ],
)
def test_pages_that_nobody_read_are_told(
    tmp_path: Path, pages: list[Page], notes: list[str]
) -> None:
    """A scan is said to be one, by the numbers of its pages; so are missing fonts and blanks."""
    assert result(tmp_path, pages)["notes"] == notes


def test_notes_are_few_and_short(tmp_path: Path) -> None:
    """A note that many pages share is told once, and thousands of them do not fill a result."""
    pages = [Page(n, text="x", notes=["the same", f"{n} {'long ' * 100}"]) for n in range(500)]
    notes = result(tmp_path, pages)["notes"]
    assert len(notes) == 100
    assert notes.count("the same") == 1
    assert notes[-1] == "There are more such notes."
    assert max(map(len, notes)) == 300


def test_a_result_that_is_full_everywhere_fits(tmp_path: Path) -> None:
    """Long text, tables, pages, lines, notes, values and evidence together stay below 1 MiB."""
    wide = "\N{GRINNING FACE}\x01" * 500
    found = Found(wide[:500], Evidence(wide, 1.0, page=1, box=BOX))
    pages = [
        Page(n, text=f"{n} {wide}", tables=[Table([[wide, wide]], BOX)], notes=[f"{n} {wide}"])
        for n in range(1, 2001)
    ]
    findings = Findings(
        dict.fromkeys(NAMES, found), [Line(wide)] * 2000, [f"{n} {wide}" for n in range(300)]
    )
    data = result(tmp_path, pages, findings)
    assert len(data["fields"]) == len(NAMES)
    assert data["notes"][-1] == "There are more such notes."
    assert 900_000 < jsonb.size(data) < 1 << 20


def test_a_value_as_long_as_a_page_is_no_value(tmp_path: Path) -> None:
    """What is too long to be a field's value is left out, so that it cannot fill a result."""
    found = Found("x" * 1000, Evidence("y" * 1000, 1.0))
    short = Found("A-1", Evidence("y" * 1000, 1.0))
    data = result(tmp_path, [TEXT], Findings({"seller": found, "number": short}))
    assert data["fields"] == {"number": "A-1"}
    assert len(data["evidence"]["number"]["text"]) == 200
