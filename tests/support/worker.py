"""The agent `parse` of the pull worker's tests: defined, given work, looked at."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from forebay.calls import operator, submitter, viewer
from forebay.rows import TaskDetail

SECOND = timedelta(seconds=1)


def register(conn: psycopg.Connection, **options: Any) -> None:
    """Define `parse` with a short lease and no waiting between attempts."""
    defaults = {"lease": SECOND, "backoff_base": SECOND / 100, "backoff_max": SECOND / 10}
    operator.register_agent(conn, agent="parse", **defaults | options)


def enqueue(conn: psycopg.Connection, count: int = 1, **payload: Any) -> list[int]:
    """Enqueue tasks of `parse` and return their ids."""
    tasks = [{"payload": payload | {"n": n}} for n in range(count)]
    return [row.task_id for row in submitter.enqueue_many(conn, agent="parse", tasks=tasks)]


def detail(conn: psycopg.Connection, task_id: int) -> TaskDetail:
    """Return what is known of a task."""
    return viewer.task_detail(conn, task_id=task_id)
