"""The agent from payload to result: where it looks, how it stops, what it leaves behind."""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from forebay.agent import Reject, Retry
from forebay_agents.findings import Findings
from forebay_agents.models import Model, Vision
from forebay_agents.pages import Page, Segment
from forebay_agents.parse_document import run
from forebay_agents.reading.errors import PageFailed
from forebay_agents.reading.reader import Reader
from forebay_agents.rules.lines import LineReader
from forebay_agents.scans import LANGUAGES, NOBODY
from forebay_agents.spool import Spool
from forebay_lab.samples import write_samples
from support.scans import FakeTesseract, write_scan

from .conftest import Parse, RecordedAttempt, accepted
from .pdfs import pdf, text

LINES = ("Invoice", "Invoice number: A-17", "Invoice date: 2026-03-04", "Total due: 99.50 EUR")
INVOICE = text(*((50, 700 - 20 * place, line) for place, line in enumerate(LINES)))


@pytest.mark.parametrize("document", ["../secret.pdf", "/etc/passwd", "a/../../secret.pdf", "link"])
def test_fl1_a_path_outside_the_roots_is_refused(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither dots nor an absolute path nor a link leads out of the storage roots."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.pdf").write_bytes(pdf([b""]))
    (root / "link").symlink_to(tmp_path / "secret.pdf")
    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", str(root))
    with pytest.raises(Reject, match="outside the storage roots"):
        run(RecordedAttempt({"document": document}))


@pytest.mark.parametrize("document", [None, 7, "", "  ", "a\0b.pdf", ["a.pdf"]])
def test_fl1_a_payload_without_a_path_is_refused(document: object) -> None:
    """What is no path is refused before any file is touched."""
    with pytest.raises(Reject, match='needs "document"'):
        run(RecordedAttempt({"document": document}))


def test_without_a_root_no_document_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing setting is named, and is no fault of the document."""
    monkeypatch.delenv("FOREBAY_STORAGE_ROOTS", raising=False)
    with pytest.raises(Retry, match="FOREBAY_STORAGE_ROOTS is not set"):
        run(RecordedAttempt({"document": "a.pdf"}))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 a word processor's file", "not a PDF"),
        (b"%PDF-1.7\nand nothing more", "broken"),
        (pdf([INVOICE])[:300], "broken"),
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


@pytest.mark.parametrize(("name", "reason"), [("gone.pdf", "does not exist"), ("", "a folder")])
def test_what_is_no_file_is_refused(tmp_path: Path, parse: Parse, name: str, reason: str) -> None:
    """A payload that names a folder, or a file which is not there, says so."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(Reject, match=reason):
        parse(tmp_path / (name or "folder"))


def test_fl4_a_blank_page_is_valid(tmp_path: Path, parse: Parse) -> None:
    """A page without text is no error: it is said, and the result is not trusted."""
    (tmp_path / "blank.pdf").write_bytes(pdf([b""]))
    result = parse(tmp_path / "blank.pdf")
    assert result.data["page_count"] == 1
    assert result.data["fields"] == {}
    assert result.data["notes"] == ["No page has text: the document is blank."]
    assert result.confidence is not None
    assert result.confidence < 0.5


def test_fields_come_with_their_evidence(tmp_path: Path, parse: Parse) -> None:
    """Each field says on which page and where on it the words stand."""
    (tmp_path / "invoice.pdf").write_bytes(pdf([b"", INVOICE]))
    data = parse(tmp_path / "invoice.pdf").data
    assert data["fields"]["total"] == "99.50"
    evidence = data["evidence"]["total"]
    assert (evidence["page"], evidence["source"]) == (2, "text")
    assert "99.50" in evidence["text"]
    left, top, right, bottom = evidence["box"]
    assert 0 < left < right < 600
    assert 150 < top < bottom < 170


