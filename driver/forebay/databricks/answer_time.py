"""How long an answer may take as a whole: what `requests` bounds is each wait for a part of it.

An answer that comes byte by byte is one that never comes.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.poolmanager import PoolManager

MOST_LINES = 20
"""Connections to one host, as many as the SDK has: who wants another waits for one of them."""

MOST_STEPS = 2
"""How often an answer may be one that leads elsewhere: the API's never do."""


class AnswerTime(HTTPAdapter):
    """Break off an answer that is not there in `seconds` from when its request was sent.

    Of an answer that is streamed that is its head. What is broken off raises ReadTimeout.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        super().__init__(pool_connections=MOST_LINES, pool_maxsize=MOST_LINES, pool_block=True)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        _watch(self.poolmanager)

    def proxy_manager_for(self, *arguments: Any, **options: Any) -> Any:
        return _watch(super().proxy_manager_for(*arguments, **options))

    def send(
        self, request: requests.PreparedRequest, stream: bool = False, *arguments: Any, **more: Any
    ) -> requests.Response:
        with _sending.watched(request, self._seconds):
            answer = super().send(request, stream, *arguments, **more)
            if not stream:
                answer.content  # noqa: B018  # read while it is watched
            return answer


def give_answers_time(session: requests.Session, seconds: float) -> requests.Session:
    """Have a session's answers be there in `seconds`, each step to them, and return it."""
    session.max_redirects = MOST_STEPS
    for scheme in ("https://", "http://"):
        session.mount(scheme, AnswerTime(seconds))
    return session


class _Watch:
    """Cut a line after a while, from when an answer is waited for until `end`."""

    def __init__(self, seconds: float) -> None:
        self.has_broken_off = False
        self._seconds = seconds
        self._lock = threading.Lock()
        self._is_over = False
        self._timer: threading.Timer | None = None

    def begin(self, line: socket.socket | None) -> None:
        self._timer = threading.Timer(self._seconds, self._break_off, [line])
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        with self._lock:
            self._is_over = True
        if self._timer:
            self._timer.cancel()

    def _break_off(self, line: socket.socket | None) -> None:
        with self._lock, suppress(OSError):  # it may be closed already
            if line and not self._is_over:
                self.has_broken_off = True
                socket.socket.shutdown(line, socket.SHUT_RDWR)


class _Sending(threading.local):
    watch: _Watch

    @contextmanager
    def watched(self, request: requests.PreparedRequest, seconds: float) -> Iterator[None]:
        """Watch over what a request is answered with in the block.

        Raises ReadTimeout where it was broken off, also where that looks like its end.
        """
        watch = self.watch = _Watch(seconds)
        fault: requests.RequestException | None = None
        try:
            yield
        except requests.RequestException as error:
            fault = error
        finally:
            watch.end()
        if watch.has_broken_off:
            said = f"no whole answer within {seconds:g} s"
            raise requests.ReadTimeout(said, request=request) from fault
        if fault:
            raise fault


_sending = _Sending()
"""What watches over the request that this thread sends."""


class _Watched:
    """A connection that tells when an answer is waited for, and on which line.

    Whoever has it next is in no danger of the watch before.
    """

    sock: socket.socket | None
    _watch: _Watch | None = None

    def request(self, *arguments: Any, **options: Any) -> None:
        if self._watch:
            self._watch.end()
        super().request(*arguments, **options)  # type: ignore[misc]

    def getresponse(self) -> Any:
        self._watch = _sending.watch
        self._watch.begin(self.sock)
        return super().getresponse()  # type: ignore[misc]


class _Connection(_Watched, HTTPConnection):
    pass


class _SecureConnection(_Watched, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


def _watch(manager: PoolManager) -> PoolManager:
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
    return manager
