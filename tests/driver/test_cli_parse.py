"""`forebay parse`: the document agent alone, without a database."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from support.cli import Cli
from support.scans import FakeTesseract, write_scan

KEYS = ["document", "status", "reason", "pages", "fields", "confidence"]
INVOICE = ("Invoice", "Invoice number: A-17", "Invoice date: 2026-03-04", "Total due: 99.50 EUR")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run commands where no database and no storage root is set."""
    for name in [name for name in os.environ if name.startswith("FOREBAY_")]:
        monkeypatch.delenv(name)
    return Cli(capsys)


def write(path: Path, *lines: str, password: str | None = None, pages: int = 1) -> Path:
    """Write a PDF with these lines on every page."""
    encrypt = StandardEncryption(password) if password else None
    canvas = Canvas(str(path), encrypt=encrypt)
    for _ in range(pages):
        for place, line in enumerate(lines):
            canvas.drawString(72, 760 - 20 * place, line)
        canvas.showPage()
    canvas.save()
    return path


def rows(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def test_one_object_a_line_in_the_order_given(cli: Cli, tmp_path: Path) -> None:
    """Each file has its line, a bad one too, and the exit code is 0: all were looked at."""
    files = [
        write(tmp_path / "long.pdf", "text", pages=30),
        write(tmp_path / "a.pdf", *INVOICE),
        write(tmp_path / "locked.pdf", "secret", password="weir"),
        tmp_path / "missing.pdf",
        tmp_path / "empty.pdf",
        write(tmp_path / "b.pdf", *INVOICE),
    ]
    (tmp_path / "empty.pdf").touch()
    answer = cli("parse", *files, "--json")
    assert answer.code == 0, answer.err
    found = rows(answer.out)
    assert [list(row) for row in found] == [KEYS] * 6
    assert [row["document"] for row in found] == [str(file) for file in files]
    assert [row["status"] for row in found] == [
        "completed",
        "completed",
        *["failed"] * 3,
        "completed",
    ]
    assert [row["pages"] for row in found] == [30, 1, None, None, None, 1]
    for row, reason in zip(found[2:5], ("password", "does not exist", "empty"), strict=True):
        assert reason in str(row["reason"])
        assert (row["fields"], row["confidence"]) == ({}, None)
    fields = {"number": "A-17", "date": "2026-03-04", "total": "99.50", "currency": "EUR"}
    assert isinstance(found[1]["fields"], dict)
    assert fields.items() <= found[1]["fields"].items()
    assert isinstance(found[1]["confidence"], float)
    assert found[1]["reason"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        file.name for file in files if file.name != "missing.pdf"
    )


def test_full_adds_the_result(cli: Cli, tmp_path: Path) -> None:
    """--full adds what the queue would store: lines, tables, pages, evidence, text, notes."""
    (row,) = rows(cli("parse", write(tmp_path / "a.pdf", *INVOICE), "--json", "--full").out)
    assert list(row) == [*KEYS, "result"]
    assert isinstance(row["result"], dict)
    names = ("fields", "lines", "tables", "pages", "evidence", "text", "notes", "page_count")
    assert set(row["result"]) == set(names)
    assert row["result"]["fields"] == row["fields"]
    assert set(row["result"]["evidence"]) == set(row["result"]["fields"])


def test_folders_are_searched_for_pdfs(cli: Cli, tmp_path: Path) -> None:
    """A folder stands for the PDF files below it, whatever the case of their suffix."""
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "a.PDF", "text")
    write(tmp_path / "b.pdf", "text")
    (tmp_path / "notes.txt").write_text("no PDF")
    found = rows(cli("parse", tmp_path, "--json").out)
    assert [row["document"] for row in found] == [f"{tmp_path}/b.pdf", f"{tmp_path}/deep/a.PDF"]


