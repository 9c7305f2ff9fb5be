"""The drill of quotas: its workload, how it reads a log, and a short run of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from forebay_lab.drills.quota import cells, report, workload
from forebay_lab.drills.quota.cells import Cell, Plan
from forebay_lab.drills.quota.measure import Limits, Measures, label, measure, read
from forebay_lab.drills.quota.report import Outcome
from forebay_lab.drills.quota.scale import Scale

DRILL = (sys.executable, "-m", "forebay.cli", "drill", "quota", "--short")
LIMITS = Limits(tokens=1000, period=10.0, concurrent_calls=2, max_tasks=2)


class FakeLog:
    """A log as the model server writes it, one call a line of the test."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._numbers: Iterator[int] = count(1)

    def call(self, task: int, begin: float, end: float, tokens: int = 100, out: int = 0) -> None:
        number = next(self._numbers)
        common = {"call": number, "label": f"{task}/1/{begin - 0.25}", "input": tokens}
        self.records.append(common | {"event": "admitted", "at": begin, "output": 50})
        self.records.append(common | {"event": "ended", "at": end, "output": out})

    def refused(self, task: int, at: float, why: str) -> None:
        record = {"call": next(self._numbers), "label": f"{task}/1/{at - 0.5}"}
        self.records.append(record | {"event": "refused", "at": at, "why": why})

    def judged(self, arrivals: dict[int, float], until: float = 30.0) -> Measures:
        records = sorted(self.records, key=lambda record: record["at"])
        return measure(records, LIMITS, arrivals, until)


@pytest.fixture
def log() -> FakeLog:
    """Return a log without calls."""
    return FakeLog()


def test_the_budget_is_measured_once_warm(log: FakeLog) -> None:
    """From one period after the first call to the end, by what the calls used in the end."""
    log.call(1, 0.0, 1.0, tokens=900)
    log.call(2, 10.0, 11.0, tokens=900)  # the border is out
    log.call(3, 15.0, 16.0, tokens=800, out=20)
    log.call(4, 29.0, 31.0, tokens=700, out=80)  # ends after the end
    measures = log.judged(dict.fromkeys(range(1, 6), 0.0))
    assert measures.warm_seconds == 20.0
    assert measures.used_share == pytest.approx(1600 / 2000)


def test_the_budget_is_measured_while_work_waits(log: FakeLog) -> None:
    """When the last task has begun there may be nothing to use the budget for."""
    log.call(1, 0.0, 1.0)
    log.call(2, 20.0, 21.0, tokens=500)
    measures = log.judged({1: 0.0, 2: 0.0})
    assert measures.warm_seconds == 10.0
    assert measures.used_share == 0.5


def test_refusals_count_from_the_first_call_on(log: FakeLog) -> None:
    """Each is a call; the reason tells tokens from crowds."""
    log.refused(1, 0.0, "tokens/10s")
    log.call(1, 1.0, 2.0)
    log.refused(2, 1.5, "concurrent_calls")
    log.call(2, 3.0, 4.0)
    measures = log.judged({1: 0.0, 2: 0.0})
    assert (measures.calls, measures.refused, measures.refused_for_tokens) == (4, 2, 1)
    assert measures.refused_share == 0.5
    assert measures.over_admissions == 1
    assert (measures.way_p50, measures.way_p99) == (0.25, 0.5)


def test_a_call_says_when_it_was_let_go() -> None:
    """The clock is the server's: one machine has one."""
    task, attempt, sent_at = label(7, 2).split("/")
    assert (task, attempt) == ("7", "2")
    assert 0 <= time.monotonic() - float(sent_at) < 5


def test_moments_above_the_limits_are_over_admissions(log: FakeLog) -> None:
    """Calls at once and tasks at once, whatever the provider said; an end comes before a begin."""
    log.call(1, 0.0, 5.0)
    log.call(2, 1.0, 3.0)
    log.call(2, 3.0, 6.0)
    assert log.judged({1: 0.0, 2: 0.0}).over_admissions == 0
    log.call(3, 4.0, 4.5)
    measures = log.judged({1: 0.0, 2: 0.0, 3: 0.0})
    assert (measures.most_calls, measures.most_tasks) == (3, 3)
    assert measures.over_admissions == 2  # one too many calls, and one too many tasks


def test_a_task_is_in_work_between_its_calls(log: FakeLog) -> None:
    """From its first call to the end of its last one."""
    log.call(1, 0.0, 1.0)
    log.call(2, 2.0, 3.0)
    log.call(3, 4.0, 5.0)
    log.call(1, 6.0, 7.0)
    measures = log.judged({1: 0.0, 2: 0.0, 3: 0.0})
    assert (measures.most_calls, measures.most_tasks) == (1, 2)


def test_waits_count_from_sending_to_the_first_call(log: FakeLog) -> None:
    """One that still waits counts with what it has waited; one sent after the end does not."""
    log.call(1, 2.0, 3.0)
    log.call(1, 9.0, 10.0)
    log.call(2, 5.0, 6.0)
    measures = log.judged({1: 0.0, 2: 4.0, 3: 10.0, 4: 31.0})
    assert (measures.wait_p50, measures.wait_p99) == (2.0, 20.0)
    assert (measures.tasks_begun, measures.tasks_waiting) == (2, 1)


