"""Pictures of pages, drawn by the process that reads PDFs, and kept a little while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from forebay_agents.reading.errors import DocumentError, PageFailed
from forebay_agents.reading.reader import Reader
from forebay_agents.standalone import StandaloneAttempt
from forebay_apps.intake.settings import IntakeSettings

DPI = 144
"""Sharp on a screen that has two dots where others have one."""

KEPT_BYTES = 64 << 20
"""How many bytes of pictures are kept."""

AT_ONCE = 2
"""How many documents are open at a time: each takes a process."""

Key = tuple[str, int, int | None]


class NoPicture(Exception):
    """Say in a sentence why a page cannot be shown."""


class Pictures:
    """Draw pages, and hold those that were asked for last: a document never changes."""

    def __init__(self, settings: IntakeSettings) -> None:
        self._settings = settings
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(AT_ONCE)

    def get(self, document: str, number: int, rotation: int | None) -> bytes:
        """Return a page as PNG, turned as it was read; raises NoPicture and StorageError."""
        key = (document, number, rotation)
        if (kept := self._found(key)) is not None:
            return kept
        with self._opened(document) as reader:
            if number > reader.pages:
                raise NoPicture(f"There is no page {number}: the document has {reader.pages}.")
            picture = reader.image(number, DPI, rotation)
        self._keep(key, picture)
        return picture

    def count_pages(self, document: str) -> int:
        """Return how many pages a document has; raises NoPicture and StorageError."""
        with self._opened(document) as reader:
            return reader.pages

    @contextmanager
    def _opened(self, document: str) -> Iterator[Reader]:
        """Open a document in a process of its own, and say as NoPicture what that met."""
        storage, name = self._settings.locate(document)
        limits = self._settings.reading
        try:
            with (
                self._turns,
                storage.local(name) as path,
                Reader(path, StandaloneAttempt(), limits) as reader,
            ):
                yield reader
        except (DocumentError, PageFailed) as error:
            raise NoPicture(error.message) from error

    def _found(self, key: Key) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Key, picture: bytes) -> None:
        with self._lock:
            if key in self._kept or len(picture) > KEPT_BYTES:
                return
            self._kept[key] = picture
            self._size += len(picture)
            while self._size > KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._size -= len(oldest)
