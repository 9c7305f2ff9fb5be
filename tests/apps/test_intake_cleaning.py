"""The storage keeps what was submitted and what is on its way, and in the end nothing else."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from forebay.calls import operator, submitter, upkeep, worker
from forebay.errors import SettingError, UnknownUploadError
from forebay.pool import Database
from forebay_agents.checkpoints import StoredCheckpoints
from forebay_agents.standalone import StandaloneAttempt
from forebay_apps.intake import cleaning
from forebay_apps.intake.cleaning import Cleaner
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.web.database import Connections
from support.clock import Clock

OWNER = "alice"
DAY = timedelta(days=1)


@pytest.fixture
def settings(tmp_path: Path) -> IntakeSettings:
    """Return intake's settings, with a storage root of the test's own."""
    (tmp_path / "storage").mkdir()
    return IntakeSettings.read({"FOREBAY_STORAGE_ROOTS": str(tmp_path / "storage")})


@pytest.fixture
def connections(role_dsn: Callable[..., str]) -> Iterator[Connections]:
    """Return what an app reaches the database by."""
    connections = Connections(Database(role_dsn("all"), application_name="test"))
    yield connections
    connections.close()


@pytest.fixture
def cleaner(connections: Connections, settings: IntakeSettings) -> Cleaner:
    """Return a cleaner that keeps uploads for a day."""
    return Cleaner(connections, settings, DAY)


@pytest.fixture
def conn(connect: Callable[..., psycopg.Connection], clock: Clock) -> psycopg.Connection:
    """Connect as every caller to a database whose time stands still, with an agent."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse_document", max_attempts=1)
    return conn


def upload(conn: psycopg.Connection, settings: IntakeSettings, *, whole: bool = True) -> uuid.UUID:
    """Store a file as intake does; one that is not whole has come without its end."""
    upload_id = uuid.uuid4()
    document = submitter.open_upload(conn, upload_id=upload_id, name="n.pdf", actor=OWNER)
    settings.storage.write(document, [b"%PDF-"])
    if whole:
        submitter.finish_upload(
            conn, upload_id=upload_id, bytes_=5, pages=1, estimated_tokens=1, actor=OWNER
        )
    return upload_id


def submit(conn: psycopg.Connection, *upload_ids: uuid.UUID) -> int:
    """Submit uploads, and return their batch."""
    return submitter.submit_uploads(
        conn,
        submission_key=str(uuid.uuid4()),
        upload_ids=upload_ids,
        agent="parse_document",
        name="n",
        actor=OWNER,
    )


def stored(settings: IntakeSettings) -> set[str]:
    """Return the names of what is stored, without the folder of all uploads."""
    return {name.removeprefix("uploads/") for name in settings.storage.names()}


def test_what_nobody_submitted_goes_by_its_age(
    conn: psycopg.Connection, settings: IntakeSettings, cleaner: Cleaner, clock: Clock
) -> None:
    """Whole or not; what is young or was submitted stays, and nobody can submit what went."""
    submitted, left, cut = (upload(conn, settings, whole=whole) for whole in (True, True, False))
    submit(conn, submitted)
    clock.advance(timedelta(hours=12))
    young = upload(conn, settings)
    assert cleaner.step() == 0
    clock.advance(timedelta(hours=12))
    assert cleaner.step() == 2
    assert stored(settings) == {f"{submitted}.pdf", f"{young}.pdf"}
    assert cleaner.step() == 0
    for upload_id in (left, cut):
        with pytest.raises(UnknownUploadError):
            submit(conn, upload_id)


def test_what_was_dropped_goes_too(
    conn: psycopg.Connection, settings: IntakeSettings, cleaner: Cleaner, clock: Clock
) -> None:
    """Also where its file was not removed at once, or was removed: neither is an error."""
    dropped, removed = upload(conn, settings), upload(conn, settings)
    for upload_id in (dropped, removed):
        document = submitter.drop_upload(conn, upload_id=upload_id, actor=OWNER)
    settings.storage.delete(document)
    clock.advance(DAY)
    assert cleaner.step() == 2
    assert stored(settings) == set()


