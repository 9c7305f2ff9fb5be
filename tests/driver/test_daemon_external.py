"""The daemon with runs outside of it: one run per attempt, adopted, observed and cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forebay.calls import agent, operator, worker
from forebay.launchers import LaunchableAttempt, LaunchRefused
from forebay.rows import RunToCancel
from support.daemon import attempts, enqueue, register, running, task
from support.waiting import until

Db = psycopg.Connection


class Killed(BaseException):
    """The end of a daemon's process, at the point where it is raised."""


@dataclass
class Workspace:
    """A launcher whose runs outlive the daemon, and that starts one run per launch token."""

    name: str = "lakeflow"
    place: str | None = None
    slots: int = 10
    runs: dict[str, str] = field(default_factory=dict)  # token -> run id
    state: dict[str, dict[str, Any]] = field(default_factory=dict)  # run id -> what is seen
    diary: list[str] = field(default_factory=list)
    accidents: list[Callable[[], None]] = field(default_factory=list)  # one per launch, after it
    before_launch: Callable[[], None] = lambda: None
    before_cancel: Callable[[], None] = lambda: None
    is_deaf: bool = False  # a cancel is answered, and ends nothing

    def launch(self, attempt: LaunchableAttempt | RunToCancel) -> str:
        self.before_launch()
        run_id = self.runs.setdefault(attempt.launch_token, f"run-{len(self.runs) + 1}")
        if run_id not in self.state:
            self.diary.append(f"start {run_id}")
            self.state[run_id] = {"life_cycle_state": "RUNNING"}
        if self.accidents:
            self.accidents.pop(0)()
        return run_id

    def cancel(self, run_id: str, job_id: int | None) -> None:
        assert job_id == 42
        self.before_cancel()
        self.diary.append(f"cancel {run_id}")
        if not self.is_deaf:
            self.end(run_id, "TERMINATED")

    def check(self) -> None:
        pass

    def states(self, runs: Mapping[str, int | None]) -> dict[str, dict[str, Any]]:
        assert set(runs.values()) <= {42}
        return {run_id: self.state[run_id] for run_id in runs}

    def end(self, run_id: str, life_cycle_state: str) -> None:
        self.state[run_id] = {"life_cycle_state": life_cycle_state}


def killed() -> None:
    raise Killed


def connection_reset() -> None:
    raise ConnectionResetError("the answer was lost")


@pytest.fixture
def workspace() -> Workspace:
    return Workspace()


def register_job(db: Db, **definition: Any) -> None:
    register(db, launcher="lakeflow", job_id=42, entry_point=None, **definition)


def run_of(db: Db, task_id: int) -> str:
    """Wait until the task's latest attempt has a run, and return it."""
    run_id = until(lambda: (found := attempts(db, task_id)) and found[-1]["run_id"])
    assert isinstance(run_id, str)
    return run_id


