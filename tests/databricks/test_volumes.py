"""A Volume as a storage: bytes that broke on their way arrive all the same, once and whole."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forebay.databricks.client import workspace_client
from forebay.storage import StorageError
from forebay.storage.volume import VolumeStorage
from forebay.storage.volume_sending import UPLOADS_AT_ONCE
from forebay_lab.workspace import Fault, Principal
from forebay_lab.workspace.faults import FaultKind
from support.volumes import VOLUME, Volume, served_volume

MEGABYTE = 1 << 20
LARGE = 60
"""Megabytes that travel in six parts."""

LONG_AGO = 1_000_000

PIECE = random.Random(6).randbytes(MEGABYTE)


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Volume]:
    with served_volume(tmp_path) as served:
        yield served


@pytest.fixture
def storage(volume: Volume) -> VolumeStorage:
    return volume.storage()


def pieces(megabytes: int, mark: bytes = b"") -> Iterator[bytes]:
    """Yield content of which no two megabytes are alike; `mark` makes it another one."""
    for number in range(megabytes):
        head = number.to_bytes(4, "big") + mark
        yield head + PIECE[len(head) :]


def digest(chunks: Iterator[bytes]) -> str:
    """Return what tells two contents apart."""
    all_of_it = hashlib.sha256()
    for chunk in chunks:
        all_of_it.update(chunk)
    return all_of_it.hexdigest()


def has(volume: Volume, name: str, megabytes: int, mark: bytes = b"") -> bool:
    """Tell whether the file is there, whole, and nothing is left beside it of how it came."""
    left = [path.name for path in volume.folder.parent.glob(".stand-in-*")]
    return has_content(volume, name, megabytes, mark) and not left


def has_content(volume: Volume, name: str, megabytes: int, mark: bytes) -> bool:
    """Tell whether the file is there, and whole."""
    with (volume.folder / name).open("rb") as file:
        return digest(iter(lambda: file.read(MEGABYTE), b"")) == digest(pieces(megabytes, mark))


def assert_whole_or_none(volume: Volume, name: str, megabytes: int, mark: bytes) -> None:
    """Check that a file is not there, or is all of it."""
    if (volume.folder / name).exists():
        assert has_content(volume, name, megabytes, mark)


def long(seeds: Iterable[int]) -> list[object]:
    """Mark parameters as those of the long tests."""
    return [pytest.param(seed, marks=pytest.mark.long) for seed in seeds]


# Sizes


@pytest.mark.parametrize("megabytes", [0, 1, 49, LARGE])
def test_files_of_any_size_come_back(
    volume: Volume, storage: VolumeStorage, megabytes: int
) -> None:
    """A small one goes in one request, a large one in parts; both come back in chunks."""
    assert storage.write("a.pdf", pieces(megabytes)) == megabytes * MEGABYTE
    assert has(volume, "a.pdf", megabytes)
    assert digest(storage.read("a.pdf")) == digest(pieces(megabytes))
    with storage.local("a.pdf") as path:
        assert path.stat().st_size == megabytes * MEGABYTE
    assert not path.exists()
    in_one, parts = volume.calls("PUT", "/fs/files"), volume.calls("PUT", "/cloud-storage")
    assert (in_one, parts) == (([204], []) if megabytes < 50 else ([], [200] * 6))


def test_without_its_newer_client_the_sdk_sends_no_empty_file(volume: Volume) -> None:
    """It tells no length of one, which no later try changes; others are sent."""
    storage = volume.storage(disable_experimental_files_api_client=True)
    with pytest.raises(StorageError, match="is empty, and DATABRICKS_DISABLE_EXP") as failed:
        storage.write("a.pdf", [])
    assert not failed.value.may_pass
    assert not volume.calls("PUT", "/fs/files")
    storage.write("a.pdf", pieces(LARGE))
    assert has(volume, "a.pdf", LARGE)
    with pytest.raises(StorageError, match="is there already"):
        storage.write("a.pdf", [])


MEMORY = """
import pathlib, sys
from forebay.storage.volume import VolumeStorage

