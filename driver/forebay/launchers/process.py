"""One attempt's process group on this machine: started, its output kept, and ended as a whole."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

COMMAND = (sys.executable, "-P", "-u", "-m", "forebay.launchers.child")
PIPE_BYTES = 65536


class AttemptProcess:
    """Run the child program on a document that only it can read.

    The document reaches the child as its standard input, a file without a name: neither a command
    line nor an environment shows it. The child leads a session and a process group of its own and
    holds one end of a pipe; when this process dies, however it dies, the kernel kills that group.
    `on_end` is called from another thread once the process has ended and its group was killed.

    Raises OSError or RuntimeError when the log cannot be written, or the machine has no room for a
    process or a thread.
    """

    def __init__(
        self, document: bytes, log_path: Path, max_log_bytes: int, on_end: Callable[[], None]
    ) -> None:
        self.log_path = log_path
        self.was_asked_to_end = False
        self._max_log_bytes = max_log_bytes
        self._on_end = on_end
        self._lock = threading.Lock()  # a process id may be signalled only until it is reaped
        self._log = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        lifeline, self._lifeline = os.pipe()
        try:
            self._popen = _start(document, lifeline)
            self._ended = os.pidfd_open(self._popen.pid)
            threading.Thread(target=self._watch, name=f"watch-{self.pid}", daemon=True).start()
        except (OSError, RuntimeError):
            os.close(self._lifeline)  # ends a process that was started
            os.close(self._log)
            raise
        finally:
            os.close(lifeline)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """Return how the process ended, minus the signal's number if by one; None while it runs."""
        return self._popen.returncode

    def end(self, grace: float) -> None:
        """Send SIGTERM to the group now, and SIGKILL `grace` seconds later if it is still there.

        A process that has already ended by itself was not asked to.
        """
        with self._lock:
            self.was_asked_to_end |= self._is_running()
        self._signal(signal.SIGTERM)
        killer = threading.Timer(grace, self._signal, [signal.SIGKILL])
        killer.daemon = True
        killer.start()

    def _is_running(self) -> bool:
        """Tell whether the process has not ended, without reaping it; needs the lock."""
        if self._popen.returncode is not None:
            return False
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def _signal(self, number: signal.Signals) -> None:
        with self._lock:
            if self._popen.returncode is None:
                os.killpg(self.pid, number)

    def _watch(self) -> None:
        """Copy the output until the process ends; then kill what is left of its group."""
        assert self._popen.stdout is not None
        output = self._popen.stdout.fileno()
        os.set_blocking(output, False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._ended, selectors.EVENT_READ)
            selector.register(output, selectors.EVENT_READ)
            while self._ended not in (ready := [key.fd for key, _ in selector.select()]):
                if output in ready and not self._copy(output):
                    selector.unregister(output)
        self._signal(signal.SIGKILL)
        self._copy(output)
        self._popen.stdout.close()
        os.close(self._log)
        os.close(self._ended)
        os.close(self._lifeline)
        with self._lock:
            self._popen.wait()
        self._on_end()

    def _copy(self, output: int) -> bool:
        """Move what the pipe holds to the log, up to the log's size; tell whether any came."""
        try:
            chunk = os.read(output, PIPE_BYTES)
        except BlockingIOError:
            return False
        with suppress(OSError):  # a full disk costs the log, not the attempt
            room = self._max_log_bytes - os.fstat(self._log).st_size
            if room > 0:
                os.write(self._log, chunk[:room])
                if len(chunk) >= room:
                    os.write(self._log, f"\n[cut at {self._max_log_bytes} bytes]\n".encode())
        return bool(chunk)


def _start(document: bytes, lifeline: int) -> subprocess.Popen[bytes]:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(document)
        stdin.seek(0)
        return subprocess.Popen(
            [*COMMAND, str(lifeline)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[lifeline],
        )
