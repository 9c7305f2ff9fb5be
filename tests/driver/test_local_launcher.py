"""The local launcher: a process group per attempt, seen by nobody else, and never left behind."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from forebay.launchers import LaunchRefused
from forebay.launchers.local import Exit, LocalLauncher
from forebay.launchers.process import AttemptProcess
from forebay.pool import Database
from forebay.rows import ClaimedAttempt
from support.daemon import FAKE_AGENTS, is_alive
from support.waiting import until

pytestmark = pytest.mark.usefixtures("fake_agents")
NOWHERE = Database("host=/nonexistent user=nobody password=topsecret dbname=forebay")


@pytest.fixture
def launcher(tmp_path: Path) -> LocalLauncher:
    return LocalLauncher(NOWHERE, tmp_path / "logs", slots=2)


def claimed(
    do: str, *, attempt_id: int = 1, entry_point: str = "fake", **payload: Any
) -> ClaimedAttempt:
    now = datetime.now(UTC)
    return ClaimedAttempt(
        task_id=7,
        attempt_id=attempt_id,
        attempt_no=1,
        agent="fake",
        launcher="local",
        job_id=None,
        entry_point=entry_point,
        payload={"do": do, **payload},
        priority=0,
        batch_id=None,
        customer=None,
        estimated_tokens=0,
        launch_token=f"fb-{attempt_id}",
        lease_expires_at=now + timedelta(minutes=1),
        deadline_at=now + timedelta(minutes=1),
    )


def pid_of(run_id: str) -> int:
    return int(run_id.split("/")[1])


def ended(launcher: LocalLauncher, run_id: str) -> Exit:
    return until(lambda: launcher.exits().get(run_id))


def test_how_a_process_ended_is_told_at_once(launcher: LocalLauncher) -> None:
    """An exit without a report is told without asking, with its code; it is the agent's fault."""
    is_told = threading.Event()
    launcher.on_end = is_told.set
    run_id = launcher.launch(claimed("exit", code=3))
    assert is_told.wait(10)
    end = launcher.exits()[run_id]
    assert (end.exit_code, end.was_asked) == (3, False)
    assert end.error()["kind"] == "agent_bug"
    assert end.error()["exit_code"] == "3"
    assert end.error()["log"].endswith("attempt-1.log")
    launcher.forget(run_id)
    assert launcher.exits() == {}


def test_a_killed_process_is_the_machines_fault(launcher: LocalLauncher) -> None:
    """A process that something killed is an infrastructure failure that names the signal."""
    run_id = launcher.launch(claimed("sleep"))
    os.kill(pid_of(run_id), signal.SIGKILL)
    error = ended(launcher, run_id).error()
    assert (error["kind"], error["signal"]) == ("infrastructure", "SIGKILL")


def test_who_sends_sigterm_wants_a_stop(launcher: LocalLauncher, tmp_path: Path) -> None:
    """A service manager that ends the whole group costs no attempt: it counts as asked."""
    run_id = launcher.launch(claimed("sleep", diary=str(tmp_path / "diary")))
    until((tmp_path / "diary").exists)
    os.kill(pid_of(run_id), signal.SIGTERM)
    end = ended(launcher, run_id)
    assert (end.exit_code, end.was_asked) == (-signal.SIGTERM, True)


def test_the_same_token_is_the_same_process(launcher: LocalLauncher) -> None:
    """Launching an attempt again gives the run that it has."""
    attempt = claimed("sleep")
    run_id = launcher.launch(attempt)
    assert launcher.launch(attempt) == run_id
    launcher.cancel(run_id)
    ended(launcher, run_id)


def test_unknown_entry_point_is_refused(launcher: LocalLauncher) -> None:
    """A name that no installed package has is refused in a sentence that says what to do."""
    with pytest.raises(LaunchRefused, match=r'entry point "fkae".*install the package') as refusal:
        launcher.launch(claimed("nothing", entry_point="fkae"))
    assert "fake" in str(refusal.value)


@pytest.mark.parametrize(
    "name", [None, "os:system", "/bin/sh", "fake; rm -rf /", "fake_agents:run"]
)
def test_only_a_name_is_run(launcher: LocalLauncher, name: str) -> None:
    """Neither a command nor a module path runs, only the name of an entry point."""
    with pytest.raises(LaunchRefused):
        launcher.launch(claimed("nothing", entry_point=name))


