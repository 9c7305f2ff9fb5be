"""Leases as this process sees them.

The database's clock alone decides whether a lease has expired. Here its times are turned into
`time.monotonic()` of this process, always on the early side: the clock of this machine has no part
in it, and the work knows when to stop while the database is away.
"""

import math
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from psycopg import Connection

from forebay.calls.viewer import server_time
from forebay.rows import LeaseState

FIRST_ASK = 0.1  # seconds until a lease is asked about whose times are not known
LONGEST_RETRY = 1.0  # seconds between tries while the database is away

LocalTime = Callable[[datetime], float]


def read_clock(connection: Connection[Any]) -> LocalTime:
    """Return what turns a time of the database into `time.monotonic()`, never a late one."""
    asked_at = time.monotonic()
    now = server_time(connection)
    return lambda moment: asked_at + (moment - now).total_seconds()


class Lease:
    """One attempt's lease in local time; it is due for renewal when a third of it has passed.

    state is the last answer of `renew_leases`. Without times the lease is asked about soon; past
    a deadline it is not.
    """

    def __init__(
        self, attempt_id: int, *, expires: float = math.inf, deadline: float = math.inf
    ) -> None:
        self.attempt_id = attempt_id
        self.deadline = deadline
        self.expires = expires
        self.state: LeaseState = "renewed"
        self.renew_at = time.monotonic() + FIRST_ASK
        if expires < math.inf:
            self.extend(expires, time.monotonic())

    @property
    def is_held(self) -> bool:
        """Tell whether the database said so when it was last asked."""
        return self.state == "renewed"

    @property
    def is_over(self) -> bool:
        """Tell whether the work should stop: cancelled, lost, expired, or past its deadline."""
        return not self.is_held or time.monotonic() >= self.expires

    def extend(self, expires: float, asked_at: float) -> None:
        self.expires = expires
        self.renew_at = (
            math.inf if expires >= self.deadline else asked_at + (expires - asked_at) / 3
        )

    def put_off(self) -> None:
        """Try again soon: the renewal did not reach the database."""
        left = max(self.expires - time.monotonic(), 0)
        self.renew_at = time.monotonic() + min(LONGEST_RETRY, left / 10)