def resident():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10

storage, piece = VolumeStorage("/Volumes/main/docs/inbox"), bytes(1 << 20)
storage.write("first", [piece])
before, megabytes = resident(), int(sys.argv[1])
storage.write("a.pdf", (piece for _ in range(megabytes)))
assert sum(len(chunk) for chunk in storage.read("a.pdf")) == megabytes << 20
with storage.local("a.pdf") as path:
    assert path.stat().st_size == megabytes << 20
print(resident() - before)
"""


@pytest.mark.parametrize("megabytes", [120, pytest.param(300, marks=pytest.mark.long)])
def test_fl6_memory_does_not_grow_with_the_file(volume: Volume, megabytes: int) -> None:
    """A process that writes and reads a file needs the room of some parts, and no more."""
    took = subprocess.run(
        [sys.executable, "-c", MEMORY, str(megabytes)],
        env=os.environ | volume.environment(),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert took.returncode == 0, took.stderr
    assert int(took.stdout) < 100 * MEGABYTE


# Breaks on the way up

SMALL_BREAKS = {
    "reset": Fault("reset", "PUT .*/fs/files"),
    "within": Fault("break", "PUT .*/fs/files", after=300_000),
    "lost": Fault("lost", "PUT .*/fs/files"),
    "busy": Fault("status", "PUT .*/fs/files", status=429, code="RESOURCE_EXHAUSTED", times=3),
    "gateway": Fault("status", "PUT .*/fs/files", status=502, times=2),
    "look": Fault("lost", "HEAD .*/fs/files|PUT .*/fs/files"),
}

PART = "PUT /cloud-storage"
LARGE_BREAKS = {
    "initiate": Fault("status", "POST .*/fs/files", times=1),
    "initiate lost": Fault("lost", "POST .*/fs/files"),
    "urls": Fault("status", "create-upload-part-urls", times=3, skip=2),
    "first part": Fault("reset", PART),
    "within the first part": Fault("break", PART, after=3 * MEGABYTE),
    "within a part": Fault("break", PART, skip=2, after=3 * MEGABYTE),
    "parts, again and again": Fault("break", PART, skip=1, after=100, times=4),
    "a part's answer": Fault("lost", PART, skip=3),
    "a part is refused": Fault("status", PART, skip=3, times=2),
    "complete": Fault("status", "POST .*/fs/files", skip=1, times=2),
    "complete breaks": Fault("reset", "POST .*/fs/files", skip=1),
    "complete lost": Fault("lost", "POST .*/fs/files", skip=1),
}


def copied(fault: Fault) -> Fault:
    """Return a fault that has not befallen anything yet."""
    return Fault(*(getattr(fault, name) for name in Fault.__slots__))


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("where", SMALL_BREAKS)
def test_a_small_file_that_broke_on_its_way_is_sent_again(
    volume: Volume, storage: VolumeStorage, where: str, replace: bool
) -> None:
    """Wherever that was; what had arrived in spite of it is known for one's own."""
    volume.workspace.faults.add(copied(SMALL_BREAKS[where]))
    assert storage.write("a/b.pdf", pieces(1), replace=replace) == MEGABYTE
    assert has(volume, "a/b.pdf", 1)
    assert not volume.workspace.faults.take("ANY", "PUT POST HEAD /fs/files"), "no fault befell it"


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("where", LARGE_BREAKS)
def test_a_large_file_that_broke_on_its_way_goes_on(
    volume: Volume, storage: VolumeStorage, where: str, replace: bool
) -> None:
    """Only the part that broke is sent again, once a first one has arrived."""
    if replace:
        (volume.folder / "a.pdf").write_bytes(b"old")
    fault = volume.workspace.faults.add(copied(LARGE_BREAKS[where]))
    storage.write("a.pdf", pieces(LARGE), replace=replace)
    if where == "initiate lost":  # nobody knows the session that was begun first
        for token in list(volume.files.uploads.sessions):
            volume.files.uploads.drop(token)
    assert has(volume, "a.pdf", LARGE)
    assert fault.times == 0
    assert len(volume.calls("PUT", "/cloud-storage")) <= 6 + 4
    assert not volume.calls("PUT", "/fs/files")


