"""Files in a Volume of Unity Catalog, over the Files API of a workspace.

The SDK picks how the bytes travel: a file below 50 MB in one request, a larger one in parts to
presigned URLs, and past the workspace where only that can be reached. A part that broke is sent
again, and a download goes on where it broke.
"""

from __future__ import annotations

import os
import posixpath
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from databricks.sdk.errors import NotFound

from forebay.databricks.answers import absent
from forebay.databricks.client import workspace_client
from forebay.storage.folder import is_unfinished
from forebay.storage.interface import CHUNK, StorageError
from forebay.storage.sentences import (
    changed,
    missing,
    no_file,
    no_name,
    outside,
    taken,
    too_long,
    translated_errors,
)
from forebay.storage.workspace_sentences import no_volume, workspace_errors

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient
    from databricks.sdk.mixins.files import FilesExt
    from databricks.sdk.service.files import DirectoryEntry

HTTP_SECONDS = 30
"""How long the workspace may say nothing: it has to put away up to 50 MB before it answers."""

AT_ONCE = 2
"""Parts of a large file that are sent at a time: they take 70 MB of memory in all."""

UPLOADS_AT_ONCE = 4
"""Files that a process sends at a time; of more the others wait, spooled on disk."""

LONGEST_PART = 255
"""Bytes that a part of a name may have, as in a folder."""


_turns = threading.BoundedSemaphore(UPLOADS_AT_ONCE)


class Version(NamedTuple):
    """What tells one content of a file from another: its bytes, and the second it is from."""

    size: int
    modified: str | None


