"""Run the command line in this process, and see what it printed and how it ended."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from forebay.cli import main


@dataclass(frozen=True, slots=True)
class Answer:
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return stdout as the one JSON document that it must be."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Cli:
    """Call it like the command: cli("tasks", "--json")."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *args: object) -> Answer:
        self.capsys.readouterr()
        with own_log(), pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        out, err = self.capsys.readouterr()
        assert "Traceback" not in err
        return Answer(int(end.value.code or 0), out, err)


@contextmanager
def own_log() -> Iterator[None]:
    """Undo what the command set up for its log: other threads' lines have nothing to do there."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
