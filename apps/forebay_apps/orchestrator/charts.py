"""What the overview's charts show, as data: a template writes it out, charts.js draws it.

A number that is not known is None: a gap in the line, never a zero.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from forebay.rows import MetricPoint, MetricsReport, TaskSummary
from forebay_apps.web import formats

Kind = Literal["bars", "lines", "histogram", "dots"]
Unit = Literal["tasks", "tokens", "usd", "seconds", "share"]
Value = int | Decimal | timedelta | None

STATUSES = ("completed", "processing", "enqueued", "failed", "cancelled")
WORDS: dict[Unit, Callable[[Any], str]] = {
    "tasks": formats.number,
    "tokens": formats.number,
    "usd": formats.usd,
    "seconds": formats.duration,
    "share": formats.confidence,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a chart; texts are the values as a person reads them."""

    name: str
    colour: str
    values: list[float | None]
    texts: list[str]
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; labels are its x as a person reads them, links where a click on a point leads.

    widths are those of bars that begin at x, in milliseconds: the first step may be a part of one.
    """

    key: str
    title: str
    kind: Kind
    unit: Unit
    x: list[str | float]
    labels: list[str]
    series: list[Series]
    first: str = "from (UTC)"
    links: list[str] | None = None
    widths: list[float] | None = None

    @property
    def figure(self) -> str:
        """Return what charts.js draws, as JSON."""
        shown = ("kind", "unit", "x", "series", "links", "widths")
        return json.dumps({name: value for name, value in asdict(self).items() if name in shown})

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to draw."""
        return not any(value for series in self.series for value in series.values)

    @property
    def table(self) -> list[tuple[str, str | None, list[str]]]:
        """Return label, link and texts of each point; those with nothing but zeros are left out."""
        return [
            (
                label,
                self.links[place] if self.links else None,
                [series.texts[place] for series in self.series],
            )
            for place, label in enumerate(self.labels)
            if self.links or any(series.values[place] for series in self.series)
        ]


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
        series.append(_series(name, colour, unit, [_read(point, field) for point in points]))
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


def _series(name: str, colour: str, unit: Unit, values: Sequence[Value]) -> Series:
    return Series(
        name, colour, [_plain(value) for value in values], [WORDS[unit](v) for v in values]
    )


def _plain(value: Value) -> float | None:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return None if value is None else float(value)


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
        series=[_series("completed tasks", "--series-1", "tasks", counts)],
        first="from, to",
    )


def confidence_of_each(tasks: Sequence[TaskSummary]) -> Chart:
    """Return a dot a document, at the time when it was done; a click leads to its task."""
    known = [task for task in tasks if task.confidence is not None and task.finished_at is not None]
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
                _series("confidence", "--series-1", "share", sureness),
                texts=[f"task {t.task_id}: {formats.confidence(t.confidence)}" for t in known],
            )
        ],
        first="task",
        links=[f"/tasks/{task.task_id}" for task in known],
    )
