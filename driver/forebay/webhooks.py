"""Messages as Standard Webhooks has them: signed, posted once, and what the receiver said.

Whoever sends decides when to try again, always under the same message id: receivers know by it what
they have had before. No body is ever logged or repeated in an error.
"""

from __future__ import annotations

import base64
import binascii
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from forebay import jsonb
from forebay.errors import MissingSettingError, SettingError
from forebay.settings import address, text

SECRET_PREFIX = "whsec_"
LEAST_SECRET = 16  # bytes
MOST_SECRETS = 2
LONGEST_ANSWER = 4096  # bytes that are read of what a receiver says
LONGEST_REASON = 250  # characters of why a message was not taken
THREAD = "webhook"
MAY_PASS = {408, 425, 429}  # besides every 5xx
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class NotDelivered(Exception):
    """The receiver did not take the message; the reason can be stored, whatever it quotes.

    `is_final` says that another try would end the same; `retry_after` is how many seconds the
    receiver asks to be left alone; `status` is what it answered, None for no answer.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_final: bool,
        retry_after: float = 0,
        status: int | None = None,
    ) -> None:
        super().__init__(jsonb.mended(reason)[:LONGEST_REASON])
        self.is_final = is_final
        self.retry_after = retry_after
        self.status = status


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where messages go, and what they are signed with: each secret gives a signature."""

    url: str
    secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def read(
        cls, environment: Mapping[str, str], url_name: str, secrets_name: str
    ) -> Receiver | None:
        """Return the receiver that these variables name; None where no address is set.

        Raises SettingError for an address without a secret, for what is no address or secret, and
        where the package that signs is not installed.
        """
        url = address(environment, url_name)
        if not url:
            return None
        if find_spec("standardwebhooks") is None:
            raise SettingError(
                f"{url_name} needs more: install it with pip install standardwebhooks."
            )
        secrets = read_secrets(environment, secrets_name)
        if not secrets:
            raise MissingSettingError(
                f"{secrets_name} is not set: messages to {url_name} are signed with it."
            )
        return cls(url, secrets)

    def post(
        self,
        message_id: str,
        body: str,
        *,
        seconds: float,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Sign the body and post it, with more headers; return when the receiver has taken it.

        Raises NotDelivered, at the latest after so many seconds: the line is cut then. Redirects
        are not followed.
        """
        request = _Request(
            self.url,
            data=body.encode(),
            headers={**headers, **self._headers(message_id, body)},
            method="POST",
        )
        failures: list[NotDelivered | None] = []
        # A thread, since a receiver that sends a byte now and then outlasts any socket's timeout.
        thread = threading.Thread(
            target=lambda: failures.append(_failure(request, seconds)),
            name=THREAD,
            daemon=True,
        )
        thread.start()
        thread.join(seconds)
        if not failures:
            request.cut()
            raise NotDelivered(f"no answer within {seconds:.1f} s", is_final=False)
        if failures[0]:
            raise failures[0]

    def _headers(self, message_id: str, body: str) -> dict[str, str]:
        from standardwebhooks import Webhook

        now = datetime.now(UTC)
        signatures = [Webhook(secret).sign(message_id, now, body) for secret in self.secrets]
        return {
            "Content-Type": "application/json",
            "User-Agent": "forebay",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }


def read_secrets(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return the one or two secrets of a variable, the newest first; raise SettingError."""
    secrets = tuple(text(environment, name).replace(",", " ").split())
    if len(secrets) > MOST_SECRETS:
        raise SettingError(f"{name} holds {len(secrets)} secrets: keep the newest two.")
    if not all(map(_is_secret, secrets)):
        raise SettingError(
            f"{name} holds what is no secret: write {SECRET_PREFIX} and then the base64 of"
            f" {LEAST_SECRET} or more random bytes."
        )
    return secrets


def _is_secret(secret: str) -> bool:
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return False
    return secret.startswith(SECRET_PREFIX) and len(key) >= LEAST_SECRET


class _Request(urllib.request.Request):
    """A request whose line another thread may cut, also while a connection is being made."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._line: socket.socket | None = None
        self._is_cut = False
        self._lock = threading.Lock()

    def connect(self, *arguments: Any) -> socket.socket:
        """Return a connected socket, below TLS. Raises TimeoutError once the line is cut."""
        made = socket.create_connection(*arguments)
        with self._lock:
            if not self._is_cut:
                self._line = made.dup()  # whoever has the other one may close it at any time
                return made
        made.close()
        raise TimeoutError("given up")

    def cut(self) -> None:
        """End what goes on; what comes later is not begun."""
        with self._lock, suppress(OSError):
            self._is_cut = True
            if self._line:
                self._line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the line."""
        with self._lock:
            if self._line:
                self._line.close()


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(partial(_connection, HTTPConnection, req), req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        return self.do_open(partial(_connection, HTTPSConnection, req), req)


def _connection(
    kind: type[HTTPConnection], request: _Request, host: str, **options: Any
) -> HTTPConnection:
    """Return a connection for a request, which makes its socket."""
    made = kind(host, **options)
    made._create_connection = request.connect  # type: ignore[attr-defined]
    return made


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect, _Http, _Https)


def _failure(request: _Request, seconds: float) -> NotDelivered | None:
    try:
        with _OPENER.open(request, timeout=seconds):
            return None
    except urllib.error.HTTPError as error:
        with error:
            is_final = error.code < 500 and error.code not in MAY_PASS
            return NotDelivered(
                f"the receiver answered {error.code}{_said(error)}",
                is_final=is_final,
                retry_after=_retry_after(error.headers),
                status=error.code,
            )
    except (OSError, HTTPException, ValueError) as error:  # ValueError: of a host's odd name
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        return NotDelivered(f"the receiver cannot be reached ({reason})", is_final=False)
    finally:
        request.close()


def _said(error: urllib.error.HTTPError) -> str:
    """Return the reason in the receiver's answer, if it is of our form."""
    try:
        answer = json.loads(error.read(LONGEST_ANSWER))
    except (OSError, HTTPException, ValueError, RecursionError):
        return ""
    said = answer.get("error") if isinstance(answer, dict) else None
    return f": {said}" if isinstance(said, str) else ""


def _retry_after(headers: Message) -> float:
    """Return the seconds of Retry-After; 0 for a date, which is rare, and for nonsense."""
    said = headers.get("Retry-After", "").strip()
    return float(said) if said.isascii() and said.isdigit() and len(said) < 10 else 0
