"""What every storage promises, a folder and a Volume alike: names lead nowhere else, files are
whole or not there, and nothing is written over that was not to be.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from forebay.storage import CHUNK, FolderStorage, Storage, StorageError
from support.volumes import ROOT, served_volume

NAMES = (
    "a.pdf",
    "2026/11/a.pdf",
    "請求書 😀.pdf",
    'it\'s "odd".pdf',
    "a\nb.pdf",
    "..\\up.pdf",
    "-rf",
    "50% of #1?.pdf",
    "a%2Fb%2e%2e.pdf",
    "x" * 255,
)
OUTSIDE = (
    *("../a.pdf", "/etc/passwd", "a/../../a.pdf", "..", ".", "", "a/..", "a/b/../.."),
    *("/Volumes/main/docs/other/a.pdf", "/Volumes/main/docs/inboxes/a.pdf", "../inboxes/a.pdf"),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A storage, the path of its root, and the folder of this machine that has its files."""

    storage: Storage
    root: str
    folder: Path


@pytest.fixture(params=["folder", "volume"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """Give a storage of each kind, with others beside its root."""
    for beside in ("inboxes", "other"):
        (tmp_path / beside).mkdir()
        (tmp_path / beside / "a.pdf").write_bytes(b"secret")
    with served_volume(tmp_path) as volume:
        if request.param == "volume":
            volume.files.add_volume("main.docs.inboxes", tmp_path / "inboxes")
            volume.files.add_volume("main.docs.other", tmp_path / "other")
            yield Kept(volume.storage(), ROOT, volume.folder)
        else:
            yield Kept(FolderStorage(volume.folder), str(volume.folder), volume.folder)


@pytest.fixture
def storage(kept: Kept) -> Storage:
    return kept.storage


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read(storage: Storage, name: str) -> None:
    """Any number of chunks come back as they were, under whatever name."""
    assert storage.write(name, iter([b"one", b"", b"two"])) == 6
    assert b"".join(storage.read(name)) == b"onetwo"
    assert (storage.exists(name), storage.size(name)) == (True, 6)
    assert list(storage.names()) == [name]
    with storage.local(name) as path:
        assert path.read_bytes() == b"onetwo"
    storage.delete(name)
    assert not storage.exists(name)


@pytest.mark.parametrize("chunks", [[], [b""], [b"x"]])
def test_the_smallest_files_are_files(storage: Storage, chunks: list[bytes]) -> None:
    """An empty file is there, and is told from none."""
    size = storage.write("a", iter(chunks))
    assert (storage.size("a"), b"".join(storage.read("a"))) == (size, b"".join(chunks))
    assert storage.exists("a")


def test_large_files_come_in_chunks(storage: Storage) -> None:
    """No chunk is larger than what may be in memory at a time."""
    storage.write("a", (b"x" * CHUNK for _ in range(3)))
    assert [len(chunk) for chunk in storage.read("a")] == [CHUNK] * 3


def test_a_name_is_relative_or_below_the_root(kept: Kept) -> None:
    """The plain name comes of any that leads to the file, also of one that is not there."""
    for path in ("a/b.pdf", f"{kept.root}/a/b.pdf", "a/c/../b.pdf", "./a//b.pdf"):
        assert kept.storage.name(path) == "a/b.pdf"


@pytest.mark.parametrize("name", OUTSIDE)
def test_fl1_nothing_outside_of_the_root_is_touched(kept: Kept, name: str) -> None:
    """Neither dots nor absolute names lead out, to read, to write or to remove."""
    storage = kept.storage
    for act in (storage.name, storage.size, storage.read, storage.exists):
        with pytest.raises(StorageError, match="outside") as refused:
            act(name)
        assert not refused.value.may_pass
    with pytest.raises(StorageError), storage.local(name):
        pass
    for replace in (False, True):
        with pytest.raises(StorageError):
            storage.write(name, [b"new"], replace=replace)
    with pytest.raises(StorageError):
        storage.delete(name)
    for beside in ("inboxes", "other"):
        assert (kept.folder.parent / beside / "a.pdf").read_bytes() == b"secret"
    assert not [path for path in kept.folder.rglob("*") if path.is_file()]


def test_a_file_is_not_written_over_unless_asked(storage: Storage) -> None:
    """The first write wins, also when the second began before it ended."""
    storage.write("a", [b"first"])
    with pytest.raises(StorageError, match="is there already") as refused:
        storage.write("a", [b"second"])
    assert not refused.value.may_pass

    def slow() -> Iterator[bytes]:
        yield b"slow"
        storage.write("b", [b"quick"])

    with pytest.raises(StorageError, match="is there already"):
        storage.write("b", slow())
    assert b"".join(storage.read("b")) == b"quick"
    storage.write("a", [b"third"], replace=True)
    assert b"".join(storage.read("a")) == b"third"


def test_what_is_there_already_is_said_before_the_chunks_are_asked_for(storage: Storage) -> None:
    """Whoever sends a file need not send all of it to hear that."""
    storage.write("a", [b"first"])

    def never() -> Iterator[bytes]:
        raise AssertionError
        yield b""

    with pytest.raises(StorageError, match="is there already"):
        storage.write("a", never())


def test_half_a_file_is_never_seen(kept: Kept) -> None:
    """Nobody sees a file that is being written, and nothing stays of one that could not be."""

    def broken() -> Iterator[bytes]:
        yield b"half"
        assert not kept.storage.exists("a")
        assert list(kept.storage.names()) == []
        raise ConnectionError("the upload broke off")

    with pytest.raises(ConnectionError, match="the upload broke off"):
        kept.storage.write("a", broken())
    assert not list(kept.folder.iterdir())


def test_unfinished_files_are_removed_by_their_age(kept: Kept) -> None:
    """Of what writes have left in a folder; what is whole, young or elsewhere stays."""
    kept.storage.write("in/deep/a.pdf", [b"a"])
    left = [kept.folder / "in" / ".1.part", kept.folder / "in" / "deep" / ".2.part"]
    others = [
        kept.folder / ".3.part",
        kept.folder / "in" / ".4.part",
        kept.folder / "in" / "5.part",
    ]
    for path in (*left, *others):
        path.write_bytes(b"half")
    for path in (*left, others[0], others[2], kept.folder / "in" / "deep" / "a.pdf"):
        os.utime(path, (0, 0))
    assert set(kept.storage.names()) == {"in/deep/a.pdf", "in/5.part"}
    assert kept.storage.delete_unfinished("in", older_than=timedelta(hours=1)) == 2
    assert kept.storage.delete_unfinished("in", older_than=timedelta(hours=1)) == 0
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in others)
    assert kept.storage.exists("in/deep/a.pdf")
    assert kept.storage.delete_unfinished("none", older_than=timedelta()) == 0


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gone.pdf", "does not exist"),
        ("gone/a.pdf", "does not exist"),
        ("folder", "is a folder"),
        ("x" * 300, "too long"),
        ("a\0b", "no name of a file"),
        ("\ud800", "no name of a file"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(kept: Kept, name: str, sentence: str) -> None:
    """What is not there, no file, or no name is said at once, and never waited for."""
    (kept.folder / "folder").mkdir()
    with pytest.raises(StorageError, match=sentence) as refused:
        kept.storage.read(name)
    assert not refused.value.may_pass
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200


def test_a_folder_is_no_file(kept: Kept) -> None:
    """It does not exist as one, and nothing is written in its place."""
    kept.storage.write("folder/a", [b"a"])
    assert not kept.storage.exists("folder")
    for replace in (False, True):
        with pytest.raises(StorageError):
            kept.storage.write("folder", [b"b"], replace=replace)
        with pytest.raises(StorageError):
            kept.storage.write("folder/a/b", [b"b"], replace=replace)
    assert list(kept.storage.names()) == ["folder/a"]


@pytest.mark.parametrize("name", ["in/deep/..", "in/.", "in/", "other/"])
def test_what_is_written_or_removed_is_named_itself(kept: Kept, name: str) -> None:
    """A name that ends in no file's name is none, wherever it leads."""
    (kept.folder / "in" / "deep").mkdir(parents=True)
    for replace in (False, True):
        with pytest.raises(StorageError, match="outside"):
            kept.storage.write(name, [b"new"], replace=replace)
    with pytest.raises(StorageError, match="outside"):
        kept.storage.delete(name)
    assert [path.name for path in kept.folder.rglob("*")] == ["in", "deep"]


def test_names_are_listed_by_prefix(storage: Storage) -> None:
    """A prefix may end within a part, and lead nowhere."""
    for name in ("a/1", "a/12", "a/b/2", "a/b/c/3", "ab", "c"):
        storage.write(name, [b""])
    assert set(storage.names()) == {"a/1", "a/12", "a/b/2", "a/b/c/3", "ab", "c"}
    assert set(storage.names("a")) == {"a/1", "a/12", "a/b/2", "a/b/c/3", "ab"}
    assert set(storage.names("a/1")) == {"a/1", "a/12"}
    assert set(storage.names("a/b/")) == {"a/b/2", "a/b/c/3"}
    assert list(storage.names("none/")) == []


def test_deleting_is_done_when_nothing_is_there(kept: Kept) -> None:
    """What is gone already is no error; a folder goes when it is empty, and not before."""
    kept.storage.delete("gone")
    kept.storage.delete("gone/too")
    kept.storage.write("folder/a", [b""])
    with pytest.raises(StorageError):
        kept.storage.delete("folder")
    kept.storage.delete("folder/a")
    kept.storage.delete("folder")
    assert not (kept.folder / "folder").exists()


def test_a_file_that_is_written_to_while_it_is_read_is_read_again(kept: Kept) -> None:
    """What was read of it may be half old and half new: another attempt makes sense."""
    kept.storage.write("a.pdf", [b"old"])
    with pytest.raises(StorageError, match="was changed while it was read") as changed:  # noqa: SIM117
        with kept.storage.local("a.pdf"):
            (kept.folder / "a.pdf").write_bytes(b"newer")
    assert changed.value.may_pass


def test_a_file_that_is_removed_while_it_is_read_is_read_to_its_end(kept: Kept) -> None:
    """It is the one that was opened."""
    kept.storage.write("a.pdf", [b"ours"])
    with kept.storage.local("a.pdf") as path:
        kept.storage.delete("a.pdf")
        assert path.read_bytes() == b"ours"


def test_a_root_that_is_not_there_is_no_fault_of_the_file(kept: Kept) -> None:
    """What is asked for may be there when the root is."""
    kept.folder.rmdir()
    for act in (kept.storage.size, kept.storage.read, kept.storage.exists):
        with pytest.raises(StorageError, match=r"storage root .* is not there") as missing:
            act("a.pdf")
        assert missing.value.may_pass
    assert list(kept.storage.names()) == []


def test_a_write_makes_a_root_in_a_volume_but_none_that_a_mount_would_hide(kept: Kept) -> None:
    """What is written where a mount has gone away is not found when it is back."""
    kept.folder.rmdir()
    if isinstance(kept.storage, FolderStorage):
        with pytest.raises(StorageError, match=r"storage root .* is not there"):
            kept.storage.write("a.pdf", [b"a"])
        assert not kept.folder.exists()
    else:
        kept.storage.write("a.pdf", [b"a"])
        assert kept.storage.exists("a.pdf")
