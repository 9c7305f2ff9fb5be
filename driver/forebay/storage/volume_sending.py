"""How a file gets into a Volume: spooled first, sent when it is whole, looked for after a break.

The SDK picks how the bytes travel: a file below 50 MB in one request, a larger one in parts to
presigned URLs, and past the workspace where only that can be reached. A part that broke is sent
again.
"""

from __future__ import annotations

import os
import posixpath
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Literal, cast

from databricks.sdk.errors import NotFound

from forebay.storage.interface import StorageError
from forebay.storage.sentences import taken, translated_errors
from forebay.storage.volume_files import VolumeFiles
from forebay.storage.workspace_sentences import no_empty_file, no_volume, workspace_errors

AT_ONCE = 2
"""Parts of a large file that are sent at a time: they take 70 MB of memory in all."""

UPLOADS_AT_ONCE = 4
"""Files that a process sends at a time; of more the others wait, spooled on disk."""

_turns = threading.BoundedSemaphore(UPLOADS_AT_ONCE)


@contextmanager
def spooled(name: str, chunks: Iterable[bytes]) -> Iterator[BinaryIO]:
    """Give the chunks as a temporary file, read to its end; what they raise is theirs."""
    with translated_errors(name):
        spool = tempfile.TemporaryFile(prefix="forebay-")  # noqa: SIM115  # closed below
    with spool:
        for chunk in chunks:
            with translated_errors(name):
                spool.write(chunk)
        with translated_errors(name):
            spool.flush()
        yield cast(BinaryIO, spool)


def send(volume: VolumeFiles, name: str, spool: BinaryIO, *, replace: bool) -> int:
    """Send a file that is whole, and return its size.

    Where no answer says what came of it, look at what is there: who finds the very bytes there has
    written them, whatever became of the answer.
    """
    path, size = volume.place(name), spool.seek(0, os.SEEK_END)
    with workspace_errors(name):
        if not size and volume.client.config.disable_experimental_files_api_client:
            raise no_empty_file(name)
    for is_last in (False, True):
        try:
            with workspace_errors(name):
                _upload(volume, path, spool, replace=replace)
        except StorageError as error:
            found = _found(volume, name, spool)
            if found == "ours":
                return size
            if found == "another" and not replace:
                raise taken(name) from error
            if is_last or not isinstance(error.__cause__, NotFound):
                raise
            _make_folder(volume, name, posixpath.dirname(path))
        else:
            break
    return size


def _upload(volume: VolumeFiles, path: str, spool: BinaryIO, *, replace: bool) -> None:
    with _turns:
        spool.seek(0)
        volume.api.upload(path, spool, overwrite=replace, parallelism=AT_ONCE)


def _make_folder(volume: VolumeFiles, name: str, path: str) -> None:
    """Make a folder and those above it: a Volume makes them itself, as far as is known."""
    with workspace_errors(name):
        try:
            volume.api.create_directory(path)
        except NotFound as error:
            raise no_volume(volume.root) from error


def _found(
    volume: VolumeFiles, name: str, spool: BinaryIO
) -> Literal["nothing", "ours", "another"]:
    """Compare what is there now with what was to be written."""
    size = spool.seek(0, os.SEEK_END)
    spool.seek(0)
    try:
        version = volume.look(name)
        is_ours = version.size == size and all(
            chunk == spool.read(len(chunk)) for chunk in volume.chunks(name, version)
        )
    except StorageError:
        return "nothing"
    return "ours" if is_ours else "another"
