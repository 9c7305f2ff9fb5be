"""The passwords of simulated databases: who may use which, where, and until when."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Given:
    """What a token is good for; times are epoch seconds."""

    user: str
    place: str
    ends_at: float


@dataclass(slots=True)
class Credentials:
    """Tokens that were given out; each lasts for `seconds`, unless another time was asked for."""

    now: Callable[[], float]
    seconds: float = 3600
    given: dict[str, Given] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def give(self, user: str, place: str, seconds: float | None = None) -> tuple[str, float]:
        """Return a new token for somebody at an endpoint or instance, and when it ends."""
        token = f"stand-in.{secrets.token_urlsafe(48)}"
        ends_at = self.now() + (self.seconds if seconds is None else seconds)
        with self._lock:
            self.given[token] = Given(user, place, ends_at)
        return token, ends_at

    def revoke_all(self) -> None:
        """Have none of the tokens be good any more."""
        with self._lock:
            self.given = {
                token: Given(one.user, one.place, 0.0) for token, one in self.given.items()
            }

    def is_good(self, place: str, user: str, token: str) -> bool:
        """Tell whether the user may log in at the place with this password now."""
        one = self.given.get(token)
        return (
            one is not None and (one.place, one.user) == (place, user) and self.now() < one.ends_at
        )
