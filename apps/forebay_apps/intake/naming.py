"""What people call the things they sent and get back."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from forebay.rows import TaskStatus
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


def left(value: timedelta) -> str:
    """Return how long it will take, no finer than an estimate is."""
    minutes = max(1, round(value.total_seconds() / 60))
    if minutes < 60:
        return f"{minutes} minute{'s' if minutes != 1 else ''}"
    return duration(timedelta(minutes=minutes))
