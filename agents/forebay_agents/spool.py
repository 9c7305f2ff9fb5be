"""Lines that may be too many for memory: kept in a temporary file, once they are."""

import tempfile
from collections.abc import Iterator
from typing import Self

from forebay_agents.page_json import dump, load
from forebay_agents.pages import Page

IN_MEMORY = 1 << 20
"""Bytes that are kept in memory before a file is made."""

CHUNK = 1 << 20


class Spool:
    """Take lines, give them back in order; use it in a `with` block, which removes the file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def add(self, line: bytes) -> None:
        """Take a line, its end included."""
        self._file.write(line)

    def lines(self) -> Iterator[bytes]:
        """Yield every line that was added so far, from the first on."""
        self._file.seek(0)
        yield from self._file

    def chunks(self) -> Iterator[bytes]:
        """Yield all of it in chunks of bounded size."""
        self._file.seek(0)
        while chunk := self._file.read(CHUNK):
            yield chunk


class PageSpool(Spool):
    """Keep whole pages, for whoever reads them all a second time."""

    def add_page(self, page: Page) -> None:
        self.add(dump(page))

    def pages(self) -> Iterator[Page]:
        """Yield every page that was added so far, from the first on."""
        return map(load, self.lines())
