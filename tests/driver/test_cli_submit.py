"""Submitting files: copied under names of our own, enqueued as one batch or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from forebay.calls import operator, reader
from forebay.cli.database import person
from forebay_agents.models import estimate_tokens
from support.cli import Cli
from support.copies import become_a_branch, become_a_copy

PDF = b"%PDF-1.4\nnot much of one\n"
NAMES = ("..\\up.pdf", "請求書 nº 1 'x' %s.pdf", "a\nb.pdf", "x" * 250 + ".pdf", "-rf.pdf")


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """Return the folder that copies go to."""
    return tmp_path / "storage"


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    role_dsn: Callable[..., str],
    storage: Path,
) -> Cli:
    """Run commands as a member of every caller's role, with a storage root of the test's own."""
    monkeypatch.delenv("FOREBAY_DEBUG", raising=False)
    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", f"{storage}{os.pathsep}/elsewhere")
    monkeypatch.setenv("FOREBAY_DATABASE_URL", role_dsn("all"))
    return Cli(capsys)


@pytest.fixture
def conn(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """Connect as every caller, to a database that knows the document agent."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse_document")
    return conn


def pdf(path: Path, content: bytes = PDF) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_batch_is_whose_it_is_said_to_be(
    cli: Cli, conn: psycopg.Connection, tmp_path: Path
) -> None:
    """In intake a person has another name than at this computer."""
    name = pdf(tmp_path / "a.pdf")
    assert cli("submit", name, "--owner", "ada@example.com").code == 0
    assert cli("submit", name).code == 0
    owners = conn.execute("select owner from forebay.list_batches() order by batch_id").fetchall()
    assert owners == [("ada@example.com",), (person(),)]


def test_files_become_one_batch(
    cli: Cli, conn: psycopg.Connection, storage: Path, tmp_path: Path
) -> None:
    """One task a file, in order; the copy has a name of ours and the person's name is data."""
    files = [pdf(tmp_path / "in" / "a.pdf"), pdf(tmp_path / "other" / "a.pdf", PDF + b"2")]
    answer = cli(
        *("submit", *files, "--priority", "urgent", "--customer", "acme"),
        *("--batch", "october", "--json"),
    )
    assert answer.code == 0, answer.err
    document = answer.json
    assert [task["name"] for task in document["tasks"]] == ["a.pdf", "a.pdf"]
    for file, task in zip(files, document["tasks"], strict=True):
        payload = reader.task_result(conn, task_id=task["task_id"]).payload
        assert payload["name"] == "a.pdf"
        assert (storage / payload["document"]).read_bytes() == file.read_bytes()
    rows = cli("tasks", "--batch", document["batch_id"], "--json").json
    assert {(row["priority"], row["customer"]) for row in rows} == {(10, "acme")}
    batch = cli("batch", document["batch_id"], "--json").json
    assert (batch["name"], batch["tasks"]) == ("october", 2)


@pytest.mark.parametrize("name", NAMES)
def test_fl1_no_name_leads_anywhere(
    cli: Cli, conn: psycopg.Connection, storage: Path, tmp_path: Path, name: str
) -> None:
    """FL1: whatever a file is called, its copy lies in the storage root under a name of ours."""
    file = pdf(tmp_path / "in" / name)
    answer = cli("submit", "--json", "--", file)
    assert answer.code == 0, answer.err
    (copy,) = storage.iterdir()
    assert copy.name != file.name
    (task,) = answer.json["tasks"]
    assert reader.task_result(conn, task_id=task["task_id"]).payload == {
        "document": copy.name,
        "name": file.name,
    }


