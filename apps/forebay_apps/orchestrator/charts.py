"""The charts of the overview."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from forebay.rows import MetricPoint, MetricsReport, TaskSummary
from forebay_apps.orchestrator.chart import Chart, Kind, Unit, Value, series_of
from forebay_apps.web import formats

STATUSES = ("completed", "processing", "enqueued", "failed", "cancelled")
"""The states in the order in which a bar shows them."""


def over_time(points: Sequence[MetricPoint]) -> list[Chart]:
    """Return the charts of tasks, tokens, cost and response time."""
    return [
        _timed(points, "tasks", "Tasks created, by their state now", "bars", "tasks", STATUSES),
        _timed(
            points,
            "tokens",
            "Tokens",
            "bars",
            "tokens",
            ("input_tokens", "output_tokens", "cached_tokens"),
        ),
        _timed(points, "cost", "Cost", "bars", "usd", ("llm_usd", "compute_usd")),
        _timed(
            points,
            "response",
            "Response time of completed tasks",
            "lines",
            "seconds",
            ("response_median", "response_p95"),
        ),
    ]


NAMES = {
    "input_tokens": ("input, not cached", "--series-1"),
    "output_tokens": ("output", "--series-2"),
    "cached_tokens": ("input, cached", "--series-3"),
    "llm_usd": ("LLM", "--series-1"),
    "compute_usd": ("compute", "--series-4"),
    "response_median": ("median", "--series-1"),
    "response_p95": ("p95", "--series-4"),
}


def _timed(
    points: Sequence[MetricPoint],
    key: str,
    title: str,
    kind: Kind,
    unit: Unit,
    fields: Iterable[str],
) -> Chart:
    steps = [point.ends_at - point.starts_at for point in points]
    is_daily = bool(steps) and max(steps) >= timedelta(days=1)
    series = []
    for field in fields:
        name, colour = NAMES.get(field, (field, f"--status-{field}"))
        series.append(series_of(name, colour, unit, [_read(point, field) for point in points]))
    return Chart(
        key=key,
        title=title,
        kind=kind,
        unit=unit,
        x=[point.starts_at.isoformat() for point in points],
        labels=[_moment(point.starts_at, is_daily=is_daily) for point in points],
        series=[replace(each, is_dashed=each.name == "p95") for each in series],
        widths=[step.total_seconds() * 1000 for step in steps],
    )


def _read(point: MetricPoint, field: str) -> Value:
    """Return a field of a point; cached tokens are a part of the input, so they are not twice."""
    value: Value = getattr(point, field)
    if field == "input_tokens":
        return point.input_tokens - point.cached_tokens
    return value


def _moment(moment: datetime, *, is_daily: bool) -> str:
    return f"{moment:%Y-%m-%d}" if is_daily else f"{moment:%Y-%m-%d %H:%M}"


def confidence_counts(report: MetricsReport) -> Chart:
    """Return how many completed tasks are how sure: twenty bars of 0.05."""
    counts = list(report.confidence_counts or [0] * 20)
    return Chart(
        key="confidence",
        title="Confidence",
        kind="histogram",
        unit="tasks",
        x=[round(0.05 * number + 0.025, 3) for number in range(len(counts))],
        labels=[f"{0.05 * n:.2f} to {0.05 * (n + 1):.2f}" for n in range(len(counts))],
        series=[series_of("completed tasks", "--series-1", "tasks", counts)],
        first="from, to",
    )


def confidence_of_each(tasks: Sequence[TaskSummary], most: int) -> Chart:
    """Return a dot a document, at the time when it was done; a click leads to its task.

    Of tasks, the latest first, so many are looked at, and it is said when there are more.
    """
    known = [
        task
        for task in tasks[:most]
        if task.confidence is not None and task.finished_at is not None
    ]
    known.sort(key=lambda task: (task.finished_at, task.task_id))
    sureness = [task.confidence for task in known]
    return Chart(
        key="documents",
        title="Confidence of each document",
        kind="dots",
        unit="share",
        x=[task.finished_at.isoformat() for task in known if task.finished_at],
        labels=[f"task {task.task_id}" for task in known],
        series=[
            replace(
                series_of("confidence", "--series-1", "share", sureness),
                texts=[f"task {t.task_id}: {formats.confidence(t.confidence)}" for t in known],
            )
        ],
        first="task",
        note=f"of the latest {most:,} completed tasks" if len(tasks) > most else "",
        links=[f"/tasks/{task.task_id}" for task in known],
    )