def test_broken_pages_are_told_and_only_broken_pages_are_refused(
    tmp_path: Path, parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One broken page among good ones is a note; nothing but broken pages is a refusal."""
    read = Reader.page

    def broken(reader: Reader, number: int) -> Page:
        note = f"Page {number} is broken."
        is_broken = number <= count
        return Page(number, is_broken=True, notes=[note]) if is_broken else read(reader, number)

    monkeypatch.setattr(Reader, "page", broken)
    (tmp_path / "two.pdf").write_bytes(pdf([INVOICE, INVOICE]))
    count = 1
    assert "Page 1 is broken." in parse(tmp_path / "two.pdf").data["notes"]
    count = 2
    with pytest.raises(Reject, match=r"None of the PDF's pages can be read: Page 1 is broken\."):
        parse(tmp_path / "two.pdf")


class DearModel:
    """Find nothing, and count how often it is asked."""

    asked = 0

    def extract(self, *_: object) -> Findings:
        self.asked += 1
        return Findings()


@pytest.mark.parametrize(("name", "asked"), [("de-zugferd", 0), ("rechnung", 1)])
def test_a_model_is_asked_only_for_what_no_xml_says(
    tmp_path: Path, parse: Parse, monkeypatch: pytest.MonkeyPatch, name: str, asked: int
) -> None:
    """An e-invoice that carries its total and its lines as XML costs no call of a model."""
    model = DearModel()
    monkeypatch.setattr(Model, "from_environment", lambda: model)
    write_samples(tmp_path, [name])
    data = parse(tmp_path / f"{name}.pdf").data
    assert model.asked == asked
    assert data["fields"]["kind"] == "invoice"
    assert data["evidence"]["total"]["source"] == ("text" if asked else "xml")


def test_rules_that_fail_cost_no_document(
    tmp_path: Path, parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug in the rules leaves text and tables, with a note and little confidence."""

    def fail(*_: object) -> None:
        raise KeyError("odd")

    monkeypatch.setattr("forebay_agents.parse_document.find_fields", fail)
    monkeypatch.setattr(LineReader, "add", fail)
    (tmp_path / "invoice.pdf").write_bytes(pdf([INVOICE]))
    result = parse(tmp_path / "invoice.pdf")
    assert result.data["notes"] == [
        "Looking for the lines of page 1 failed: that is a bug of the agent.",
        "Looking for the fields failed: that is a bug of the agent.",
    ]
    assert "A-17" in result.data["text"]
    assert result.confidence is not None
    assert result.confidence <= 0.4


def test_a_machine_without_room_is_no_fault_of_the_document(
    tmp_path: Path, parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the temporary folder is full, another attempt may do better."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Spool, "add", full)
    (tmp_path / "invoice.pdf").write_bytes(pdf([INVOICE]))
    with pytest.raises(Retry, match="No space left on device") as refused:
        parse(tmp_path / "invoice.pdf")
    assert refused.value.kind == "infrastructure"


def test_progress_is_told_at_most_twice_a_second(tmp_path: Path, storage: Path) -> None:
    """Nothing done, the first page and the last page are reported, and no burst between them."""
    (storage / "many.pdf").write_bytes(pdf([INVOICE] * 40))
    attempt = RecordedAttempt({"document": "many.pdf"})
    run(attempt)
    assert attempt.reports[:2] == [(0, 1), (1, 40)]
    assert attempt.reports[-1] == (40, 40)
    assert len(attempt.reports) < 10


def test_a_cancelled_attempt_stops_at_the_next_page(storage: Path) -> None:
    """Cancellation is noticed between two pages, and no result comes of it."""
    (storage / "many.pdf").write_bytes(pdf([INVOICE] * 40))
    with pytest.raises(Retry, match="Stopped on request at page 2 of 40"):
        run(RecordedAttempt({"document": "many.pdf"}, cancel_after=2))


def test_an_attempt_whose_time_is_over_stops_within_a_page(
    storage: Path, tesseract: Callable[[float], FakeTesseract]
) -> None:
    """A deadline that passes while a page is read ends the attempt, as a timeout."""
    tesseract(60)
    write_scan(storage / "scan.pdf", 1)

    class Deadline(RecordedAttempt):
        def seconds_left(self) -> float:
            return until - time.monotonic()

    until = time.monotonic() + 1.5
    with pytest.raises(Retry, match="time was over at page 1 of 1") as stopped:
        run(Deadline({"document": "scan.pdf"}))
    assert stopped.value.kind == "timeout"
    assert time.monotonic() - until < 1


def test_scans_are_read_with_ocr_when_it_is_there(
    storage: Path, tesseract: Callable[[float], FakeTesseract]
) -> None:
    """A page without text is read with tesseract, and says so; its words are in the text."""
    fake = tesseract(0)
    write_scan(storage / "scan.pdf", 3)
    data = run(RecordedAttempt({"document": "scan.pdf"})).data
    assert fake.calls == 3
    assert [(page["is_scanned"], page["source"]) for page in data["pages"]] == [(True, "ocr")] * 3
    assert data["text"].count("INV-7") == 3


GERMAN = (
    "Rechnung Nr. 17 vom 3. März 2026. Wir danken für Ihren Auftrag und berechnen Ihnen wie folgt"
    " die Lieferung der Pumpe. Zahlbar innerhalb von 14 Tagen ohne Abzug. Gesamtbetrag 99,50 EUR."
)
ENGLISH = (
    "Invoice number 17 of 3 March 2026. Thank you for your order of the pump that we delivered."
    " Please pay the total amount within fourteen days of the invoice date."
)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (GERMAN, [LANGUAGES, ["de"], ["de"], ["de"]]),
        (ENGLISH, [LANGUAGES, ["en"], ["en"]]),
        ("17 99,50", [LANGUAGES, LANGUAGES, LANGUAGES]),
    ],
    ids=["german", "english", "unclear"],
)
def test_ocr_settles_on_the_language_of_the_document(
    storage: Path, monkeypatch: pytest.MonkeyPatch, words: str, asked: list[object]
) -> None:
    """The first page is read in all languages, and what it is written in holds for the others."""
    seen: list[object] = []

    def ocr(reader: Reader, number: int, languages: Sequence[str]) -> Page:
        seen.append(languages)
        row = [Segment(words, (50.0, 50.0, 250.0, 60.0))]
        return Page(number, 300, 400, text=words, rows=[row], is_scanned=True, source="ocr")

    monkeypatch.setattr(Reader, "ocr", ocr)
    monkeypatch.setattr("forebay_agents.scans.ocr_is_installed", lambda: True)
    write_scan(storage / "scan.pdf", 3)
    run(RecordedAttempt({"document": "scan.pdf"}))
    assert seen == asked


