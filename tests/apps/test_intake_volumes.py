"""Intake with a Volume as its storage: what people upload goes through the Files API, both ways."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import psycopg
import pytest
from playwright.sync_api import Page, expect

from apps.conftest import ClientOf, Serve, Visit
from apps.support.browser import Complaints
from apps.support.serving import Served
from apps.support.uploads import NAMES, a_pdf, put, submit, uploaded
from conftest import Connect
from forebay.calls import operator, submitter
from forebay.logs import FIELDS
from forebay.pool import Database
from forebay_apps.intake.cleaning import Cleaner
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.intake.storing import UNUSABLE
from forebay_apps.web.database import Connections
from forebay_lab.workspace import Fault, Principal
from support.daemon import ended, register, running
from support.volumes import VOLUME, Volume, served_volume

MEGABYTE = 1 << 20


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Volume]:
    """Serve a Volume, and have this process and its children find it."""
    with served_volume(tmp_path / "volumes") as served:
        for name, value in served.environment().items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.fixture
def intake(serve: Serve, volume: Volume) -> Served:
    return serve("intake", **volume.environment())


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    conn = connect("all")
    operator.register_agent(conn, agent="parse_document")
    return conn


@pytest.fixture
def mila(intake: Served, client: ClientOf) -> httpx.Client:
    """Log Mila in, who submits documents."""
    return client(intake, "mila")


def stored(volume: Volume) -> list[Path]:
    """Return what the Volume has, and what is left of what did not get there."""
    return [path for path in volume.folder.parent.rglob("*") if path.is_file()]


def pick(page: Page, *files: tuple[str, bytes]) -> None:
    """Choose files as a person does, and wait until each was answered."""
    page.locator("[data-pick]").set_input_files(
        [{"name": name, "mimeType": "application/pdf", "buffer": it} for name, it in files]
    )
    going = page.locator(".file:is([data-state=queued], [data-state=sending])")
    expect(going).to_have_count(0, timeout=60_000)
    expect(page.locator(".file[data-state=checking]")).to_have_count(0, timeout=60_000)


def test_from_the_upload_page_to_the_result(
    conn: psycopg.Connection,
    db: psycopg.Connection,
    volume: Volume,
    intake: Served,
    visit: Visit,
    complaints: Complaints,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> None:
    """A PDF is uploaded, read by the agent, and shown, and no process has the Volume mounted."""
    register(db, "parse_document", entry_point="parse_document")
    complaints.expect("422")
    page = visit(intake, "/", "mila")
    pick(page, ("one.pdf", a_pdf("Invoice INV-7")), ("empty.pdf", b""), ("two.pdf", a_pdf()))
    expect(page.locator("[data-summary]")).to_have_text("2 ready · 1 refused")
    assert len(stored(volume)) == 2
    page.locator("[data-submit]").click()
    page.wait_for_url(re.compile(r"/batches/\d+$"))
    batch_id = int(page.url.rpartition("/")[2])
    tasks = submitter.batch_tasks(conn, batch_id=batch_id, actor="mila")
    with running(role_dsn("worker", "agent"), tmp_path / "logs"):
        rows = [ended(db, task.task_id, 60) for task in tasks]
    assert [row["status"] for row in rows] == ["completed"] * 2, [row["error"] for row in rows]
    assert "INV-7" in rows[0]["result"]["text"]
    page.goto(f"{intake.url}/batches/{batch_id}/documents/{tasks[0].task_id}")
    picture = page.locator("img").first
    expect(picture).to_have_js_property("complete", value=True)
    assert picture.evaluate("image => image.naturalWidth") > 0
    original = page.request.get(f"{page.url.partition('?')[0]}/original.pdf")
    assert original.body() == a_pdf("Invoice INV-7")
    assert all(path.is_relative_to(volume.folder / "uploads") for path in stored(volume))


def test_fl1_any_name_is_data(conn: psycopg.Connection, volume: Volume, mila: httpx.Client) -> None:
    """Names that lead elsewhere come back whole, and name no file."""
    answer = submit(mila, uploaded(mila, NAMES))
    tasks = submitter.batch_tasks(conn, batch_id=answer.json()["batch_id"], actor="mila")
    assert tuple(task.payload["name"] for task in tasks) == NAMES
    documents = {task.payload["document"] for task in tasks}
    assert documents == {path.relative_to(volume.folder).as_posix() for path in stored(volume)}


@pytest.mark.usefixtures("conn")
def test_fl4_what_is_refused_leaves_nothing(volume: Volume, mila: httpx.Client) -> None:
    """Neither an empty file nor one that is no PDF, nor one that is given up, is kept."""
    for content in (b"", b"<!doctype html>", b"%PDF-1.7 and nothing more"):
        assert put(mila, content).status_code == 422
    (upload_id,) = uploaded(mila, ("a.pdf",))
    assert mila.delete(f"/uploads/{upload_id}").status_code == 204
    assert not stored(volume)


@pytest.mark.usefixtures("conn")
def test_a_large_file_goes_in_parts(volume: Volume, mila: httpx.Client) -> None:
    """One that breaks on its way to the Volume arrives without the person's noticing."""
    volume.workspace.faults.add(Fault("break", "PUT /cloud-storage", skip=2, after=MEGABYTE))
    content = a_pdf() + b"%" + b"x" * 60 * MEGABYTE + b"\n"
    answer = put(mila, content)
    assert answer.status_code == 201, answer.text
    (path,) = stored(volume)
    assert path.read_bytes() == content


