"""The reading process: what it may take, what it knows, and how it ends."""

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forebay.agent import Retry
from forebay.errors import SettingError
from forebay_agents.reading import process as process_module
from forebay_agents.reading import reader as reader_module
from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.inspection import Inspection, inspect
from forebay_agents.reading.limits import LEAST_MEMORY
from forebay_agents.reading.process import Lost, ReadingProcess
from forebay_agents.reading.reader import Limits, Reader
from forebay_agents.reading.scratch import ScratchFolder
from forebay_agents.reading.usage import seconds_used
from support.scans import FakeTesseract, write_scan
from support.waiting import until

from . import hostile
from .conftest import RecordedAttempt
from .pdfs import pdf, text

SLOW = hostile.many_words(1900)
"""A page that takes several seconds to read."""


class StoppedLater(RecordedAttempt):
    """Be cancelled, or out of time, half a second after the start."""

    def __init__(self, *, by: str) -> None:
        super().__init__({})
        self._by = by
        self._at = time.monotonic() + 0.5

    def cancelled(self) -> bool:
        return self._by == "cancel" and time.monotonic() >= self._at

    def seconds_left(self) -> float:
        return self._at - time.monotonic() if self._by == "deadline" else math.inf


def members(group: int) -> list[int]:
    """Return the living processes of a group."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp = status.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == group and state != "Z":
            found.append(int(status.parent.name))
    return found


def is_gone(group: int) -> bool:
    """Tell whether all processes of a group end; the kernel needs a moment for one it killed."""
    give_up_at = time.monotonic() + 5
    while members(group):
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.pdf"
    path.write_bytes(pdf([text((50, 700, f"page {number}")) for number in range(1, 9)]))
    return path


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    path = tmp_path / "slow.pdf"
    path.write_bytes(SLOW)
    return path


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for whatever the child's processor time is, however busy the machine."""
    monkeypatch.setattr(process_module, "PATIENCE", 60)


@contextmanager
def process(limits: Limits = Limits()) -> Iterator[ReadingProcess]:  # noqa: B008
    child = ReadingProcess(limits)
    try:
        yield child
    finally:
        child.end()


@pytest.mark.parametrize(
    ("by", "reason"), [("cancel", "Stopped on request at page 1"), ("deadline", "time was over")]
)
def test_a_slow_page_is_left_within_a_second(by: str, reason: str, slow: Path) -> None:
    """A cancel and a passed deadline end the child in the middle of a page."""
    with Reader(slow, StoppedLater(by=by)) as reader:
        group = reader._process.pid if reader._process else 0
        before = time.monotonic()
        with pytest.raises(Retry, match=reason):
            reader.page(1)
        assert time.monotonic() - before < 5  # of 60, on a busy machine
        assert group
        assert is_gone(group)


