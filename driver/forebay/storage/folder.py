"""Files below one folder of this machine."""

import errno
import os
import stat
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from forebay.storage.interface import CHUNK
from forebay.storage.sentences import changed, no_root, outside, translated_errors

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
UNFINISHED = ".part"
NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}
"""How a file system says that it has no second names for a file."""


class FolderStorage:
    """Keep files below `root`: neither dots, absolute names nor links lead out of it.

    No write makes the root: what is written where a mount has gone away is hidden when it is back.
    A name is resolved first, and then opened part by part without following links: who puts a link
    in between gets an error. Links that stay inside are followed, but never replaced or removed
    in place of what they lead to.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def name(self, path: str) -> str:
        return "/".join(self._parts(path))

    def exists(self, name: str) -> bool:
        with translated_errors(name):
            try:
                os.close(self._open(name))
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                return False
        return True

    def size(self, name: str) -> int:
        with translated_errors(name), open(self._open(name), "rb") as file:
            return os.fstat(file.fileno()).st_size

    def read(self, name: str) -> Iterator[bytes]:
        with translated_errors(name):
            return _chunks(name, open(self._open(name), "rb"))

    def write(self, name: str, chunks: Iterable[bytes], *, replace: bool = False) -> int:
        with translated_errors(name):
            folders, leaf = self._place(name)
            folder = self._enter(folders, make=True)
        try:
            return _write_as(name, leaf, chunks, folder, replace=replace)
        finally:
            os.close(folder)

    def delete(self, name: str) -> None:
        with translated_errors(name), suppress(FileNotFoundError):
            folders, leaf = self._place(name)
            folder = self._enter(folders)
            try:
                os.unlink(leaf, dir_fd=folder)
            except IsADirectoryError:
                os.rmdir(leaf, dir_fd=folder)
            finally:
                os.close(folder)

    def delete_unfinished(self, folder: str, *, older_than: timedelta) -> int:
        before = time.time() - older_than.total_seconds()
        deleted = 0
        for above, _, files in os.walk(self.root.joinpath(*self._parts(folder))):
            for path in (Path(above, file) for file in files if is_unfinished(file)):
                with suppress(FileNotFoundError):  # its process has just ended it
                    if path.lstat().st_mtime <= before:
                        self.delete(path.relative_to(self.root).as_posix())
                        deleted += 1
        return deleted

    def names(self, prefix: str = "") -> Iterator[str]:
        above = prefix.rpartition("/")[0]
        start = self.root.joinpath(*self._parts(above)) if above else self.root
        for folder, _, files in os.walk(start):
            for file in files:
                path = Path(folder, file)
                name = path.relative_to(self.root).as_posix()
                if name.startswith(prefix) and not is_unfinished(file) and self._is_file(path):
                    yield name

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        with translated_errors(name):
            file = self._open(name)
        version = _version(file)
        try:
            opened = Path(f"/proc/{os.getpid()}/fd/{file}")
            yield opened if opened.exists() else self.root.joinpath(*self._parts(name))
        finally:
            is_same = _version(file) == version
            os.close(file)
            if not is_same:
                raise changed(name)

    def _parts(self, name: str) -> tuple[str, ...]:
        """Return the parts of the path below the root that `name` leads to, links followed."""
        with translated_errors(name):
            path = Path(os.path.realpath(self.root / name))
        if not name or path == self.root or not path.is_relative_to(self.root):
            raise outside(name)
        return path.relative_to(self.root).parts

    def _place(self, name: str) -> tuple[tuple[str, ...], str]:
        """Return the folders that a name leads through, links followed, and the file in them."""
        folder, leaf = os.path.split(name)
        above = Path(os.path.realpath(self.root / folder))
        if leaf in ("", ".", "..") or not above.is_relative_to(self.root):
            raise outside(name)
        return above.relative_to(self.root).parts, leaf

    def _open(self, name: str) -> int:
        """Open a file to read, and return its descriptor; raises OSError for what is none."""
        *folders, leaf = self._parts(name)
        folder = self._enter(folders)
        try:
            file = os.open(leaf, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise IsADirectoryError(name)
        return file

    def _enter(self, parts: Sequence[str], *, make: bool = False) -> int:
        """Open the folder that parts lead to, following no link, and return its descriptor."""
        try:
            folder = os.open(self.root, FOLDER)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise no_root(self.root) from error
        for part in parts:
            folder = _step(folder, part, make=make)
        return folder

    def _is_file(self, path: Path) -> bool:
        return path.is_file() and Path(os.path.realpath(path)).is_relative_to(self.root)


def _version(file: int) -> tuple[int, int]:
    """Return what changes when a file is written to."""
    stated = os.fstat(file)
    return stated.st_size, stated.st_mtime_ns


def _step(folder: int, part: str, *, make: bool) -> int:
    """Open a folder inside of a folder, which is closed."""
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
        return os.open(part, FOLDER, dir_fd=folder)
    finally:
        os.close(folder)


def _write_as(name: str, leaf: str, chunks: Iterable[bytes], folder: int, *, replace: bool) -> int:
    """Write a file under another name first, and give it its own when it is whole."""
    temporary = f".{uuid.uuid4()}{UNFINISHED}"
    with translated_errors(name):
        if not replace:
            _refuse_to_replace(leaf, folder)
    try:
        size = _write(name, temporary, chunks, folder)
        with translated_errors(name):
            _publish(temporary, leaf, folder, replace=replace)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return size


def _refuse_to_replace(leaf: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.stat(leaf, dir_fd=folder, follow_symlinks=False)
        raise FileExistsError(leaf)


def _write(name: str, temporary: str, chunks: Iterable[bytes], folder: int) -> int:
    """Write a new file and return its size; what the chunks raise is theirs."""
    size = 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with translated_errors(name):
        descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
    with open(descriptor, "wb", buffering=0) as file:
        for chunk in chunks:
            with translated_errors(name):
                _write_all(file, chunk)
            size += len(chunk)
        with translated_errors(name):
            os.fsync(file.fileno())
    return size


def _write_all(file: BinaryIO, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[file.write(rest) :]


def _publish(temporary: str, leaf: str, folder: int, *, replace: bool) -> None:
    """Give a written file its name, at once; raises FileExistsError for one that is taken."""
    if not replace:
        try:
            os.link(temporary, leaf, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            _refuse_to_replace(leaf, folder)
        else:
            os.unlink(temporary, dir_fd=folder)
            return
    os.rename(temporary, leaf, src_dir_fd=folder, dst_dir_fd=folder)


def _chunks(name: str, file: BinaryIO) -> Iterator[bytes]:
    with file:
        while True:
            with translated_errors(name):
                chunk = file.read(CHUNK)
            if not chunk:
                return
            yield chunk


def is_unfinished(file: str) -> bool:
    """Tell whether a file's own name is one that a write gives it until it is whole."""
    return file.startswith(".") and file.endswith(UNFINISHED)