@pytest.mark.usefixtures("conn")
def test_a_workspace_that_is_away_for_a_moment_stops_nobody(
    volume: Volume, mila: httpx.Client
) -> None:
    """Uploads wait for it."""
    with volume.workspace.down():
        thread = threading.Thread(target=lambda: answers.append(put(mila, a_pdf())))
        answers: list[httpx.Response] = []
        thread.start()
        time.sleep(2)
        assert not answers
    thread.join(30)
    assert [answer.status_code for answer in answers] == [201]


@pytest.mark.usefixtures("conn")
def test_fl8_what_the_volume_refuses_can_be_sent_again(
    volume: Volume,
    mila: httpx.Client,
    client: ClientOf,
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The person hears a sentence, the log has why; the same file goes through later."""
    access = volume.workspace.access
    access.add(Principal("intake-app"), "app-token")
    access.grant("intake-app", f"volumes/{VOLUME}", "READ_VOLUME")
    monkeypatch.setenv("DATABRICKS_TOKEN", "app-token")
    app = serve("intake", **volume.environment() | {"DATABRICKS_TOKEN": "app-token"})
    person, upload_id = client(app, "mila"), "0e2b1d1c-5d3f-4a1e-9c55-0f6f3f1b7a11"
    refused = put(person, a_pdf(), upload_id=upload_id)
    assert refused.status_code == 503
    assert refused.json()["error"] == UNUSABLE
    (logged,) = [vars(record) for record in caplog.records if record.levelname == "ERROR"]
    assert "READ VOLUME and WRITE VOLUME" in logged[FIELDS]["reason"]
    assert not stored(volume)
    access.grant("intake-app", f"volumes/{VOLUME}", "WRITE_VOLUME")
    assert put(person, a_pdf(), upload_id=upload_id).status_code == 201
    assert put(person, a_pdf(), upload_id=upload_id).status_code == 201
    assert len(stored(volume)) == 1


def test_fl8_what_nobody_submitted_is_swept_from_the_volume(
    conn: psycopg.Connection, volume: Volume, mila: httpx.Client, role_dsn: Callable[..., str]
) -> None:
    """By its age; what was submitted, and the folder of another, stays."""
    kept, swept = uploaded(mila, ("a.pdf", "b.pdf"))
    assert submit(mila, [kept]).status_code == 201
    (volume.folder / "uploads" / ".left.part").write_bytes(b"by a mounted path")
    (volume.folder / "theirs.pdf").write_bytes(b"theirs")
    settings = IntakeSettings.read(volume.environment())
    connections = Connections(Database(role_dsn("all"), application_name="test"))
    try:
        assert Cleaner(connections, settings, timedelta(days=1)).step() == 0
        assert len(stored(volume)) == 4
        assert Cleaner(connections, settings, timedelta(0)).step() == 1
    finally:
        connections.close()
    names = {path.name for path in stored(volume)}
    assert names == {"theirs.pdf", f"{kept}.pdf"}, swept