def test_ocr_is_left_within_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cancel ends tesseract too, in the middle of a page."""
    monkeypatch.setenv("PATH", FakeTesseract(tmp_path, seconds=60).path)
    write_scan(tmp_path / "scan.pdf", 1)
    with Reader(tmp_path / "scan.pdf", StoppedLater(by="cancel")) as reader:
        group = reader._process.pid if reader._process else 0
        before = time.monotonic()
        with pytest.raises(Retry, match="Stopped on request at page 1 of 1"):
            reader.ocr(1, ["en"])
        assert time.monotonic() - before < 5  # of 60, on a busy machine
        assert group
        assert is_gone(group)


@pytest.mark.usefixtures("patience")
def test_a_page_that_takes_too_long_is_skipped_and_the_next_is_read(tmp_path: Path) -> None:
    """A page over its time is broken and says so; a new child reads the rest."""
    tiny = b"BT /F 0.01 Tf 0.01 TL 9 790 Td " + b"(%s) ' " % (b"word " * 20) * 1500 + b" ET"
    path = tmp_path / "slow.pdf"
    path.write_bytes(
        hostile.two_pages(tiny, b"BT /F 12 Tf 50 700 Td (next) Tj ET").replace(
            b"/N 9 0 R/M 10 0 R", b"/F 8 0 R"
        )
    )
    with Reader(path, RecordedAttempt({}), Limits(seconds_per_page=1)) as reader:
        first, second = reader.page(1), reader.page(2)
    assert first.is_broken
    assert first.notes == ["Page 1 takes longer than 1 seconds and was skipped."]
    assert second.text == "next"


@pytest.mark.usefixtures("patience")
def test_after_some_losses_a_document_is_refused(tmp_path: Path, slow: Path) -> None:
    """A document that costs one child after another is given up, with a reason."""
    limits = Limits(seconds_per_page=1, losses=1)
    with Reader(slow, RecordedAttempt({}), limits) as reader:
        assert reader.page(1).is_broken
        with pytest.raises(DocumentError, match="Reading the PDF failed 2 times") as refused:
            reader.page(1)
    assert refused.value.kind == "bad_input"
    assert refused.value.message.endswith(".")


@pytest.mark.parametrize(
    ("end", "note"),
    [
        (signal.SIGSEGV, "Page 2 makes the reader crash and was skipped."),
        (signal.SIGXCPU, "Page 2 takes longer than 30 seconds and was skipped."),
        (
            signal.SIGABRT,
            "Page 2 seems to need more than 1024 MB of memory and was skipped.",
        ),
    ],
)
def test_a_child_that_dies_costs_the_page_only(end: signal.Signals, note: str, good: Path) -> None:
    """A page on which the child ends by itself is lost, and the next is read."""
    with Reader(good, RecordedAttempt({})) as reader:
        assert reader.page(1).text == "page 1"
        assert reader._process
        os.kill(reader._process.pid, end)
        assert reader.page(2).notes == [note]
        assert reader.page(3).text == "page 3"


@pytest.mark.parametrize(
    ("end", "what"),
    [
        (signal.SIGKILL, "the system killed it, mostly for want of memory on the machine"),
        (signal.SIGTERM, "it was ended from outside (Terminated)"),
    ],
)
def test_a_child_that_is_killed_from_outside_is_no_fault_of_the_document(
    end: signal.Signals, what: str, good: Path
) -> None:
    """What the machine does to the child leaves out no page: the document is to be tried again."""
    with Reader(good, RecordedAttempt({})) as reader:
        assert reader._process
        os.kill(reader._process.pid, end)
        with pytest.raises(DocumentError) as error:
            reader.page(1)
        assert error.value.message == f"The reading process failed: {what}."
        assert error.value.kind == "infrastructure"
        assert reader.page(1).text == "page 1"


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("raise SystemExit(3)", "it ended with status 3; check how Forebay is installed"),
        ("import os; os.abort()", "it did not start (abort)"),
        ("import time; time.sleep(60)", "it got too little done in 4 seconds on a busy machine"),
        (
            "import os, time; os.close(1); time.sleep(60)",
            "it got too little done in 4 seconds on a busy machine",
        ),
    ],
)
def test_a_child_that_does_not_start_is_no_fault_of_the_document(
    program: str, what: str, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken installation and an overloaded machine are told as such."""
    monkeypatch.setattr(process_module, "COMMAND", (sys.executable, "-c", program))
    monkeypatch.setattr(process_module, "SECONDS_TO_START", 1)
    with pytest.raises(DocumentError) as error:
        Reader(good, RecordedAttempt({}))
    assert error.value.message == f"The reading process failed: {what}."
    assert error.value.kind == "infrastructure"


