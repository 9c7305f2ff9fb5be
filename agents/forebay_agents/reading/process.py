"""The parent's side of the reading process: start it, ask it, and end it with all it started."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from forebay_agents.reading import wire
from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.limits import Limits
from forebay_agents.reading.scratch import ScratchFolder
from forebay_agents.reading.usage import seconds_used
from forebay_agents.stopping import LOOK_EVERY

COMMAND = (sys.executable, "-P", "-m", "forebay_agents.reading.child")

KEPT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TESSDATA_PREFIX")
"""What the process may know of the environment: nothing of databases, keys and tokens."""

ONE_THREAD = {"OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Threads each reserve memory that a small limit does not have."""

SECONDS_TO_START = 60

PATIENCE = 4
"""How many times longer than allowed an answer may take, where the processor works for others."""

Loss = Literal["time", "memory", "size", "abort", "crash"]

DEATHS: dict[int, Loss] = {
    **{signal.SIGXCPU: "time", signal.SIGABRT: "abort"},
    **{signal.SIGSEGV: "crash", signal.SIGBUS: "crash", signal.SIGFPE: "crash"},
    **{signal.SIGILL: "crash", signal.SIGTRAP: "crash"},
}
"""What signals tell of the document; all others come from outside."""


class Lost(Exception):
    """Say that the document cost the process: it ran out of something, or crashed."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self.loss = loss


class ReadingProcess:
    """A child that leads a group of its own and dies with this process; it is started at once.

    `resident` is how many bytes of memory it held after its last answer. Whatever is no fault of
    the document is an infrastructure DocumentError: a child that does not start, fails by a bug,
    is killed from outside, or gets no processor time.
    """

    def __init__(self, limits: Limits) -> None:
        self.resident = 0
        self._used = 0.0
        self._is_started = False
        self._is_ended = False
        try:
            self._folder = ScratchFolder()
            self._popen, self._lifeline = _started(limits, self._folder)
        except OSError as error:
            raise _failure(f"it cannot be started ({error.strerror})") from error

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(
        self, command: dict[str, Any], seconds: float, look: Callable[[], None]
    ) -> dict[str, Any]:
        """Return the answer to a command; raises Lost, after which the process is of no use.

        `seconds` are of processor time; `look` is called every 0.1 seconds, and may raise to give
        up.
        """
        if not self._is_started:
            self._start(look)
        return self._ask(command, seconds, look)

    def end(self) -> None:
        """Kill the process and all that it started; safe to call twice."""
        if self._is_ended:
            return
        self._is_ended = True
        self._kill()
        self._popen.wait()
        os.close(self._lifeline)
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.close()
        self._popen.stdout.close()
        self._folder.remove()

    def _start(self, look: Callable[[], None]) -> None:
        try:
            self._ask({"do": "start"}, SECONDS_TO_START, look)
        except Lost as lost:
            raise _failure(f"it did not start ({lost.loss})") from lost
        self._is_started = True

    def _ask(
        self, command: dict[str, Any], seconds: float, look: Callable[[], None]
    ) -> dict[str, Any]:
        with suppress(BrokenPipeError):  # its end is seen when reading
            assert self._popen.stdin is not None
            self._popen.stdin.write(wire.to_line({**command, "seconds": seconds}))
        began = time.monotonic()

        def look_at_time() -> None:
            look()
            waited = time.monotonic() - began
            if waited >= seconds and seconds_used(self.pid) - self._used >= seconds:
                raise Lost("time")
            if waited >= PATIENCE * seconds:
                raise _failure(f"it got too little done in {waited:.0f} seconds on a busy machine")

        answer = self._read(look_at_time)
        if problem := answer.get("failed"):
            raise _failure(problem)
        if loss := answer.get("lost"):
            raise Lost(loss)
        self.resident, self._used = answer.pop("resident"), answer.pop("used")
        return answer

    def _read(self, look: Callable[[], None]) -> dict[str, Any]:
        assert self._popen.stdout is not None
        output = self._popen.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        line = bytearray()
        while not line.endswith(b"\n"):
            look()
            if not poll.poll(LOOK_EVERY * 1000):
                continue
            chunk = os.read(output, 1 << 20)
            if not chunk:
                raise self._died(look)
            line += chunk
            if len(line) > wire.ANSWER_BYTES:
                raise Lost("size")
        return wire.from_line(bytes(line))

    def _died(self, look: Callable[[], None]) -> Exception:
        """Return what the end of the process tells, whose output is closed."""
        while not (ended := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)):
            look()
            time.sleep(LOOK_EVERY / 10)
        if ended.si_code == os.CLD_EXITED:
            return _failure(
                f"it ended with status {ended.si_status}; check how Forebay is installed"
            )
        if loss := DEATHS.get(ended.si_status):
            return Lost(loss)
        if ended.si_status == signal.SIGKILL:
            return _failure("the system killed it, mostly for want of memory on the machine")
        return _failure(f"it was ended from outside ({signal.strsignal(ended.si_status)})")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def _started(limits: Limits, folder: ScratchFolder) -> tuple[subprocess.Popen[bytes], int]:
    """Start the process; return it and the end of the pipe on which its life hangs."""
    theirs, ours = os.pipe()
    try:
        process = subprocess.Popen(
            [*COMMAND, str(theirs), str(limits.memory_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            pass_fds=[theirs],
            env=_environment(os.environ, folder.path),
        )
    except BaseException:
        os.close(ours)
        folder.remove()
        raise
    finally:
        os.close(theirs)
    return process, ours


def _failure(problem: str) -> DocumentError:
    """Return the error for what is no fault of the document."""
    return DocumentError("infrastructure", f"The reading process failed: {problem}.")


def _environment(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    kept = {name: environment[name] for name in KEPT if name in environment}
    return {**kept, **ONE_THREAD, "TMPDIR": folder, "HOME": folder}
