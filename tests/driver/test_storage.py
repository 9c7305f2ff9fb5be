"""A folder as a storage: what it promises beyond test_storages.py, of links, disks and mounts."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from forebay.errors import MissingSettingError, SettingError
from forebay.storage import ROOTS, FolderStorage, StorageError, locate, prepare, roots

OUTSIDE = ("link/b.pdf", "file", "link/../../secret/b.pdf")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root beside a secret, with links to it: of a folder, and of a file."""
    root, secret = tmp_path / "root", tmp_path / "secret"
    root.mkdir()
    secret.mkdir()
    (secret / "b.pdf").write_bytes(b"secret")
    (root / "link").symlink_to(secret)
    (root / "file").symlink_to(secret / "b.pdf")
    return root


@pytest.fixture
def storage(root: Path) -> FolderStorage:
    return FolderStorage(root)


def test_a_name_may_be_no_text(storage: FolderStorage) -> None:
    """A file system takes bytes that are no UTF-8, and so does the storage."""
    name = os.fsdecode(b"caf\xe9")
    storage.write(name, [b"content"])
    assert b"".join(storage.read(name)) == b"content"
    assert list(storage.names()) == [name]


@pytest.mark.parametrize("name", OUTSIDE)
def test_fl1_nothing_outside_of_the_root_is_touched(
    storage: FolderStorage, root: Path, name: str
) -> None:
    """Links do not lead out, to read, to write or to remove."""
    for act in (storage.name, storage.size, storage.read, storage.exists):
        with pytest.raises(StorageError, match="outside") as refused:
            act(name)
        assert not refused.value.may_pass
    with pytest.raises(StorageError), storage.local(name):
        pass
    with pytest.raises(StorageError):
        storage.write(name, [b"new"])
    assert (root.parent / "secret" / "b.pdf").read_bytes() == b"secret"
    assert sorted(path.name for path in (root.parent / "secret").iterdir()) == ["b.pdf"]


def test_a_local_path_leads_to_what_was_opened(storage: FolderStorage, root: Path) -> None:
    """Whoever puts a link in a file's place meanwhile does not change what is read by its path."""
    storage.write("a.pdf", [b"ours"])
    with storage.local("a.pdf") as path:
        (root / "a.pdf").unlink()
        (root / "a.pdf").symlink_to(root.parent / "secret" / "b.pdf")
        read = subprocess.run(["cat", path], capture_output=True, check=True, timeout=10)
    assert read.stdout == b"ours"


def test_a_link_is_removed_or_replaced_and_not_what_it_leads_to(
    storage: FolderStorage, root: Path
) -> None:
    """Writing over a link, or deleting it, leaves the file behind it alone."""
    storage.write("file", [b"new"], replace=True)
    assert b"".join(storage.read("file")) == b"new"
    storage.delete("link")
    assert not (root / "link").exists()
    assert (root.parent / "secret" / "b.pdf").read_bytes() == b"secret"


def test_a_link_that_stays_inside_is_followed(storage: FolderStorage, root: Path) -> None:
    """A link to a file of the same root is that file, and has its name."""
    storage.write("real/a.pdf", [b"real"])
    (root / "alias").symlink_to(root / "real")
    assert b"".join(storage.read("alias/a.pdf")) == b"real"
    assert storage.name("alias/a.pdf") == "real/a.pdf"
    assert storage.name(str(root / "real" / "a.pdf")) == "real/a.pdf"


