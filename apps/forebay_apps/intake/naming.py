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


PLAIN = {
    "ready": "Next in line",
    "behind_others": "In line",
    "full": "Waits for a free place",
    "paused": "Its agent is paused for now",
    "unreachable": "What runs its agent does not answer",
}
"""Reasons to wait, of which whoever sent a document need not hear more."""


def why_words(why: TaskExplanation) -> str:
    """Return why a document waits, as whoever sent it cares; else as the database says it."""
    return f"{PLAIN[why.reason]}{_ahead(why)}." if why.reason in PLAIN else why.explanation


def _ahead(why: TaskExplanation) -> str:
    return f", {why.ahead:,} before it" if why.ahead else ""


def limit_words(limited_by: str | None, whys: Iterable[TaskExplanation]) -> str | None:
    """Return what holds a batch up; why an agent is paused is for operators."""
    is_paused = any(why.reason == "paused" for why in whys)
    return f"{PLAIN['paused']}." if is_paused else limited_by


def left(value: timedelta) -> str:
    """Return how long it will take, no finer than an estimate is."""
    minutes = max(1, round(value.total_seconds() / 60))
    if minutes < 60:
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return duration(timedelta(minutes=minutes))
