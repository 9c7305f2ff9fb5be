"""Logins that end by themselves: kept while they are good, and renewed before they are not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from forebay.logs import EventLog

log = EventLog(__name__)

RENEW_AFTER = 2 / 3
"""The part of its life after which a login is renewed, while it is still good."""

SPARE = 1 / 5
"""The part of its life at the end in which it is not begun with, and the most of it in seconds."""
MOST_SPARE = 60.0


ABANDON_AFTER = 60.0
"""Seconds after which a fetch that has not ended is waited for no more, and another one begins."""


class Login(Protocol):
    """What is fetched: its token ends `life` seconds after it was asked for."""

    @property
    def token(self) -> str: ...

    @property
    def life(self) -> float: ...


L = TypeVar("L", bound=Login)


@dataclass(frozen=True, slots=True)
class _Held(Generic[L]):
    """A login, with the times that follow from its life, on the monotonic clock."""

    login: L
    renew_at: float
    ends_at: float


@dataclass(frozen=True, slots=True)
class _Coming(Generic[L]):
    """A fetch that goes on, and when it began."""

    login: Future[L]
    began: float


class Logins(Generic[L]):
    """Give one login to any thread, fetched once for all who ask meanwhile.

    `fetch` asks for a new one, in a thread of its own.
    """

    def __init__(self, fetch: Callable[[], L]) -> None:
        self._fetch = fetch
        self._held: _Held[L] | None = None
        self._coming: _Coming[L] | None = None
        self._lock = threading.Lock()

    @property
    def life(self) -> float | None:
        """Return how long logins last, in seconds; None while none was fetched."""
        held = self._held
        return held.login.life if held else None

    def get(self, timeout: float) -> L:
        """Return one that is good now. Raises what `fetch` does, and TimeoutError after `timeout`.

        One that is to be renewed is given while it is good: nobody waits for the renewal.
        """
        now = time.monotonic()
        with self._lock:
            held = self._held
            if held and now < held.renew_at:
                return held.login
            coming = self._coming
            if coming is None or now > coming.began + ABANDON_AFTER:
                coming = self._begin(now)
        if held and now < held.ends_at:
            return held.login
        return coming.login.result(timeout)

    def drop(self, token: str) -> None:
        """Give this one to nobody any more: it was refused."""
        with self._lock:
            if self._held and self._held.login.token == token:
                self._held = None

    def _begin(self, now: float) -> _Coming[L]:
        coming: _Coming[L] = _Coming(Future(), now)
        self._coming = coming
        threading.Thread(target=self._run, args=(coming,), name="login", daemon=True).start()
        return coming

    def _run(self, coming: _Coming[L]) -> None:
        """Fetch one, keep it, and give it to those who wait."""
        login: L | None = None
        failure: Exception = RuntimeError("no login")
        try:
            login = self._fetch()
        except Exception as error:
            failure = error
            log.warning("credential_not_given", error=type(error).__name__, reason=str(error))
        with self._lock:
            if self._coming is coming:
                self._coming = None
            if login:
                self._held = _Held(
                    login,
                    renew_at=coming.began + login.life * RENEW_AFTER,
                    ends_at=coming.began + login.life - min(login.life * SPARE, MOST_SPARE),
                )
        if login:
            coming.login.set_result(login)
        else:
            coming.login.set_exception(failure)
