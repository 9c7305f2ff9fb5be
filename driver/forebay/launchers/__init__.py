"""Where attempts run: what the daemon asks of a launcher, whatever it starts.

A launcher decides nothing about a task. It starts a run, says what it sees of it and ends it; what
follows is the answer of a stored function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from forebay.rows import AdoptedAttempt, ClaimedAttempt

LaunchableAttempt = ClaimedAttempt | AdoptedAttempt


class LaunchRefused(Exception):
    """Nothing was started for the attempt, for certain: it may go back in line unspent.

    Any other exception of a launch leaves open whether a run exists: the attempt is then launched
    again with the same token.
    """


class Launcher(Protocol):
    """Start runs and end them. `slots` is how many the daemon lets run at a time."""

    @property
    def name(self) -> str: ...

    @property
    def slots(self) -> int: ...

    def launch(self, attempt: LaunchableAttempt) -> str:
        """Start a run and return its id; the same launch token again gives the same run.

        Raises LaunchRefused when there is no run and there will be none.
        """
        ...

    def cancel(self, run_id: str) -> None:
        """Ask for the end of a run, without waiting for it; a run that has ended is left alone."""
        ...


class ExternalLauncher(Launcher, Protocol):
    """A launcher whose runs live on without the daemon, which another one can adopt."""

    def states(self, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what `observe_run` takes for each run; one that could not be asked is left out."""
        ...
