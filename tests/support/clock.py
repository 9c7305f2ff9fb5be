"""A clock that tests set: it replaces forebay._now() in one database. Production has no switch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# A sequence, since its value is outside transactions: every session sees a new time at once,
# as it would see a real clock move, whatever its isolation level.
INSTALL = """
create schema test_clock;
grant usage on schema test_clock to public;
create sequence test_clock.microseconds;
grant select on sequence test_clock.microseconds to public;

create or replace function forebay._now()
    returns timestamptz
    language sql
    volatile
    set search_path = pg_catalog, pg_temp
as $function$
select timestamptz 'epoch' + last_value * interval '1 microsecond'
from test_clock.microseconds
$function$;
"""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time that forebay._now() tells in a test's database: frozen until it is moved."""

    superuser: psycopg.Connection

    @classmethod
    def install(cls, superuser: psycopg.Connection) -> Clock:
        """Replace forebay._now() in this connection's database, and stop the time at NOON."""
        superuser.execute(INSTALL)
        clock = cls(superuser)
        clock.set(NOON)
        return clock

    def set(self, time: datetime) -> datetime:
        """Set the time, an aware datetime, and return it."""
        microseconds = (time - EPOCH) // MICROSECOND
        self.superuser.execute("select setval('test_clock.microseconds', %s)", [microseconds])
        return time

    def advance(self, by: timedelta) -> datetime:
        """Move the time on, and return it."""
        return self.set(self.now() + by)

    def now(self) -> datetime:
        """Return the time as the database tells it."""
        row = self.superuser.execute("select forebay._now()").fetchone()
        assert row is not None
        now: datetime = row[0]
        return now.astimezone(UTC)
