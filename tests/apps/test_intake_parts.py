"""The parts of intake that need no browser: settings, pictures that are kept, words."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from apps.support.uploads import a_pdf
from forebay.errors import SettingError
from forebay.rows import BatchTask, TaskExplanation
from forebay.storage import StorageError, prepare
from forebay.visible import visible
from forebay_apps.intake import pictures
from forebay_apps.intake.naming import (
    left,
    name_of,
    reading_words,
    shown_name,
    waiting_words,
    why_words,
)
from forebay_apps.intake.pictures import NoPicture, Pictures
from forebay_apps.intake.settings import IntakeSettings


def settings(folder: Path, **variables: str) -> IntakeSettings:
    """Return intake's settings as it starts with them."""
    read = IntakeSettings.read({"FOREBAY_HOME": str(folder), **variables})
    prepare(read.storages)
    return read


def test_what_is_not_set_has_a_default(tmp_path: Path) -> None:
    """Documents go below the home, as those that the command line submits."""
    read = settings(tmp_path)
    assert (read.upload_mb, read.upload_pages, read.agents) == (100, 1000, ("parse_document",))
    read.storage.write("a.pdf", [b"x"])
    assert (tmp_path / "documents" / "a.pdf").read_bytes() == b"x"


def test_uploads_go_to_the_first_root_and_documents_are_found_in_all(tmp_path: Path) -> None:
    """The roots are those of the agents."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    read = settings(tmp_path, FOREBAY_STORAGE_ROOTS=f"{first}:{second}")
    read.storage.write("a.pdf", [b"x"])
    assert (first / "a.pdf").exists()
    (second / "b.pdf").write_bytes(b"y")
    storage, name = read.locate("b.pdf")
    assert list(storage.read(name)) == [b"y"]


def test_nothing_is_taken_that_the_agents_refuse(tmp_path: Path) -> None:
    """The smaller of both limits counts."""
    read = settings(
        tmp_path,
        FOREBAY_UPLOAD_MB="500",
        FOREBAY_PARSE_FILE_MB="50",
        FOREBAY_UPLOAD_PAGES="9",
        FOREBAY_INTAKE_AGENTS=" a, b ,",
    )
    assert (read.upload_mb, read.upload_pages, read.agents) == (50, 9, ("a", "b"))


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5"])
def test_a_wrong_limit_is_named(tmp_path: Path, value: str) -> None:
    """The app does not start with it."""
    with pytest.raises(SettingError, match="FOREBAY_UPLOAD_MB"):
        settings(tmp_path, FOREBAY_UPLOAD_MB=value)


def drawn(kept: Pictures, number: int) -> bytes:
    """Return a page of a.pdf, as Mila asks for it."""
    return asyncio.run(kept.get(("a.pdf", number, None), "mila"))


def test_a_picture_is_drawn_once(tmp_path: Path) -> None:
    """It is kept, though its file is gone; another page is not there."""
    read = settings(tmp_path)
    read.storage.write("a.pdf", [a_pdf(pages=2)])
    kept = Pictures(read)
    picture = drawn(kept, 1)
    assert picture.startswith(b"\x89PNG")
    with pytest.raises(NoPicture, match="There is no page 3: the document has 2"):
        drawn(kept, 3)
    read.storage.delete("a.pdf")
    assert drawn(kept, 1) is picture
    with pytest.raises((NoPicture, StorageError)):
        drawn(kept, 2)


def test_pictures_are_forgotten_when_they_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were asked for last are kept."""
    read = settings(tmp_path)
    read.storage.write("a.pdf", [a_pdf(pages=3)])
    kept = Pictures(read)
    first = drawn(kept, 1)
    monkeypatch.setattr(pictures, "KEPT_BYTES", len(first) * 5 // 2)
    drawn(kept, 2)
    drawn(kept, 1)
    drawn(kept, 3)
    read.storage.delete("a.pdf")
    assert drawn(kept, 1) is first
    with pytest.raises((NoPicture, StorageError)):
        drawn(kept, 2)


def waits(reason: str, ahead: int | None = None) -> TaskExplanation:
    """Return why a document waits, said for operators."""
    names = ("waiting_until", "subject", "unit", "needs", "has", "amount", "period")
    unknown: dict[str, Any] = dict.fromkeys(names)
    return TaskExplanation(
        task_id=1, status="enqueued", reason=reason, explanation="month end", ahead=ahead, **unknown
    )


def task(task_id: int, agent: str = "a", **values: Any) -> BatchTask:
    """Return a document that waits, or what the values say."""
    unknown: dict[str, Any] = dict.fromkeys(field.name for field in fields(BatchTask))
    known = {"task_id": task_id, "agent": agent, "status": "enqueued", "payload": {}}
    return BatchTask(**(unknown | known | values))


def test_why_it_waits_is_said_to_those_who_sent_it() -> None:
    """Not more than concerns them, else as the database says it."""
    said = [
        why_words(waits(reason, ahead))
        for reason, ahead in (
            *(("ready", 0), ("behind_others", 1), ("behind_others", 1200)),
            *(("full", 1), ("tokens", 0)),
        )
    ]
    assert said == [
        *("Next in line.", "In line, 1 before it.", "In line, 1,200 before it."),
        *("Waits for a free place, 1 before it.", "month end"),
    ]


def test_of_documents_that_nobody_asked_about_only_what_is_true_is_said() -> None:
    """A pause holds for all of its agent's; a full agent may not be why the next one waits."""
    tasks = [
        *(task(1), task(2), task(3, "b"), task(4, "b"), task(5, "b", attempt_count=1)),
        task(6, status="completed"),
    ]
    whys = {1: waits("paused"), 3: waits("full", 2)}
    assert waiting_words(tasks, whys) == {
        1: "month end",
        2: "Its agent is paused.",
        3: "Waits for a free place, 2 before it.",
        4: "In line.",
        5: "Waits to be tried again.",
    }


def test_what_is_being_done_is_said() -> None:
    """When all pages are read the models are still at work."""
    said = [
        reading_words(task(1, progress_done=done, progress_total=total))
        for done, total in ((None, None), (0, 1), (1, 1), (2, 3), (1200, 1200))
    ]
    assert said == [
        *("Starting", "0 of 1 page read", "The page is read, finding its fields"),
        *("2 of 3 pages read", "All 1,200 pages are read, finding its fields"),
    ]


NAMES = {
    **dict.fromkeys((" ", "\n", "\u202e", "\u200b\ufeff", "\u3164", "\u0301", "\u200d"), "x"),
    "invoice\u202efdp.exe": "invoicefdp.exe",
    "a\nb\u2028c.pdf": "a b c.pdf",
    " \u2066a\u2069.pdf ": "a.pdf",
    "👩\u200d👧 e\u0301.pdf": "👩\u200d👧 e\u0301.pdf",
    "שלום (1).pdf": "שלום (1).pdf",
    ".": ".",
}
"""Names, and how they are shown; x stands for one of which nothing can be seen."""


@pytest.mark.parametrize("name", NAMES)
def test_every_name_shows_something_and_stays_in_line(name: str) -> None:
    """What orders or hides other characters is left out."""
    assert visible(name, "x") == NAMES[name]


def test_a_name_that_is_not_seen_has_the_documents_number() -> None:
    """The name of another document stays as it is."""
    assert shown_name(task(7, payload={"name": " "})) == "document 7"
    assert shown_name(task(7, payload={"name": "a"})) == "a"


def test_words() -> None:
    """Names come from the payload, however it looks; times are no finer than an estimate."""
    names = [name_of(each) for each in ({"name": "a", "document": "b"}, {"document": "b"}, {})]
    assert names == ["a", "b", "document"]
    assert [left(timedelta(seconds=each)) for each in (1, 89, 100, 3599, 7500)] == [
        *("1 minute", "1 minute", "2 minutes", "1 h", "2 h 5 m"),
    ]
