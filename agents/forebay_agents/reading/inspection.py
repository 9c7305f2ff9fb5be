"""Look at many files before they are submitted: can each be read, and how long is it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.limits import Limits
from forebay_agents.reading.process import Lost, ReadingProcess
from forebay_agents.reading.verdicts import check_pages, check_size, of_document, raise_errors

SAMPLE = 20
"""How many pages of a document are looked at."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be told of a file at a glance.

    `problem` is a sentence when nobody can read it; then the numbers are None or 0. So they are
    without a problem where this machine fails: another may read the file. Characters are
    extrapolated from at most 20 pages; wide ones are those of Chinese, Japanese and Korean, digits
    those of ASCII.
    """

    path: Path
    problem: str | None = None
    pages: int | None = None
    characters: int = 0
    wide_characters: int = 0
    digits: int = 0


def inspect(paths: Iterable[Path], limits: Limits | None = None) -> Iterator[Inspection]:
    """Yield what is found out about each file, in order; one child looks at all of them.

    A file with a page on which the child is lost has no characters, and is a problem only if it
    cannot be opened: reading it leaves out such a page.
    """
    inspector = _Inspector(limits or Limits.from_environment())
    try:
        for path in paths:
            try:
                yield inspector.inspect(path)
            except DocumentError as error:
                is_of_file = error.kind == "bad_input"
                yield Inspection(path, problem=error.message if is_of_file else None)
    finally:
        inspector.end()


class _Inspector:
    """Hold the child that looks at files, replaced when it is lost."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: ReadingProcess | None = None

    def inspect(self, path: Path) -> Inspection:
        """Return what a file is; raises DocumentError for one that cannot be read."""
        check_size(path, self._limits)
        try:
            answer = self._ask(path, SAMPLE)
        except Lost:
            answer = self._ask_again(path)
        raise_errors(answer)
        check_pages(answer["pages"], self._limits)
        return Inspection(path, **answer)

    def end(self) -> None:
        """End the child."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _ask_again(self, path: Path) -> dict[str, Any]:
        """Ask for the number of pages only."""
        try:
            return self._ask(path, 0)
        except Lost as lost:
            raise of_document(lost.loss, self._limits) from lost

    def _ask(self, path: Path, sample: int) -> dict[str, Any]:
        self._process = self._process or ReadingProcess(self._limits)
        command = {"do": "inspect", "path": str(path.absolute()), "sample": sample}
        try:
            return self._process.ask(command, self._limits.seconds_to_open, lambda: None)
        except BaseException:
            self.end()
            raise
