"""Where attempts run: what the daemon asks of a launcher, whatever it starts.

A launcher decides nothing about a task. It starts a run, says what it sees of it and ends it; what
follows is the answer of a stored function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from forebay.rows import AdoptedAttempt, ClaimedAttempt, RunToCancel

LaunchableAttempt = ClaimedAttempt | AdoptedAttempt


class LaunchRefused(Exception):
    """Nothing was started for the attempt, for certain: it may go back in line unspent.

    Any other exception of a launch leaves open whether a run exists: the attempt is then launched
    again with the same token, unless `observe_run` says that something else follows.
    """


class LaunchFailed(Exception):
    """What came back in place of a run: `seen` is what `observe_run` takes."""

    def __init__(self, message: str, seen: dict[str, Any]) -> None:
        super().__init__(message)
        self.seen = seen


class JobAway(LaunchFailed):
    """The runs of one job cannot be started at this moment, whatever the attempt: others can."""


class CancelFailed(Exception):
    """A run could not be asked to end; `is_forbidden`: only somebody else can change that."""

    def __init__(self, message: str, *, is_forbidden: bool = False) -> None:
        super().__init__(message)
        self.is_forbidden = is_forbidden


class LauncherAway(LaunchFailed):
    """What starts the runs cannot be used at this moment, for none of them."""


class Launcher(Protocol):
    """Start runs and end them. `slots` is how many the daemon lets run at a time."""

    @property
    def name(self) -> str: ...

    @property
    def slots(self) -> int: ...

    def launch(self, attempt: LaunchableAttempt) -> str:
        """Start a run and return its id; the same launch token again gives the same run.

        Raises LaunchRefused when there is no run and there will be none, LaunchFailed.
        """
        ...


class ExternalLauncher(Launcher, Protocol):
    """A launcher whose runs live on without the daemon, which another one can adopt.

    No request takes for long: each call may raise LauncherAway instead. All but `check` and `place`
    may be called by threads.
    """

    @property
    def place(self) -> str | None:
        """Where its runs are, to tell them from those of another one; asked after a check.

        The first line is its name; others are names that it went by.
        """
        ...

    def launch(self, attempt: LaunchableAttempt | RunToCancel) -> str:
        """Start a run as above, or find that of an attempt which has ended, to end it."""
        ...

    def cancel(self, run_id: str, job_id: int | None) -> None:
        """Ask for the end of a run, without waiting for it; a run that has ended is left alone.

        Raises LaunchFailed where it is no run of the job, else CancelFailed.
        """
        ...

    def check(self) -> None:
        """Raise LauncherAway unless runs can be started and asked at this moment."""
        ...

    def states(self, runs: Mapping[str, int | None]) -> dict[str, dict[str, Any]]:
        """Return what `observe_run` takes for each run; one that could not be asked is left out.

        `runs` are run ids, with the job that each is a run of.
        """
        ...
