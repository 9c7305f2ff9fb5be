"""What was paid for is there again for the same document, and for no other."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.storage import FolderStorage
from forebay_agents.checkpoints import StoredCheckpoints, forget
from forebay_agents.page_json import as_json, from_json
from forebay_agents.pages import Page, Segment, Table
from forebay_agents.spool import PageSpool

VALUE = {"text": "Rechnung \N{GRINNING FACE}", "boxes": [1.5, None]}


def checkpoints(folder: Path, content: bytes = b"%PDF-") -> StoredCheckpoints:
    return StoredCheckpoints(FolderStorage(folder), "in/a.pdf", lambda: [content])


def test_what_was_put_is_there_for_the_next_attempt(tmp_path: Path) -> None:
    """Each key has a file beside the document; clearing leaves nothing there."""
    (tmp_path / "in").mkdir()
    first = checkpoints(tmp_path)
    first.put("ocr-199", {"old": True})
    first.put("ocr-199", VALUE)
    assert (tmp_path / "in" / "a.pdf.forebay" / "ocr-199.json").is_file()
    second = checkpoints(tmp_path)
    assert second.get("ocr-199", dict) == VALUE
    assert second.get("ocr-198", dict) is None
    forget(FolderStorage(tmp_path), "in/a.pdf")
    assert second.get("ocr-199", dict) is None
    assert list((tmp_path / "in").iterdir()) == []


def test_another_content_under_the_same_name_starts_anew(tmp_path: Path) -> None:
    """What was found in a document that has since been replaced is not taken for the new one's."""
    checkpoints(tmp_path).put("ocr-1", VALUE)
    assert checkpoints(tmp_path, b"%PDF-other").get("ocr-1", dict) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"\xff", b'{"version": 1}', b'{"value": 1}', b"[" * 100_000],
)
def test_a_broken_checkpoint_is_none(tmp_path: Path, content: bytes) -> None:
    """A file that a crash or a hand has damaged costs the work again, and no more."""
    kept = checkpoints(tmp_path)
    kept.put("ocr-1", VALUE)
    (tmp_path / "in" / "a.pdf.forebay" / "ocr-1.json").write_bytes(content)
    assert kept.get("ocr-1", dict) is None


def test_a_checkpoint_of_another_shape_is_none(tmp_path: Path) -> None:
    """What the reader of today cannot decode is not there, whatever release wrote it."""
    kept = checkpoints(tmp_path)
    kept.put("ocr-1", VALUE)
    assert kept.get("ocr-1", lambda value: value["text"]) == VALUE["text"]
    assert kept.get("ocr-1", lambda value: value["gone"]) is None
    assert kept.get("ocr-1", lambda value: int(value["text"])) is None


def test_a_checkpoint_of_another_version_is_none(tmp_path: Path) -> None:
    """What another release wrote may mean something else."""
    kept = checkpoints(tmp_path)
    kept.put("ocr-1", VALUE)
    file = tmp_path / "in" / "a.pdf.forebay" / "ocr-1.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {"version": 0}))
    assert kept.get("ocr-1", dict) is None


def test_a_storage_that_takes_none_costs_no_attempt(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where checkpoints cannot be written or removed, the work goes on and the log says so."""
    (tmp_path / "in").write_bytes(b"a file, and no folder")
    kept = checkpoints(tmp_path)
    with caplog.at_level(logging.WARNING):
        kept.put("ocr-1", VALUE)
    assert "checkpoint_not_kept" in caplog.text
    assert kept.get("ocr-1", dict) is None
    forget(FolderStorage(tmp_path), "in/a.pdf")


def test_a_document_is_read_only_when_there_is_something_to_keep(tmp_path: Path) -> None:
    """A document that needs no checkpoint is not read a second time for them."""

    def read() -> list[bytes]:
        raise AssertionError("nothing was put")

    kept = StoredCheckpoints(FolderStorage(tmp_path), "a.pdf", read)
    assert kept.get("ocr-1", dict) is None


def test_a_page_comes_back_as_it_went() -> None:
    """A page on its way through a process or a file keeps every field."""
    box = (1.0, 2.0, 3.5, 4.0)
    page = Page(
        number=7,
        width=595.3,
        height=841.9,
        rotation=90,
        text="a\n請求書",
        rows=[[Segment("a", box), Segment("b", box)], []],
        tables=[Table([["1", ""], ["2", "x"]], box)],
        coverage=0.25,
        is_scanned=True,
        source="ocr",
        certainty=0.75,
        notes=["odd"],
    )
    with PageSpool() as spool:
        for number in (1, 2):
            spool.add_page(replace(page, number=number))
        assert list(spool.pages()) == [replace(page, number=1), replace(page, number=2)]


@pytest.mark.parametrize(
    "odd",
    [{"text": 5}, {"certainty": "high"}, {"coverage": None}, {"notes": [5]}, {"rows": [[[1, 2]]]}],
    ids=str,
)
def test_what_is_no_page_is_refused(odd: dict[str, object]) -> None:
    """A page from a file that somebody changed is checked before it is believed."""
    document = as_json(Page(1)) | odd
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_json(document)


def test_a_file_that_is_not_ours_stays(tmp_path: Path) -> None:
    """A person's own file under the name of the folder for checkpoints is not removed."""
    (tmp_path / "a.pdf.forebay").write_text("mine")
    forget(FolderStorage(tmp_path), "a.pdf")
    assert (tmp_path / "a.pdf.forebay").read_text() == "mine"