@pytest.mark.parametrize("megabytes", [1, LARGE])
def test_folders_that_an_upload_does_not_make_are_made(
    volume: Volume, storage: VolumeStorage, megabytes: int
) -> None:
    """Where the Volume itself is missing, that is said."""
    volume.files.makes_folders = False
    storage.write("in/2026/a.pdf", pieces(megabytes))
    assert has(volume, "in/2026/a.pdf", megabytes)
    with pytest.raises(StorageError, match=r"storage root .* is not there") as missing:
        volume.storage("/Volumes/main/docs/nowhere").write("a.pdf", pieces(megabytes))
    assert missing.value.may_pass


def test_an_upload_that_does_not_get_through_leaves_nothing(
    volume: Volume, storage: VolumeStorage
) -> None:
    """It says in bounded time that a later try may do; the parts that had come are given up."""
    volume.workspace.faults.add(Fault("reset", PART, skip=3, times=None))
    with pytest.raises(StorageError, match="does not answer") as failed:
        storage.write("a.pdf", pieces(LARGE))
    assert failed.value.may_pass
    assert not list(volume.folder.parent.glob("**/*.pdf"))
    assert not list(volume.folder.parent.glob(".stand-in-*"))
    assert not volume.files.uploads.sessions
    volume.workspace.faults.clear()
    storage.write("a.pdf", pieces(LARGE))
    assert has(volume, "a.pdf", LARGE)


def test_urls_that_expire_on_the_way_are_asked_for_again(
    volume: Volume, storage: VolumeStorage
) -> None:
    """A presigned URL is good for a while; a slow upload or download outlives some."""
    volume.files.short_lived = 3
    storage.write("a.pdf", pieces(LARGE))
    assert has(volume, "a.pdf", LARGE)
    assert volume.calls("PUT", "/cloud-storage").count(403) == 3
    volume.files.short_lived = 2
    assert digest(storage.read("a.pdf")) == digest(pieces(LARGE))
    assert volume.calls("GET", "/cloud-storage") == [403, 403, 200]


@pytest.mark.parametrize("how", ["unreachable", "forbidden", "resumable", "nothing"])
def test_without_the_clouds_storage_all_goes_by_the_workspace(
    volume: Volume, storage: VolumeStorage, how: str
) -> None:
    """A firewall before it, or another way of uploads than the SDK knows, stops no file."""
    if how == "unreachable":
        volume.workspace.faults.add(Fault("reset", "/cloud-storage", times=None))
    elif how == "forbidden":
        volume.workspace.faults.add(Fault("status", "/cloud-storage", status=403, times=None))
    elif how == "resumable":
        volume.files.presigned = "resumable"
    else:
        volume.files.presigned = "nothing"
    storage.write("a.pdf", pieces(LARGE))
    assert has(volume, "a.pdf", LARGE)
    assert volume.calls("PUT", "/fs/files") == [204]
    assert digest(storage.read("a.pdf")) == digest(pieces(LARGE))


# Breaks on the way down


def broken_download(volume: Volume, storage: VolumeStorage) -> Iterator[bytes]:
    """Return what is left of the download of an old file, a.pdf, which is about to break."""
    storage.write("a.pdf", pieces(10))
    os.utime(volume.folder / "a.pdf", (LONG_AGO, LONG_AGO))
    volume.workspace.faults.add(Fault("break", "GET", after=4 * MEGABYTE))
    read = storage.read("a.pdf")
    next(read)
    return read


