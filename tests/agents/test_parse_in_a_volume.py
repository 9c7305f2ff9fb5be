"""The document agent with a Volume that is not mounted: it reads there, and keeps things there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forebay.agent import Reject, Result, Retry
from forebay.errors import SettingError
from forebay_agents.parse_document import run
from forebay_lab.workspace import Fault, Principal
from support.scans import FakeTesseract, write_scan
from support.volumes import ROOT, VOLUME, Volume, served_volume

from .conftest import RecordedAttempt, accepted
from .pdfs import pdf, text

INVOICE = text((50, 700, "Invoice number: A-17"), (50, 680, "Total due: 99.50 EUR"))


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Volume]:
    """Serve the Volume that is the only storage root."""
    with served_volume(tmp_path / "volumes") as served:
        for name, value in served.environment().items():
            monkeypatch.setenv(name, value)
        yield served


def read(document: str) -> Result:
    """Have one attempt read a document, and its result accepted."""
    return accepted(run(RecordedAttempt({"document": document})))


@pytest.mark.parametrize("document", ["uploads/a.pdf", f"{ROOT}/uploads/a.pdf"])
def test_a_document_is_read_from_the_volume(volume: Volume, document: str) -> None:
    """By a name below the root or by its whole path; nothing is left beside it, or here."""
    (volume.folder / "uploads").mkdir()
    (volume.folder / "uploads" / "a.pdf").write_bytes(pdf([INVOICE]))
    volume.workspace.faults.add(Fault("break", "GET /cloud-storage", after=100))
    result = read(document)
    assert result.data["fields"]["total"] == "99.50"
    assert [path.name for path in volume.folder.rglob("*.*")] == ["a.pdf"]


def test_what_no_result_can_hold_goes_beside_it(
    volume: Volume, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole text is a file of the Volume, under the name that the result gives."""
    monkeypatch.setattr("forebay_agents.result.RESULT_BYTES", 10_000)
    line = "word " * 20
    pages = [text(*((50, 700 - 12 * place, line) for place in range(50)))] * 3
    (volume.folder / "long.pdf").write_bytes(pdf(pages))
    result = read("long.pdf")
    assert result.data["text_file"] == "long.pdf.text.txt"
    assert (volume.folder / "long.pdf.text.txt").read_text().count("word") == 3 * 50 * 20


def test_pages_that_were_paid_for_are_not_read_again(
    volume: Volume,
    tesseract: Callable[[float], FakeTesseract],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are kept in the Volume until there is a result."""
    monkeypatch.setattr("forebay_agents.progress.INTERVAL", 0.0)  # each page is told of
    fake = tesseract(0.0)
    write_scan(volume.folder / "scan.pdf", 4)
    with pytest.raises(Retry):
        run(RecordedAttempt({"document": "scan.pdf"}, cancel_after=3))
    assert list((volume.folder / "scan.pdf.forebay").iterdir())
    seen = fake.calls
    assert read("scan.pdf").data["page_count"] == 4
    assert fake.calls - seen < 4
    assert [path.name for path in volume.folder.iterdir()] == ["scan.pdf"]


def test_what_is_wrong_with_the_volume_costs_an_attempt_and_not_the_document(
    volume: Volume, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not there, or leads out of it, is the document's fault; a login or a fault is not."""
    (volume.folder / "a.pdf").write_bytes(pdf([INVOICE]))
    with pytest.raises(Reject, match="does not exist"):
        read("gone.pdf")
    with pytest.raises(Reject, match="outside the storage roots"):
        read("/Volumes/main/docs/others/a.pdf")
    volume.workspace.access.add(Principal("job"), "job-token")
    monkeypatch.setenv("DATABRICKS_TOKEN", "job-token")
    with pytest.raises(Retry, match="READ VOLUME"):
        read("a.pdf")
    volume.workspace.access.grant("job", f"volumes/{VOLUME}", "READ_VOLUME")
    assert read("a.pdf").data["page_count"] == 1
    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", "/Volumes/main/docs/nowhere")
    with pytest.raises(Retry, match=r"storage root .* is not there"):
        read("a.pdf")
    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", "/Volumes/main")
    with pytest.raises((Retry, SettingError), match="name a Volume"):
        read("a.pdf")
