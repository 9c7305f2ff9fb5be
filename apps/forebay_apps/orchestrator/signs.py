"""The signs of health of the system, those that need a person marked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from markupsafe import Markup

from forebay.rows import HealthReport
from forebay_apps.web import formats

Tone = Literal["good", "warn", "bad", ""]
Said = str | Markup

OLD_SWEEP = timedelta(minutes=2)
OLD_TRANSACTION = timedelta(minutes=5)
FULL_QUEUE = 0.1
NEARLY_ALL = 0.8


@dataclass(frozen=True, slots=True)
class Sign:
    """One line of the health of the system; a note says what to do about it."""

    name: str
    said: Said
    tone: Tone = ""
    note: str = ""


def signs(health: HealthReport, long_wait: timedelta) -> list[Sign]:
    """Return the signs of health, those that need a person marked."""
    now = health.as_of
    return [
        _dispatching(health),
        *_launchers(health),
        _age(
            "last sweep",
            health.last_sweep_at,
            now,
            OLD_SWEEP,
            "Nothing sweeps: start a daemon, or have a timer call forebay.sweep().",
            is_wanted=True,
        ),
        _age("last claim", health.last_claim_at, now),
        _age(
            "oldest task that waits",
            health.oldest_waiting_at,
            now,
            long_wait,
            "It waits long: its page says why.",
        ),
        Sign(
            "leases run out, not swept yet",
            formats.number(health.expired_leases),
            "warn" if health.expired_leases else "good",
            "The next sweep takes them." if health.expired_leases else "",
        ),
        Sign(
            "listeners",
            formats.number(health.listeners),
            "good" if health.listeners else "warn",
            "" if health.listeners else "Nobody hears of changes at once; polling goes on.",
        ),
        _age(
            "oldest transaction",
            health.oldest_transaction_at,
            now,
            OLD_TRANSACTION,
            f"It is of {health.oldest_transaction_of or 'an unnamed session'}, and keeps dead rows"
            " from being vacuumed.",
        ),
        Sign(
            "NOTIFY queue in use",
            formats.share(health.notify_queue_usage),
            "bad" if health.notify_queue_usage > FULL_QUEUE else "good",
            "A listening session stays inside a transaction: end it."
            if health.notify_queue_usage > FULL_QUEUE
            else "",
        ),
        Sign(
            "connections",
            f"{formats.number(health.connections)} of {formats.number(health.max_connections)}",
            "warn" if health.connections > NEARLY_ALL * health.max_connections else "good",
        ),
    ]


def _launchers(health: HealthReport) -> list[Sign]:
    """Return a sign for each launcher that a dispatcher cannot start runs with; none if all can."""
    return [
        Sign(
            f"launcher {fault['launcher']}",
            f"cannot be used by {dispatcher['worker']}",
            "bad",
            f"It is tried again and again, and its tasks wait: {fault['reason']}",
        )
        for dispatcher in health.dispatchers
        for fault in dispatcher["faults"]
    ]


def _dispatching(health: HealthReport) -> Sign:
    if not health.may_dispatch:
        return Sign(
            "dispatching",
            "closed: this is a branch or a copy",
            "warn",
            "An operator opens it with forebay db open, if it is meant to do real work.",
        )
    return Sign("dispatching", "allowed", "good")


def _age(
    name: str,
    at: datetime | None,
    now: datetime,
    most: timedelta | None = None,
    note: str = "",
    *,
    is_wanted: bool = False,
) -> Sign:
    """Return a moment as a sign, bad when it is longer ago than it may be."""
    if at is None:
        return Sign(name, "none", "warn" if is_wanted else "", note if is_wanted else "")
    is_old = most is not None and now - at > most
    tone: Tone = "" if most is None else "warn" if is_old else "good"
    return Sign(name, formats.moment(at), tone, note if is_old else "")


def own_signs(is_listening: bool, streams: int, daemon: Any) -> list[Sign]:
    """Return the signs of this process: its listener, open pages, and the daemon beside it."""
    found = [
        Sign(
            "this page hears of changes",
            "at once" if is_listening else "by polling",
            "good" if is_listening else "warn",
        ),
        Sign("open pages", formats.number(streams)),
    ]
    if daemon is None:
        return [*found, Sign("daemon", "not run by this process")]
    state = daemon.state
    if state.pid is None:
        again = formats.moment(state.starts_again_at) if state.starts_again_at else "not"
        code = f", it ended with code {state.last_exit_code}" * (state.last_exit_code is not None)
        return [*found, Sign("daemon", Markup("down, starts {}{}").format(again, code), "bad")]
    return [
        *found,
        Sign(
            "daemon",
            Markup("runs as process {}, since {}").format(
                state.pid, formats.moment(state.started_at)
            ),
            "good",
            f"It was started again {state.restarts} times." if state.restarts else "",
        ),
    ]
