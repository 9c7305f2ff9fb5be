"""What cannot be read is refused in a sentence; what can is read, however odd."""

from decimal import Decimal
from pathlib import Path

import pytest

from forebay.agent import Reject, Retry
from forebay_agents import collected
from forebay_agents.reading.documents import Document, Page

from .conftest import Parse, RecordedAttempt
from .pdfs import pdf, text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", r"empty \(0 bytes\)"),
        (b"PK\x03\x04 a word processor's file", "not a PDF"),
        (b"%PDF-1.7\nand nothing more", "broken"),
        (pdf([text((50, 700, "cut"))])[:300], "broken"),
        (pdf([]), "without pages"),
    ],
    ids=["FL4_empty", "not_a_pdf", "header_only", "cut_off", "FL4_zero_pages"],
)
def test_unreadable_files_are_refused_for_good(
    content: bytes, reason: str, tmp_path: Path, parse: Parse
) -> None:
    """A file that no attempt can read is rejected as bad input, in one sentence."""
    (tmp_path / "file.pdf").write_bytes(content)
    with pytest.raises(Reject, match=reason) as refused:
        parse(tmp_path / "file.pdf")
    assert refused.value.kind == "bad_input"
    assert refused.value.reason.endswith(".")


def test_a_missing_file_is_refused(tmp_path: Path, parse: Parse) -> None:
    """A payload that names a file which is not there says so."""
    with pytest.raises(Reject, match="does not exist"):
        parse(tmp_path / "gone.pdf")


def test_a_folder_is_no_document(tmp_path: Path, parse: Parse) -> None:
    """A path that names a folder says so."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(Reject, match="a folder"):
        parse(tmp_path / "folder")


def test_fl4_a_blank_page_is_valid(tmp_path: Path, parse: Parse) -> None:
    """A page without text is no error: it is said, and nothing is trusted."""
    (tmp_path / "blank.pdf").write_bytes(pdf([b""]))
    result = parse(tmp_path / "blank.pdf")
    assert result.data["pages"] == 1
    assert result.data["notes"] == ["No page has text: this is a scan, or blank."]
    assert result.confidence == 0


def test_half_of_the_pages_without_text_halve_the_confidence(tmp_path: Path, parse: Parse) -> None:
    """Confidence follows the share of pages that could be read."""
    page = text((50, 700, "Annual Report 2025"), (50, 650, "Date: 2026-01-31"))
    (tmp_path / "whole.pdf").write_bytes(pdf([page, page]))
    (tmp_path / "half.pdf").write_bytes(pdf([page, b""]))
    whole, half = (parse(tmp_path / name).confidence for name in ("whole.pdf", "half.pdf"))
    assert whole is not None
    assert half is not None
    assert abs(half * 2 - whole) <= Decimal("0.002") < whole


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_turned_page_is_read_as_it_is_shown(rotation: int, tmp_path: Path) -> None:
    """Rows are those that a reader sees, whichever way the page is turned."""
    matrix = {90: b"0 1 -1 0 700 0", 180: b"-1 0 0 -1 600 800", 270: b"0 -1 1 0 0 700"}
    content = text((50, 500, "Date:"), (150, 500, "2026-03-01"), (50, 400, "below"))
    content = b"%s cm\n%s" % (matrix[rotation], content)
    path = tmp_path / "turned.pdf"
    path.write_bytes(pdf([content], b"/Rotate %d" % rotation))
    with Document(path) as document:
        (page,) = document.pages()
    assert [[s.text for s in row] for row in page.rows] == [["Date:", "2026-03-01"], ["below"]]


def test_characters_of_one_line_stay_together_in_any_font_size(tmp_path: Path) -> None:
    """A mark set smaller or bigger than the digits around it is not lost from the number."""
    content = b"BT /F 10 Tf 50 700 Td (Total 11,062) Tj /F 40 Tf (.) Tj /F 10 Tf (60) Tj ET\n"
    path = tmp_path / "sizes.pdf"
    path.write_bytes(
        pdf([content + content.replace(b"50 700", b"50 680").replace(b"F 40", b"F 2")])
    )
    with Document(path) as document:
        (page,) = document.pages()
    assert [[s.text for s in row] for row in page.rows] == [["Total 11,062.60"]] * 2


def test_js1_text_that_jsonb_refuses_is_made_safe() -> None:
    """NUL and lone surrogates in a page's text, tables and rows never reach the result."""
    pages = collected.Collected(1)
    pages.add(Page(1, "a\0b\ud800c \ud83d\ude00", tables=[[["x\0", "\udfff"], ["1", "2"]]]))
    data = pages.result().data
    assert data["text"] == "a\ufffdb\ufffdc \N{GRINNING FACE}"
    assert data["tables"] == [{"page": 1, "rows": [["x\ufffd", "\ufffd"], ["1", "2"]]}]


def test_a_long_text_is_cut_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text above the limit ends with a line that says where it was cut; later pages still count."""
    monkeypatch.setattr(collected, "TEXT_LIMIT", 50)
    pages = collected.Collected(3)
    for number in (1, 2, 3):
        pages.add(Page(number, f"page {number}, first line\npage {number}, second line"))
    result = pages.result()
    assert result.data["text"].splitlines() == [
        "page 1, first line",
        "page 1, second line",
        "[The text is cut here, on page 2 of 3.]",
    ]
    assert result.data["pages"] == 3


def test_broken_pages_are_told_and_only_broken_pages_are_refused() -> None:
    """One broken page among good ones is a note; nothing but broken pages is a refusal."""
    broken = Page(1, notes=["Page 1 is broken and was skipped."], is_broken=True)
    some, none = collected.Collected(2), collected.Collected(1)
    some.add(broken)
    some.add(Page(2, "text"))
    none.add(broken)
    assert some.result().data["notes"] == broken.notes
    with pytest.raises(collected.DocumentError, match="none of its pages"):
        none.result()


def test_tables_that_cannot_be_read_leave_the_text(tmp_path: Path, parse: Parse) -> None:
    """A page that the table reader stumbles over still gives its text, with a note."""
    content = text((50, 700, "still here")) + b"50 600 m 500 600 l S"
    damaged = pdf([content]).replace(b"/MediaBox[0 0 600 800]", b"/MediaBox[0 0 /six 800]")
    (tmp_path / "odd.pdf").write_bytes(damaged)
    data = parse(tmp_path / "odd.pdf").data
    assert data["text"] == "still here"
    assert data["notes"] == ["Tables of page 1 cannot be read."]


def test_progress_is_told_at_most_twice_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempt: type[RecordedAttempt]
) -> None:
    """The first and the last page are reported, and no burst between them."""
    from forebay_agents.parse_document import run

    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", str(tmp_path))
    (tmp_path / "many.pdf").write_bytes(pdf([text((50, 700, "page"))] * 40))
    watched = attempt({"document": "many.pdf"})
    run(watched)
    assert watched.reports[0] == (1, 40)
    assert watched.reports[-1] == (40, 40)
    assert len(watched.reports) < 10


def test_a_cancelled_attempt_stops_at_the_next_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempt: type[RecordedAttempt]
) -> None:
    """Cancellation is noticed between two pages, and no result comes of it."""
    from forebay_agents.parse_document import run

    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", str(tmp_path))
    (tmp_path / "many.pdf").write_bytes(pdf([text((50, 700, "page"))] * 40))
    with pytest.raises(Retry, match="Stopped on request at page 2 of 40"):
        run(attempt({"document": "many.pdf"}, cancel_after=1))
