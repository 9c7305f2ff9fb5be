"""Submit PDF files: copy them to where agents read them, and enqueue one batch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import output
from forebay.cli.database import connect, find_dsn, person
from forebay.cli.errors import Refused
from forebay.cli.options import HIGHER_FIRST, PRIORITIES, PRIORITY, Dsn, Json, parse_priority

if TYPE_CHECKING:
    import psycopg

    from forebay.cli.documents import Stored

SUBMITTED: output.Columns = {"task": itemgetter("task_id"), "document": itemgetter("name")}


def submit(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES...", readable=False, help="PDF files.")
    ],
    agent: Annotated[str, typer.Option(help="Who does the work.")] = "parse_document",
    priority: Annotated[
        int,
        typer.Option(
            parser=parse_priority, metavar=PRIORITY, show_default="normal", help=HIGHER_FIRST
        ),
    ] = PRIORITIES["normal"],
    customer: Annotated[str | None, typer.Option(help="For whom.")] = None,
    batch: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default="the first file", help="The batch's name."),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(
            help="Whose batch it is in intake, by the name of its login there.",
            show_default="the login name here",
        ),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Submit PDF files as one batch.

    A file that is no PDF, or cannot be read, is refused with a reason and the others go on; the
    exit code is then 1.
    """
    from forebay.cli import documents
    from forebay.looking import look

    where = find_dsn(dsn)
    is_on_databricks = where.startswith("lakebase:")
    if is_on_databricks:
        _check_roots()

    refused = {path: why for path in files if (why := documents.problem(path))}
    taken = [path for path in files if path not in refused]
    for path, why in refused.items():
        output.note(f"forebay: {path} {why}")
    if not taken:
        raise Refused("No file is left to submit: nothing is in line.")
    looks = list(look(taken))
    with connect(where) as conn, documents.stored(conn, looks) as copies:
        batch_id, task_ids = enqueue(
            conn,
            copies,
            agent,
            [priority] * len(copies),
            name=batch or _name_of(copies),
            customer=customer,
            owner=owner,
        )
    for each in looks:
        if each.problem:
            output.note(f"{each.path} is in line, but its task will fail: {each.problem}")
    tasks = [
        {"task_id": task_id, "name": copy.name}
        for task_id, copy in zip(task_ids, copies, strict=True)
    ]
    if as_json:
        left = [{"file": documents.display_name(path), "reason": refused[path]} for path in refused]
        output.print_json({"batch_id": batch_id, "tasks": tasks, "refused": left})
    else:
        output.print_rows(tasks, SUBMITTED, as_json)
        does = "the orchestrator starts" if is_on_databricks else "'forebay run' does"
        print(
            f"Batch {batch_id} is in line: {does} the work,"
            f" 'forebay batch {batch_id} --watch' follows it."
        )
    if refused:
        count = len(files) - len(taken)
        output.note(f"forebay: {count} of {len(files)} files were refused, and not submitted.")
        raise typer.Exit(1)


def enqueue(
    conn: psycopg.Connection[Any],
    copies: Sequence[Stored],
    agent: str,
    priorities: Sequence[int],
    *,
    name: str,
    customer: str | None = None,
    owner: str | None = None,
) -> tuple[int, list[int]]:
    """Open a batch and enqueue one task a copy, in one transaction.

    Returns the batch, and the tasks in the order of copies.
    """
    from forebay.calls import submitter

    tasks = [
        {
            "payload": copy.payload,
            "priority": priority,
            "estimated_tokens": copy.estimated_tokens,
        }
        for copy, priority in zip(copies, priorities, strict=True)
    ]
    with conn.transaction():
        batch_id = submitter.open_batch(conn, name=name, customer=customer, owner=owner or person())
        rows = submitter.enqueue_many(conn, agent=agent, tasks=tasks, batch_id=batch_id)
    return batch_id, [row.task_id for row in sorted(rows, key=lambda row: row.ordinal)]


def _check_roots() -> None:
    """Raise Refused where the copies would stay on this computer, and nothing runs here."""
    from forebay.storage import ROOTS

    if not os.environ.get(ROOTS, "").strip():
        raise Refused(
            f"{ROOTS} is not set, and runs in the workspace cannot read this computer's files: set"
            " it to the Volume, such as /Volumes/main/forebay_dev/documents."
        )


def _name_of(copies: Sequence[Stored]) -> str:
    more = f" and {len(copies) - 1} more" if len(copies) > 1 else ""
    return f"{copies[0].name}{more}"
