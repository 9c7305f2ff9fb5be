"""The acts on tasks: their words, and what each of them asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from forebay.rows import TaskStatus

ENDED: tuple[TaskStatus, ...] = ("completed", "failed", "cancelled")

ActName = Literal["cancel", "retry", "reprocess", "reprioritize", "annotate"]


@dataclass(frozen=True, slots=True)
class Act:
    """An act as people read it: what the button says, what it does, and what it did.

    statuses are those of tasks for which a button is offered; the database decides what it does.
    """

    name: ActName
    word: str
    on: str
    done: str
    effect: str
    says: str
    statuses: tuple[TaskStatus, ...]
    has_priority: bool = False
    has_note: bool = False
    is_grave: bool = False


ACTS: dict[str, Act] = {
    act.name: act
    for act in (
        Act(
            "cancel",
            "Cancel",
            "Cancel {}",
            "cancelled",
            "cancelled",
            "Tasks that have not finished end at once, and what runs of them is stopped."
            " Finished tasks stay as they are.",
            ("enqueued", "processing"),
            is_grave=True,
        ),
        Act(
            "retry",
            "Retry",
            "Retry {}",
            "put back in line",
            "retried",
            "Failed and cancelled tasks go back in line with all their attempts."
            " Others stay as they are.",
            ("failed", "cancelled"),
        ),
        Act(
            "reprocess",
            "Reprocess",
            "Reprocess {}",
            "done again as new tasks",
            "reprocessed",
            "Finished tasks are done again as new tasks; the old ones and their results stay.",
            ENDED,
            has_priority=True,
        ),
        Act(
            "reprioritize",
            "Change priority",
            "Change priority of {}",
            "moved in line",
            "reprioritized",
            "Waiting tasks change their place in line; higher goes first."
            " Tasks that do not wait stay as they are.",
            ("enqueued",),
            has_priority=True,
        ),
        Act(
            "annotate",
            "Add note",
            "Add note to {}",
            "annotated",
            "annotated",
            "The note shows on each task's page with your name and the time.",
            get_args(TaskStatus),
            has_note=True,
        ),
    )
}


def outcome(act: Act, effects: Iterable[tuple[str, int]]) -> str:
    """Return in one sentence how many tasks changed and how many did not."""
    counts: Counter[str] = Counter()
    for effect, tasks in effects:
        counts[effect] += tasks
    changed, same, unknown = counts[act.effect], counts["none"], counts["unknown"]
    said = [f"{tasks_words(changed)} {act.done}"]
    if same:
        said.append(f"{same:,} left as {'it was' if same == 1 else 'they were'}")
    if unknown:
        said.append(f"{unknown:,} unknown")
    return f"{', '.join(said)}."


def tasks_words(count: int) -> str:
    return f"{count:,} {'task' if count == 1 else 'tasks'}"
