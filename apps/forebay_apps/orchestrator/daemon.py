"""The daemon as a child of the dashboard's process: started again when it ends, stopped with it.

The child is `forebay run`, which ends with its parent, however that died. What it has in its
environment, the agents have that it runs, beside the documents of strangers: so it gets none of the
dashboard's secrets, and a login of its own where one is set.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from forebay.daemon.pace import BackOff
from forebay.errors import ConnectError, SettingError
from forebay.logs import EventLog
from forebay.pool import Database
from forebay.settings import DATABASE_URL, text
from forebay_apps.orchestrator import announce, monitoring
from forebay_apps.web import settings

log = EventLog(__name__)

COMMAND = (sys.executable, "-m", "forebay.cli", "run", "--lifeline")
PAUSES = (1.0, 60.0)  # seconds before it is started again: the first, and the longest
SETTLED = 60.0  # seconds that it has run well after which the pauses begin anew
OWN_DATABASE_URL = "FOREBAY_DAEMON_DATABASE_URL"
WITHHELD = {
    OWN_DATABASE_URL,
    settings.SESSION_KEY,
    settings.USERS,
    monitoring.TOKEN,
    announce.URL,
    announce.SECRET,
}
STOP_SECONDS = 12.0  # a daemon that stops takes less; platforms kill an app after 15


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
        self._environment = environment_of(environment)
        self._options = tuple(options)
        self._pauses = BackOff(*pauses)
        self._stop = threading.Event()
        self._stop_by = math.inf  # on the monotonic clock
        self._lock = threading.Lock()  # nothing is started once the stop was asked for
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name="daemon-supervisor", daemon=True)

    def start(self) -> None:
        """Start the daemon, in the background."""
        self._thread.start()

    def begin_stop(self) -> None:
        """Have the daemon stop; from now on it has STOP_SECONDS."""
        with self._lock:
            if self._stop.is_set():
                return
            self._stop_by = time.monotonic() + STOP_SECONDS
            self._stop.set()
            if self._process:
                self._process.terminate()

    def stop(self) -> None:
        """Stop the daemon and wait for it; one that does not stop in time is killed."""
        self.begin_stop()
        self._thread.join(max(0.0, self._stop_by - time.monotonic()))
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
            [*COMMAND, str(lifeline), *self._options],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            pass_fds=[lifeline],
            start_new_session=True,  # Ctrl-C reaches us alone, and we stop it
        )


def environment_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Return what the daemon of a dashboard with these variables has in its environment.

    Raises SettingError for a login of its own that cannot be read.
    """
    own = {name: value for name, value in variables.items() if name not in WITHHELD}
    login = text(variables, OWN_DATABASE_URL)
    try:
        Database(login).parameters()
    except ConnectError:
        raise SettingError(
            f"{OWN_DATABASE_URL} is no database: set it to postgresql://user@host:port/database."
        ) from None
    return own | {DATABASE_URL: login} if login else own
