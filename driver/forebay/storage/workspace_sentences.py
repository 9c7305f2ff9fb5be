"""The faults of a workspace's Files API, as sentences for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from databricks.sdk.errors import (
    AlreadyExists,
    BadRequest,
    NotFound,
    PermissionDenied,
    ResourceAlreadyExists,
    Unauthenticated,
)
from databricks.sdk.errors.base import DatabricksError

from forebay.databricks.answers import is_absent, is_own, is_silence
from forebay.databricks.login import LoginError
from forebay.storage.interface import StorageError
from forebay.storage.sentences import missing, quoted, taken

OLD_CLIENT = "DATABRICKS_DISABLE_EXPERIMENTAL_FILES_API_CLIENT"

LONGEST_MESSAGE = 80
"""Characters of what the workspace says that a sentence repeats."""


@contextmanager
def workspace_errors(name: str) -> Iterator[None]:
    """Raise what the SDK says of the file `name` as a StorageError.

    OSError is what it raises for answers, for time that is over and for connections that broke,
    RuntimeError when it has tried often enough, and ValueError without credentials or for answers
    that make no sense. A file is to blame for nothing but what the API itself says of it.
    """
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise _fault(name, error) from error


def no_volume(root: str) -> StorageError:
    """Say that a root itself is missing, which no file is to blame for."""
    return StorageError(
        f"The storage root {quoted(root)} is not there: make the Volume or its folder, or correct"
        " FOREBAY_STORAGE_ROOTS.",
        may_pass=True,
    )


def no_empty_file(name: str) -> StorageError:
    """Say that a file of no bytes cannot be sent: without its newer client the SDK tells no length.

    The workspace refuses what has none.
    """
    return StorageError(f"{quoted(name)} is empty, and {OLD_CLIENT} sends no empty file: unset it.")


def _fault(name: str, error: Exception) -> StorageError:
    file = quoted(name)
    match error:
        case NotFound() if is_absent(error):
            return missing(name)
        case AlreadyExists() | ResourceAlreadyExists():
            return taken(name)
        case PermissionDenied() | Unauthenticated() if not is_silence(error):
            return StorageError(
                f"{file} may not be used: check the login, and READ VOLUME and WRITE VOLUME.",
                may_pass=True,
            )
        case BadRequest() if is_own(error):
            return StorageError(f"{file} is refused by the workspace: {_message(error)}")
        case ValueError() | LoginError(is_transient=False):
            return StorageError(
                f"{file} cannot be used: check DATABRICKS_HOST and the login to the workspace.",
                may_pass=True,
            )
        case DatabricksError():
            return StorageError(f"{file} cannot be used now: {_message(error)}", may_pass=True)
    return StorageError(
        f"{file} cannot be used now: the workspace or its storage does not answer.", may_pass=True
    )


def _message(error: Exception) -> str:
    said = "".join(c if c.isprintable() else " " for c in str(error)).strip() or "no reason given"
    return said if len(said) <= LONGEST_MESSAGE else f"{said[:LONGEST_MESSAGE]}…"
