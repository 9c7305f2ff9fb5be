"""What is in a Volume: its files by their names below a root, over the Files API of a workspace."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from databricks.sdk.errors import NotFound

from forebay.databricks.answers import absent
from forebay.storage.interface import CHUNK, StorageError
from forebay.storage.sentences import changed, missing, no_file, no_name, outside, too_long
from forebay.storage.workspace_sentences import no_volume, workspace_errors

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient
    from databricks.sdk.mixins.files import FilesExt
    from databricks.sdk.service.files import DirectoryEntry

LONGEST_PART = 255
"""Bytes that a part of a name may have, as in a folder."""


class Version(NamedTuple):
    """What tells one content of a file from another: its bytes, and the second it is from.

    The Files API tells no more: two of as many bytes that are from one second look the same.
    """

    size: int
    modified: str | None


class VolumeFiles:
    """The files below `root`, to look at and to read."""

    def __init__(self, root: str, make_client: Callable[[], WorkspaceClient]) -> None:
        self.root = posixpath.normpath(root)
        self._make_client = make_client

    @property
    def client(self) -> WorkspaceClient:
        return self._make_client()

    @property
    def api(self) -> FilesExt:
        return self.client.files

    def name(self, path: str) -> str:
        """Return the plain name of what a path, relative or absolute, leads to."""
        whole = posixpath.normpath(posixpath.join(self.root, path))
        if not path or not whole.startswith(f"{self.root}/"):
            raise outside(path)
        name = whole.removeprefix(f"{self.root}/")
        try:
            longest = max(len(part.encode()) for part in name.split("/"))
        except UnicodeEncodeError as error:
            raise no_name(path) from error
        if "\0" in name:
            raise no_name(path)
        if longest > LONGEST_PART:
            raise too_long(path)
        return name

    def path(self, name: str) -> str:
        return f"{self.root}/{self.name(name)}"

    def place(self, name: str) -> str:
        """Return the path of a file that is written or removed, which must be named itself."""
        if posixpath.basename(name) in ("", ".", ".."):
            raise outside(name)
        return self.path(name)

    def version(self, path: str) -> Version | None:
        """Return what is at a path now; None if there is no file. Raises what the SDK does."""
        try:
            said = self.api.get_metadata(path)
        except NotFound:
            return None
        if said.content_length is None:
            raise OSError("The answer does not say how many bytes the file has.")
        return Version(said.content_length, said.last_modified)

    def look(self, name: str) -> Version:
        """Return the version of a file that must be there."""
        path = self.path(name)
        with workspace_errors(name):
            version = self.version(path)
            if version is None:
                self.require_root()
                raise no_file(name) if self._is_folder(path) else missing(name)
        return version

    def require_root(self) -> None:
        """Raise StorageError if the root is not there, or what the SDK does."""
        if not self._is_folder(self.root):
            raise no_volume(self.root)

    def require_same(self, name: str, version: Version) -> None:
        """Raise StorageError if another content has taken a file's place, as far as one can see."""
        now: Version | None = version
        with suppress(StorageError), workspace_errors(name):
            now = self.version(self.path(name))
        if now not in (None, version):
            raise changed(name)

    def chunks(self, name: str, version: Version) -> Iterator[bytes]:
        """Yield a file of which `version` was seen; raises StorageError if it is another one."""
        size = 0
        try:
            with workspace_errors(name):
                body = self.api.download(self.path(name)).contents
                assert body is not None
                with body:
                    while chunk := body.read(CHUNK):
                        size += len(chunk)
                        yield chunk
        except StorageError:
            self._blame(name, version)
            raise
        if size != version.size:
            raise changed(name)

    def walk(self, folder: str, prefix: str = "") -> Iterator[tuple[str, DirectoryEntry]]:
        """Yield the files below a folder, "" for the root, whose names begin with `prefix`.

        Of the prefix only its last part, which may be the beginning of one, leads below `folder`.
        """
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            for entry in self._entries(folder):
                name = f"{folder}/{entry.name}" if folder else entry.name or ""
                if not name.startswith(prefix):
                    continue
                if entry.is_directory:
                    waiting.append(name)
                else:
                    yield name, entry

    def _is_folder(self, path: str) -> bool:
        try:
            self.api.get_directory_metadata(path)
        except NotFound:
            return False
        return True

    def _blame(self, name: str, version: Version) -> None:
        """Raise StorageError if a download broke because the file is gone, or is another one."""
        try:
            now = self.look(name)
        except StorageError as error:
            if error.may_pass:
                return
            raise
        if now != version:
            raise changed(name)

    def _entries(self, folder: str) -> Iterator[DirectoryEntry]:
        path = f"{self.root}/{folder}" if folder else self.root
        with workspace_errors(folder or self.root), absent():
            yield from self.api.list_directory_contents(path)
