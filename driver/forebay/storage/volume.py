"""Files in a Volume of Unity Catalog, over the Files API of a workspace."""

from __future__ import annotations

import os
import posixpath
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.databricks.answers import absent
from forebay.databricks.client import workspace_client
from forebay.storage.folder import is_unfinished
from forebay.storage.sentences import taken, translated_errors
from forebay.storage.volume_files import VolumeFiles
from forebay.storage.volume_sending import send, spooled
from forebay.storage.workspace_sentences import workspace_errors

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

HTTP_SECONDS = 30
"""How long the workspace may say nothing: it has to put away up to 50 MB before it answers."""


class VolumeStorage:
    """Keep files below `root`, `/Volumes/CATALOG/SCHEMA/VOLUME` or a folder in it.

    A write is spooled to a temporary file first, and sent when it is whole: what cannot be
    produced sends nothing, and what broke can be sent again. A download goes on where it broke. A
    Volume has no links.
    """

    def __init__(self, root: str, make_client: Callable[[], WorkspaceClient] | None = None) -> None:
        self._volume = VolumeFiles(root, make_client or _client)
        self.root = self._volume.root

    def name(self, path: str) -> str:
        return self._volume.name(path)

    def exists(self, name: str) -> bool:
        path = self._volume.path(name)
        with workspace_errors(name):
            is_there = self._volume.version(path) is not None
            if not is_there:
                self._volume.require_root()
        return is_there

    def size(self, name: str) -> int:
        return self._volume.look(name).size

    def read(self, name: str) -> Iterator[bytes]:
        return self._volume.chunks(name, self._volume.look(name))

    def write(self, name: str, chunks: Iterable[bytes], *, replace: bool = False) -> int:
        path = self._volume.place(name)
        with workspace_errors(name):
            if not replace and self._volume.version(path) is not None:
                raise taken(name)
        with spooled(name, chunks) as spool:
            return send(self._volume, name, spool, replace=replace)

    def delete(self, name: str) -> None:
        path = self._volume.place(name)
        with workspace_errors(name):
            with absent():
                self._volume.api.delete(path)
                return
            with absent():
                self._volume.api.delete_directory(path)

    def delete_unfinished(self, folder: str, *, older_than: timedelta) -> int:
        """Remove what writes by way of a mounted path left; those of this class leave nothing."""
        before = (time.time() - older_than.total_seconds()) * 1000
        deleted = 0
        for name, entry in self._volume.walk(self.name(folder)):
            if is_unfinished(posixpath.basename(name)) and (entry.last_modified or 0) <= before:
                self.delete(name)
                deleted += 1
        return deleted

    def names(self, prefix: str = "") -> Iterator[str]:
        above = prefix.rpartition("/")[0]
        for name, _ in self._volume.walk(self.name(above) if above else "", prefix):
            if not is_unfinished(posixpath.basename(name)):
                yield name

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        version = self._volume.look(name)
        with translated_errors(name):
            file = tempfile.NamedTemporaryFile(prefix="forebay-")  # noqa: SIM115  # closed below
        with file:
            for chunk in self._volume.chunks(name, version):
                with translated_errors(name):
                    file.write(chunk)
            with translated_errors(name):
                file.flush()
            try:
                yield Path(file.name)
            finally:
                self._volume.require_same(name, version)


def _client() -> WorkspaceClient:
    """Return the client of the workspace that the environment names: one for this process."""
    return _client_of(
        frozenset((name, value) for name, value in os.environ.items() if "DATABRICKS" in name)
    )


@lru_cache(maxsize=4)
def _client_of(environment: frozenset[tuple[str, str]]) -> WorkspaceClient:
    return workspace_client(http_seconds=HTTP_SECONDS)
