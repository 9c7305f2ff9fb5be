"""What a storage root means: a folder, or where it is not mounted the Volume of a workspace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.pdfs import pdf, text
from conftest import Connect
from forebay.calls import operator
from forebay.errors import SettingError
from forebay.storage import ROOTS, FolderStorage, locate, roots
from forebay.storage.roots import storage_of
from forebay.storage.volume import VolumeStorage
from forebay_lab.workspace import Fault
from support.cli import Cli
from support.volumes import ROOT, Volume, served_volume

WORKSPACE = {"DATABRICKS_HOST": "https://example.cloud.databricks.com"}


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Volume]:
    with served_volume(tmp_path / "volumes") as served:
        for name, value in served.environment().items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.mark.parametrize("root", [ROOT, f"{ROOT}/", f"{ROOT}/in/2026", f"/{ROOT[1:]}//in"])
def test_a_volume_that_is_not_mounted_is_the_workspaces(root: str) -> None:
    """And a folder in it too; the constructor asks nobody."""
    storage = storage_of(root, WORKSPACE)
    assert isinstance(storage, VolumeStorage)
    assert storage.root == os.path.normpath(root)
    assert isinstance(storage_of(root, {"DATABRICKS_CONFIG_PROFILE": "prod"}), VolumeStorage)


@pytest.mark.parametrize("root", [ROOT, f"{ROOT}/in"])
def test_a_volume_that_is_mounted_is_a_folder(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the folder in it is still to be made."""
    is_dir = Path.is_dir
    monkeypatch.setattr(Path, "is_dir", lambda path: str(path) == ROOT or is_dir(path))
    assert isinstance(storage_of(root, WORKSPACE), FolderStorage)


@pytest.mark.parametrize(
    "root", ["/tmp/Volumes/a/b/c", "/VolumesOf/a/b/c", "documents", "/volumes"]
)
def test_all_else_is_a_folder(root: str) -> None:
    """Whatever it is called."""
    assert isinstance(storage_of(root, WORKSPACE), FolderStorage)


def test_without_a_workspace_a_volume_is_a_folder() -> None:
    """One that is missing: it says so when it is used."""
    assert isinstance(storage_of(ROOT, {}), FolderStorage)


@pytest.mark.parametrize("root", ["/Volumes", "/Volumes/main", "/Volumes/main/docs"])
def test_a_part_of_volumes_is_no_root(root: str) -> None:
    """The setting is named, and what it should be."""
    with pytest.raises(SettingError, match=f"{ROOTS} has '{root}': name a Volume"):
        storage_of(root, WORKSPACE)


def test_folders_and_volumes_serve_together(
    volume: Volume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first that has a document gives it; an absolute path leads to its own."""
    other = tmp_path / "folder"
    other.mkdir()
    monkeypatch.setenv(ROOTS, f"{other}{os.pathsep}{ROOT}")
    (volume.folder / "both.pdf").write_bytes(b"volume")
    (volume.folder / "there.pdf").write_bytes(b"volume")
    (other / "both.pdf").write_bytes(b"folder")
    for document, content in (
        ("both.pdf", b"folder"),
        ("there.pdf", b"volume"),
        (f"{ROOT}/both.pdf", b"volume"),
    ):
        storage, name = locate(document)
        assert b"".join(storage.read(name)) == content
    assert [type(each) for each in roots()] == [FolderStorage, VolumeStorage]


def test_without_the_extra_the_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The core does without the SDK."""
    for module in ("volume", "volume_files"):
        monkeypatch.delitem(sys.modules, f"forebay.storage.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "databricks.sdk.errors", None)
    with pytest.raises(SettingError, match=r"install Forebay's extra databricks \(in"):
        storage_of(ROOT, WORKSPACE)


def test_folders_alone_do_not_load_the_sdk(tmp_path: Path) -> None:
    """It takes a second and 80 MB."""
    code = "import sys, forebay.storage as s; s.roots(); assert 'databricks' not in sys.modules"
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | WORKSPACE | {ROOTS: str(tmp_path)},
        check=True,
        timeout=30,
    )


def test_submit_copies_into_the_volume(
    volume: Volume,
    role_dsn: Callable[..., str],
    connect: Connect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As intake does, under names of its own; where one cannot be written, none is left."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", role_dsn("all"))
    operator.register_agent(connect("all"), agent="parse_document")
    files = [tmp_path / "a.pdf", tmp_path / "b.pdf"]
    for file in files:
        file.write_bytes(pdf([text((50, 700, file.name))]))
    done = Cli(capsys)("submit", *files)
    assert done.code == 0, done.err
    copies = {path.read_bytes() for path in volume.folder.iterdir()}
    assert copies == {file.read_bytes() for file in files}
    assert "/fs/files/" not in done.err
    monkeypatch.setenv("FOREBAY_LOG_LEVEL", "DEBUG")
    assert "/fs/files/" in Cli(capsys)("submit", *files).err
    monkeypatch.delenv("FOREBAY_LOG_LEVEL")
    volume.workspace.faults.add(
        Fault("status", "PUT .*/fs/files", status=403, code="PERMISSION_DENIED", skip=1)
    )
    refused = Cli(capsys)("submit", *files)
    assert refused.code == 1
    assert f"{files[1]} is not submitted: " in refused.err
    assert "READ VOLUME and WRITE VOLUME" in refused.err
    assert len(list(volume.folder.iterdir())) == 4
