"""The daemon as a child of the dashboard's process: started again when it ends, stopped with it.

`python -m forebay_apps.orchestrator.daemon LIFELINE OPTION...` is the child: `forebay run` that is
stopped as by SIGTERM when the other end of the pipe LIFELINE is closed, however its parent died.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from forebay.daemon.pace import BackOff, Pace
from forebay.logs import EventLog

log = EventLog(__name__)

MODULE = "forebay_apps.orchestrator.daemon"
PAUSES = (1.0, 60.0)  # seconds before it is started again: the first, and the longest
SETTLED = 60.0  # seconds that it has run well after which the pauses begin anew
STOP_SECONDS = Pace().stop_grace + 6  # a daemon that stops takes less


@dataclass(frozen=True, slots=True)
class DaemonState:
    """How the child is: pid None while there is none, and then when it is started again."""

    pid: int | None = None
    started_at: datetime | None = None
    restarts: int = 0
    last_exit_code: int | None = None
    starts_again_at: datetime | None = None


class Supervisor:
    """Keep one daemon running, with these options and variables, until stopped."""

    def __init__(
        self,
        environment: Mapping[str, str],
        options: Sequence[str] = (),
        pauses: tuple[float, float] = PAUSES,
    ) -> None:
        self.state = DaemonState()
        self._environment = dict(environment)
        self._options = tuple(options)
        self._pauses = BackOff(*pauses)
        self._stop = threading.Event()
        self._lock = threading.Lock()  # nothing is started once the stop was asked for
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="daemon-supervisor", daemon=True)

    def start(self) -> None:
        """Start the daemon, in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the daemon and wait for it; one that does not stop is killed."""
        self._stop.set()
        with self._lock:
            if self._process:
                self._process.terminate()
        self._thread.join(STOP_SECONDS)
        with self._lock:
            if self._process:
                self._process.kill()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            code = self._lived()
            if self._stop.is_set():
                return
            if time.monotonic() - began > SETTLED:
                self._pauses.reset()
            pause = self._pauses.next()
            log.error("daemon_ended", code=code, restarts=self.state.restarts, again_in=pause)
            again_at = datetime.now(UTC) + timedelta(seconds=pause)
            self.state = replace(self.state, starts_again_at=again_at)
            self._stop.wait(pause)
            self.state = replace(self.state, restarts=self.state.restarts + 1)

    def _lived(self) -> int | None:
        """Start the daemon and wait for its end; return its exit code, None if it never began."""
        lifeline, held = os.pipe()
        try:
            with self._lock:
                if self._stop.is_set():
                    return None
                self._process = process = self._started(lifeline)
            self.state = replace(
                self.state,
                pid=process.pid,
                started_at=datetime.now(UTC),
                starts_again_at=None,
            )
            log.info("daemon_child_started", pid=process.pid)
            code = process.wait()
            with self._lock:
                self._process = None
        except OSError as error:
            log.error("daemon_not_started", reason=str(error))
            code = None
        finally:
            os.close(lifeline)
            os.close(held)
        self.state = replace(self.state, pid=None, last_exit_code=code)
        return code

    def _started(self, lifeline: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", MODULE, str(lifeline), *self._options],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            pass_fds=[lifeline],
            start_new_session=True,  # Ctrl-C reaches us alone, and we stop it
        )


def main() -> None:
    """Run the daemon as the child of a supervisor."""
    from forebay.cli import main as command

    lifeline, options = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)

    def stop_with_parent() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop_with_parent, daemon=True).start()
    command(["run", *options])


if __name__ == "__main__":
    main()
