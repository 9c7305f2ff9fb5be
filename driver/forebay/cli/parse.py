"""Parse PDF files on the spot: the document agent alone, without a queue and a database."""

from __future__ import annotations

import json
import signal
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import documents, output
from forebay.cli.errors import Refused

if TYPE_CHECKING:
    from concurrent.futures import Future

    from forebay_agents.check import Report

Row = dict[str, Any]

AT_A_TIME = 2
AHEAD = 16
"""How many files are read side by side, and how many may wait for the first of them to be told."""

LINE = 79
"""Characters of a line at a terminal."""

NOTES = 5
"""How many notes about a file a person sees."""


def parse(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILES", readable=False, help="PDF files, or folders that hold some."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line, for scripts.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Add all that was found: lines, tables, text, evidence.")
    ] = False,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep beside each file what is too long for a result."),
    ] = False,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            readable=False,
            help="Compare its PDF files with the truth in NAME.json beside each, and sum up.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With --check: print a table for a document.")
    ] = False,
) -> None:
    """Parse PDF files here and now, without a database; nothing is submitted.

    Exit code 0: every file was looked at, also one that cannot be read: its status says so.
    """
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    if check is None and markdown:
        raise typer.BadParameter("--markdown goes with --check.")
    if check is not None and (files or full or keep):
        raise typer.BadParameter("--check takes a folder, and no FILES, --full or --keep.")
    if check is not None:
        _print_report(_report(check), as_json=as_json, markdown=markdown)
        return
    if not files:
        raise typer.BadParameter("Name PDF files, folders that hold some, or --check FOLDER.")
    show = _print_line if as_json else _print_block
    for row in _parsed(_pdfs(files), keep=keep):
        show(row, full=full)


def _pdfs(paths: Sequence[Path]) -> list[Path]:
    """Return the files, and in place of each folder the PDF files below it, if there are any."""
    return [file for path in paths for file in documents.pdfs_below(path) or [path]]


def _parsed(paths: Sequence[Path], *, keep: bool = False) -> Iterator[Row]:
    """Yield what came of each file, in order; an interrupt stops what is being read at once."""
    from concurrent.futures import ThreadPoolExecutor

    documents.require("agents", "Parsing")
    from forebay_agents.standalone import StandaloneAttempt, parse_file

    stop, meter = Event(), Meter(len(paths))

    def work(place: int, path: Path) -> Row:
        tell = partial(meter.show, place, path)
        return parse_file(
            path, StandaloneAttempt(on_progress=tell, is_stopped=stop.is_set), keep=keep
        )

    with ThreadPoolExecutor(AT_A_TIME) as threads:
        waiting: deque[Future[Row]] = deque()
        try:
            for place, path in enumerate(paths, start=1):
                waiting.append(threads.submit(work, place, path))
                if len(waiting) == AHEAD:
                    yield meter.cleared(waiting.popleft().result())
            while waiting:
                yield meter.cleared(waiting.popleft().result())
        finally:
            stop.set()
            threads.shutdown(cancel_futures=True)


class Meter:
    """Tell a person at a terminal which page of which file is read, on a line of its own."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._is_seen = sys.stderr.isatty()

    def show(self, place: int, path: Path, done: int, total: int) -> None:
        """Say how many pages of a file are done."""
        text = output.show(f"{place} of {self._files}: {path.name}, page {done} of {total}")
        self._write(text[:LINE])

    def cleared(self, row: Row) -> Row:
        """Make room for a row that is printed next, and return it."""
        self._write("")
        return row

    def _write(self, text: str) -> None:
        if self._is_seen:
            sys.stderr.write(f"\r\x1b[K{text}\r")
            sys.stderr.flush()


def _print_line(row: Row, *, full: bool) -> None:
    shown = row if full else {key: value for key, value in row.items() if key != "result"}
    print(json.dumps(shown, ensure_ascii=False), flush=True)


def _print_block(row: Row, *, full: bool) -> None:
    """Print a heading for the file, and below it what was found."""
    parts = [row["document"], row["status"]]
    if row["pages"] is not None:
        parts.append(f"{row['pages']} page{'s' if row['pages'] != 1 else ''}")
    if row["confidence"] is not None:
        parts.append(f"confidence {row['confidence']:.3f}")
    print(output.show("  ".join(parts)))
    notes = row["result"]["notes"] if row["result"] else [row["reason"]]
    found = [*row["fields"].items(), *(("note", note) for note in notes[:NOTES])]
    for name, value in found:
        print(f"  {name:<10}{output.show(value)}")
    if full and row["result"]:
        print(json.dumps(row["result"], ensure_ascii=False, indent=2))
    print(flush=True)


def _report(folder: Path) -> Report:
    """Compare the folder's files with their truth; those without one are told and left out."""
    documents.require("agents", "Parsing")
    paths = documents.own_pdfs(folder)
    known = [path for path in paths if path.with_suffix(".json").is_file()]
    for path in sorted(set(paths) - set(known)):
        output.note(f"{path} has no truth file beside it and is left out.")
    if not known:
        raise Refused(f"{folder} holds no PDF with a truth file: write NAME.json beside NAME.pdf.")
    from forebay_agents.check import compare

    truths = [_truth(path.with_suffix(".json")) for path in known]
    return compare(zip(_parsed(known), truths, strict=True))


def _truth(path: Path) -> Row:
    """Read a truth file; raises Refused for what is none."""
    from forebay_agents.check import read_truth

    try:
        return read_truth(path.read_bytes())
    except ValueError as error:
        raise Refused(f"{path} is no truth file: {error}. Correct it.") from error


def _print_report(report: Report, *, as_json: bool, markdown: bool) -> None:
    if as_json:
        output.print_json(report.as_json())
    else:
        print(report.markdown() if markdown else report.table())