class VolumeStorage:
    """Keep files below `root`, `/Volumes/CATALOG/SCHEMA/VOLUME` or a folder in it.

    A write is spooled to a temporary file first, and sent when it is whole: what cannot be
    produced sends nothing, and what broke can be sent again. A Volume has no links.
    """

    def __init__(self, root: str, make_client: Callable[[], WorkspaceClient] | None = None) -> None:
        self.root = posixpath.normpath(root)
        self._make_client = make_client or _client

    def name(self, path: str) -> str:
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

    def exists(self, name: str) -> bool:
        path = self._path(name)
        with workspace_errors(name):
            is_there = self._version(path) is not None
            if not is_there:
                self._require_root()
        return is_there

    def size(self, name: str) -> int:
        return self._look(name).size

    def read(self, name: str) -> Iterator[bytes]:
        return self._chunks(name, self._look(name))

    def write(self, name: str, chunks: Iterable[bytes], *, replace: bool = False) -> int:
        path = self._place(name)
        with workspace_errors(name):
            if not replace and self._version(path) is not None:
                raise taken(name)
        with _spooled(name, chunks) as spool:
            size = spool.tell()
            self._send(name, path, spool, replace=replace)
        return size

    def delete(self, name: str) -> None:
        path = self._place(name)
        with workspace_errors(name):
            with absent():
                self._files.delete(path)
                return
            with absent():
                self._files.delete_directory(path)

    def delete_unfinished(self, folder: str, *, older_than: timedelta) -> int:
        """Remove what writes by way of a mounted path left; those of this class leave nothing."""
        before = (time.time() - older_than.total_seconds()) * 1000
        deleted = 0
        for name, entry in self._walk(self.name(folder)):
            if is_unfinished(posixpath.basename(name)) and (entry.last_modified or 0) <= before:
                self.delete(name)
                deleted += 1
        return deleted

    def names(self, prefix: str = "") -> Iterator[str]:
        above = prefix.rpartition("/")[0]
        for name, _ in self._walk(self.name(above) if above else "", prefix):
            if not is_unfinished(posixpath.basename(name)):
                yield name

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        version = self._look(name)
        with translated_errors(name):
            file = tempfile.NamedTemporaryFile(prefix="forebay-")  # noqa: SIM115  # closed below
        with file:
            for chunk in self._chunks(name, version):
                with translated_errors(name):
                    file.write(chunk)
            with translated_errors(name):
                file.flush()
            try:
                yield Path(file.name)
            finally:
                self._require_same(name, version)

    @property
    def _files(self) -> FilesExt:
        return self._make_client().files

    def _path(self, name: str) -> str:
        return f"{self.root}/{self.name(name)}"

    def _place(self, name: str) -> str:
        """Return the path of a file that is written or removed, which must be named itself."""
        if posixpath.basename(name) in ("", ".", ".."):
            raise outside(name)
        return self._path(name)

    def _version(self, path: str) -> Version | None:
        """Return what is at a path now; None if there is no file. Raises what the SDK does."""
        try:
            said = self._files.get_metadata(path)
        except NotFound:
            return None
        if said.content_length is None:
            raise OSError("The answer does not say how many bytes the file has.")
        return Version(said.content_length, said.last_modified)

    def _look(self, name: str) -> Version:
        """Return the version of a file that must be there."""
        path = self._path(name)
        with workspace_errors(name):
            version = self._version(path)
            if version is None:
                self._require_root()
                raise no_file(name) if self._is_folder(path) else missing(name)
        return version

    def _is_folder(self, path: str) -> bool:
        try:
            self._files.get_directory_metadata(path)
        except NotFound:
            return False
        return True

    def _require_root(self) -> None:
        if not self._is_folder(self.root):
            raise no_volume(self.root)

    def _require_same(self, name: str, version: Version) -> None:
        """Raise StorageError if another content has taken a file's place, as far as one can see."""
        now: Version | None = version
        with suppress(StorageError), workspace_errors(name):
            now = self._version(self._path(name))
        if now not in (None, version):
            raise changed(name)

    def _chunks(self, name: str, version: Version) -> Iterator[bytes]:
        """Yield a file of which `version` was seen; raises StorageError if it is another one."""
        size = 0
        try:
            with workspace_errors(name):
                body = self._files.download(self._path(name)).contents
                assert body is not None
                with body:
                    while chunk := body.read(CHUNK):
                        size += len(chunk)
                        yield chunk
        except StorageError:
            self._require_same(name, version)
            raise
        if size != version.size:
            raise changed(name)

    def _send(self, name: str, path: str, spool: BinaryIO, *, replace: bool) -> None:
        """Send a file that is whole; where no answer says what came of it, look at what is there.

        Who finds the very bytes there has written them, whatever became of the answer.
        """
        for is_last in (False, True):
            try:
                with workspace_errors(name):
                    self._upload(path, spool, replace=replace)
            except StorageError as error:
                found = self._found(name, spool)
                if found == "ours":
                    return
                if found == "another" and not replace:
                    raise taken(name) from error
                if is_last or not isinstance(error.__cause__, NotFound):
                    raise
                self._make_folder(name, posixpath.dirname(path))
            else:
                return

    def _upload(self, path: str, spool: BinaryIO, *, replace: bool) -> None:
        with _turns:
            spool.seek(0)
            self._files.upload(path, spool, overwrite=replace, parallelism=AT_ONCE)

    def _make_folder(self, name: str, path: str) -> None:
        """Make a folder and those above it: a Volume makes them itself, as far as is known."""
        with workspace_errors(name):
            try:
                self._files.create_directory(path)
            except NotFound as error:
                raise no_volume(self.root) from error

    def _found(self, name: str, spool: BinaryIO) -> Literal["nothing", "ours", "another"]:
        """Compare what is there now with what was to be written."""
        size = spool.seek(0, os.SEEK_END)
        spool.seek(0)
        try:
            version = self._look(name)
            is_ours = version.size == size and all(
                chunk == spool.read(len(chunk)) for chunk in self._chunks(name, version)
            )
        except StorageError:
            return "nothing"
        return "ours" if is_ours else "another"

    def _walk(self, folder: str, prefix: str = "") -> Iterator[tuple[str, DirectoryEntry]]:
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

    def _entries(self, folder: str) -> Iterator[DirectoryEntry]:
        path = f"{self.root}/{folder}" if folder else self.root
        with workspace_errors(folder or self.root), absent():
            yield from self._files.list_directory_contents(path)


@contextmanager
def _spooled(name: str, chunks: Iterable[bytes]) -> Iterator[BinaryIO]:
    """Give the chunks as a temporary file; what they raise is theirs."""
    with translated_errors(name):
        spool = tempfile.TemporaryFile(prefix="forebay-")  # noqa: SIM115  # closed below
    with spool:
        for chunk in chunks:
            with translated_errors(name):
                spool.write(chunk)
        with translated_errors(name):
            spool.flush()
        yield cast(BinaryIO, spool)


def _client() -> WorkspaceClient:
    """Return the client of the workspace that the environment names: one for this process."""
    return _client_of(
        frozenset((name, value) for name, value in os.environ.items() if "DATABRICKS" in name)
    )


@lru_cache(maxsize=4)
def _client_of(environment: frozenset[tuple[str, str]]) -> WorkspaceClient:
    return workspace_client(http_seconds=HTTP_SECONDS)