def test_an_empty_log_measures_nothing(log: FakeLog) -> None:
    """Nothing was used, so no goal of use is met by accident."""
    measures = log.judged({1: 0.0})
    assert (measures.calls, measures.used_share, measures.refused_share) == (0, 0.0, 0.0)


def test_a_log_may_end_in_the_middle_of_a_line(tmp_path: Path) -> None:
    """The server was killed while it wrote."""
    path = tmp_path / "log"
    path.write_text('{"event": "admitted", "at": 1}\n{"event": "ad')
    assert read(path) == [{"event": "admitted", "at": 1}]


@pytest.mark.parametrize("largest", cells.SIZES)
def test_the_work_is_what_the_page_says(largest: float) -> None:
    """Sizes, lengths and calls are within bounds, and the bias changes the estimates alone."""
    low, high = (workload.tasks(1, largest, bias, 20) for bias in (-0.3, 0.3))
    assert [task.calls for task in low] == [task.calls for task in high]
    for task in low:
        size = task.tokens / workload.BUDGET
        seconds = sum(call.seconds for call in task.calls)
        least, most = workload.LONG if task.number % 2 else workload.SHORT
        assert workload.SMALLEST * 0.85 <= size <= largest
        assert least - 1e-6 <= seconds <= most + 1e-6
        for call in task.calls:
            assert call.output_tokens <= call.max_output_tokens
            charged = call.input_tokens + call.max_output_tokens
            assert charged <= workload.LARGEST_CALL * workload.BUDGET
    ratios = [sum(t.estimate for t in some) / sum(t.tokens for t in some) for some in (low, high)]
    assert ratios == pytest.approx([0.7, 1.3], rel=0.1)
    assert sum(task.tokens for task in low) > 1.1 * workload.BUDGET * 20


def outcome(provider: cells.Provider, throttle: cells.Throttle, **changes: Any) -> Outcome:
    """Return a cell that meets its goals but for the changes."""
    good = {
        "calls": 1000,
        "refused": 0,
        "refused_for_tokens": 0,
        "over_admissions": 0,
        "most_calls": 9,
        "most_tasks": 9,
        "warm_seconds": 60.0,
        "used_share": 0.98,
        "wait_p50": 1.0,
        "wait_p99": 2.0,
        "way_p50": 0.001,
        "way_p99": 0.01,
        "tasks_begun": 50,
        "tasks_waiting": 5,
    }
    return Outcome(Cell(provider, 0.2, 0.3, 4, throttle), Measures(**(good | changes)))


@pytest.mark.parametrize(
    ("provider", "changes"),
    [
        ("bucket", {"refused": 2}),
        ("bucket", {"used_share": 0.9699}),
        ("bucket", {"over_admissions": 1}),
        ("window", {"refused": 11}),
        ("window", {"used_share": 0.8999}),
        ("window", {"over_admissions": 1}),
    ],
)
def test_a_missed_goal_is_told(provider: cells.Provider, changes: dict[str, Any]) -> None:
    """Each goal by itself, of Forebay's cells alone."""
    missed = outcome(provider, "forebay", **changes)
    assert not report.is_met([outcome(provider, "forebay"), missed])
    assert missed.misses[0] in report.page([missed], Plan(1, Scale(6), 8, 4), 60)
    assert report.is_met([outcome(provider, "forebay"), outcome(provider, "none", **changes)])


def test_goals_are_met_at_their_borders() -> None:
    """At most and at least include the number itself."""
    assert report.is_met([outcome("bucket", "forebay", refused=1, used_share=0.97)])
    assert report.is_met([outcome("window", "forebay", refused=10, used_share=0.9)])


def test_the_full_matrix_has_every_combination() -> None:
    """Provider, size, bias, and 1 to 8 dispatchers; and both known ways beside it."""
    ours = [cell for cell in cells.full() if cell.throttle == "forebay"]
    assert len(set(ours)) == len(ours) == 2 * 2 * 2 * len(cells.DISPATCHERS)
    assert {cell.dispatchers for cell in ours} == set(cells.DISPATCHERS) >= {1, 8}
    assert {cell.throttle for cell in cells.full()} == {"none", "sum", "forebay"}


@pytest.mark.timeout(180)
def test_a_short_drill_meets_the_goals() -> None:
    """One cell for each kind of provider, from an empty database to the verdict."""
    done = subprocess.run(
        [*DRILL, "--minute", "6", "--minutes", "5", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    assert [cell["misses"] for cell in found["cells"]] == [[], []], done.stderr
    assert done.returncode == 0


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder with a short name that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="forebay-tests-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.timeout(180)
def test_a_drill_that_is_stopped_leaves_nothing(open_folder: Path) -> None:
    """SIGTERM in the middle: its dispatchers, server and files are gone when it has ended."""
    drill = subprocess.Popen(
        DRILL,
        env=os.environ | {"TMPDIR": str(open_folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    logs: list[Path] = []
    while drill.poll() is None and not any(log.stat().st_size for log in logs):
        time.sleep(0.1)
        logs = list(open_folder.glob("forebay-drill-*/calls-*.jsonl"))
    drill.terminate()
    _, said = drill.communicate(timeout=60)
    assert drill.returncode == 128 + signal.SIGTERM, said
    assert list(open_folder.iterdir()) == []