@pytest.mark.parametrize(
    "faults",
    [
        [Fault("status", "create-download-url")],
        [Fault("lost", "create-download-url")],
        [Fault("reset", "GET /cloud-storage")],
        [Fault("status", "GET /cloud-storage", status=500)],
        [Fault("break", "GET /cloud-storage", after=0)],
        [Fault("break", "GET /cloud-storage", after=1)],
        [Fault("break", "GET /cloud-storage", after=3 * MEGABYTE + 7, times=3)],
        [Fault("break", "GET /cloud-storage", after=4 * MEGABYTE)]
        + [Fault("reset", "GET /cl")] * 2,
        [Fault("reset", "/cloud-storage", times=None), Fault("break", "GET .*/fs/", after=99)],
    ],
)
def test_a_download_that_broke_goes_on_where_it_broke(
    volume: Volume, storage: VolumeStorage, faults: list[Fault]
) -> None:
    """What came is not asked for again, and all of it is there in the end, once."""
    storage.write("a.pdf", pieces(10))
    for fault in faults:
        volume.workspace.faults.add(copied(fault))
    assert digest(storage.read("a.pdf")) == digest(pieces(10))
    with storage.local("a.pdf") as path:
        assert path.stat().st_size == 10 * MEGABYTE


def test_a_download_that_stays_broken_is_a_sentence(volume: Volume, storage: VolumeStorage) -> None:
    """A later try may do; no half file is given."""
    storage.write("a.pdf", pieces(10))
    fault = volume.workspace.faults.add(Fault("break", "GET", after=MEGABYTE, times=1))
    volume.workspace.faults.add(Fault("reset", "GET", times=None))
    with pytest.raises(StorageError, match="does not answer") as failed, storage.local("a.pdf"):
        pytest.fail("it was given")
    assert failed.value.may_pass
    assert fault.times == 0


@pytest.mark.parametrize("size", [5, 10])
def test_versions_of_two_seconds_are_never_read_as_one(
    volume: Volume, storage: VolumeStorage, size: int
) -> None:
    """A file that is replaced after a download broke is not gone on with, of whatever size."""
    read = broken_download(volume, storage)
    volume.storage().write("a.pdf", pieces(size, b"new"), replace=True)
    with pytest.raises(StorageError, match="was changed while it was read") as failed:
        list(read)
    assert failed.value.may_pass


def test_versions_of_one_second_and_size_look_the_same(
    volume: Volume, storage: VolumeStorage
) -> None:
    """The Files API tells no more of them: what is read meanwhile is not to be replaced so soon."""
    read = broken_download(volume, storage)
    volume.storage().write("a.pdf", pieces(10, b"new"), replace=True)
    os.utime(volume.folder / "a.pdf", (LONG_AGO, LONG_AGO))
    rest = b"".join(read)
    assert len(rest) == 9 * MEGABYTE
    assert b"new" in rest
    with storage.local("a.pdf") as path:
        assert path.stat().st_size == 10 * MEGABYTE
        volume.storage().write("a.pdf", pieces(10, b"newer"), replace=True)
        os.utime(volume.folder / "a.pdf", (LONG_AGO, LONG_AGO))


def test_a_file_that_is_removed_while_its_download_is_broken_is_said_to_be_gone(
    volume: Volume, storage: VolumeStorage
) -> None:
    """No later try finds it. Where the Volume itself has gone, one may."""
    read = broken_download(volume, storage)
    storage.delete("a.pdf")
    with pytest.raises(StorageError, match="does not exist: upload it again") as failed:
        list(read)
    assert not failed.value.may_pass
    read = broken_download(volume, storage)
    storage.delete("a.pdf")
    volume.folder.rmdir()
    with pytest.raises(StorageError, match="does not answer") as failed:
        list(read)
    assert failed.value.may_pass


def test_reads_that_are_given_up_hold_no_connection(storage: VolumeStorage) -> None:
    """However many are begun, or asked for and never begun, the next one is served."""
    storage.write("a.pdf", pieces(5))
    for _ in range(30):
        storage.read("a.pdf")
        next(storage.read("a.pdf"))
    assert digest(storage.read("a.pdf")) == digest(pieces(5))