def test_scans_without_ocr_are_told(storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can read a scan, the result says which pages are scans, and trusts nothing."""
    monkeypatch.setattr("forebay_agents.scans.ocr_is_installed", lambda: False)
    write_scan(storage / "scan.pdf", 2)
    result = run(RecordedAttempt({"document": "scan.pdf"}))
    assert result.data["notes"] == [
        "Shown as pictures or drawings, and not read: pages 1-2.",
        NOBODY,
    ]
    assert result.confidence is not None
    assert result.confidence < 0.1


def test_ocr_that_fails_costs_a_page_and_is_tried_again(
    storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page whose OCR takes too long is told as a scan that was not read; the next attempt may."""
    failing = {2}

    def ocr(reader: Reader, number: int, languages: Sequence[str]) -> Page:
        if number in failing:
            raise PageFailed(f"OCR of page {number} takes longer than 90 seconds.")
        return Page(number, 300, 400, text=f"read {number}", is_scanned=True, source="ocr")

    monkeypatch.setattr(Reader, "ocr", ocr)
    monkeypatch.setattr("forebay_agents.scans.ocr_is_installed", lambda: True)
    write_scan(storage / "scan.pdf", 3)
    data = run(RecordedAttempt({"document": "scan.pdf"})).data
    assert [page["source"] for page in data["pages"]] == ["ocr", "none", "ocr"]
    assert all(page["is_scanned"] and page["width"] == 300 for page in data["pages"])
    assert data["notes"] == [
        "Shown as pictures or drawings, and not read: page 2.",
        "OCR of page 2 takes longer than 90 seconds.",
    ]
    failing.clear()
    assert "read 2" in run(RecordedAttempt({"document": "scan.pdf"})).data["text"]


def test_a_document_that_is_replaced_meanwhile_is_read_anew(
    storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of the old file is not taken for the new one's, whose place it took."""
    seen: list[int] = []

    def ocr(reader: Reader, number: int, languages: Sequence[str]) -> Page:
        seen.append(number)
        if len(seen) == 1:
            write_scan(storage / "other.pdf", 2)
            (storage / "other.pdf").write_bytes((storage / "other.pdf").read_bytes() + b"\n%other")
            (storage / "other.pdf").replace(storage / "scan.pdf")
        if len(seen) == 2:
            raise Retry("the process was killed")
        return Page(number, 300, 400, text="17", is_scanned=True, source="ocr")

    monkeypatch.setattr(Reader, "ocr", ocr)
    monkeypatch.setattr("forebay_agents.scans.ocr_is_installed", lambda: True)
    write_scan(storage / "scan.pdf", 2)
    with pytest.raises(Retry, match="killed"):
        run(RecordedAttempt({"document": "scan.pdf"}))
    run(RecordedAttempt({"document": "scan.pdf"}))
    assert seen == [1, 2, 1, 2]


def test_checkpoints_of_a_rejected_document_go(
    storage: Path, tesseract: Callable[[float], FakeTesseract], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid for a document that no attempt can read is of no use to anybody."""
    tesseract(0)
    write_scan(storage / "scan.pdf", 2)

    def refuse(*_: object, **__: object) -> Findings:
        assert list(storage.glob("scan.pdf.forebay/*"))
        raise Reject("The model's context is too small.", "context_too_long")

    monkeypatch.setattr("forebay_agents.parse_document.combine", refuse)
    with pytest.raises(Reject):
        run(RecordedAttempt({"document": "scan.pdf"}))
    assert [path.name for path in storage.iterdir()] == ["scan.pdf"]


class FakeVision:
    """Read every picture but those of some pages, which are refused."""

    def __init__(self, refused: set[int]) -> None:
        self.refused = refused

    def read(self, number: int, png: bytes, page: Page, *_: object) -> Page:
        assert png.startswith(b"\x89PNG")
        if number in self.refused:
            raise Reject("It refused the picture's content.", "content_filtered")
        return Page(number, text=f"seen {number}", is_scanned=True, source="vision")


def test_a_vision_model_goes_before_ocr(
    storage: Path,
    tesseract: Callable[[float], FakeTesseract],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Scans go to the vision model that is configured; a page that it refuses is read with OCR."""
    fake = tesseract(0)
    monkeypatch.setattr(Vision, "from_environment", lambda: FakeVision(refused={2}))
    write_scan(storage / "scan.pdf", 3)
    data = run(RecordedAttempt({"document": "scan.pdf"})).data
    assert [page["source"] for page in data["pages"]] == ["vision", "ocr", "vision"]
    assert fake.calls == 1
    assert "did not read page 2: It refused" in data["notes"][0]


def test_what_was_read_before_a_failure_is_not_read_again(
    storage: Path,
    tesseract: Callable[[float], FakeTesseract],
) -> None:
    """The next attempt takes the pages that OCR has read from beside the document, until the
    result is known to be stored.
    """
    fake = tesseract(0)
    write_scan(storage / "scan.pdf", 6)
    with pytest.raises(Retry):
        run(RecordedAttempt({"document": "scan.pdf"}, cancel_after=2))
    before = fake.calls
    assert before >= 1
    for _ in range(2):  # the first of these results was lost on its way
        assert len(list((storage / "scan.pdf.forebay").iterdir())) >= before
        result = run(RecordedAttempt({"document": "scan.pdf"}))
        assert fake.calls == 6
        assert result.data["text"].count("INV-7") == 6
    accepted(result)
    assert [path.name for path in storage.iterdir()] == ["scan.pdf"]


def test_a_damaged_checkpoint_is_read_anew(
    storage: Path, tesseract: Callable[[float], FakeTesseract]
) -> None:
    """A checkpoint that holds no page, or is of another file, costs one page of OCR."""
    fake = tesseract(0)
    write_scan(storage / "scan.pdf", 6)
    with pytest.raises(Retry):
        run(RecordedAttempt({"document": "scan.pdf"}, cancel_after=2))
    for path in (storage / "scan.pdf.forebay").iterdir():
        kept: dict[str, Any] = json.loads(path.read_bytes())
        path.write_text(json.dumps(kept | {"value": {"number": "odd"}}))
    before = fake.calls
    assert run(RecordedAttempt({"document": "scan.pdf"})).data["text"].count("INV-7") == 6
    assert fake.calls == before + 6
