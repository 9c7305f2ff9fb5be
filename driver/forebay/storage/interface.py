"""What a storage can do, and how it says that it could not."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

CHUNK = 1 << 20
"""Bytes of a file that are in memory at a time."""


class StorageError(Exception):
    """Say in a sentence why a file cannot be read or written.

    `may_pass` tells whether a later try may succeed without another file or another name.
    """

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass


class Storage(Protocol):
    """Keep files by name below one root: parts parted by `/`, as `2026/a.pdf`.

    Every method raises StorageError, and for a name that leads outside of the root too.
    """

    def name(self, path: str) -> str:
        """Return the plain name of what `path`, relative or absolute, leads to, there or not."""
        ...

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file; a folder is none."""
        ...

    def size(self, name: str) -> int:
        """Return how many bytes the file has."""
        ...

    def read(self, name: str) -> Iterator[bytes]:
        """Yield the file in chunks; that it is not there is raised at once.

        A download from a Volume that broke goes on in what is the same file by its size and the
        second it is from: of one that was replaced within that second by one as large, parts of
        both may come. Documents are never replaced.
        """
        ...

    def write(self, name: str, chunks: Iterable[bytes], *, replace: bool = False) -> int:
        """Write the file and return its size; others see all of it or nothing.

        Refuses to write over a file unless told to `replace` it.
        """
        ...

    def delete(self, name: str) -> None:
        """Remove a file, or a folder that is empty; what is not there is no error."""
        ...

    def delete_unfinished(self, folder: str, *, older_than: timedelta) -> int:
        """Remove what `write` left in a folder when its process died, and return how many files.

        A write that goes on is newer than `older_than`, or it is lost.
        """
        ...

    def names(self, prefix: str = "") -> Iterator[str]:
        """Yield the names of the files that begin with `prefix`, in no set order."""
        ...

    def local(self, name: str) -> AbstractContextManager[Path]:
        """Give a path to read the file by, for what must seek in it; it ends with the block.

        On Linux the path leads to the file that was opened, whatever gets its name meanwhile, and
        is good for other processes of the same user; elsewhere it is the file's own name. Raises
        StorageError at the end of the block if the file was written to meanwhile, in a Volume also
        if it was replaced, unless by one of its size and second.
        """
        ...
