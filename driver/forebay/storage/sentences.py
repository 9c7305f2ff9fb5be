"""The faults of a file system, as sentences for people."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay.storage.interface import StorageError

LONGEST_NAME = 80
"""Characters of a name that a sentence repeats."""

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Raise what the system says of the file `name` as a StorageError."""
    try:
        yield
    except OSError as error:
        raise _fault(name, error) from error
    except ValueError as error:  # a NUL, or what no file system can encode
        raise no_name(name) from error


def outside(name: str) -> StorageError:
    """Say that a name leads out of the root, or names no file at all."""
    return StorageError(f"{quoted(name)} lies outside the storage roots; move it into one of them.")


def no_root(root: Path) -> StorageError:
    """Say that a root itself is missing, which no file is to blame for."""
    return StorageError(
        f"The storage root {quoted(str(root))} is not there: mount it, or correct"
        " FOREBAY_STORAGE_ROOTS.",
        may_pass=True,
    )


def missing(name: str) -> StorageError:
    """Say that there is no such file."""
    return StorageError(f"{quoted(name)} does not exist: upload it again, or correct the name.")


def taken(name: str) -> StorageError:
    """Say that there is such a file already."""
    return StorageError(f"{quoted(name)} is there already, and is not written over.")


def no_file(name: str) -> StorageError:
    """Say that what has the name is something else."""
    return StorageError(f"{quoted(name)} is a folder, or no plain file: name a file.")


def no_name(name: str) -> StorageError:
    """Say that nothing can have such a name: it has a NUL, or is no text."""
    return StorageError(f"{quoted(name)} is no name of a file: give it another one.")


def too_long(name: str) -> StorageError:
    """Say that a name is longer than a file's can be."""
    return StorageError(f"The name {quoted(name)} is too long: give the file a shorter one.")


def changed(name: str) -> StorageError:
    """Say that a file did not stay as it was while it was read."""
    return StorageError(f"{quoted(name)} was changed while it was read.", may_pass=True)


def quoted(name: str) -> str:
    """Return a name for a sentence: short, on one line, and in UTF-8 whatever bytes it has."""
    text = os.fsencode(name).decode("utf-8", "replace") if _is_bytes(name) else ascii(name)
    plain = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return f'"{plain[:LONGEST_NAME]}…"' if len(plain) > LONGEST_NAME else f'"{plain}"'


def _is_bytes(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _fault(name: str, error: OSError) -> StorageError:
    file = quoted(name)
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return missing(name)
        case IsADirectoryError():
            return no_file(name)
        case FileExistsError():
            return taken(name)
    if error.errno == errno.ELOOP:
        return StorageError(f"{file} is a link that leads nowhere, or was put there just now.")
    if error.errno == errno.ENAMETOOLONG:
        return too_long(name)
    if error.errno in FULL:
        return StorageError(f"{file} cannot be written: no space is left.", may_pass=True)
    if error.errno in DENIED:
        return StorageError(
            f"{file} may not be used: check the permissions of its folder.", may_pass=True
        )
    reason = error.strerror or type(error).__name__
    return StorageError(f"{file} cannot be used: {reason}.", may_pass=True)
