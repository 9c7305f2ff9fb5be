"""A connection that listens, and wakes a loop when something changed: a hint, never the only way.

Whoever is woken reads the state again and polls all the same, so that nothing but time is lost
while the listener is away. Its connection is its own: never from a pool, never in a transaction.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from psycopg import Connection, sql

from forebay.logs import EventLog, first_line
from forebay.pool import Database, cut_off

log = EventLog(__name__)

WORK = "forebay_work"
CHANGES = "forebay_changes"
APPLICATION_NAME = "forebay listener"
PROBE_SECONDS = 2.0  # a notification to oneself that takes longer counts as lost
BACKOFF = (0.25, 2.0)  # seconds between tries to connect, first and longest: pages wait for it
LOOK_EVERY = 0.5  # seconds: how soon `stop` is noticed


class Listener:
    """Listen in a thread of its own and call `wake` for every notification, and after every start.

    The connection is proved alive by notifying itself: at the start, and when nothing came for
    `probe_every` seconds. A connection on which that fails (cut, half-open, behind a pooler that
    swallows notifications) is replaced, with a growing pause, and `wake` is called once more when
    it is back. It is also replaced after `recycle_after` seconds. `lost` is called when it is gone,
    unless it was told to stop. Both run in the thread.
    """

    def __init__(
        self,
        database: Database,
        wake: Callable[[], None],
        *,
        channels: Sequence[str] = (WORK,),
        probe_every: float = 30,
        recycle_after: float = 12 * 3600,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = replace(database, application_name=APPLICATION_NAME, tcp_timeout=10)
        self._wake = wake
        self._lost = lost
        self._channels = channels
        self._probe_every = probe_every
        self._recycle_after = recycle_after
        self._probe_channel = f"forebay_probe_{secrets.token_hex(8)}"
        self._stop = threading.Event()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name=APPLICATION_NAME, daemon=True)

    @property
    def is_listening(self) -> bool:
        """Tell whether the connection was proved alive; without it only polling finds work."""
        return self._listening.is_set()

    def start(self) -> None:
        """Begin to listen; the first connection is made in the background."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Begin to end, without waiting; safe to call in a signal handler."""
        self._stop.set()

    def stop(self) -> None:
        """End the thread and its connection; returns when both are gone, or after a few seconds."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(PROBE_SECONDS + LOOK_EVERY)

    def _run(self) -> None:
        pause = BACKOFF[0]
        while not self._stop.is_set():
            try:
                with self._database.connect() as connection:
                    self._listen(connection)
                    pause = BACKOFF[0]
            except Exception as error:
                log.warning("listener_lost", error=type(error).__name__, reason=first_line(error))
                pause = BACKOFF[0] if self.is_listening else min(pause * 2, BACKOFF[1])
            finally:
                self._lose()
            self._stop.wait(pause * random.uniform(0.5, 1))

    def _lose(self) -> None:
        was_listening = self.is_listening
        self._listening.clear()
        if was_listening and not self._stop.is_set():
            self._lost()

    def _listen(self, connection: Connection[Any]) -> None:
        """Hear notifications until it is time to recycle or to stop; raise when it cannot hear."""
        recycle_at = time.monotonic() + self._recycle_after
        with cut_off(connection, PROBE_SECONDS):
            for channel in (*self._channels, self._probe_channel):
                connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
        self._probe(connection)
        self._listening.set()
        log.info("listener_up", channels=",".join(self._channels))
        self._wake()
        probe_at = time.monotonic() + self._probe_every
        while not self._stop.is_set() and time.monotonic() < recycle_at:
            for _ in connection.notifies(timeout=LOOK_EVERY, stop_after=1):
                probe_at = time.monotonic() + self._probe_every
                self._wake()
            if time.monotonic() > probe_at:
                self._probe(connection)
                probe_at = time.monotonic() + self._probe_every

    def _probe(self, connection: Connection[Any]) -> None:
        """Notify oneself and hear it; raises TimeoutError or what the broken connection raises."""
        give_up_at = time.monotonic() + PROBE_SECONDS
        with cut_off(connection, PROBE_SECONDS):
            connection.execute("select pg_notify(%s, '')", [self._probe_channel])
        while (left := give_up_at - time.monotonic()) > 0:
            for notice in connection.notifies(timeout=left, stop_after=1):
                if notice.channel == self._probe_channel:
                    return
                self._wake()
        raise TimeoutError(
            f"a notification to itself did not arrive within {PROBE_SECONDS:g} s (a pooler?)"
        )
