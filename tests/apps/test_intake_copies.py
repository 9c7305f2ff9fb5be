"""A copy shares its storage with what it was copied from, and removes no file of that."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import psycopg
import pytest

from apps.conftest import ClientOf
from apps.support.serving import Served
from apps.support.uploads import a_pdf, put, stored, uploaded
from forebay.calls import operator
from forebay.pool import Database
from forebay_apps.intake.cleaning import Cleaner
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.web.database import Connections
from support.copies import become_a_branch, become_a_copy

CLOSED = "This database is a copy that nobody has opened: it neither takes nor removes files."


@pytest.fixture
def mila(intake: Served, client: ClientOf) -> httpx.Client:
    """Log Mila in, who submits documents."""
    return client(intake, "mila")


@pytest.fixture
def cleaner(intake: Served, role_dsn: Callable[..., str]) -> Iterator[Cleaner]:
    """Return a cleaner of what intake stores, for which all is old that a test makes old."""
    settings = IntakeSettings.read({"FOREBAY_STORAGE_ROOTS": str(intake.storage)})
    connections = Connections(Database(role_dsn("all"), application_name="test"))
    yield Cleaner(connections, settings, timedelta(hours=1))
    connections.close()


def left(intake: Served, folder: str) -> list[str]:
    """Have an upload that died leave something in a folder, and return where there is such."""
    where = intake.storage / folder
    where.mkdir(parents=True, exist_ok=True)
    path = where / f".{uuid.uuid4()}.part"
    path.write_bytes(b"%PDF-")
    os.utime(path, (1, 1))
    return unfinished(intake)


def unfinished(intake: Served) -> list[str]:
    """Return the folders in which uploads have left something."""
    files = intake.storage.rglob(".*.part")
    return sorted(file.parent.relative_to(intake.storage).as_posix() for file in files)


def test_a_copy_removes_no_document(
    superuser: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Neither who gives a file up nor one that is refused does; the person is told why."""
    ids = uploaded(mila, ("a.pdf", "b.pdf"))
    become_a_copy(superuser)
    answers = [
        mila.delete(f"/uploads/{ids[0]}", headers={"Accept": "application/json"}),
        put(mila, b"no PDF", upload_id=ids[0]),
        put(mila, a_pdf("other"), upload_id=ids[1]),
        put(mila, a_pdf()),
    ]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert {answer.json()["error"] for answer in answers} == {CLOSED}
    assert {path.stem for path in stored(intake)} == set(ids)
    assert [path.read_bytes() for path in stored(intake)] == [a_pdf()] * 2


def test_a_copy_that_took_over_removes_documents(
    superuser: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """It counts as the original: what its people give up is gone."""
    (upload_id,) = uploaded(mila, ("a.pdf",))
    become_a_copy(superuser)
    operator.open_installation(superuser, reason="the old server is gone")
    assert mila.delete(f"/uploads/{upload_id}").status_code == 204
    assert not stored(intake)


def test_an_open_branch_removes_what_it_took_itself(
    superuser: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Its files are apart: not even an id of the original's leads to a document of that."""
    (original,) = uploaded(mila, ("a.pdf",))
    superuser.execute("delete from forebay.uploads")  # it came after the copy was made
    branch = become_a_branch(superuser)
    operator.open_installation(superuser)
    assert put(mila, a_pdf("other"), upload_id=original).status_code == 201
    folders = {path.parent.relative_to(intake.storage).as_posix() for path in stored(intake)}
    assert folders == {"uploads", f"uploads/{branch}"}
    assert mila.delete(f"/uploads/{original}").status_code == 204
    assert [path.read_bytes() for path in stored(intake)] == [a_pdf()]


@pytest.mark.parametrize("become", [become_a_copy, become_a_branch])
def test_a_closed_copy_removes_nothing_unfinished(
    superuser: psycopg.Connection,
    intake: Served,
    cleaner: Cleaner,
    become: Callable[[psycopg.Connection], object],
) -> None:
    """A write that seems to have died may be one of the original's that goes on."""
    become(superuser)
    there = left(intake, "uploads")  # not before: the app has a cleaner of its own
    assert cleaner.step() == 0
    assert unfinished(intake) == there
    operator.open_installation(superuser)
    cleaner.step()
    assert bool(unfinished(intake)) is (become is become_a_branch)


def test_an_open_branch_removes_what_its_own_uploads_left(
    superuser: psycopg.Connection, intake: Served, cleaner: Cleaner
) -> None:
    """What is in its folder, and nothing beside it."""
    branch = become_a_branch(superuser)
    operator.open_installation(superuser)
    left(intake, f"uploads/{branch}")
    assert left(intake, "uploads") == ["uploads", f"uploads/{branch}"]
    cleaner.step()
    assert unfinished(intake) == ["uploads"]
