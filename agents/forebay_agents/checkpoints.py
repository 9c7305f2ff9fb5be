"""What was paid for once: kept beside the document, so that the next attempt need not pay again."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Protocol

from forebay.storage import Storage, StorageError

log = logging.getLogger(__name__)

VERSION = 1
"""Of what stands in the files: those of another version are not read."""


class Checkpoints(Protocol):
    """Keep JSON under keys, which are short and ASCII: `ocr-199`, `vision-12`."""

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was put under `key`, or None."""
        ...

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep `value` under `key`, in place of what was there."""
        ...

    def clear(self) -> None:
        """Forget all of it: the document's result is known."""
        ...


class MemoryCheckpoints:
    """Keep them as long as this object lives."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, Any]] = {}

    def get(self, key: str) -> dict[str, Any] | None:
        return self.values.get(key)

    def put(self, key: str, value: dict[str, Any]) -> None:
        self.values[key] = value

    def clear(self) -> None:
        self.values.clear()


class StoredCheckpoints:
    """Keep each as a file of its own in the folder `NAME.forebay`, written at once.

    One that is broken, of another version or of another content of the document is not there. One
    that cannot be written is logged: it costs only that its work may have to be done again.
    """

    def __init__(self, storage: Storage, name: str, read: Callable[[], Iterable[bytes]]) -> None:
        """Keep those of the document `name`; `read` gives its content, when it is first needed."""
        self._storage = storage
        self._folder = f"{name}.forebay"
        self._read = read

    def get(self, key: str) -> dict[str, Any] | None:
        try:
            if not self._storage.exists(self._file(key)):
                return None
            kept = json.loads(b"".join(self._storage.read(self._file(key))))
        except (StorageError, ValueError, RecursionError):
            return None
        return self._checked(kept)

    def put(self, key: str, value: dict[str, Any]) -> None:
        kept = {"version": VERSION, "document": self._digest, "value": value}
        content = json.dumps(kept).encode()
        try:
            self._storage.write(self._file(key), [content], replace=True)
        except StorageError as error:
            log.warning("checkpoint_not_kept key=%s reason=%s", key, error)

    def clear(self) -> None:
        try:
            for name in list(self._storage.names(f"{self._folder}/")):
                self._storage.delete(name)
            self._storage.delete(self._folder)
        except StorageError as error:
            log.warning("checkpoints_not_cleared reason=%s", error)

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for chunk in self._read():
            digest.update(chunk)
        return digest.hexdigest()

    def _file(self, key: str) -> str:
        return f"{self._folder}/{key}.json"

    def _checked(self, kept: Any) -> dict[str, Any] | None:
        match kept:
            case {"version": version, "document": document, "value": dict(value)}:
                is_ours = version == VERSION and document == self._digest
                return value if is_ours else None
        return None