def test_what_holds_no_pdf_does_not_stop_the_others(cli: Cli, tmp_path: Path) -> None:
    """An empty folder, a name too long and a link to nowhere are told by the name given."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "link.pdf").symlink_to(tmp_path / "nowhere")
    good = write(tmp_path / "a.pdf", *INVOICE)
    names = [tmp_path / "empty", tmp_path / ("n" * 300), tmp_path / "link.pdf"]
    answer = cli("parse", *names, good, "--json")
    assert answer.code == 0, answer.err
    *bad, last = rows(answer.out)
    assert [row["document"] for row in bad] == [str(name) for name in names]
    assert ["folder" in str(bad[0]["reason"]), "too long" in str(bad[1]["reason"])] == [True, True]
    assert '" does not exist: ' in str(bad[2]["reason"])
    assert last["status"] == "completed"


def test_a_full_disk_is_no_bug_of_ours(tmp_path: Path) -> None:
    """What the system says of the output is passed on in a sentence."""
    command = [sys.executable, "-m", "forebay.cli", "parse", "--json", tmp_path / "gone.pdf"]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command,
            env=buffered,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "forebay: The system refused to go on: No space left on device.\n"


def test_people_see_a_heading_and_the_fields(cli: Cli, tmp_path: Path) -> None:
    """Without --json each file has a heading, and below it one field a line, or the reason."""
    file = write(tmp_path / "a\x1b[31m.pdf", *INVOICE)
    answer = cli("parse", file, tmp_path / "missing.pdf")
    heading, *fields = answer.out.split("\n\n")[0].splitlines()
    assert heading.startswith(f"{tmp_path}/a\ufffd[31m.pdf  completed  1 page  confidence 0.")
    assert "  number    A-17" in fields
    assert "  total     99.50" in fields
    assert f"{tmp_path}/missing.pdf  failed\n  note      " in answer.out
    assert answer.err == ""


def test_a_name_that_is_no_utf8_is_read(cli: Cli, tmp_path: Path) -> None:
    """Bytes that are no text stand as U+FFFD in the name, and the file is read."""
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.pdf"))
    write(tmp_path / "a.pdf", *INVOICE).rename(file)
    (row,) = rows(cli("parse", file, "--json").out)
    assert (row["document"], row["status"]) == (f"{tmp_path}/caf\ufffd.pdf", "completed")


def test_what_is_too_long_is_kept_only_when_asked(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text above the limit is cut with a note; --keep leaves all of it beside the file."""
    monkeypatch.setattr("forebay_agents.result.RESULT_BYTES", 10_000)
    file = write(tmp_path / "long.pdf", *["Forty characters of text, all in one row"] * 36, pages=5)
    (row,) = rows(cli("parse", file, "--json", "--full").out)
    result = row["result"]
    assert isinstance(result, dict)
    assert "text_file" not in result
    assert (
        "Only the beginning of the text is here: all of it is longer than a result may be."
        in result["notes"]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["long.pdf"]
    (row,) = rows(cli("parse", file, "--json", "--full", "--keep").out)
    result = row["result"]
    assert isinstance(result, dict)
    kept = (tmp_path / result["text_file"]).read_text()
    assert kept.count("Forty characters") == 5 * 36
    assert kept.startswith(result["text"])


def truth(path: Path, **truth: object) -> None:
    """Write the truth about a PDF beside it."""
    path.with_suffix(".json").write_text(json.dumps({"status": "completed"} | truth))


def test_a_folder_is_checked_against_its_truth(cli: Cli, tmp_path: Path) -> None:
    """Each field is right, wrong, missing or invented; what has no truth is told and left out."""
    fields = {"number": "A-17", "date": "2026-03-04", "total": "99.50", "currency": "EUR"}
    for name, more in (("right", {}), ("wrong", {"date": "2026-03-05", "tax": "1.00"})):
        known = {"kind": "invoice", "language": "en"} | fields | more
        truth(write(tmp_path / f"{name}.pdf", *INVOICE), fields=known)
    truth(write(tmp_path / "locked.pdf", "secret", password="weir"), status="failed")
    write(tmp_path / "unknown.pdf", *INVOICE)
    answer = cli("parse", "--check", tmp_path, "--json")
    assert answer.code == 0, answer.err
    report = answer.json
    assert report["documents"] == 3
    dates = report["fields"]["date"]
    assert (dates["right"], dates["wrong"], dates["missing"], dates["invented"]) == (1, 1, 0, 0)
    assert (report["fields"]["tax"]["missing"], report["fields"]["total"]["right"]) == (1, 2)
    assert answer.err.splitlines() == [
        f"{tmp_path}/unknown.pdf has no truth file beside it and is left out."
    ]
    assert "| date |" in cli("parse", "--check", tmp_path, "--markdown").out
    table = cli("parse", "--check", tmp_path).out
    assert "date: 2026-03-04, not 2026-03-05" in table
    assert "tax: not found, it is 1.00" in table


@pytest.mark.parametrize("content", ["{", "[]", '{"status": "perhaps"}'])
def test_what_is_no_truth_is_refused(cli: Cli, tmp_path: Path, content: str) -> None:
    """A truth file that says nothing is named, before any time is spent."""
    write(tmp_path / "a.pdf", *INVOICE).with_suffix(".json").write_text(content)
    answer = cli("parse", "--check", tmp_path)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert str(tmp_path / "a.json") in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name PDF files"),
        (("--check", "nowhere"), "not a folder"),
        (("--check", "."), "holds no"),
        (("a.pdf", "--markdown"), "--markdown goes with --check"),
        (("a.pdf", "--check", "."), "no FILES"),
        (("--check", ".", "--full"), "no FILES, --full"),
    ],
)
def test_what_makes_no_sense_is_refused(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    """Nothing to look at, or options that do not go together, are refused in a sentence."""
    monkeypatch.chdir(tmp_path)
    answer = cli("parse", *arguments)
    assert answer.code in (1, 2)
    assert said in " ".join(answer.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("command", "extra"),
    [(("parse", "a.pdf"), "agents"), (("parse", "--check", "."), "agents"), (("demo",), "lab")],
)
def test_without_an_extra_it_says_what_to_install(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], extra: str
) -> None:
    """Where something that an extra brings is not installed, the refusal names the extra."""
    needs = [f"no-such-package<2,>=1; extra == '{extra}'", "psycopg>=3"]
    monkeypatch.setattr("forebay.extras.metadata.requires", lambda name: needs)
    answer = cli(*command)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert f"pip install '.[{extra}]'" in answer.err


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_an_interrupt_ends_it_at_once(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Ctrl-C in the middle of a page ends the command and all that it started, within a second."""
    (tmp_path / "bin").mkdir()
    fake = FakeTesseract(tmp_path / "bin", 60)
    for name in "abcd":
        write_scan(tmp_path / f"{name}.pdf", 2)
    parse = subprocess.Popen(
        [sys.executable, "-m", "forebay.cli", "parse", str(tmp_path), "--json"],
        env=os.environ | {"PATH": fake.path, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    give_up_at = time.monotonic() + 20
    while fake.calls < 2:
        assert time.monotonic() < give_up_at
        assert parse.poll() is None, parse.communicate()
        time.sleep(0.02)
    began = time.monotonic()
    parse.send_signal(number)
    out, err = parse.communicate(timeout=20)
    assert time.monotonic() - began < 5  # of 60, on a busy machine
    assert (parse.returncode, out) == (code, ""), err
    assert "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"bin", *(f"{n}.pdf" for n in "abcd")}
