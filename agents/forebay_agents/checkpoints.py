"""What was paid for once: kept beside the document, so that the next attempt need not pay again.

Several databases may know the same document. Each reads, and removes, what its own attempts keep.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from forebay.agent import Attempt
from forebay.logs import EventLog
from forebay.storage import Storage, StorageError
from forebay_agents import stopping

log = EventLog(__name__)

T = TypeVar("T")

VERSION = 1
"""Of what stands in the files: those of another version are not read."""

FILE = re.compile(r"(?P<key>.+)\.(?P<attempt_id>[0-9]{1,18})-(?P<launch_key>[0-9a-z]+)\.json")

UNANSWERED = 60.0
"""Seconds while the database is away after which only an attempt's own files are read."""

ASK_AGAIN = 0.5

Writer = tuple[int, str]
"""An attempt's id and its launch key."""


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
    """Keep each as a file in the folder `NAME.forebay`, named for the attempt that wrote it.

    Those of earlier attempts are read too. One of another database, broken, of another version or
    of another content of the document is not there. One that cannot be written is logged: it costs
    only that its work may have to be done again.
    """

    def __init__(
        self, storage: Storage, name: str, attempt: Attempt, read: Callable[[], Iterable[bytes]]
    ) -> None:
        """Keep those of the document `name`; `read` gives its content, when it is first needed."""
        self._storage = storage
        self._name = name
        self._attempt = attempt
        self._read = read
        self._files: dict[str, list[str]] | None = None  # by keys, once they are looked for

    def get(self, key: str, decode: Callable[[dict[str, Any]], T]) -> T | None:
        try:
            files = self._looked_for().get(key, [])
        except StorageError:
            return None
        for file in files:
            value = self._value(file, decode)
            if value is not None:
                return value
        return None

    def put(self, key: str, value: dict[str, Any]) -> None:
        kept = {"version": VERSION, "document": self._digest, "value": value}
        content = json.dumps(kept).encode()
        attempt_id, launch_key = _of(self._attempt)
        file = f"{_folder(self._name)}/{key}.{attempt_id}-{launch_key}.json"
        try:
            self._storage.write(file, [content], replace=True)
        except StorageError as error:
            log.warning("checkpoint_not_kept", key=key, reason=str(error))
            return
        if self._files is not None:
            others = [other for other in self._files.get(key, []) if other != file]
            self._files[key] = [file, *others]

    def _looked_for(self) -> dict[str, list[str]]:
        """Return the files that may be read under each key, the latest attempt's first."""
        if self._files is None:
            found = _found(self._storage, self._name)
            known = self._known(_others(found, self._attempt))
            self._files = {}
            for each in sorted(found, key=lambda each: each.attempt, reverse=True):
                if each.is_of(self._attempt, known):
                    self._files.setdefault(each.key, []).append(each.file)
        return self._files

    def _known(self, others: set[Writer]) -> set[str]:
        """Return whose files are ours; none but our own where nobody can tell for long."""
        give_up_at = time.monotonic() + UNANSWERED
        while others and time.monotonic() < give_up_at:
            known = self._attempt.known(others)
            if known is not None:
                return known
            stopping.check(self._attempt, "while asking whose checkpoints there are")
            time.sleep(ASK_AGAIN)
        return set()

    def _value(self, file: str, decode: Callable[[dict[str, Any]], T]) -> T | None:
        try:
            kept = json.loads(b"".join(self._storage.read(file)))
            is_ours = (kept["version"], kept["document"]) == (VERSION, self._digest)
            return decode(kept["value"]) if is_ours else None
        except (StorageError, KeyError, TypeError, ValueError, RecursionError):
            return None

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for chunk in self._read():
            digest.update(chunk)
        return digest.hexdigest()


def forget(storage: Storage, name: str, attempt: Attempt) -> None:
    """Remove what attempts of this database keep of the document `name`: none will need it."""
    try:
        found = _found(storage, name)
        others = _others(found, attempt)
        known = (others and attempt.known(others)) or set()
        _remove(storage, name, [each.file for each in found if each.is_of(attempt, known)])
    except StorageError as error:
        log.warning("checkpoints_not_removed", reason=str(error))


def remove(storage: Storage, name: str) -> None:
    """Remove all that is kept of the document `name`, whoever keeps it; raises StorageError."""
    _remove(storage, name, list(storage.names(f"{_folder(name)}/")))


def _remove(storage: Storage, name: str, files: Iterable[str]) -> None:
    """Remove these files of the folder, and the folder when it is empty."""
    for file in files:
        storage.delete(file)
    is_file = storage.exists(_folder(name))  # which is not ours
    if not is_file and not any(storage.names(f"{_folder(name)}/")):
        storage.delete(_folder(name))


@dataclass(frozen=True, slots=True)
class _Found:
    """A file, the key that it is kept under, and the attempt that wrote it."""

    file: str
    key: str
    attempt: Writer

    def is_of(self, attempt: Attempt, known: Collection[str]) -> bool:
        """Tell whether this attempt wrote it, or one that is known."""
        return self.attempt == _of(attempt) or self.attempt[1] in known


def _found(storage: Storage, name: str) -> list[_Found]:
    """Return all checkpoints that are kept of a document; raises StorageError."""
    found = []
    for file in storage.names(f"{_folder(name)}/"):
        if named := FILE.fullmatch(file.removeprefix(f"{_folder(name)}/")):
            writer = int(named["attempt_id"]), named["launch_key"]
            found.append(_Found(file, named["key"], writer))
    return found


def _others(found: Iterable[_Found], attempt: Attempt) -> set[Writer]:
    return {each.attempt for each in found} - {_of(attempt)}


def _of(attempt: Attempt) -> Writer:
    return attempt.attempt_id, attempt.launch_key


def _folder(name: str) -> str:
    return f"{name}.forebay"
