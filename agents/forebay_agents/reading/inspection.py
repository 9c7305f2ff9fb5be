"""Look at many files before they are submitted: can each be read, and how long is it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.limits import Limits
from forebay_agents.reading.process import Lost, ReadingProcess
from forebay_agents.reading.verdicts import check_pages, check_size, of_document, raise_errors


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be told of a file at a glance.

    `problem` is a sentence when it cannot be read; then the numbers are None or 0. Characters are
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

    A file on which the child is lost is a problem of that file only: a new child goes on.
    """
    limits = limits or Limits.from_environment()
    process: ReadingProcess | None = None
    try:
        for path in paths:
            process = process or ReadingProcess(limits)
            try:
                yield _inspect(process, path, limits)
            except DocumentError as error:
                yield Inspection(path, problem=error.message)
            except Lost as lost:
                process.end()
                process = None
                yield Inspection(path, problem=of_document(lost.loss, limits).message)
    finally:
        if process is not None:
            process.end()


def _inspect(process: ReadingProcess, path: Path, limits: Limits) -> Inspection:
    check_size(path, limits)
    command = {"do": "inspect", "path": str(path.absolute())}
    answer = process.ask(command, limits.seconds_to_open, lambda: None)
    raise_errors(answer)
    check_pages(answer["pages"], limits)
    return Inspection(path, **{"problem": None, **answer})
