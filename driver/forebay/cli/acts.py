"""Act on tasks by id. A task that cannot change is named, and makes the exit code 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import output
from forebay.cli.database import connect, person
from forebay.cli.errors import Refused
from forebay.cli.options import (
    HIGHER_FIRST,
    PRIORITIES,
    PRIORITY,
    Dsn,
    Json,
    Reason,
    TaskIds,
    parse_priority,
)

if TYPE_CHECKING:
    from forebay.rows import ReprocessedTask, TaskEffect

EFFECT: output.Columns = {
    "task": "task_id",
    "status": "status",
    "effect": "effect",
    "new task": lambda row: getattr(row, "new_task_id", None),
}


def cancel(
    task_ids: TaskIds, reason: Reason = None, dsn: Dsn = None, as_json: Json = False
) -> None:
    """Cancel tasks that have not finished; what runs of them is stopped."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        effects = operator.cancel(conn, task_ids=task_ids, reason=reason, actor=person())
    _report(effects, as_json)


def retry(
    task_ids: TaskIds,
    priority: Annotated[
        int | None,
        typer.Option(parser=parse_priority, metavar=PRIORITY, show_default="unchanged"),
    ] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Put failed or cancelled tasks back in line, with all their attempts."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        effects = operator.retry(
            conn, task_ids=task_ids, priority=priority, reason=reason, actor=person()
        )
    _report(effects, as_json)


def reprocess(
    task_ids: TaskIds,
    agent: Annotated[str | None, typer.Option(help="Another agent than before.")] = None,
    priority: Annotated[
        int,
        typer.Option(parser=parse_priority, metavar=PRIORITY, show_default="urgent"),
    ] = PRIORITIES["urgent"],
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Do finished tasks again as new tasks; the old ones and their results stay."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        effects = operator.reprocess(
            conn,
            task_ids=task_ids,
            agent=agent,
            priority=priority,
            reason=reason,
            actor=person(),
        )
    _report(effects, as_json)


def reprioritize(
    task_ids: TaskIds,
    priority: Annotated[
        int,
        typer.Option(parser=parse_priority, metavar=PRIORITY, help=HIGHER_FIRST),
    ],
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Move waiting tasks up or down the line."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        effects = operator.reprioritize(
            conn, task_ids=task_ids, priority=priority, reason=reason, actor=person()
        )
    _report(effects, as_json)


def annotate(
    task_ids: TaskIds,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What to write on them.")],
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Write a note on tasks; `forebay task` shows it among what people did."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        effects = operator.annotate(
            conn, task_ids=task_ids, note=note, reason=reason, actor=person()
        )
    _report(effects, as_json)


def _report(effects: Sequence[TaskEffect | ReprocessedTask], as_json: bool) -> None:
    """Print what became of each task; raise Refused when one of them did not change."""
    output.print_rows(effects, EFFECT, as_json)
    unknown = [str(row.task_id) for row in effects if row.effect == "unknown"]
    unchanged = [f"{row.task_id} is {row.status}" for row in effects if row.effect == "none"]
    if unknown or unchanged:
        reasons = [*unchanged, *([f"no task {', '.join(unknown)}"] if unknown else [])]
        count = len(unknown) + len(unchanged)
        raise Refused(f"{count} of {len(effects)} tasks did not change: {'; '.join(reasons)}.")