def test_a_folder_swapped_for_a_link_is_not_followed(
    storage: FolderStorage, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who puts a link in place of a folder, after the name was looked at, gets an error."""
    storage.write("real/b.pdf", [b"real"])
    resolve = os.path.realpath

    def resolved_then_swapped(path: str) -> str:
        found = resolve(path)
        if (root / "real").is_dir() and not (root / "real").is_symlink():
            (root / "real").rename(root / "was")
            (root / "real").symlink_to(root.parent / "secret")
        return found

    monkeypatch.setattr(os.path, "realpath", resolved_then_swapped)
    with pytest.raises(StorageError):
        storage.read("real/b.pdf")


@pytest.mark.parametrize("file_system_has_links", [True, False])
def test_a_file_system_without_links_will_do(
    storage: FolderStorage, monkeypatch: pytest.MonkeyPatch, file_system_has_links: bool
) -> None:
    """Where a file can have one name only, writing still refuses to replace."""

    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not file_system_has_links:
        monkeypatch.setattr(os, "link", no_links)
    storage.write("a", [b"first"])
    with pytest.raises(StorageError, match="is there already"):
        storage.write("a", [b"second"])
    assert list(storage.names()) == ["a"]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "no space is left"),
        (errno.EDQUOT, "no space is left"),
        (errno.EROFS, "check the permissions"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_may_pass_is_told_from_what_will_not(
    storage: FolderStorage, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    """A full or failing disk may be well again: another attempt makes sense."""

    def fails(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(StorageError, match=sentence) as refused:
        storage.write("a", [b"content"])
    assert refused.value.may_pass
    assert not storage.exists("a")


def test_a_pipe_is_no_file(storage: FolderStorage, root: Path) -> None:
    """It is said at once, and never waited for."""
    os.mkfifo(root / "pipe")
    with pytest.raises(StorageError, match="no plain file") as refused:
        storage.read("pipe")
    assert not refused.value.may_pass


def test_links_that_lead_out_are_not_listed(storage: FolderStorage) -> None:
    """What they lead to is no file of this storage."""
    storage.write("a", [b""])
    assert list(storage.names()) == ["a"]


def test_documents_are_found_in_every_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is tried below each root in turn; an absolute one below a root will do."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = FolderStorage(tmp_path / "one"), FolderStorage(tmp_path / "two")
    monkeypatch.setenv(ROOTS, f"{one.root}{os.pathsep}{two.root}")
    one.write("both.pdf", [b"1"])
    two.write("both.pdf", [b"2"])
    two.write("there.pdf", [b"2"])
    for document, content in (
        ("both.pdf", b"1"),
        ("there.pdf", b"2"),
        (str(two.root / "both.pdf"), b"2"),
    ):
        storage, name = locate(document)
        assert b"".join(storage.read(name)) == content
    storage, name = locate("nowhere.pdf")
    assert not storage.exists(name)
    with pytest.raises(StorageError, match="outside the storage roots"):
        locate(str(tmp_path / "three" / "a.pdf"))


@pytest.mark.parametrize("value", ["", " ", os.pathsep])
def test_without_a_root_nothing_is_read(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A missing setting is named, and is no fault of the document."""
    monkeypatch.setenv(ROOTS, value)
    with pytest.raises(MissingSettingError, match=f"{ROOTS} is not set"):
        roots()


def test_a_root_that_is_not_there_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share that is not mounted costs an attempt, and not the task; other roots still serve."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.pdf").touch()
    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", f"{tmp_path}/gone:{tmp_path}/there")
    storage, name = locate("a.pdf")
    assert storage.exists(name)
    with pytest.raises(StorageError, match=r"gone.? is not there: mount it") as missing:
        locate("b.pdf")
    assert missing.value.may_pass


def test_only_the_start_of_a_program_makes_a_root(tmp_path: Path) -> None:
    """What is written where a mount went away would be hidden by it; another root is only read."""
    storages = [FolderStorage(tmp_path / "deep" / "one"), FolderStorage(tmp_path / "two")]
    prepare(storages)
    prepare(storages)
    one, two = storages
    assert (one.root.is_dir(), two.root.exists()) == (True, False)
    one.root.rmdir()
    for each in storages:
        with pytest.raises(StorageError, match="is not there: mount it") as missing:
            each.write("a.pdf", [b"a"])
        assert missing.value.may_pass
        assert not each.root.exists()


@pytest.mark.parametrize("place", [0, 1])
def test_a_root_that_is_no_folder_is_refused_at_the_start(tmp_path: Path, place: int) -> None:
    """The setting is named, wherever in it the root stands."""
    (tmp_path / "file").touch()
    wrong = FolderStorage(tmp_path / "file")
    with pytest.raises(SettingError, match=rf"{ROOTS} names .*file.* is no folder"):
        prepare([FolderStorage(tmp_path), wrong] if place else [wrong])


def test_a_root_that_cannot_be_made_is_refused_at_the_start() -> None:
    """With the system's reason."""
    with pytest.raises(SettingError, match=rf"/proc/nope.* cannot be made \(.*correct {ROOTS}"):
        prepare([FolderStorage(Path("/proc/nope/documents"))])