def test_a_machine_without_room_refuses(
    launcher: LocalLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When no process can be started, nothing was: the launch is refused and leaks nothing."""

    def no_room(*_args: object, **_kwargs: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(subprocess, "Popen", no_room)
    with pytest.raises(LaunchRefused, match="could not start a process"):
        launcher.launch(claimed("nothing"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_nobody_else_sees_the_connection_or_the_payload(launcher: LocalLauncher) -> None:
    """Neither the command line nor the environment of the process shows a secret."""
    run_id = launcher.launch(claimed("sleep", note="private matter"))
    process = Path(f"/proc/{pid_of(run_id)}")
    until(lambda: b"forebay.launchers.child" in (process / "cmdline").read_bytes())
    seen = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    assert b"topsecret" not in seen
    assert b"private matter" not in seen
    launcher.cancel(run_id)
    ended(launcher, run_id)


def test_cancel_ends_what_ignores_sigterm_and_its_children(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    """After a cancel the process and all that it started are gone."""
    run_id = launcher.launch(claimed("start a grandchild", pids=str(tmp_path / "pids")))
    pids = until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text().split())
    launcher.cancel(run_id)
    ended(launcher, run_id)
    until(lambda: not any(is_alive(int(pid)) for pid in pids))


def test_a_well_behaved_agent_hears_the_cancel(launcher: LocalLauncher, tmp_path: Path) -> None:
    """`cancelled()` turns true on SIGTERM, and the agent that stops for it reports nothing."""
    run_id = launcher.launch(claimed("sleep", diary=str(tmp_path / "diary")))
    until((tmp_path / "diary").exists)
    launcher.cancel(run_id, grace=60)
    assert ended(
        launcher,
        run_id,
    ).was_asked
    assert "ended" not in (tmp_path / "diary").read_text()


def test_a_process_that_ends_takes_its_children_along(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    """What an agent started and left behind is ended with it."""
    run_id = launcher.launch(claimed("start a grandchild", pids=str(tmp_path / "pids")))
    pids = until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text().split())
    os.kill(pid_of(run_id), signal.SIGKILL)
    ended(launcher, run_id)
    until(lambda: not any(is_alive(int(pid)) for pid in pids))


def test_output_goes_to_a_private_file_of_bounded_size(
    launcher: LocalLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chatty agent fills its log up to the limit and is not held up; nobody else reads it."""
    monkeypatch.setattr("forebay.launchers.local.MAX_LOG_BYTES", 100_000)
    diary = tmp_path / "diary"
    run_id = launcher.launch(claimed("talk", lines=500, diary=str(diary)))
    until(lambda: diary.exists() and "ended" in diary.read_text())
    launcher.cancel(run_id)
    log = ended(launcher, run_id).log_path
    assert 100_000 <= log.stat().st_size < 100_100
    assert log.read_text().endswith("[cut at 100000 bytes]\n")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_old_output_is_removed_at_the_start(tmp_path: Path) -> None:
    """After two weeks an attempt's output goes; what is younger, or somebody else's file, stays."""
    names = {"attempt-1.log": 15, "attempt-2.log": 13, "notes.log": 15}
    for name, days in names.items():
        (tmp_path / name).touch()
        at = time.time() - days * 86400
        os.utime(tmp_path / name, (at, at))
    LocalLauncher(NOWHERE, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"attempt-2.log", "notes.log"}


DAEMON = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from driver.test_local_launcher import NOWHERE, claimed
from forebay.launchers.local import LocalLauncher
LocalLauncher(NOWHERE, Path(sys.argv[2])).launch(claimed("start a grandchild", pids=sys.argv[3]))
time.sleep(60)
"""


def test_processes_die_with_the_daemon(tmp_path: Path) -> None:
    """SIGKILL to the daemon ends its processes and theirs, even one that holds the interpreter."""
    pids = tmp_path / "pids"
    arguments = [str(FAKE_AGENTS.parent.parent), str(tmp_path / "logs"), str(pids)]
    daemon = subprocess.Popen([sys.executable, "-c", DAEMON, *arguments])
    found = until(lambda: pids.exists() and pids.read_text().split())
    assert all(is_alive(int(pid)) for pid in found)
    daemon.kill()
    daemon.wait()
    until(lambda: not any(is_alive(int(pid)) for pid in found))


def test_a_daemon_that_died_before_the_child_was_ready_leaves_nothing() -> None:
    """A process whose daemon is gone before it is watched never loads its agent."""
    read, write = os.pipe()
    os.close(write)
    process = subprocess.run(
        [sys.executable, "-m", "forebay.launchers.child", str(read)],
        input=b'{"attempt": "never read"}',
        pass_fds=[read],
        start_new_session=True,
        timeout=10,
    )
    os.close(read)
    assert process.returncode == -signal.SIGKILL


def test_ending_twice_and_too_late_is_fine(launcher: LocalLauncher) -> None:
    """A cancel repeated, or of a process that has ended or was never there, changes nothing."""
    run_id = launcher.launch(claimed("exit", code=0))
    ended(launcher, run_id)
    launcher.cancel(run_id)
    launcher.cancel(run_id)
    launcher.cancel("elsewhere/1/1")
    time.sleep(0.6)  # the timers have fired: the process id is nobody's to signal any more
    end = launcher.exits()[run_id]
    assert (end.exit_code, end.was_asked) == (0, False)


def test_a_crash_is_one_though_the_daemon_stops_meanwhile(
    launcher: LocalLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has ended, but was not seen to, was not told to stop: it costs its attempt."""
    is_seen = threading.Event()
    copy = AttemptProcess._copy

    def late(process: AttemptProcess, output: int) -> bool:
        assert is_seen.wait(10)
        return copy(process, output)

    monkeypatch.setattr(AttemptProcess, "_copy", late)
    run_id = launcher.launch(claimed("exit", code=3))
    until(lambda: not is_alive(pid_of(run_id)))
    launcher.cancel(run_id)
    is_seen.set()
    end = ended(launcher, run_id)
    assert (end.exit_code, end.was_asked) == (3, False)
