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
from forebay_apps.web.turns import Turns

DPI = 144
"""Sharp on a screen that has two dots where others have one."""

KEPT_BYTES = 64 << 20
"""How many bytes of pictures are kept."""

AT_ONCE = 2
"""How many documents are open at a time: each takes a process."""

AT_ONCE_A_PERSON = 1
"""How many of them for one person, so that another's page comes between."""

PATIENCE = 10.0
"""Seconds that one more waits."""

BUSY = "Too many pages are drawn at this moment: try again."

Key = tuple[str, int, int | None]
"""A document, the number of a page of it, and how far that is turned, in degrees."""


class NoPicture(Exception):
    """Say in a sentence why a page cannot be shown."""


class Pictures:
    """Draw pages, and hold those that were asked for last: a document never changes."""

    def __init__(self, settings: IntakeSettings) -> None:
        self._settings = settings
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._turns = Turns(AT_ONCE, PATIENCE, BUSY, each=AT_ONCE_A_PERSON)

    async def get(self, key: Key, person: str) -> bytes:
        """Return a page as PNG, turned as it was read, for a person.

        Raises NoPicture, StorageError, and Refusal when too many are asked for.
        """
        kept = self._found(key)
        return kept if kept is not None else await self._turns.run(person, self._drawn, key)

    async def count_pages(self, document: str, person: str) -> int:
        """Return how many pages a document has; raises what `get` raises."""
        return await self._turns.run(person, self._counted, document)

    def _drawn(self, key: Key) -> bytes:
        if (kept := self._found(key)) is not None:
            return kept  # drawn while this one waited
        document, number, rotation = key
        with self._opened(document) as reader:
            if number > reader.pages:
                raise NoPicture(f"There is no page {number}: the document has {reader.pages}.")
            picture = reader.image(number, DPI, rotation)
        self._keep(key, picture)
        return picture

    def _counted(self, document: str) -> int:
        with self._opened(document) as reader:
            return reader.pages

    @contextmanager
    def _opened(self, document: str) -> Iterator[Reader]:
        """Open a document in a process of its own, and say as NoPicture what that met."""
        storage, name = self._settings.locate(document)
        limits = self._settings.reading
        try:
            with (
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