# Writers at once


@pytest.mark.parametrize("megabytes", [1, LARGE])
def test_of_writers_of_one_name_one_wins(volume: Volume, megabytes: int) -> None:
    """All of one's file is there, and the others get a sentence."""
    ready = threading.Barrier(3)

    def write(mark: bytes) -> bytes | None:
        def together() -> Iterator[bytes]:
            yield from pieces(megabytes, mark)
            ready.wait(30)

        try:
            volume.storage().write("a.pdf", together())
        except StorageError as error:
            assert "is there already" in str(error)  # noqa: PT017
            assert not error.may_pass  # noqa: PT017
            return None
        return mark

    with ThreadPoolExecutor(3) as threads:
        (winner,) = filter(None, threads.map(write, (b"one", b"two", b"three")))
    assert has(volume, "a.pdf", megabytes, winner)


def test_a_process_sends_a_few_files_at_a_time(volume: Volume, storage: VolumeStorage) -> None:
    """Each takes memory, and a workspace takes few requests at once; the others wait their turn."""
    volume.workspace.faults.add(Fault("slow", "PUT .*/fs/files", seconds=0.5, times=None))
    began = time.monotonic()
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda n: storage.write(f"{n}.pdf", [b"a"]), range(12)))
    assert time.monotonic() - began > 12 / UPLOADS_AT_ONCE * 0.5
    assert len(list(storage.names())) == 12


@pytest.mark.parametrize("seed", [*range(3), *long(range(3, 40))])
def test_whatever_breaks_nothing_is_half_there(volume: Volume, seed: int) -> None:
    """Faults at random: a write that returns is whole, one that raises may be tried again."""
    chance, storage = random.Random(seed), volume.storage(retry_seconds=5)
    kinds: list[FaultKind] = ["reset", "lost", "break", "status"]
    for number in range(6):
        size = chance.choice([0, 1, LARGE])
        for _ in range(chance.randint(0, 5)):
            fault = Fault(
                chance.choice(kinds),
                chance.choice(["HEAD", "PUT", "POST", "GET", "/cloud-storage", "/fs/files"]),
                status=chance.choice([429, 500, 502, 503, 504]),
                skip=chance.randint(0, 8),
                times=chance.choice([1, 1, 2, 5]),
                after=chance.randint(0, 12 * MEGABYTE),
            )
            volume.workspace.faults.add(fault)
        name, mark = f"in/{number}.pdf", bytes([number])
        for tries in range(5):
            if tries == 4:
                volume.workspace.faults.clear()
            try:
                storage.write(name, pieces(size, mark))
                break
            except StorageError as error:
                if "is there already" in str(error):  # an earlier try arrived after all
                    break
                assert error.may_pass, error  # noqa: PT017
                assert_whole_or_none(volume, name, size, mark)
        assert has_content(volume, name, size, mark)
        for tries in range(5):
            if tries == 4:
                volume.workspace.faults.clear()
            try:
                assert digest(storage.read(name)) == digest(pieces(size, mark))
                break
            except StorageError as error:
                assert error.may_pass, error  # noqa: PT017
        volume.workspace.faults.clear()


@pytest.mark.parametrize(
    "fault",
    [
        Fault("lost", "PUT .*/fs/files"),
        Fault("status", "PUT .*/fs/files", status=412, code="PRECONDITION_FAILED"),
        Fault("status", "PUT .*/fs/files", status=500, code="INTERNAL_ERROR"),
    ],
)
def test_an_odd_answer_is_not_taken_for_anothers_file(
    volume: Volume, storage: VolumeStorage, fault: Fault
) -> None:
    """Where another one was quicker, with as many bytes, whoever lost hears so."""

    def slow() -> Iterator[bytes]:
        yield from pieces(1)
        volume.storage().write("a.pdf", pieces(1, b"quick"))
        volume.workspace.faults.add(copied(fault))

    with pytest.raises(StorageError, match="is there already"):
        storage.write("a.pdf", slow())
    assert has(volume, "a.pdf", 1, b"quick")


