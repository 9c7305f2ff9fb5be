"""What was paid for once: kept beside the document, so that the next attempt need not pay again."""

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Protocol, TypeVar

from forebay.logs import EventLog
from forebay.storage import Storage, StorageError

log = EventLog(__name__)

T = TypeVar("T")

VERSION = 1
"""Of what stands in the files: those of another version are not read."""


class Checkpoints(Protocol):
    """Keep JSON under keys, which are short and ASCII: `ocr-199`, `vision-12`."""

    def get(self, key: str, decode: Callable[[dict[str, Any]], T]) -> T | None:
        """Return what `decode` makes of the value under `key`, or None if there is none.

        One of another shape, of which `decode` raises KeyError, TypeError or ValueError, is none.
        """
        ...

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep `value` under `key`, in place of what was there."""
        ...


class StoredCheckpoints:
    """Keep each as a file of its own in the folder `NAME.forebay`, written at once.

    One that is broken, of another version or of another content of the document is not there. One
    that cannot be written is logged: it costs only that its work may have to be done again.
    """

    def __init__(self, storage: Storage, name: str, read: Callable[[], Iterable[bytes]]) -> None:
        """Keep those of the document `name`; `read` gives its content, when it is first needed."""
        self._storage = storage
        self._folder = _folder(name)
        self._read = read

    def get(self, key: str, decode: Callable[[dict[str, Any]], T]) -> T | None:
        try:
            if not self._storage.exists(self._file(key)):
                return None
            kept = json.loads(b"".join(self._storage.read(self._file(key))))
            is_ours = (kept["version"], kept["document"]) == (VERSION, self._digest)
            return decode(kept["value"]) if is_ours else None
        except (StorageError, KeyError, TypeError, ValueError, RecursionError):
            return None

    def put(self, key: str, value: dict[str, Any]) -> None:
        kept = {"version": VERSION, "document": self._digest, "value": value}
        content = json.dumps(kept).encode()
        try:
            self._storage.write(self._file(key), [content], replace=True)
        except StorageError as error:
            log.warning("checkpoint_not_kept", key=key, reason=str(error))

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for chunk in self._read():
            digest.update(chunk)
        return digest.hexdigest()

    def _file(self, key: str) -> str:
        return f"{self._folder}/{key}.json"


def forget(storage: Storage, name: str) -> None:
    """Remove all that is kept of the document `name`: its result is known, or it has none."""
    try:
        remove(storage, name)
    except StorageError as error:
        log.warning("checkpoints_not_removed", reason=str(error))


def remove(storage: Storage, name: str) -> None:
    """Remove all that is kept of the document `name`; raises StorageError."""
    for kept in list(storage.names(f"{_folder(name)}/")):
        storage.delete(kept)
    if not storage.exists(_folder(name)):  # a file of that name is not ours
        storage.delete(_folder(name))


def _folder(name: str) -> str:
    return f"{name}.forebay"
