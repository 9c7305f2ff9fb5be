"""The demo: PDF files go through the queue and come out as results, in one command."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import background, output
from forebay.cli.database import connect
from forebay.cli.errors import Refused
from forebay.cli.options import PRIORITIES, Dsn, Json

if TYPE_CHECKING:
    import psycopg

AGENT = "parse_document"
TIMEOUT = timedelta(minutes=10)
DAEMON_OPTIONS = ("--agents", AGENT, "--concurrency", "2")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the final table; seconds are those of the last attempt."""

    document: str
    task_id: int | None
    state: str
    pages: int | None = None
    fields: int | None = None
    confidence: Decimal | None = None
    attempts: int | None = None
    seconds: float | None = None
    reason: str | None = None


TABLE: output.Columns = {
    "document": "document",
    "state": "state",
    "pages": "pages",
    "fields found": "fields",
    "confidence": "confidence",
    "attempts": "attempts",
    "seconds": "seconds",
}


def demo(
    pdfs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", show_default="made-up samples", help="Your own PDF files."),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Send documents through the queue, from an empty database to a table of results.

    Starts the embedded Postgres unless a database is given, and stops what it started.
    """
    from forebay import schema

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    files = _own_files(pdfs) if pdfs else _samples()
    with background.database(dsn) as where:
        schema.upgrade(where)
        with connect(where) as conn:
            _register(conn)
            outcomes = _process(conn, where, files)
    output.print_rows(outcomes, TABLE, as_json)
    for outcome in outcomes:
        if outcome.reason:
            output.note(f"{outcome.document}: {outcome.reason}")
    if done := [outcome.task_id for outcome in outcomes if outcome.state == "completed"]:
        output.note(
            f"See what was found: 'forebay task {done[0]} --result'"
            + ("." if dsn else ", after 'forebay pg start'.")
        )
    if not pdfs:
        output.note("These documents are made up, with every name and amount in them.")


def _own_files(folder: Path) -> dict[Path, int]:
    """Return the PDF files below folder, with priorities of every kind."""
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder: pass one that holds PDF files.")
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".pdf")
    if not found:
        raise Refused(f"{folder} holds no .pdf file: pass a folder that does.")
    return dict(zip(found, cycle(PRIORITIES.values()), strict=False))


def _samples() -> dict[Path, int]:
    """Write the sample documents, and return them with their priorities."""
    from forebay.cli.documents import home
    from forebay_lab.samples import write_samples

    folder = home() / "samples"
    output.note(f"Writing sample documents, all made up, to {folder}")
    return {folder / each.name: PRIORITIES[each.priority] for each in write_samples(folder)}


def _register(conn: psycopg.Connection[Any]) -> None:
    """Register the agent, unless the database knows it."""
    from forebay.calls import operator, viewer

    known = {state.agent: state for state in viewer.agent_status(conn)}.get(AGENT)
    if known is None:
        operator.register_agent(
            conn,
            agent=AGENT,
            launcher="local",
            entry_point=AGENT,
            timeout=TIMEOUT,
            reason="forebay demo",
        )
    elif known.launcher != "local":
        raise Refused(
            f"Agent {AGENT} of this database has launcher {known.launcher}, not local:"
            " run the demo on another database."
        )
    elif known.state == "paused":
        raise Refused(f"Agent {AGENT} is paused: run 'forebay agent resume {AGENT}' first.")


def _process(conn: psycopg.Connection[Any], dsn: str, files: dict[Path, int]) -> list[Outcome]:
    """Submit the files as one batch, run a daemon until it is done, and tell what came of each."""
    from forebay.cli import documents
    from forebay.cli.batch import follow
    from forebay.cli.submit import enqueue

    problems = {path: documents.problem(path) for path in files}
    accepted = [path for path, problem in problems.items() if problem is None]
    outcomes = [
        Outcome(path.name, None, "refused", reason=f"It {problem}")
        for path, problem in problems.items()
        if problem
    ]
    if not accepted:
        return outcomes
    with documents.stored(accepted) as copies:
        priorities = [files[path] for path in accepted]
        batch_id, task_ids = enqueue(conn, copies, AGENT, priorities, name="demo")
    output.note(f"Submitted {len(copies)} documents as batch {batch_id}")
    with background.daemon(dsn, DAEMON_OPTIONS, documents.home() / "demo.log") as check:
        follow(conn, batch_id, check)
    named = zip(task_ids, copies, strict=True)
    return [_outcome(conn, task_id, copy.name) for task_id, copy in named] + outcomes


def _outcome(conn: psycopg.Connection[Any], task_id: int, name: str) -> Outcome:
    """Return what became of a task."""
    from forebay.calls import reader, viewer

    detail = viewer.task_detail(conn, task_id=task_id)
    result = reader.task_result(conn, task_id=task_id).result or {}
    return Outcome(
        document=name,
        task_id=task_id,
        state=detail.status,
        pages=result.get("pages"),
        fields=len(result["fields"]) if "fields" in result else None,
        confidence=detail.confidence,
        attempts=detail.attempt_count,
        seconds=_seconds(detail.attempts),
        reason=detail.error["message"] if detail.error else None,
    )


def _seconds(attempts: Sequence[dict[str, Any]]) -> float | None:
    """Return how long the last attempt took."""
    if not attempts or not attempts[-1]["finished_at"]:
        return None
    began, ended = (
        datetime.fromisoformat(attempts[-1][at]) for at in ("started_at", "finished_at")
    )
    return round((ended - began).total_seconds(), 1)
