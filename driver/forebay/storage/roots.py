"""Which storages documents are read from: one rule for all that read them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from forebay.databricks import is_on_databricks
from forebay.errors import MissingSettingError, SettingError
from forebay.extras import install
from forebay.settings import text
from forebay.storage.folder import FolderStorage
from forebay.storage.interface import Storage, StorageError
from forebay.storage.sentences import outside, quoted

ROOTS = "FOREBAY_STORAGE_ROOTS"
"""The setting: folders and Volumes that documents are read from, separated as in PATH."""

VOLUMES = ("/", "Volumes")
VOLUME_PARTS = 5
"""Parts of a Volume's path: /, Volumes, its catalog, its schema and its name."""


def named_roots(environment: Mapping[str, str] = os.environ) -> str:
    """Return the roots as the setting has them; unset, a folder below FOREBAY_HOME is the one."""
    from forebay.embedded import default_data_dir

    named = text(environment, ROOTS).strip(os.pathsep)
    return named or str(default_data_dir(environment).parent / "documents")


def roots(environment: Mapping[str, str] = os.environ) -> list[Storage]:
    """Return the storages that the setting names, in its order.

    Raises MissingSettingError where it names none, SettingError for one that cannot be.
    """
    named = [root for root in text(environment, ROOTS).split(os.pathsep) if root]
    if not named:
        raise MissingSettingError(
            f"{ROOTS} is not set: set it to the folders that documents may be read from."
        )
    return [storage_of(root, environment) for root in named]


def storage_of(root: str, environment: Mapping[str, str] = os.environ) -> Storage:
    """Return what a root means; raises SettingError for a part of /Volumes that is no Volume.

    It is a folder of this machine. Where it is /Volumes/CATALOG/SCHEMA/VOLUME or below, the Volume
    is not mounted here, and the environment names a workspace, it is that Volume by the Files API.
    """
    parts = Path(root).parts
    volume = Path(*parts[:VOLUME_PARTS])
    if parts[:2] != VOLUMES or _is_mounted(volume) or not is_on_databricks(environment):
        return FolderStorage(Path(root))
    if len(parts) < VOLUME_PARTS:
        raise SettingError(
            f"{ROOTS} has {root!r}: name a Volume, as /Volumes/CATALOG/SCHEMA/VOLUME."
        )
    try:
        from forebay.storage.volume import VolumeStorage
    except ModuleNotFoundError as error:
        raise SettingError(
            f"{ROOTS} has a Volume that is not mounted here: mount it, or {install('databricks')}."
        ) from error
    return VolumeStorage(root)


def _is_mounted(volume: Path) -> bool:
    return len(volume.parts) == VOLUME_PARTS and volume.is_dir()


def prepare(storages: Sequence[Storage]) -> None:
    """Make the first of the roots, which takes new documents, where it is not there.

    For the start of a program: a root that goes away later is missed, and never made anew. It is
    its owner's alone: who wants to share it makes it beforehand. Raises SettingError, also for
    another root that is something else than a folder.
    """
    for place, storage in enumerate(storages):
        if not isinstance(storage, FolderStorage) or os.path.isdir(storage.root):
            continue
        if os.path.exists(storage.root):
            raise SettingError(f"{ROOTS} names {quoted(str(storage.root))}, which is no folder.")
        if place == 0:
            _make(storage)


def _make(storage: FolderStorage) -> None:
    try:
        storage.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            f"The storage root {quoted(str(storage.root))} cannot be made ({error.strerror}):"
            f" correct {ROOTS}, or FOREBAY_HOME where that is not set."
        ) from None


def locate(document: str, among: Sequence[Storage] | None = None) -> tuple[Storage, str]:
    """Return the storage that holds `document`, and its name there: one of the roots by default.

    It is a path relative to a root, or an absolute one below a root. The first root that holds it
    wins; a file that does not exist is located in the first root that could hold it. Raises
    StorageError for what lies outside of all, links included, or may be in a root that is not
    there, and MissingSettingError.
    """
    places: list[tuple[Storage, str]] = []
    for storage in roots() if among is None else among:
        try:
            places.append((storage, storage.name(document)))
        except StorageError:
            continue
    if not places:
        raise outside(document)
    missing: StorageError | None = None
    for storage, name in places:
        try:
            if storage.exists(name):
                return storage, name
        except StorageError as error:
            missing = error
    if missing:
        raise missing
    return places[0]
