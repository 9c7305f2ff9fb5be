"""The process that reads PDFs: `python -m forebay_agents.reading.child LIFELINE MEMORY_MB`.

LIFELINE is the number of an inherited pipe end whose closing ends this process and all that it
started. Commands come as lines of JSON on standard input, each is answered by one line on standard
output; `Commands` tells them. Whatever else is printed here goes nowhere.
"""

from __future__ import annotations

import os
import resource
import sys
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from forebay.lifeline import die_with_parent
from forebay_agents.reading import wire

FILE_BYTES = 256 << 20
"""How long a file may be that tesseract writes or is handed."""

OPEN_FILES = 64


def main() -> None:
    """Answer commands until there are no more."""
    die_with_parent(int(sys.argv[1]))
    answers = _own_output()
    _limit(int(sys.argv[2]) << 20)
    for line in sys.stdin.buffer:
        answers.write(_answer(wire.from_line(line)))
        answers.flush()


def _own_output() -> BinaryIO:
    """Return what was standard output; what libraries print from now on disturbs no answer."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def _limit(memory: int) -> None:
    """Bound what this process and those that it starts may take, however they try."""
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, allowed = resource.getrlimit(what)
        most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(what, (most, most))


def _allow_seconds(seconds: float) -> None:
    """Let this process use so much more processor time: its parent may be stopped itself."""
    until = int(_used(resource.RUSAGE_SELF) + seconds) + 2
    _, allowed = resource.getrlimit(resource.RLIMIT_CPU)
    if allowed == resource.RLIM_INFINITY or until < allowed:
        resource.setrlimit(resource.RLIMIT_CPU, (until, allowed))


def _answer(command: dict[str, Any]) -> bytes:
    """Answer a command; "lost" tells what the document took too much of, "failed" of a bug."""
    _allow_seconds(command.pop("seconds"))
    try:
        line = wire.to_line({**_commands().run(command), **_state()})
    except MemoryError:
        return wire.to_line({"lost": "memory"})
    except Exception as error:
        return wire.to_line({"failed": f"{type(error).__name__}: {error}"})
    return line if len(line) <= wire.ANSWER_BYTES else wire.to_line({"lost": "size"})


@cache
def _commands() -> Any:
    """Load all that reads PDFs, with the first command: what fails then is answered too."""
    from forebay_agents.reading.commands import Commands

    return Commands()


def _state() -> dict[str, float]:
    """Tell how many bytes this process holds, and the seconds that it and tesseract worked."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    used = _used(resource.RUSAGE_SELF) + _used(resource.RUSAGE_CHILDREN)
    return {"resident": pages * resource.getpagesize(), "used": used}


def _used(whose: int) -> float:
    """Return the seconds of processor time that were used."""
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