def test_a_name_that_is_no_utf8_is_submitted(
    cli: Cli, conn: psycopg.Connection, tmp_path: Path
) -> None:
    """Bytes that are no text stand as U+FFFD in the name, and the file is taken."""
    file = Path(os.fsdecode(os.fsencode(tmp_path / "caf") + b"\xe9.pdf"))
    file.write_bytes(PDF)
    answer = cli("submit", file, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["tasks"][0]["name"] == "caf\ufffd.pdf"


def test_bad_files_are_refused_one_sentence_each(
    cli: Cli, conn: psycopg.Connection, storage: Path, tmp_path: Path
) -> None:
    """FL4: every bad file is named with its reason, the others go on, and a script can tell."""
    good = pdf(tmp_path / "good.pdf")
    empty = pdf(tmp_path / "empty.pdf", b"")
    text = pdf(tmp_path / "text.pdf", b"hello")
    bad = (empty, text, tmp_path, tmp_path / "missing.pdf")
    said = [
        f"forebay: {empty} is empty (0 bytes): export it again.",
        f"forebay: {text} is not a PDF (it does not start with %PDF-): export it as PDF.",
        f"forebay: {tmp_path} is a folder: pass the files in it, such as folder/*.pdf.",
        f"forebay: {tmp_path}/missing.pdf does not exist: check the name.",
    ]
    answer = cli("submit", *bad)
    assert (answer.code, answer.out) == (1, "")
    nothing = "forebay: No file is left to submit: nothing is in line."
    assert answer.err.splitlines() == [*said, nothing]
    assert not storage.exists()
    assert cli("tasks", "--json").json == []
    answer = cli("submit", empty, good, *bad[1:], "--json")
    assert answer.code == 1
    lines = answer.err.splitlines()
    assert lines[:4] == said
    assert lines[-1] == "forebay: 4 of 5 files were refused, and not submitted."
    assert [task["name"] for task in answer.json["tasks"]] == ["good.pdf"]
    assert [each["file"] for each in answer.json["refused"]] == [str(path) for path in bad]
    assert answer.json["refused"][0]["reason"] == "is empty (0 bytes): export it again."
    assert len(list(storage.iterdir())) == len(cli("tasks", "--json").json) == 1


def test_fl8_copies_go_when_the_batch_is_refused(
    cli: Cli, conn: psycopg.Connection, storage: Path, tmp_path: Path
) -> None:
    """FL8: a refused submit leaves no file without a task, and no batch without tasks."""
    answer = cli("submit", pdf(tmp_path / "a.pdf"), "--agent", "nobody")
    assert (answer.code, "nobody" in answer.err) == (1, True)
    assert list(storage.iterdir()) == []
    assert cli("batch", 1).code == 1


def test_estimated_tokens_are_those_of_pages_and_text(
    cli: Cli, conn: psycopg.Connection, tmp_path: Path
) -> None:
    """The estimate is told from the pages and the text that the file has, not from its size."""
    for pages in (1, 30):
        canvas = Canvas(str(tmp_path / f"{pages}.pdf"), invariant=1)
        for _ in range(pages):
            for line in range(40):
                canvas.drawString(72, 800 - 15 * line, "Forty characters of text, all in one row")
            canvas.showPage()
        canvas.save()
    tasks = cli("submit", tmp_path / "1.pdf", tmp_path / "30.pdf", "--json").json["tasks"]
    found = [cli("task", task["task_id"], "--json").json["estimated_tokens"] for task in tasks]
    for pages, tokens in zip((1, 30), found, strict=True):
        assert tokens == pytest.approx(estimate_tokens(pages, pages * 40 * 41, 0, 0), rel=0.05)


def test_without_the_agents_the_size_tells_the_tokens(
    cli: Cli, conn: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only the command line is installed, larger files are estimated at more."""
    monkeypatch.setattr("forebay.looking.has", lambda extra: False)
    files = [pdf(tmp_path / "small.pdf"), pdf(tmp_path / "large.pdf", PDF + b"x" * 500_000)]
    tasks = cli("submit", *files, "--json").json["tasks"]
    small, large = (
        cli("task", task["task_id"], "--json").json["estimated_tokens"] for task in tasks
    )
    assert large > 5 * small > 0


def test_a_file_that_will_fail_is_taken_and_told(
    cli: Cli, conn: psycopg.Connection, tmp_path: Path
) -> None:
    """A file that no agent can open is submitted with the others: its task says why it failed."""
    canvas = Canvas(str(tmp_path / "locked.pdf"), encrypt=StandardEncryption("weir"))
    canvas.drawString(72, 720, "Invoice")
    canvas.save()
    answer = cli("submit", pdf(tmp_path / "cut.pdf"), tmp_path / "locked.pdf", "--json")
    assert (answer.code, len(answer.json["tasks"])) == (0, 2)
    cut, locked = answer.err.splitlines()
    assert cut.startswith(
        f"{tmp_path}/cut.pdf is in line, but its task will fail: The PDF is broken"
    )
    assert "needs a password" in locked


@pytest.mark.parametrize("become", [become_a_copy, become_a_branch])
def test_a_copy_that_nobody_opened_stores_nothing(
    cli: Cli,
    conn: psycopg.Connection,
    superuser: psycopg.Connection,
    storage: Path,
    tmp_path: Path,
    become: Callable[[psycopg.Connection], object],
) -> None:
    """Its storage is that of what it was copied from, and nobody would do the work."""
    become(superuser)
    answer = cli("submit", pdf(tmp_path / "a.pdf"))
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert "is a copy that nobody has opened: it neither takes nor removes files" in answer.err
    assert "forebay.open_installation(" in answer.err
    assert not storage.exists()
    assert cli("tasks", "--json").json == []


def test_an_open_branch_stores_apart(
    cli: Cli,
    conn: psycopg.Connection,
    superuser: psycopg.Connection,
    storage: Path,
    tmp_path: Path,
) -> None:
    """Its files are in the folder that its intake has, and nothing stays of how that was asked."""
    branch = become_a_branch(superuser)
    operator.open_installation(superuser)
    answer = cli("submit", pdf(tmp_path / "a.pdf"), "--json")
    assert answer.code == 0, answer.err
    (file,) = (storage / "uploads" / branch).iterdir()
    (task,) = answer.json["tasks"]
    payload = reader.task_result(conn, task_id=task["task_id"]).payload
    assert payload["document"] == file.relative_to(storage).as_posix()
    assert superuser.execute("select count(*) from forebay.uploads").fetchone() == (0,)


def test_a_full_disk_is_a_sentence(
    cli: Cli,
    conn: psycopg.Connection,
    storage: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FL8: where no space is left nothing is enqueued and nothing stays."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    answer = cli("submit", pdf(tmp_path / "a.pdf"))
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "no space is left" in answer.err
    assert list(storage.iterdir()) == []
    assert cli("tasks", "--json").json == []


def test_for_a_workspace_the_copies_go_where_its_runs_can_read_them(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of this computer has to be named, else nothing is submitted."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", "lakebase:projects/p/branches/b/endpoints/e")
    monkeypatch.delenv("FOREBAY_STORAGE_ROOTS")
    refused = cli("submit", pdf(tmp_path / "a.pdf"))
    assert refused.code == 1
    assert "FOREBAY_STORAGE_ROOTS is not set" in refused.err