# What the workspace refuses


def test_without_the_permission_the_sentence_names_it(volume: Volume) -> None:
    """It costs an attempt and not the document: somebody may grant it."""
    access = volume.workspace.access
    access.add(Principal("job"), "job-token")
    storage = volume.storage(token="job-token")
    (volume.folder / "a.pdf").write_bytes(b"a")
    for act in (storage.size, storage.exists, storage.read, storage.delete):
        with pytest.raises(StorageError, match="READ VOLUME and WRITE VOLUME") as refused:
            act("a.pdf")
        assert refused.value.may_pass
    access.grant("job", f"volumes/{VOLUME}", "READ_VOLUME")
    assert b"".join(storage.read("a.pdf")) == b"a"
    assert list(storage.names()) == ["a.pdf"]
    for act in (lambda: storage.write("b.pdf", [b"b"]), lambda: storage.delete("a.pdf")):
        with pytest.raises(StorageError, match="WRITE VOLUME"):
            act()
    access.grant("job", f"volumes/{VOLUME}", "WRITE_VOLUME")
    storage.write("b.pdf", [b"b"])
    with pytest.raises(StorageError, match="check the login"):
        volume.storage(token="wrong").size("a.pdf")


GATEWAY = [
    (404, "<html><title>Not Found</title></html>"),
    (400, "<html><title>Bad Request</title></html>"),
    (404, '{"message": "no route"}'),
    (404, '{"error_code": "ENDPOINT_NOT_FOUND", "message": "No API found."}'),
]


@pytest.mark.parametrize(("status", "page"), GATEWAY)
def test_a_gateways_refusal_is_no_word_on_a_file(
    volume: Volume, storage: VolumeStorage, status: int, page: str
) -> None:
    """It may pass: the file is there, is not removed, and no folder is empty."""
    storage.write("a/b.pdf", [b"b"])
    refused = Fault("status", "(GET|PUT|DELETE) /", status, page=page, times=None)
    volume.workspace.faults.add(refused)
    for act in (
        lambda: b"".join(storage.read("a/b.pdf")),
        lambda: storage.write("a/c.pdf", [b"c"]),
        lambda: storage.delete("a/b.pdf"),
        lambda: list(storage.names("a/")),
    ):
        with pytest.raises(StorageError) as caught:
            act()
        assert caught.value.may_pass
    volume.workspace.faults.clear()
    assert list(storage.names()) == ["a/b.pdf"]


def test_a_workspace_that_is_away_is_a_sentence_in_bounded_time(volume: Volume) -> None:
    """Every act says it, and that it may pass."""
    storage = volume.storage(retry_seconds=1)
    storage.write("a.pdf", [b"a"])
    with volume.workspace.down():
        for act in (
            lambda: storage.size("a.pdf"),
            lambda: storage.exists("a.pdf"),
            lambda: storage.read("a.pdf"),
            lambda: storage.write("b.pdf", [b"b"]),
            lambda: storage.delete("a.pdf"),
            lambda: list(storage.names()),
        ):
            with pytest.raises(StorageError, match="cannot be used now") as away:
                act()
            assert away.value.may_pass
    assert storage.exists("a.pdf")


