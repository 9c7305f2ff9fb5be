"""The agent's job in processes that fork off one which has imported what the job needs.

Each is a process of its own, which can be killed; it only does without seconds of imports.
"""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forebay_lab.workspace.runs import JobRun, Work

PRELOADED = (
    *("pytest", "databricks.sdk", "mlflow", "openai", "psycopg"),
    *("forebay_agents.job", "forebay_agents.parse_document", "forebay_agents.models.connection"),
    *("forebay.callbacks", "forebay.databricks.client", "forebay.databricks.statements"),
)

PATIENCE = 2.0
"""Seconds between SIGTERM and SIGKILL for a run that is cancelled."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(list(PRELOADED))


def job(arguments: Sequence[str], environment: Mapping[str, str], accident: str = "") -> Work:
    """Return work that is the job's program, as `runs.command` makes work of others.

    It is killed at the place that `accident` names: `MODULE:NAME before 2` is SIGKILL as the
    function is called for the second time, `after` once it has returned.
    """

    def work(run: JobRun) -> None:
        named = {"run_id": str(run.run_id)} | run.parameters
        given = [*arguments, *(f"--{name}={value}" for name, value in named.items())]
        with tempfile.NamedTemporaryFile() as output:
            said = (output.name, given, os.environ | environment, accident)
            process = _context.Process(target=_main, args=said)
            process.start()
            while process.exitcode is None:
                process.join(0.05)
                if run.is_cancelled.is_set() and process.exitcode is None:
                    process.terminate()
                    process.join(PATIENCE)
                    process.kill()
            run.output = Path(output.name).read_text()
        if process.exitcode:
            raise RuntimeError(f"the program ended with code {process.exitcode}")

    return work


def _main(
    output: str, arguments: Sequence[str], environment: Mapping[str, str], accident: str
) -> None:
    """Be the program: its output goes into the file."""
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    if accident:
        _arrange(accident)
    importlib.import_module("forebay_agents.job").main()


def _arrange(accident: str) -> None:
    """Have this process be killed at the place."""
    place, when, nth = accident.split()
    module_name, _, path = place.partition(":")
    owner: Any = importlib.import_module(module_name)
    *owners, name = path.split(".")
    for one in owners:
        owner = getattr(owner, one)
    function = getattr(owner, name)
    left = [int(nth)]

    @functools.wraps(function)
    def killed(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if when == "before" and left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        value = function(*arguments, **named)
        if when == "after" and left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    setattr(owner, name, killed)