def test_a_machine_that_cannot_look_at_a_file_blames_it_for_nothing(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a reading process nothing is known of a file, and nothing said against it."""
    monkeypatch.setattr(process_module, "COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    assert list(inspect([good])) == [Inspection(good)]


def test_a_bug_in_the_child_is_no_fault_of_the_document(good: Path) -> None:
    """What the child cannot do is told, and it goes on."""
    with process() as child:
        with pytest.raises(DocumentError, match=r"failed: AttributeError: .*do_dance") as error:
            child.ask({"do": "dance"}, 9, lambda: None)
        assert error.value.kind == "infrastructure"
        assert child.ask({"do": "open", "path": str(good)}, 9, lambda: None) == {"pages": 8}


def test_time_in_which_the_child_does_not_work_is_not_the_documents(good: Path) -> None:
    """A child that stands still has not taken too long: the machine gives it no time."""
    with process() as child:
        child.ask({"do": "open", "path": str(good)}, 9, lambda: None)
        os.kill(child.pid, signal.SIGSTOP)
        with pytest.raises(DocumentError, match="too little done in 4 seconds") as error:
            child.ask({"do": "page", "number": 1}, 1, lambda: None)
    assert error.value.kind == "infrastructure"


def test_processor_time_is_that_of_all_the_child_started() -> None:
    """A process counts with what it waits for, and with what still works for it."""
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", script], start_new_session=True) as parent:
        try:
            until(lambda: seconds_used(parent.pid) > 0.5, seconds=30)
        finally:
            os.killpg(parent.pid, signal.SIGKILL)


def test_a_child_dies_with_its_parent(tmp_path: Path, slow: Path) -> None:
    """A parent that is killed, while its child reads a slow page, leaves no process behind."""
    script = (
        "import sys, pathlib\n"
        "from forebay_agents.reading.process import ReadingProcess\n"
        "from forebay_agents.reading.limits import Limits\n"
        "child = ReadingProcess(Limits())\n"
        "child.ask({'do': 'open', 'path': sys.argv[1]}, 30, lambda: None)\n"
        "print(child.pid, flush=True)\n"
        "child.ask({'do': 'page', 'number': 1}, 60, lambda: None)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(slow)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    with parent:
        assert parent.stdout
        group = int(parent.stdout.readline())
        time.sleep(0.3)
        assert members(group) == [group]
        parent.kill()
    until(lambda: members(group) == [])


def test_closing_leaves_no_process_and_no_file(good: Path) -> None:
    """After a document nothing is left: no child, no temporary folder, no open file."""
    before = set(os.listdir("/proc/self/fd"))
    reader = Reader(good, RecordedAttempt({}))
    assert reader._process
    group, folder = reader._process.pid, Path(reader._process._folder.path)
    assert folder.is_dir()
    reader.close()
    reader.close()
    assert is_gone(group)
    assert not folder.exists()
    assert set(os.listdir("/proc/self/fd")) == before


def test_what_a_killed_owner_leaves_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders that nobody holds are removed, once they are not new; those in use stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used, left, fresh = ScratchFolder(), ScratchFolder(), ScratchFolder()
    Path(left.path, "page.pgm").write_bytes(b"words")
    for folder in (left, fresh):
        os.close(folder._lock)
    for folder in (used, left):
        os.utime(folder.path, (0, 0))
    mine = ScratchFolder()
    kept = {Path(folder.path) for folder in (used, fresh, mine)}
    assert set(tmp_path.iterdir()) == kept
    used.remove()
    mine.remove()
    assert set(tmp_path.iterdir()) == {Path(fresh.path)}


def test_the_child_knows_no_secrets(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the database nor a key of a model is in the child's environment."""
    for name in ("FOREBAY_DATABASE_URL", "FOREBAY_MODEL_API_KEY", "PGPASSWORD", "MY_TOKEN"):
        monkeypatch.setenv(name, "secret-value")
    monkeypatch.setenv("LANG", "C.UTF-8")
    with process() as child:
        child.ask({"do": "open", "path": str(good)}, 9, lambda: None)
        environment = Path(f"/proc/{child.pid}/environ").read_bytes()
    assert b"secret-value" not in environment
    assert b"LANG=C.UTF-8" in environment


def test_the_child_is_bound_by_the_kernel(good: Path) -> None:
    """Address space, file size, open files and core dumps are limited, and processor time is."""
    with process(Limits(memory_mb=300)) as child:
        child.ask({"do": "open", "path": str(good)}, 7, lambda: None)
        lines = Path(f"/proc/{child.pid}/limits").read_text().splitlines()
    limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    assert limits["Max address space"] == [str(300 << 20)] * 2
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max open files"] == ["64", "64"]
    assert int(limits["Max file size"][1]) == 256 << 20
    assert 7 <= int(limits["Max cpu time"][0]) <= 10


def test_processor_time_ends_a_child_whose_parent_stands_still(slow: Path) -> None:
    """The kernel ends a page that takes too long, should nobody look at the clock."""
    with process() as child:
        child.ask({"do": "open", "path": str(slow)}, 30, lambda: None)
        child._popen.stdin.write(b'{"do": "page", "number": 1, "seconds": 0}\n')  # type: ignore[union-attr]
        until(lambda: members(child.pid) == [], seconds=20)
        with pytest.raises(Lost) as lost:
            child.ask({"do": "page", "number": 1}, 9, lambda: None)
    assert lost.value.loss == "time"


def test_what_libraries_print_disturbs_no_answer(good: Path) -> None:
    """Standard output and standard error of the child lead nowhere once it works."""
    with process() as child:
        child.ask({"do": "open", "path": str(good)}, 9, lambda: None)
        targets = [os.readlink(f"/proc/{child.pid}/fd/{number}") for number in (1, 2)]
    assert targets == ["/dev/null"] * 2


def test_a_child_that_holds_much_memory_is_replaced(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new child goes on where one has grown too large, and that counts as no loss."""
    monkeypatch.setattr(reader_module, "RENEW_ABOVE", 1)
    with Reader(good, RecordedAttempt({}), Limits(losses=1)) as reader:
        pages = [reader.page(number) for number in range(1, reader.pages + 1)]
    assert [page.text for page in pages] == [f"page {number}" for number in range(1, 9)]


def test_larger_and_longer_files_are_refused(good: Path, tmp_path: Path) -> None:
    """A file over the limits is refused before it is read, and told the limit."""
    large = tmp_path / "large.pdf"
    with large.open("wb") as file:
        file.truncate((2 << 20) + 1)
    with pytest.raises(DocumentError, match="has 2 MB, and 1 are allowed; split it"):
        Reader(large, RecordedAttempt({}), Limits(file_mb=1))
    with pytest.raises(DocumentError, match="has 8 pages, and 7 are allowed; split it"):
        Reader(good, RecordedAttempt({}), Limits(pages=7))


def test_limits_are_settings() -> None:
    """Each limit has a variable of its own; one that is no number is named."""
    limits = Limits.from_environment({"FOREBAY_PARSE_MEMORY_MB": "700", "FOREBAY_PARSE_PAGES": ""})
    assert limits == Limits(memory_mb=700)
    for wrong in ("0", "-5", "many", "1.5", "99999999999999999999"):
        with pytest.raises(SettingError, match=r"^FOREBAY_PARSE_FILE_MB is .* whole number|from 1"):
            Limits.from_environment({"FOREBAY_PARSE_FILE_MB": wrong})
    with pytest.raises(SettingError, match=r"FOREBAY_PARSE_MEMORY_MB is '20': .* from 128 to"):
        Limits.from_environment({"FOREBAY_PARSE_MEMORY_MB": "20"})


def test_the_least_memory_is_enough_to_read(good: Path) -> None:
    """A document without surprises is read with the smallest limit that can be set."""
    with Reader(good, RecordedAttempt({}), Limits(memory_mb=LEAST_MEMORY)) as reader:
        assert reader.page(8).text == "page 8"