@pytest.mark.parametrize("on", ["HEAD", "PUT .*/fs/files", "/cloud-storage"])
def test_a_workspace_that_asks_for_an_hour_is_not_waited_for(volume: Volume, on: str) -> None:
    """Its Retry-After counts as far as the time that a call has."""
    client = workspace_client(
        host=volume.workspace.url, token=volume.workspace.token, retry_seconds=1
    )
    storage = VolumeStorage("/Volumes/main/docs/inbox", lambda: client)
    volume.workspace.faults.add(Fault("status", on, times=None, retry_after=3600))
    began = time.monotonic()
    if on == "/cloud-storage":  # all goes by the workspace then
        storage.write("a.pdf", pieces(LARGE))
        assert storage.size("a.pdf") == sum(map(len, storage.read("a.pdf")))
    else:
        with pytest.raises(StorageError, match="cannot be used now"):
            storage.write("a.pdf", [b"a"])
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("kind", ["reset", "lost", "status"])
def test_presigned_urls_and_tokens_stay_out_of_logs(
    volume: Volume, storage: VolumeStorage, caplog: pytest.LogCaptureFixture, kind: FaultKind
) -> None:
    """Whoever reads a log at its most talkative cannot read the file with it; nor can an error."""
    caplog.set_level("DEBUG")
    storage.write("b.pdf", pieces(LARGE))
    assert digest(storage.read("b.pdf")) == digest(pieces(LARGE))
    for on in ("/cloud-storage", "POST"):
        volume.workspace.faults.add(Fault(kind, on, skip=3, times=None, status=503))
        with pytest.raises(StorageError) as failed:
            storage.write("a.pdf", pieces(LARGE))
        volume.workspace.faults.clear()
        assert "http" not in str(failed.value)
    said = caplog.text
    assert "cloud-storage" in said
    for secret in ("X-Signature", "session_token=", volume.workspace.token, "Bearer"):
        assert secret not in said


def test_a_login_that_hangs_holds_nobody_up(volume: Volume) -> None:
    """The file cannot be used now, and can be as soon as the login answers."""
    volume.workspace.access.add(Principal("app", secret="x"))
    volume.workspace.access.grant("app", f"volumes/{VOLUME}", "WRITE_VOLUME")
    login = {"token": None, "client_id": "app", "client_secret": "x"}
    storage = volume.storage(**login, http_seconds=1, retry_seconds=1)
    hanging = volume.workspace.faults.add(Fault("slow", on="/oidc", seconds=20, times=None))
    with pytest.raises(StorageError, match="does not answer") as failed:
        storage.exists("a.pdf")
    assert failed.value.may_pass
    volume.workspace.faults.remove(hanging)
    assert not storage.exists("a.pdf")


def test_a_bearer_that_is_refused_breaks_no_transfer(volume: Volume) -> None:
    """The file is sent whole with the next one, and read."""
    volume.workspace.access.add(Principal("app", secret="x"))
    volume.workspace.access.grant("app", f"volumes/{VOLUME}", "WRITE_VOLUME")
    storage = volume.storage(token=None, client_id="app", client_secret="x")
    assert not storage.exists("a.pdf")
    volume.workspace.access.expire_tokens()
    storage.write("a.pdf", [b"whole"])
    volume.workspace.access.expire_tokens()
    assert b"".join(storage.read("a.pdf")) == b"whole"


def test_a_host_that_is_not_there_is_a_sentence(
    volume: Volume, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the client is made only then; nor is a missing login the file's fault."""
    away = volume.storage(host="http://127.0.0.1:9", retry_seconds=1)
    with pytest.raises(StorageError, match="does not answer") as failed:
        away.size("a.pdf")
    assert failed.value.may_pass
    monkeypatch.setenv("DATABRICKS_HOST", volume.workspace.url)
    monkeypatch.delenv("DATABRICKS_TOKEN", raising=False)
    monkeypatch.setenv("HOME", str(volume.folder))
    with pytest.raises(StorageError, match="check DATABRICKS_HOST and the login") as failed:
        VolumeStorage("/Volumes/main/docs/inbox").size("a.pdf")
    assert failed.value.may_pass


def test_no_space_for_the_temporary_file_is_a_sentence(
    storage: VolumeStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent then."""
    storage.write("a.pdf", [b"a"])
    monkeypatch.setattr("tempfile.tempdir", "/dev/full")
    with pytest.raises(StorageError):
        storage.write("b.pdf", [b"b"])
    with pytest.raises(StorageError), storage.local("a.pdf"):
        pass
    assert not storage.exists("b.pdf")
