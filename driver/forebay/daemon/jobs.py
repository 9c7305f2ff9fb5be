"""Jobs of which no run can be started at this moment: each is tried again after a while."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from forebay.daemon.pace import BackOff
from forebay.launchers import JobAway

FIRST_WAIT = 0.5  # seconds
LONGEST_WAIT = 30.0


@dataclass(slots=True)
class _Away:
    failure: JobAway
    until: float = 0.0
    waits: BackOff = field(default_factory=lambda: BackOff(FIRST_WAIT, LONGEST_WAIT))


class Jobs:
    """Which jobs to leave alone, by id, and why; for one thread."""

    def __init__(self) -> None:
        self._away: dict[int | None, _Away] = {}

    def leave(self, job_id: int | None, failure: JobAway) -> None:
        """Leave a job alone for a while, each time for longer."""
        away = self._away.setdefault(job_id, _Away(failure))
        away.failure = failure
        away.until = time.monotonic() + away.waits.next()

    def be_back(self, job_id: int | None) -> None:
        """Note that a run of the job was started."""
        self._away.pop(job_id, None)

    def failure(self, job_id: int | None) -> JobAway | None:
        """Return why no run of it could be started the last time; None: one was, or none tried."""
        away = self._away.get(job_id)
        return away.failure if away else None

    def is_left_alone(self, job_id: int | None) -> bool:
        """Tell whether the job is not to be tried yet."""
        away = self._away.get(job_id)
        return away is not None and time.monotonic() < away.until
