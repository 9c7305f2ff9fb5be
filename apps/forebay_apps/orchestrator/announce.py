"""Announcements to a webhook: an agent was paused, a task waits too long, a cap is reached, ...

Which there are, and that each is told once, is the database's matter; this loop carries them. A
message that goes out twice (this process died before it could say so) has the same id both times.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from forebay import jsonb
from forebay.calls import upkeep
from forebay.logs import EventLog, first_line
from forebay.rows import Announcement
from forebay.settings import number
from forebay.webhooks import NotDelivered, Receiver
from forebay_apps.web.database import Connections
from forebay_apps.web.loop import Loop

log = EventLog(__name__)

URL = "FOREBAY_WEBHOOK_URL"
SECRET = "FOREBAY_WEBHOOK_SECRET"
WAITING_MINUTES = "FOREBAY_WEBHOOK_WAITING_MINUTES"
AT_A_TIME = 5  # so many tries of TRY_SECONDS end well within the minute that a lease lasts
TRY_SECONDS = 8.0


def long_wait(environment: Mapping[str, str]) -> timedelta:
    """Return for how long a task may wait before somebody has to know. Raises SettingError."""
    minutes = number(environment, WAITING_MINUTES, 15, least=0.1, most=7 * 24 * 60)
    return timedelta(minutes=minutes)


class Announcer(Loop):
    """Carry announcements to a receiver; several processes may.

    A task that has waited for longer than `oldest_waiting` is one of them. A message on its way as
    it stops is left to the one who sends it again.
    """

    name = "announcer"
    every = 5.0
    after_an_error = 15.0

    def __init__(
        self, connections: Connections, receiver: Receiver, oldest_waiting: timedelta
    ) -> None:
        super().__init__()
        self._connections = connections
        self._receiver = receiver
        self._oldest_waiting = oldest_waiting

    @classmethod
    def of(cls, environment: Mapping[str, str], connections: Connections) -> Announcer | None:
        """Return the announcer that is set up, or None. Raises SettingError."""
        receiver = Receiver.read(environment, URL, SECRET)
        waiting = long_wait(environment)
        return cls(connections, receiver, waiting) if receiver else None

    def step(self) -> None:
        """Send all that is to be announced now."""
        while self._carry() == AT_A_TIME:
            continue

    def _carry(self) -> int:
        """Send what is to be announced now; return how many announcements that were."""
        with self._connections.as_role("upkeep") as connection:
            found = upkeep.collect_announcements(
                connection, oldest_waiting=self._oldest_waiting, limit=AT_A_TIME
            )
        for announcement in found:
            if self.is_stopping:
                return 0
            self._send(announcement)
        return len(found)

    def _send(self, announcement: Announcement) -> None:
        event = {
            "type": announcement.kind,
            "timestamp": announcement.occurred_at.isoformat(),
            "data": {"subject": announcement.subject, **announcement.details},
        }
        said = {"kind": announcement.kind, "announcement_id": str(announcement.announcement_id)}
        error: str | None = None
        try:
            body = jsonb.dump("event", event)
            self._receiver.post(said["announcement_id"], body, seconds=TRY_SECONDS)
            log.info("announced", **said)
        except NotDelivered as failure:
            error = first_line(failure)
            log.warning("not_announced", **said, reason=error)
        with self._connections.as_role("upkeep") as connection:
            upkeep.announcement_sent(
                connection, announcement_id=announcement.announcement_id, error=error
            )
