"""One run of a simulated job: its states, what it works, and how the API shows it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ENDED = ("TERMINATED", "SKIPPED", "INTERNAL_ERROR")
USES_ROOM = ("PENDING", "RUNNING", "TERMINATING")

CODES = {
    "SUCCESS": "SUCCESS",
    "FAILED": "RUN_EXECUTION_ERROR",
    "TIMEDOUT": "CANCELED",
    "CANCELED": "USER_CANCELED",
}
"""The termination code of a result state where none is said."""

TYPES = {"SUCCESS": "SUCCESS", "CLOUD_FAILURE": "CLOUD_FAILURE", "INTERNAL_ERROR": "INTERNAL_ERROR"}


@dataclass(slots=True, eq=False)
class JobRun:
    """A run. Times are epoch seconds, 0 for one that has not come.

    `is_cancelled` is set when somebody cancels it: the work is expected to return then.
    """

    run_id: int
    job_id: int
    number: int
    parameters: dict[str, str]
    defaults: dict[str, str]
    token: str | None
    who: str
    created_at: float
    life_cycle_state: str = "QUEUED"
    result_state: str | None = None
    code: str | None = None
    message: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0
    output: str = ""
    is_cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def task_run_id(self) -> int:
        """Return the id of the run's one task, which `get-output` wants."""
        return self.run_id + 500_000_000

    @property
    def has_ended(self) -> bool:
        return self.life_cycle_state in ENDED

    def put(
        self,
        life_cycle_state: str,
        result_state: str | None,
        code: str | None,
        message: str,
        at: float,
    ) -> None:
        """Have it be in a state, as the API calls it; `code` None is that of the result."""
        self.life_cycle_state, self.result_state, self.message = (
            life_cycle_state,
            result_state,
            message,
        )
        self.code = code or CODES.get(result_state or "")
        if life_cycle_state == "RUNNING" and not self.started_at:
            self.started_at = at
        if self.has_ended:
            self.ended_at = at

    def states(self) -> dict[str, Any]:
        """Return `state`, which is deprecated, and `status`, as the API sends both."""
        state: dict[str, Any] = {
            "life_cycle_state": self.life_cycle_state,
            "state_message": self.message,
            "user_cancelled_or_timedout": self.result_state in ("CANCELED", "TIMEDOUT"),
        }
        status: dict[str, Any] = {
            "state": "TERMINATED" if self.has_ended else self.life_cycle_state
        }
        if self.result_state:
            state["result_state"] = self.result_state
        if self.has_ended:
            code = self.code or self.life_cycle_state
            kind = TYPES.get(code, "CLIENT_ERROR")
            status["termination_details"] = {"code": code, "type": kind, "message": self.message}
        if self.life_cycle_state == "QUEUED":
            state["queue_reason"] = "Queued due to reaching maximum concurrent runs of the job."
            status["queue_details"] = {"code": "MAX_CONCURRENT_RUNS_REACHED", "message": ""}
        return {"state": state, "status": status}

    def shown(self, base_url: str, *, has_tasks: bool = True) -> dict[str, Any]:
        """Return it as `runs/get` does; `runs/list` leaves the tasks out."""
        ms = {name: int(1000 * at) for name, at in (("start", self.created_at),)}
        shown: dict[str, Any] = {
            "run_id": self.run_id,
            "job_id": self.job_id,
            "number_in_job": self.number,
            "job_run_id": self.run_id,
            "creator_user_name": self.who,
            "run_name": "simulated",
            "description": "Simulated: there is no Databricks behind it.",
            "run_type": "JOB_RUN",
            "start_time": ms["start"],
            "end_time": int(1000 * self.ended_at),
            "run_page_url": f"{base_url}/simulated/jobs/{self.job_id}/runs/{self.run_id}",
            "job_parameters": self._job_parameters(),
            **self.states(),
        }
        if has_tasks:
            task = {"run_id": self.task_run_id, "task_key": "main", **self.states()}
            shown["tasks"] = [task]
        return shown

    def _job_parameters(self) -> list[dict[str, str]]:
        names = self.defaults | self.parameters
        return [
            {"name": name}
            | ({"default": self.defaults[name]} if name in self.defaults else {})
            | ({"value": self.parameters[name]} if name in self.parameters else {})
            for name in names
        ]


Work = Callable[[JobRun], None]


def command(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None, *, patience: float = 2.0
) -> Work:
    """Return work that runs a program here, given the run's id and parameters as its options.

    Its output is what `get-output` shows, another exit code than 0 fails the run. When the run is
    cancelled the program gets SIGTERM, and SIGKILL `patience` seconds later. A variable that is
    empty in `environment` is unset.
    """
    given = environment or {}

    def work(run: JobRun) -> None:
        named = {"run_id": str(run.run_id)} | run.parameters
        with subprocess.Popen(
            [*arguments, *(f"--{name}={value}" for name, value in named.items())],
            env={n: v for n, v in (os.environ | given).items() if v or n not in given},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            watch = threading.Thread(target=_end_if_cancelled, args=(run, process, patience))
            watch.start()
            run.output = process.communicate()[0]
        watch.join()
        if process.returncode:
            raise RuntimeError(f"the program ended with code {process.returncode}")

    return work


def _end_if_cancelled(run: JobRun, process: subprocess.Popen[str], patience: float) -> None:
    while process.poll() is None:
        if run.is_cancelled.wait(0.05):
            process.terminate()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
            return
