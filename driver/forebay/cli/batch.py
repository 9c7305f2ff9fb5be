"""One batch: its counts by status, and a bar that follows it to the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import output
from forebay.cli.database import connect
from forebay.cli.options import MAX_ID, STATUSES, Dsn, Json

if TYPE_CHECKING:
    import psycopg

    from forebay.rows import BatchProgress

POLL_SECONDS = 0.3
PROGRESS: output.Columns = {
    "batch": "batch_id",
    "name": "name",
    "customer": "customer",
    "owner": "owner",
    "created": "created_at",
    "finished": "finished_at",
    "tasks": "tasks",
    **{status: status for status in STATUSES},
}


def batch(
    batch_id: Annotated[int, typer.Argument(metavar="ID", max=MAX_ID, help="The batch.")],
    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it is done.")] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show how far a batch is."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        seen = follow(conn, batch_id) if watch else viewer.batch_progress(conn, batch_id=batch_id)
    output.print_row(seen, PROGRESS, as_json)


def follow(
    conn: psycopg.Connection[Any], batch_id: int, check: Callable[[], None] = lambda: None
) -> BatchProgress:
    """Show a live bar on stderr until nothing of the batch is left to do, and return its counts.

    Where stderr is no terminal it prints a line at each change. check runs at each look, and may
    raise to give up.
    """
    from forebay.calls import viewer

    with _Bar() if sys.stderr.isatty() else _Lines() as shown:
        while True:
            check()
            seen = viewer.batch_progress(conn, batch_id=batch_id)
            shown.update(seen)
            if seen.finished_at is not None:
                return seen
            time.sleep(POLL_SECONDS)


def _finished(seen: BatchProgress) -> int:
    return seen.completed + seen.failed + seen.cancelled


def _counts(seen: BatchProgress) -> str:
    return ", ".join(f"{n} {status}" for status in STATUSES if (n := getattr(seen, status)))


class _Bar:
    """A rich progress bar."""

    def __init__(self) -> None:
        from rich import progress

        self._progress = progress.Progress(
            progress.TextColumn("batch {task.fields[batch_id]}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.description}"),
            console=output.console(stderr=True),
        )
        self._task = self._progress.add_task("", total=None, batch_id="")

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def update(self, seen: BatchProgress) -> None:
        self._progress.update(
            self._task,
            description=_counts(seen),
            completed=_finished(seen),
            total=seen.tasks,
            batch_id=seen.batch_id,
        )


class _Lines:
    """A line at each change, for logs and pipes."""

    def __init__(self) -> None:
        self._last = ""

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None: ...

    def update(self, seen: BatchProgress) -> None:
        line = f"{_finished(seen)} of {seen.tasks} done: {_counts(seen) or 'nothing in it'}"
        if line != self._last:
            output.note(line)
            self._last = line
