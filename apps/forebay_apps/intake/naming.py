"""What people call the things they sent and get back."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from forebay.rows import TaskExplanation, TaskStatus
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


def why_words(why: TaskExplanation) -> str:
    """Return why a document waits, as whoever sent it cares; else as the database says it."""
    if why.reason == "ready":
        return "Next in line."
    if why.reason == "behind_others" and why.ahead:
        return f"{why.ahead:,} in line before it." if why.ahead > 1 else "1 in line before it."
    if why.reason == "paused":
        return "Its agent is paused for now."
    return why.explanation


def limit_words(limited_by: str | None, whys: Iterable[TaskExplanation]) -> str | None:
    """Return what holds a batch up; why an agent is paused is for operators."""
    paused = (why_words(why) for why in whys if why.reason == "paused")
    return next(paused, limited_by)


def left(value: timedelta) -> str:
    """Return how long it will take, no finer than an estimate is."""
    minutes = max(1, round(value.total_seconds() / 60))
    if minutes < 60:
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return duration(timedelta(minutes=minutes))
