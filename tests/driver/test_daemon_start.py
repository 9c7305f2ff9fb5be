"""What keeps a daemon from starting: it says so in one sentence, and ends before any work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from forebay.calls import worker
from support.daemon import ended, enqueue, register, running, task

pytestmark = pytest.mark.usefixtures("fake_agents")
Db = psycopg.Connection


def refusal(dsn: str, home: Path, *arguments: str) -> str:
    """Return what `forebay run` says before it ends by itself, with exit code 1."""
    done = subprocess.run(
        [sys.executable, "-m", "forebay.cli", "run", "--dsn", dsn, *arguments],
        env=os.environ | {"FOREBAY_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=15,
    )
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    return said


def test_an_unknown_agent_is_refused(db: Db, daemon_dsn: str, tmp_path: Path) -> None:
    """A mistyped name among known ones ends the daemon; what is in line stays there."""
    register(db)
    task_id = enqueue(db)
    said = refusal(daemon_dsn, tmp_path, "--agents", "fake", "--agents", "fkae")
    assert '"fkae"' in said
    assert task(db, task_id)["status"] == "enqueued"


@pytest.mark.parametrize("roles", [("worker",), ("agent",), ("submitter", "viewer")])
def test_a_login_without_both_roles_is_refused(
    db: Db, role_dsn: Callable[..., str], tmp_path: Path, roles: tuple[str, ...]
) -> None:
    """A login that could claim but not report claims nothing, and hears which roles it needs."""
    register(db)
    task_id = enqueue(db)
    assert "grant it forebay_worker and forebay_agent" in refusal(role_dsn(*roles), tmp_path)
    assert task(db, task_id)["status"] == "enqueued"


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ("drop schema forebay cascade", "run forebay db upgrade"),
        (
            "update forebay.schema_history set (name, release) = ('9.0.0', '9.0.0')"
            " where kind = 'release'",
            "the driver",
        ),
        ("update forebay.installation set is_branch = true, opened_in = null", "open_installation"),
    ],
)
def test_a_database_that_it_may_not_work_on_is_refused(
    superuser: Db, daemon_dsn: str, tmp_path: Path, change: str, remedy: str
) -> None:
    """A missing schema, a newer one and a closed copy end the daemon, each with what to do."""
    superuser.execute(change.encode())
    assert remedy in refusal(daemon_dsn, tmp_path)


def test_a_database_that_is_away_at_the_start_is_waited_for(
    db: Db, daemon_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that breaks in the first call is no refusal: the daemon goes on to work."""
    dequeue = worker.dequeue
    broken: list[str] = []

    def away_once(connection: Db, **arguments: object) -> object:
        if not broken:
            broken.append("by a restart")
            raise psycopg.OperationalError("the connection is lost")
        return dequeue(connection, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(worker, "dequeue", away_once)
    register(db)
    with running(daemon_dsn, tmp_path):
        assert ended(db, enqueue(db))["status"] == "completed"
    assert broken