def test_what_a_task_left_goes_when_it_has_ended(
    conn: psycopg.Connection, settings: IntakeSettings, cleaner: Cleaner, clock: Clock
) -> None:
    """Its checkpoints go a day later, its document stays; a task that waits keeps both."""
    ids = ended, waits = upload(conn, settings), upload(conn, settings)
    batch_id = submit(conn, *ids)
    (claim,) = worker.dequeue(conn, worker="w")
    for upload_id in ids:
        name = f"uploads/{upload_id}.pdf"
        attempt = StandaloneAttempt()
        StoredCheckpoints(settings.storage, name, attempt, lambda: [b"x"]).put("ocr-1", {})
    operator.cancel(conn, task_ids=[claim.task_id])
    assert cleaner.step() == 0
    clock.advance(DAY)
    assert cleaner.step() == 1
    documents = {f"{ended}.pdf", f"{waits}.pdf"}
    assert stored(settings) == documents | {f"{waits}.pdf.forebay/ocr-1.0-standalone.json"}
    folder = settings.storage.root / "uploads" / f"{ended}.pdf.forebay"  # type: ignore[attr-defined]
    assert not folder.exists()
    submitter.cancel_batch(conn, batch_id=batch_id, actor=OWNER)
    clock.advance(DAY)
    assert cleaner.step() == 1
    assert stored(settings) == documents


def test_a_clean_up_that_died_is_done_again(
    conn: psycopg.Connection,
    settings: IntakeSettings,
    cleaner: Cleaner,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the file and the note that it is gone, the next pass finds the file gone."""
    upload_id = upload(conn, settings)
    clock.advance(DAY)

    def died(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("the connection is lost")

    with monkeypatch.context() as patch:
        patch.setattr(upkeep, "uploads_cleaned", died)
        with pytest.raises(psycopg.OperationalError):
            cleaner.step()
    assert stored(settings) == set()
    with pytest.raises(UnknownUploadError):
        submit(conn, upload_id)
    assert cleaner.step() == 1


def test_a_file_that_cannot_be_removed_holds_up_no_other(
    conn: psycopg.Connection, settings: IntakeSettings, cleaner: Cleaner, clock: Clock
) -> None:
    """It comes again with the next pass, until it can."""
    stuck, fine = upload(conn, settings), upload(conn, settings)
    path = settings.storage.root / "uploads" / f"{stuck}.pdf"  # type: ignore[attr-defined]
    path.unlink()
    (path / "in the way").mkdir(parents=True)
    clock.advance(DAY)
    assert cleaner.step() == 1
    assert not settings.storage.exists(f"uploads/{fine}.pdf")
    (path / "in the way").rmdir()
    assert cleaner.step() == 1
    assert not path.exists()


def test_many_go_in_one_pass(
    conn: psycopg.Connection,
    settings: IntakeSettings,
    cleaner: Cleaner,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More than are looked up at a time."""
    monkeypatch.setattr(cleaning, "AT_A_TIME", 3)
    for _ in range(8):
        upload(conn, settings)
    clock.advance(DAY)
    assert cleaner.step() == 8
    assert stored(settings) == set()


def test_what_a_process_left_half_written_goes_by_its_age(
    conn: psycopg.Connection, settings: IntakeSettings, cleaner: Cleaner
) -> None:
    """A write that goes on is left alone."""
    folder = settings.storage.root / "uploads"  # type: ignore[attr-defined]
    folder.mkdir(parents=True)
    old, new = folder / ".old.part", folder / ".new.part"
    for path in (old, new):
        path.write_bytes(b"%PDF-")
    long_ago = time.time() - DAY.total_seconds() - 60
    os.utime(old, (long_ago, long_ago))
    assert cleaner.step() == 0
    assert [path.exists() for path in (old, new)] == [False, True]


def test_it_works_by_itself_until_it_is_stopped(
    conn: psycopg.Connection, settings: IntakeSettings, cleaner: Cleaner, clock: Clock
) -> None:
    """The first pass comes at the start; stopping ends the thread."""
    upload(conn, settings)
    clock.advance(DAY)
    cleaner.start()
    while stored(settings):
        time.sleep(0.01)
    cleaner.stop()
    assert "cleaner" not in {thread.name for thread in threading.enumerate()}


def test_it_goes_on_after_an_error(
    conn: psycopg.Connection,
    settings: IntakeSettings,
    cleaner: Cleaner,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A database that is away is asked again."""
    monkeypatch.setattr(Cleaner, "after_an_error", 0.01)
    upload(conn, settings)
    clock.advance(DAY)
    asked, real = [], upkeep.uploads_to_clean

    def away_at_first(*arguments: object, **named: object) -> object:
        asked.append(1)
        if len(asked) < 3:
            raise psycopg.OperationalError("the server is away")
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(upkeep, "uploads_to_clean", away_at_first)
    cleaner.start()
    while stored(settings):
        time.sleep(0.01)
    cleaner.stop()


@pytest.mark.parametrize("said", ["0", "-1", "soon"])
def test_the_age_is_a_setting(
    connections: Connections, settings: IntakeSettings, said: str
) -> None:
    """A wrong one is named."""
    with pytest.raises(SettingError, match="FOREBAY_UPLOAD_HOURS"):
        Cleaner.of({"FOREBAY_UPLOAD_HOURS": said}, connections, settings)
