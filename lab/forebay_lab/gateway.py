"""A gateway before a real Postgres, which lets in who shows a token: as Lakebase's does, simulated.

It speaks the beginning of Postgres's protocol: TLS with a certificate of its own, then the token
as a password in clear text inside of it. What comes after the login is passed on as it is. It can
be asleep, cut connections, lead to a server that takes no writes, and swallow notifications.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal

from forebay_lab.certificate import tls_context
from forebay_lab.wire import (
    CANCEL_REQUEST,
    CLEARTEXT_PASSWORD,
    GSS_REQUEST,
    SSL_REQUEST,
    Ended,
    WithoutNotifications,
    code,
    packet,
    parameters,
    password,
    refusal,
    start_message,
)

CheckLogin = Callable[[str, str], bool]
"""Takes a user and a password; tells whether they may log in."""

READ_ONLY = "-c default_transaction_read_only=on"
LOOK_EVERY = 0.05  # seconds: how soon a cut is noticed
PATIENCE = 10.0  # seconds for a login, and for one write
CHUNK = 1 << 16  # bytes that are passed on at a time

Sleeping = Literal["refuses", "starts", "holds"]


@dataclass(frozen=True, slots=True)
class Login:
    """One login that was tried, on the monotonic clock; `outcome` is ok or an SQLSTATE."""

    at: float
    user: str
    outcome: str


@dataclass(slots=True)
class Gateway:
    """Serve a Postgres on loopback while it is entered; `port` is free, or the one given.

    socket_path is that of the server behind it, where everybody is trusted; `databases` says what
    that calls each database that there is, where they are not those of the server. Settings may be
    changed while it runs, in seconds, None for never: `idle_seconds` cuts a connection on which
    nothing was said for so long, `lifetime_seconds` one that is as old. `is_read_only` has new
    sessions take no writes; `swallows_notifications` has them hear none, as behind a pooler.
    """

    socket_path: str
    check: CheckLogin
    port: int = 0
    host: str = "127.0.0.1"
    databases: dict[str, str] = field(default_factory=dict)
    idle_seconds: float | None = None
    lifetime_seconds: float | None = None
    is_read_only: bool = False
    swallows_notifications: bool = False
    logins: list[Login] = field(default_factory=list)
    cuts: int = 0
    _sleep: _Sleep | None = None
    _epoch: threading.Event = field(default_factory=threading.Event)
    _closing: threading.Event = field(default_factory=threading.Event)
    _open: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _listening: socket.socket = field(init=False)
    _tls: ssl.SSLContext = field(init=False)

    def __enter__(self) -> Gateway:
        self._tls = tls_context()
        self._listening = socket.create_server((self.host, self.port), backlog=128)
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, name="gateway", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self.cut()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    @property
    def connections(self) -> int:
        """How many connections there are now that have logged in."""
        return self._open

    def cut(self) -> None:
        """Cut every connection there is."""
        epoch, self._epoch = self._epoch, threading.Event()
        epoch.set()

    def sleep(self, wake_seconds: float, how: Sleeping = "starts") -> None:
        """Cut everything and scale to zero. The next who connects wakes it, in so many seconds.

        Until it is awake it `refuses` connections, says that the database `starts` up, or `holds`
        them until it is.
        """
        self._sleep = _Sleep(wake_seconds, how)
        self.cut()

    @contextmanager
    def down(self) -> Iterator[None]:
        """Take no connections for the block, and cut those that there are."""
        self.sleep(float("inf"), "refuses")
        try:
            yield
        finally:
            self._sleep = None

    def fail_over(self, seconds: float) -> None:
        """Cut everything; what connects within so many seconds reaches a node that only reads."""
        self.is_read_only = True
        self.cut()
        threading.Timer(seconds, self._promote).start()

    def _promote(self) -> None:
        self.is_read_only = False

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        epoch = self._epoch
        with suppress(OSError, Ended), _Closing(client) as closing:
            client.settimeout(PATIENCE)
            if not self._is_awake():
                return
            line, start = self._begin(client)
            closing.add(line)
            server = socket.socket(socket.AF_UNIX)
            closing.add(server)
            is_session = code(start) != CANCEL_REQUEST
            if is_session:
                start = self._log_in(line, start)
            server.connect(self.socket_path)
            server.sendall(start)
            if not is_session:
                _farewell(line, server)
                return
            self._count(1)
            try:
                self._carry(line, server, epoch)
            finally:
                self._count(-1)

    def _is_awake(self) -> bool:
        """Tell whether connections are taken; one that is held is, when it has been waited for."""
        sleep = self._sleep
        if sleep is None or sleep.how == "starts":
            return True
        left = sleep.left()
        if sleep.how == "holds":
            self._closing.wait(left)
            left = 0
        if left <= 0:
            self._sleep = None
        return left <= 0

    def _begin(self, client: socket.socket) -> tuple[socket.socket, bytes]:
        """Return the line, with TLS if that is asked for, and the first message that is said."""
        line = client
        while True:
            start = packet(line)
            asked = code(start)
            if asked == GSS_REQUEST:
                line.sendall(b"N")
            elif asked == SSL_REQUEST:
                line.sendall(b"S")
                line = self._tls.wrap_socket(client, server_side=True)
            else:
                return line, start

    def _log_in(self, line: socket.socket, start: bytes) -> bytes:
        """Return the message that begins the session behind; end it for who may not come in."""
        said = parameters(start)
        user = said.get("user", "")
        if not isinstance(line, ssl.SSLSocket):
            self._refuse(line, user, "28000", "connection requires TLS")
        if self._sleep and self._sleep.left() > 0:
            self._refuse(line, user, "57P03", "the database system is starting up")
        self._sleep = None
        line.sendall(CLEARTEXT_PASSWORD)
        if not self.check(user, password(line)):
            self._refuse(line, user, "28P01", f'password authentication failed for user "{user}"')
        asked = said.get("database", user)
        if self.databases and asked not in self.databases:
            self._refuse(line, user, "3D000", f'database "{asked}" does not exist')
        self.logins.append(Login(time.monotonic(), user, "ok"))
        said["database"] = self.databases.get(asked, asked)
        if self.is_read_only:
            said["options"] = f"{said.get('options', '')} {READ_ONLY}".strip()
        return start_message(start[4:8], said)

    def _refuse(self, line: socket.socket, user: str, sqlstate: str, message: str) -> None:
        self.logins.append(Login(time.monotonic(), user, sqlstate))
        line.sendall(refusal(sqlstate, message))
        raise Ended

    def _carry(self, line: socket.socket, server: socket.socket, epoch: threading.Event) -> None:
        """Pass on what either end says, until one ends it or it is cut."""
        began = heard = time.monotonic()
        told = WithoutNotifications() if self.swallows_notifications else None
        while True:
            if not (isinstance(line, ssl.SSLSocket) and line.pending()):
                ready = select.select([line, server], [], [], LOOK_EVERY)[0]
            else:
                ready = [line]
            now = time.monotonic()
            if epoch.is_set() or _is_over(self.lifetime_seconds, now - began):
                break
            if not ready and _is_over(self.idle_seconds, now - heard):
                break
            for source in ready:
                data = _received(source)
                if data == b"":
                    return
                if data:
                    heard = now
                    if source is line:
                        server.sendall(data)
                    else:
                        line.sendall(told.of(data) if told else data)
        with self._lock:
            self.cuts += 1

    def _count(self, change: int) -> None:
        with self._lock:
            self._open += change


@dataclass(slots=True)
class _Sleep:
    """Scaled to zero, until somebody has come and so many seconds have passed."""

    seconds: float
    how: Sleeping
    awake_at: float | None = None

    def left(self) -> float:
        """Return the seconds until it is awake; the first who asks wakes it."""
        if self.awake_at is None:
            self.awake_at = time.monotonic() + self.seconds
        return self.awake_at - time.monotonic()


class _Closing:
    """Close sockets at the end of a block, at once and without a farewell."""

    def __init__(self, first: socket.socket) -> None:
        self._sockets = [first]

    def add(self, one: socket.socket) -> None:
        self._sockets.append(one)

    def __enter__(self) -> _Closing:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._sockets:
            one.close()


def _farewell(line: socket.socket, server: socket.socket) -> None:
    """End a cancel's connection when the server has, as TLS wants it: its sender waits for that."""
    server.recv(1)
    if isinstance(line, ssl.SSLSocket):
        line.settimeout(1)
        line.unwrap()


def _is_over(limit: float | None, seconds: float) -> bool:
    return limit is not None and seconds > limit


def _received(source: socket.socket) -> bytes | None:
    """Return what came, empty at the end, None where TLS has nothing to give yet."""
    source.settimeout(0)
    try:
        return source.recv(CHUNK)
    except (ssl.SSLWantReadError, BlockingIOError):
        return None
    finally:
        source.settimeout(PATIENCE)
