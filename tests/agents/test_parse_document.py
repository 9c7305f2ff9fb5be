"""The agent from payload to result: where it looks, how it stops, what it leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from forebay.agent import Reject, Retry
from forebay_agents.parse_document import run

from .conftest import RecordedAttempt
from .pdfs import pdf


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