def test_jl1_many_deaths_one_run_per_attempt(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """However often daemons die between launch and record_run, no attempt gets a second run."""
    register_job(db, lease=timedelta(seconds=0.5))
    workspace.accidents = [killed] * 4
    ids = [enqueue(db) for _ in range(3)]
    for left in range(4, 0, -1):
        with pytest.raises(Killed), running(daemon_dsn, tmp_path, external=(workspace,)):
            until(lambda left=left: len(workspace.accidents) < left)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        runs = [run_of(db, task_id) for task_id in ids]
        for task_id in ids:
            agent.complete(db, attempt_id=attempts(db, task_id)[0]["attempt_id"], result={})
    assert workspace.accidents == []
    assert [len(attempts(db, task_id)) for task_id in ids] == [1, 1, 1]
    assert sorted(runs) == sorted(workspace.runs.values()) == ["run-1", "run-2", "run-3"]
    assert [task(db, task_id)["status"] for task_id in ids] == ["completed"] * 3


def test_a_lost_answer_is_asked_for_again(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """A launch whose outcome is unknown is repeated with its token, and finds its run."""
    register_job(db)
    workspace.accidents = [connection_reset] * 3
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        assert run_of(db, task_id) == "run-1"
    assert workspace.diary == ["start run-1"]
    assert len(attempts(db, task_id)) == 1


def test_a_refused_launch_goes_back_unspent(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """A workspace that says no for certain sends the task back in line."""

    def refuse() -> None:
        raise LaunchRefused("job 42 does not exist")

    register_job(db)
    workspace.before_launch = refuse
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        until(lambda: task(db, task_id)["release_count"] == 1)
    assert task(db, task_id)["attempt_count"] == 0
    assert attempts(db, task_id)[0]["error"]["message"] == "job 42 does not exist"


def test_le8_a_launch_that_takes_long_keeps_its_lease(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """The lease is renewed from the claim on, also while the run waits to be started."""
    register_job(db, lease=timedelta(seconds=0.7))
    workspace.before_launch = lambda: time.sleep(2)
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        assert run_of(db, task_id) == "run-1"
        assert attempts(db, task_id)[0]["status"] == "running"
    assert len(attempts(db, task_id)) == 1


def test_a_graceful_stop_leaves_runs_to_be_adopted(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """Neither is the run cancelled nor its attempt ended; the next daemon goes on with both."""
    register_job(db, lease=timedelta(seconds=0.5))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(workspace,)) as first:
        run_of(db, task_id)
    assert attempts(db, task_id)[0]["worker"] == first.worker
    with running(daemon_dsn, tmp_path, external=(workspace,)) as second:
        until(lambda: attempts(db, task_id)[0]["worker"] == second.worker)
        workspace.end("run-1", "INTERNAL_ERROR")
        until(lambda: attempts(db, task_id)[0]["status"] == "lost")
    assert workspace.diary[0] == "start run-1"
    assert "cancel run-1" not in workspace.diary


def test_a_stop_releases_what_was_not_launched(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """Claims that a stopping daemon had not come to are due again at once, unspent."""
    register_job(db, lease=timedelta(minutes=10))
    workspace.accidents = [lambda: daemon.stop()]
    ids = [enqueue(db) for _ in range(3)]
    with running(daemon_dsn, tmp_path, external=(workspace,)) as daemon:
        until(lambda: workspace.runs)
    rows = [task(db, task_id) for task_id in ids]
    assert sorted(row["status"] for row in rows) == ["enqueued", "enqueued", "processing"]
    assert sum(row["attempt_count"] for row in rows) == 1
    assert list(workspace.runs.values()) == ["run-1"]


def test_cancel_ends_the_run(db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace) -> None:
    """The run of a cancelled task is cancelled once, and seen to have ended."""
    register_job(db, lease=timedelta(minutes=10))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        run_id = run_of(db, task_id)
        operator.cancel(db, task_ids=[task_id])
        until(lambda: not attempts(db, task_id)[0]["is_stop_pending"])
    assert workspace.diary == [f"start {run_id}", f"cancel {run_id}"]


@pytest.mark.parametrize("how", ["as it was recorded", "that nobody recorded", "of another daemon"])
def test_le6_the_run_of_a_lost_attempt_is_cancelled_first(
    how: str, db: Db, daemon_dsn: str, superuser: Db, tmp_path: Path, workspace: Workspace
) -> None:
    """When an attempt is lost for good, its run is cancelled before another one is launched.

    Also one whose daemon died before it could record it, which the launch token finds, and one
    that another daemon has taken to be cancelled, and may have died since.
    """
    superuser.execute("update forebay.installation set adoption_grace = '0'")
    register_job(db, lease=timedelta(seconds=0.5))
    workspace.accidents = [killed] if how == "that nobody recorded" else []
    task_id = enqueue(db)
    with suppress(Killed), running(daemon_dsn, tmp_path, external=(workspace,)):
        run_of(db, task_id)
    until(lambda: worker.sweep(db).requeued == 1)
    if how == "of another daemon":
        assert len(worker.runs_to_cancel(db, worker="another")) == 1
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        until(lambda: len(workspace.runs) == 2)
    assert workspace.diary == ["start run-1", "cancel run-1", "start run-2"]
    assert len(set(workspace.runs)) == 2


def test_of_many_slow_cancels_each_comes_before_its_launch(
    db: Db,
    daemon_dsn: str,
    superuser: Db,
    tmp_path: Path,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When there are more than are asked in one turn, the other launches wait for the next."""
    monkeypatch.setattr(worker, "runs_to_cancel", lambda connection, **arguments: [])
    register_job(db, lease=timedelta(seconds=30))
    workspace.slots = 40
    ids = [enqueue(db) for _ in range(40)]
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        first = {task_id: run_of(db, task_id) for task_id in ids}
    lose_all(superuser)
    workspace.before_cancel = lambda: time.sleep(1.5)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        until(lambda: len(workspace.runs) == 80, 30)
        second = {task_id: run_of(db, task_id) for task_id in ids}
    for task_id in ids:
        cancelled = workspace.diary.index(f"cancel {first[task_id]}")
        assert cancelled < workspace.diary.index(f"start {second[task_id]}")


def test_of_many_slow_cancels_that_end_nothing_each_is_asked_for(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace
) -> None:
    """More than are asked in one turn: those that were not come to are not passed over."""
    register_job(db, lease=timedelta(minutes=10))
    workspace.slots = 40
    ids = [enqueue(db) for _ in range(40)]
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        runs = {run_of(db, task_id) for task_id in ids}
    workspace.is_deaf = True
    workspace.before_cancel = lambda: time.sleep(1.5)
    operator.cancel(db, task_ids=ids)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        until(lambda: {f"cancel {run_id}" for run_id in runs} <= set(workspace.diary), 25)


def lose_all(superuser: Db) -> None:
    """Have every open attempt lost now, for good."""
    superuser.execute(
        "update forebay.task_attempts set lease_expires_at = clock_timestamp() - interval '1 hour'"
        " where finished_at is null"
    )
    until(lambda: worker.sweep(superuser).requeued == 0)


def test_a_workspace_that_does_not_answer_costs_no_lease(
    db: Db, daemon_dsn: str, tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the states of runs cannot be asked, their leases are renewed all the same."""

    def unavailable(runs: Mapping[str, int | None]) -> dict[str, dict[str, Any]]:
        raise ConnectionError("503")

    register_job(db, lease=timedelta(seconds=0.7))
    task_id = enqueue(db)
    with running(daemon_dsn, tmp_path, external=(workspace,)):
        monkeypatch.setattr(workspace, "states", unavailable)
        run_of(db, task_id)
        time.sleep(1.5)
        assert attempts(db, task_id)[0]["status"] == "running"
        other = enqueue(db)
        assert run_of(db, other) == "run-2"
