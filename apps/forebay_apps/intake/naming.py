"""What people call the things they sent and get back."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from forebay.rows import BatchResult, BatchTask, TaskExplanation, TaskStatus
from forebay.visible import visible
from forebay_apps.web.formats import duration

STATES: dict[str, TaskStatus] = {
    "done": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "working": "processing",
    "waiting": "enqueued",
}
"""The states of a document, in the order in which they are told."""

URGENCIES = {"urgent": 10, "normal": 0, "bulk": -10}


def name_of(payload: Mapping[str, Any]) -> str:
    """Return what the person calls a document; tasks from elsewhere may have its path only."""
    return str(payload.get("name") or payload.get("document") or "document")


def shown_name(task: BatchTask | BatchResult) -> str:
    """Return a document's name as a page shows it; one of which nothing is seen has its number."""
    return visible(name_of(task.payload), f"document {task.task_id}")


PLAIN = {
    "ready": "Next in line",
    "behind_others": "In line",
    "full": "Waits for a free place",
    "held_up": "What runs its agent takes nothing at this moment",
    "unreachable": "What runs its agent does not answer",
}
"""Reasons to wait, of which whoever sent a document need not hear more."""

WORDS_OF_ALL = {
    "not_open": "Nothing starts in this database for now.",
    "closed": "Its agent starts nothing for now.",
    "paused": "Its agent is paused.",
}
"""Reasons that hold for every document of an agent that waits, in words for all of them."""

UNSAID = ("In line.", "Waits to be tried again.")
"""What is true of every document that waits: of one that was not tried yet, and of one that was."""


def why_words(why: TaskExplanation) -> str:
    """Return why a document waits, as whoever sent it cares; else as the database says it."""
    return f"{PLAIN[why.reason]}{_ahead(why)}." if why.reason in PLAIN else why.explanation


def waiting_words(
    tasks: Iterable[BatchTask], whys: Mapping[int, TaskExplanation]
) -> dict[int, str]:
    """Return why each document waits that does, by its id, where `whys` explains some of them.

    Of the others it says what holds for all of an agent's, and of none what may be true of its
    neighbours alone.
    """
    waiting = [task for task in tasks if task.status == "enqueued"]
    common = {
        task.agent: WORDS_OF_ALL[whys[task.task_id].reason]
        for task in waiting
        if task.task_id in whys and whys[task.task_id].reason in WORDS_OF_ALL
    }
    return {
        task.task_id: why_words(whys[task.task_id])
        if task.task_id in whys
        else common.get(task.agent, UNSAID[bool(task.attempt_count)])
        for task in waiting
    }


def _ahead(why: TaskExplanation) -> str:
    return f", {why.ahead:,} before it" if why.ahead else ""


def reading_words(task: BatchTask) -> str:
    """Return what is being done with a document that is worked on."""
    done, total = task.progress_done or 0, task.progress_total or 0
    if not total:
        return "Starting"
    pages = "1 page" if total == 1 else f"{total:,} pages"
    if done >= total:
        return f"{'The page is' if total == 1 else f'All {pages} are'} read, finding its fields"
    return f"{done:,} of {pages} read"


def left(value: timedelta) -> str:
    """Return how long it will take, no finer than an estimate is."""
    minutes = max(1, round(value.total_seconds() / 60))
    if minutes < 60:
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return duration(timedelta(minutes=minutes))
