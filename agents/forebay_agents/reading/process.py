"""The parent's side of the reading process: start it, ask it, and end it with all it started."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from forebay_agents.reading import wire
from forebay_agents.reading.limits import Limits
from forebay_agents.stopping import LOOK_EVERY

COMMAND = (sys.executable, "-P", "-m", "forebay_agents.reading.child")

KEPT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE", "TESSDATA_PREFIX")
"""What the process may know of the environment: nothing of databases, keys and tokens."""

ONE_THREAD = {"OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Threads each reserve memory that a small limit does not have."""

Loss = Literal["time", "memory", "size", "crash"]


DEATHS: dict[int, Loss] = {
    signal.SIGXCPU: "time",
    signal.SIGKILL: "memory",
    signal.SIGABRT: "memory",
}
"""What a signal tells: the kernel kills where memory ends, and pdfium aborts where it gets none."""


class Lost(Exception):
    """Say that the process was lost while it worked: it ran out of something, or crashed."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self.loss = loss


class ReadingProcess:
    """A child that leads a group of its own and dies with this process; it is started at once.

    `resident` is how many bytes of memory it held after its last answer.
    """

    def __init__(self, limits: Limits) -> None:
        self.resident = 0
        self._is_ended = False
        self._folder = tempfile.mkdtemp(prefix="forebay-")
        lifeline, self._lifeline = os.pipe()
        try:
            self._popen = subprocess.Popen(
                [*COMMAND, str(lifeline), str(limits.memory_mb)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
                pass_fds=[lifeline],
                env=_environment(os.environ, self._folder),
            )
        except BaseException:
            os.close(self._lifeline)
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        finally:
            os.close(lifeline)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def ask(
        self, command: dict[str, Any], seconds: float, look: Callable[[], None]
    ) -> dict[str, Any]:
        """Return the answer to a command; raises Lost, after which the process is of no use.

        `look` is called every 0.1 seconds, and may raise to give up.
        """
        line = wire.to_line({**command, "seconds": seconds})
        with suppress(BrokenPipeError):  # its end is seen when reading
            assert self._popen.stdin is not None
            self._popen.stdin.write(line)
        answer = self._read(time.monotonic() + seconds, look)
        if loss := answer.get("lost"):
            raise Lost(loss)
        self.resident = answer.pop("resident", 0)
        return answer

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
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def _read(self, until: float, look: Callable[[], None]) -> dict[str, Any]:
        assert self._popen.stdout is not None
        output = self._popen.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        line = bytearray()
        while not line.endswith(b"\n"):
            look()
            if time.monotonic() >= until:
                raise Lost("time")
            if not poll.poll(LOOK_EVERY * 1000):
                continue
            chunk = os.read(output, 1 << 20)
            if not chunk:
                raise Lost(self._loss())
            line += chunk
            if len(line) > wire.ANSWER_BYTES:
                raise Lost("size")
        try:
            return wire.from_line(bytes(line))
        except ValueError:
            raise Lost("crash") from None

    def _loss(self) -> Loss:
        """Tell what the process, whose output is closed, died of."""
        ended = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        return DEATHS.get(ended.si_status, "crash") if ended else "crash"


def _environment(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    kept = {name: environment[name] for name in KEPT if name in environment}
    return {**kept, **ONE_THREAD, "TMPDIR": folder, "HOME": folder}
