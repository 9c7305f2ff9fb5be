"""Who asks, and what they may: principals, tokens and the permissions on objects."""

from __future__ import annotations

import base64
import binascii
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LEVELS = (
    "USE_CATALOG",
    "USE_SCHEMA",
    "SELECT",
    "CAN_VIEW",
    "CAN_READ",
    "READ",
    "CAN_USE",
    "CAN_QUERY",
    "CAN_CONNECT_AND_CREATE",
    "READ_VOLUME",
    "WRITE",
    "WRITE_VOLUME",
    "CAN_EDIT",
    "CAN_MANAGE_RUN",
    "CAN_MANAGE",
    "MANAGE",
    "IS_OWNER",
)
"""Levels of permission; of one object, a later one includes those before it."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A user or a service principal; `secret` is what a service principal logs in with."""

    name: str
    is_service: bool = True
    is_admin: bool = False
    secret: str = field(default="", repr=False)


@dataclass(slots=True)
class Access:
    """The principals of the workspace, their tokens, and who may do what to which object.

    `now` gives epoch seconds; OAuth tokens last for `token_seconds`.
    """

    now: Callable[[], float]
    token_seconds: float = 3600
    _principals: dict[str, Principal] = field(default_factory=dict)
    _tokens: dict[str, tuple[Principal, float]] = field(default_factory=dict)
    _granted: dict[tuple[str, str], str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, principal: Principal, token: str | None = None) -> None:
        """Let somebody in; `token` is a personal access token, which lasts."""
        self._principals[principal.name] = principal
        if token is not None:
            self._tokens[token] = (principal, float("inf"))

    def find(self, name: str, *, is_service: bool) -> Principal | None:
        """Return the user, or the service principal, of this name in any case."""
        known = {one.name.casefold(): one for one in list(self._principals.values())}
        found = known.get(name.casefold())
        return found if found and found.is_service == is_service else None

    def log_in(self, authorization: str) -> str | None:
        """Return a new OAuth token for HTTP Basic credentials; None if they are wrong."""
        try:
            said = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        name, _, secret = said.partition(":")
        principal = self._principals.get(name)
        if principal is None or not principal.secret or principal.secret != secret:
            return None
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._tokens[token] = (principal, self.now() + self.token_seconds)
        return token

    def who(self, headers: Mapping[str, str]) -> Principal | None:
        """Return whose bearer token it is, if it is one that has not expired."""
        token = headers.get("authorization", "").removeprefix("Bearer ")
        principal, until = self._tokens.get(token, (None, 0.0))
        return principal if principal and self.now() < until else None

    def is_personal(self, token: str) -> bool:
        """Tell whether a token is a personal access token, which OAuth did not give out."""
        return self._tokens.get(token, (None, 0.0))[1] == float("inf")

    def expire_tokens(self) -> None:
        """Have every OAuth token be expired from now on."""
        with self._lock:
            self._tokens = {t: p for t, p in self._tokens.items() if p[1] == float("inf")}

    def grant(self, name: str, thing: str, level: str) -> None:
        """Give somebody a level on a thing, such as `jobs/7`; it replaces what was there."""
        assert level in LEVELS, level
        self._granted[name, thing] = level

    def revoke(self, name: str, thing: str) -> None:
        """Take away what somebody may do to a thing."""
        self._granted.pop((name, thing), None)

    def granted(self, thing: str) -> dict[str, str]:
        """Return who was given which level on a thing."""
        return {name: level for (name, on), level in self._granted.items() if on == thing}

    def may(self, principal: Principal | None, thing: str, level: str) -> bool:
        """Tell whether somebody has at least the level on a thing; admins may do everything."""
        if principal is None:
            return False
        granted = self._granted.get((principal.name, thing))
        return principal.is_admin or (
            granted is not None and LEVELS.index(granted) >= LEVELS.index(level)
        )
