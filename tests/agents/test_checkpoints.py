"""What was paid for is there again for the same document, and for no other."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forebay.agent import Retry
from forebay.storage import FolderStorage
from forebay_agents.checkpoints import StoredCheckpoints, forget
from forebay_agents.page_json import as_json, from_json
from forebay_agents.pages import Page, Segment, Table
from forebay_agents.spool import PageSpool

from .conftest import RecordedAttempt

VALUE = {"text": "Rechnung \N{GRINNING FACE}", "boxes": [1.5, None]}


def attempt(attempt_id: int = 1, database: str = "a", **more: Any) -> RecordedAttempt:
    return RecordedAttempt({}, attempt_id=attempt_id, database=database, **more)


def checkpoints(
    folder: Path, content: bytes = b"%PDF-", of: RecordedAttempt | None = None
) -> StoredCheckpoints:
    return StoredCheckpoints(FolderStorage(folder), "in/a.pdf", of or attempt(), lambda: [content])


def test_what_was_put_is_there_for_the_next_attempt(tmp_path: Path) -> None:
    """Each key has a file beside the document; clearing leaves nothing there."""
    (tmp_path / "in").mkdir()
    first = checkpoints(tmp_path)
    first.put("ocr-199", {"old": True})
    first.put("ocr-199", VALUE)
    assert (tmp_path / "in" / "a.pdf.forebay" / "ocr-199.1-a1.json").is_file()
    later = attempt(2)
    second = checkpoints(tmp_path, of=later)
    assert second.get("ocr-199", dict) == VALUE
    assert second.get("ocr-198", dict) is None
    second.put("ocr-199", {"newer": True})
    assert second.get("ocr-199", dict) == {"newer": True}
    assert checkpoints(tmp_path, of=attempt(3)).get("ocr-199", dict) == {"newer": True}
    forget(FolderStorage(tmp_path), "in/a.pdf", later)
    assert second.get("ocr-199", dict) is None
    assert list((tmp_path / "in").iterdir()) == []


@pytest.mark.parametrize("attempt_id", [1, 2])
def test_what_another_database_keeps_is_left_alone(attempt_id: int, tmp_path: Path) -> None:
    """A copy of the database, or a new one, has the same ids: it neither reads nor removes it."""
    checkpoints(tmp_path).put("ocr-1", VALUE)
    (file,) = (tmp_path / "in" / "a.pdf.forebay").iterdir()
    before = file.read_bytes()
    other = attempt(attempt_id, "b")
    kept = checkpoints(tmp_path, of=other)
    assert kept.get("ocr-1", dict) is None
    kept.put("ocr-1", {"other": True})
    assert kept.get("ocr-1", dict) == {"other": True}
    forget(FolderStorage(tmp_path), "in/a.pdf", other)
    assert list((tmp_path / "in" / "a.pdf.forebay").iterdir()) == [file]
    assert file.read_bytes() == before
    assert checkpoints(tmp_path).get("ocr-1", dict) == VALUE


def test_whose_checkpoints_there_are_is_asked_until_somebody_can_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the database is away it is not paid again; after long it is, for the sake of work."""
    monkeypatch.setattr("forebay_agents.checkpoints.ASK_AGAIN", 0.0)
    checkpoints(tmp_path).put("ocr-1", VALUE)

    class Returning(RecordedAttempt):
        asked_for = 0

        def known(self, attempts: Collection[tuple[int, str]]) -> set[str] | None:
            self.asked_for += 1
            return super().known(attempts) if self.asked_for > 3 else None

    returning = Returning({}, attempt_id=2)
    assert checkpoints(tmp_path, of=returning).get("ocr-1", dict) == VALUE
    assert returning.asked_for == 4
    away = attempt(2, is_away=True)
    monkeypatch.setattr("forebay_agents.checkpoints.UNANSWERED", 0.1)
    kept = checkpoints(tmp_path, of=away)
    assert kept.get("ocr-1", dict) is None
    kept.put("ocr-1", {"own": True})
    forget(FolderStorage(tmp_path), "in/a.pdf", away)
    assert checkpoints(tmp_path).get("ocr-1", dict) == VALUE


def test_who_is_to_stop_does_not_wait_to_be_told(tmp_path: Path) -> None:
    """A cancelled attempt ends, though the database is away."""
    checkpoints(tmp_path).put("ocr-1", VALUE)
    stopped = attempt(2, is_away=True, cancel_after=0)
    with pytest.raises(Retry, match="asking whose checkpoints"):
        checkpoints(tmp_path, of=stopped).get("ocr-1", dict)


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
    (tmp_path / "in" / "a.pdf.forebay" / "ocr-1.1-a1.json").write_bytes(content)
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
    file = tmp_path / "in" / "a.pdf.forebay" / "ocr-1.1-a1.json"
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
    forget(FolderStorage(tmp_path), "in/a.pdf", attempt())


def test_a_document_is_read_only_when_there_is_something_to_keep(tmp_path: Path) -> None:
    """A document that needs no checkpoint is not read a second time for them."""

    def read() -> list[bytes]:
        raise AssertionError("nothing was put")

    kept = StoredCheckpoints(FolderStorage(tmp_path), "a.pdf", attempt(), read)
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
    forget(FolderStorage(tmp_path), "a.pdf", attempt())
    assert (tmp_path / "a.pdf.forebay").read_text() == "mine"
