"""An agent that does what its payload says, and notes in a file that it began and ended."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from forebay.agent import Attempt, Reject, Result, Retry


def run(attempt: Attempt) -> Result:
    """Do `payload["do"]`; append `began ATTEMPT PID`, and `ended …`, to `payload["diary"]`."""
    _note(attempt, "began")
    act = ACTS[attempt.payload.get("do", "nothing")]
    data = act(attempt, attempt.payload) or {"attempt_no": attempt.attempt_no}
    _note(attempt, "ended")
    return Result(data)


def _note(attempt: Attempt, word: str) -> None:
    if diary := attempt.payload.get("diary"):
        with open(diary, "a") as file:
            file.write(f"{word} {attempt.attempt_id} {os.getpid()}\n")


def _sleep(attempt: Attempt, payload: dict[str, Any]) -> None:
    """Work for `seconds`, and stop when asked to."""
    until = time.monotonic() + payload.get("seconds", 60)
    while time.monotonic() < until:
        if attempt.cancelled():
            raise Retry("stopped on request")
        time.sleep(0.02)


def _ignore_sigterm(attempt: Attempt, payload: dict[str, Any]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(payload.get("seconds", 60))


def _start_grandchild(attempt: Attempt, payload: dict[str, Any]) -> None:
    """Start a process, name it in `payload["pids"]`, and hold the interpreter ever after."""
    grandchild = subprocess.Popen([sys.executable, "-c", GRANDCHILD])
    Path(payload["pids"]).write_text(f"{os.getpid()} {grandchild.pid}")
    sum(range(10**12))


GRANDCHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"


def _talk(attempt: Attempt, payload: dict[str, Any]) -> None:
    for _ in range(payload["lines"]):
        print("x" * 1023)


def _report_progress(attempt: Attempt, payload: dict[str, Any]) -> None:
    attempt.progress(3, 4)
    attempt.progress(4, 4)


def _report_usage(attempt: Attempt, payload: dict[str, Any]) -> None:
    for call in payload["calls"]:
        attempt.usage(call)


def _raise(attempt: Attempt, payload: dict[str, Any]) -> None:
    raise ValueError("no such page")


def _reject(attempt: Attempt, payload: dict[str, Any]) -> None:
    raise Reject("the document is encrypted")


def _retry_in_ages(attempt: Attempt, payload: dict[str, Any]) -> None:
    raise Retry("later", after=timedelta.max)


def _retry(attempt: Attempt, payload: dict[str, Any]) -> None:
    raise Retry("the model is busy", after=timedelta(minutes=7), kind="overloaded")


ACTS: dict[str, Any] = {
    "nothing": lambda attempt, payload: None,
    "sleep": _sleep,
    "ignore SIGTERM": _ignore_sigterm,
    "start a grandchild": _start_grandchild,
    "exit": lambda attempt, payload: os._exit(payload["code"]),
    "leave": lambda attempt, payload: sys.exit("the agent had enough"),
    "return": lambda attempt, payload: {"text": payload["text"] * payload["times"]},
    "return what JSON cannot hold": lambda attempt, payload: {"text": "seen\0", "score": math.nan},
    "talk": _talk,
    "report progress": _report_progress,
    "report usage": _report_usage,
    "raise": _raise,
    "reject": _reject,
    "retry": _retry,
    "retry in ages": _retry_in_ages,
}
