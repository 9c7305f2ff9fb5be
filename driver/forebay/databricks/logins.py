"""Logins that end by themselves: kept while they are good, and renewed before they are not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from forebay.errors import ConnectError
from forebay.logs import EventLog

log = EventLog(__name__)

RENEW_AFTER = 2 / 3
"""The part of its life after which a login is renewed, while it is still good."""

SPARE = 1 / 5
"""The part of its life at the end in which it is not begun with, and the most of it in seconds."""
MOST_SPARE = 60.0


@dataclass(frozen=True, slots=True)
class Login:
    """What a new connection logs in with; it ends `life` seconds after it was asked for."""

    host: str
    user: str
    token: str = field(repr=False)
    life: float


@dataclass(frozen=True, slots=True)
class _Held:
    """A login, with the times that follow from its life, on the monotonic clock."""

    login: Login
    renew_at: float
    ends_at: float


class Logins:
    """Give the login of one database to any thread, fetched once for all who ask meanwhile.

    `fetch` asks for a new one, in a thread of its own; it raises ConnectError.
    """

    def __init__(self, fetch: Callable[[], Login]) -> None:
        self._fetch = fetch
        self._held: _Held | None = None
        self._coming: Future[Login] | None = None
        self._lock = threading.Lock()

    @property
    def life(self) -> float | None:
        """Return how long logins last, in seconds; None while none was fetched."""
        held = self._held
        return held.login.life if held else None

    def get(self, timeout: float) -> Login:
        """Return one that is good now. Raises ConnectError, at the latest after `timeout` seconds.

        One that is to be renewed is given while it is good: nobody waits for the renewal.
        """
        now = time.monotonic()
        with self._lock:
            held = self._held
            if held and now < held.renew_at:
                return held.login
            coming = self._coming or self._begin()
        if held and now < held.ends_at:
            return held.login
        try:
            return coming.result(timeout)
        except TimeoutError:
            raise ConnectError(
                f"The workspace gave no credential for the database within {timeout:g} s:"
                " wait until it answers.",
                is_transient=True,
            ) from None

    def drop(self, token: str) -> None:
        """Give this one to nobody any more: the database did not take it."""
        with self._lock:
            if self._held and self._held.login.token == token:
                self._held = None

    def _begin(self) -> Future[Login]:
        coming = self._coming = Future()
        threading.Thread(target=self._run, args=(coming,), name="login", daemon=True).start()
        return coming

    def _run(self, coming: Future[Login]) -> None:
        """Fetch one, keep it, and give it to those who wait."""
        began = time.monotonic()
        login: Login | None = None
        failure: Exception = RuntimeError("no login")
        try:
            login = self._fetch()
        except Exception as error:
            failure = error
            log.warning("credential_not_given", error=type(error).__name__, reason=str(error))
        with self._lock:
            self._coming = None
            if login:
                self._held = _Held(
                    login,
                    renew_at=began + login.life * RENEW_AFTER,
                    ends_at=began + login.life - min(login.life * SPARE, MOST_SPARE),
                )
        if login:
            coming.set_result(login)
        else:
            coming.set_exception(failure)
