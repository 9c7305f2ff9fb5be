"""Look at tasks: a page of them, one of them, and why one waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import output, words
from forebay.cli.database import connect
from forebay.cli.options import MAX_ID, Dsn, Json, parse_status, parse_time

if TYPE_CHECKING:
    from forebay.rows import TaskExplanation, TaskSummary

TaskId = Annotated[int, typer.Argument(metavar="ID", max=MAX_ID, help="The task.")]


def error_text(error: dict[str, Any] | None) -> str | None:
    """Return an error document as people read it, or None without one."""
    return f"{error.get('kind')}: {error.get('message')}" if error else None


def _note(row: TaskSummary) -> str | None:
    if row.progress_done is not None and row.progress_total is not None:
        return f"{row.progress_done} of {row.progress_total}"
    return row.error_kind


def _moment(name: str) -> Callable[[dict[str, str | None]], datetime | None]:
    """Return a column of a JSON object that holds a time."""
    return lambda row: datetime.fromisoformat(text) if (text := row[name]) else None


def _cost(usd: str, source: str) -> Callable[[dict[str, Any]], str | None]:
    """Return a column of what an attempt cost, and who says so; unknown is not zero."""

    def told(row: dict[str, Any]) -> str | None:
        if row[usd] is not None:
            return f"{words.usd(Decimal(str(row[usd])))} {row[source] or ''}".rstrip()
        return "unknown" if row["finished_at"] and row["status"] != "released" else None

    return told


SUMMARY: output.Columns = {
    "task": "task_id",
    "agent": "agent",
    "status": "status",
    "priority": "priority",
    "batch": "batch_id",
    "customer": "customer",
    "attempts": "attempt_count",
    "created": "created_at",
    "note": _note,
}
DETAIL: output.Columns = {
    "task": "task_id",
    "agent": "agent",
    "status": "status",
    "priority": "priority",
    "batch": "batch_id",
    "customer": "customer",
    "owner": "owner",
    "key": "idempotency_key",
    "estimated tokens": "estimated_tokens",
    "available": "available_at",
    "locked by": "locked_by",
    "attempts": "attempt_count",
    "releases": "release_count",
    "deferrals": lambda row: row.deferral_count or None,
    "deferred since": "deferred_since",
    "confidence": "confidence",
    "error": lambda row: error_text(row.error),
    "reprocess of": "reprocess_of",
    "reprocessed by": lambda row: ", ".join(map(str, row.reprocessed_by or [])),
    "created": "created_at",
    "finished": "finished_at",
}
ATTEMPT: output.Columns = {
    "attempt": itemgetter("attempt_no"),
    "id": itemgetter("attempt_id"),
    "status": itemgetter("status"),
    "worker": itemgetter("worker"),
    "started": _moment("started_at"),
    "finished": _moment("finished_at"),
    "run": itemgetter("run_id"),
    "LLM usd": _cost("cost_usd", "usage_source"),
    "compute usd": _cost("compute_usd", "compute_source"),
    "error": lambda row: error_text(row["error"]),
}
ACT: output.Columns = {
    "acted": _moment("acted_at"),
    "action": itemgetter("action"),
    "actor": itemgetter("actor"),
    "reason": itemgetter("reason"),
    "note": lambda row: (row["details"] or {}).get("note"),
}


def tasks(
    status: Annotated[
        list[str] | None,
        typer.Option(parser=parse_status, metavar="STATUS", help="Only these; repeatable."),
    ] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Only these; repeatable.")] = None,
    customer: Annotated[list[str] | None, typer.Option(help="Only these; repeatable.")] = None,
    batch: Annotated[int | None, typer.Option(metavar="ID", help="Only this batch's.")] = None,
    since: Annotated[
        datetime | None,
        typer.Option(parser=parse_time, metavar="TIME", help="Created then or later."),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(parser=parse_time, metavar="TIME", help="Created before that."),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="A number of a task, batch or attempt, a run, a key, or part of a batch's name.",
        ),
    ] = None,
    max_confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Completed ones that are no surer than that."),
    ] = None,
    before: Annotated[
        int | None, typer.Option(metavar="ID", help="The page after this task.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Tasks on a page.")] = 50,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List tasks, newest first."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        page = viewer.list_tasks(
            conn,
            from_=since,
            to=until,
            statuses=status or None,
            agents=agent or None,
            customers=customer or None,
            batch_id=batch,
            before_task_id=before,
            limit=limit,
            search=search,
            max_confidence=None if max_confidence is None else Decimal(str(max_confidence)),
        )
    output.print_rows(page, SUMMARY, as_json)
    if len(page) == limit:
        output.note(f"The next page: --before {page[-1].task_id}")


def task(
    task_id: TaskId,
    result: Annotated[bool, typer.Option("--result", help="Also what it returned.")] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show one task and the timeline of its attempts."""
    from forebay.calls import reader, viewer

    with connect(dsn) as conn:
        detail = viewer.task_detail(conn, task_id=task_id)
        returned = reader.task_result(conn, task_id=task_id).result if result else None
    if as_json:
        output.print_json(asdict(detail) | ({"result": returned} if result else {}))
        return
    output.print_row(detail, DETAIL, as_json)
    output.print_rows(detail.attempts or [], ATTEMPT, as_json)
    if detail.audit:
        output.print_rows(detail.audit, ACT, as_json)
    if result:
        output.print_json(returned)


def explain(task_id: TaskId, dsn: Dsn = None, as_json: Json = False) -> None:
    """Say why a task is where it is: what it waits for, and until when."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        found = viewer.explain_task(conn, task_id=task_id)
        now = viewer.server_time(conn)
    output.print_row(found, _explanation(now), as_json)


def _explanation(now: datetime) -> output.Columns:
    def is_running(row: TaskExplanation) -> bool:
        return row.status == "processing"

    def until(row: TaskExplanation) -> str | None:
        if row.waiting_until is None:
            return None
        moment = row.waiting_until.astimezone()
        wait = words.duration(row.waiting_until - now)
        return f"{output.show(moment)} {moment.tzname()} (in {wait})"

    return {
        "task": "task_id",
        "status": "status",
        "why": "explanation",
        "until": lambda row: None if is_running(row) else until(row),
        "call waits until": lambda row: until(row) if is_running(row) and row.subject else None,
        "lease until": lambda row: until(row) if is_running(row) and not row.subject else None,
        "ahead": "ahead",
    }
