"""Large, slow and many uploads cost the app little: memory, threads and a stop are bounded."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from apps.conftest import ClientOf
from apps.support.serving import Served
from apps.support.uploads import a_pdf, put, stored
from forebay.calls import submitter
from forebay_apps.intake import receiving
from forebay_apps.web.turns import Turns

MEGABYTE = 1 << 20
SIZE = 96 * MEGABYTE


def large_pdf() -> Iterator[bytes]:
    """Yield a PDF of 96 MB whose page says little: the rest is a comment before its end."""
    body, start, end = a_pdf().rpartition(b"startxref")
    yield body + b"%"
    for _ in range(SIZE // MEGABYTE):
        yield b"x" * MEGABYTE
    yield b"\n" + start + end


@contextmanager
def process(dsn: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Serve intake in a process of its own; give its address and its id."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "FOREBAY_DATABASE_URL": dsn,
        "FOREBAY_HOME": str(folder),
        "FOREBAY_STORAGE_ROOTS": str(folder / "storage"),
        "FOREBAY_LOGIN": "proxy",
        "FOREBAY_TRUSTED_PROXIES": "127.0.0.1",
    }
    command = [sys.executable, "-m", "forebay.cli", "serve", "intake", "--port", str(port)]
    served = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}", served.pid
    finally:
        served.terminate()
        served.wait(10)


def memory(pid: int, name: str) -> int:
    """Return how many bytes a process holds: VmRSS, or VmHWM at most."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no {name}")


def test_memory_stays_while_a_large_file_streams(
    role_dsn: Callable[..., str], tmp_path: Path
) -> None:
    """Of 96 MB the process never holds more than a few at a time."""
    with process(role_dsn("all"), tmp_path) as (url, pid):
        headers = {"X-Forwarded-User": "mila", "Sec-Fetch-Site": "same-origin"}
        with httpx.Client(base_url=url, headers=headers, timeout=60) as mila:
            _wait_for(mila)
            assert put(mila, a_pdf()).status_code == 201
            before = memory(pid, "VmRSS")
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the maximum is counted anew
            assert put(mila, large_pdf()).status_code == 201
            assert memory(pid, "VmHWM") - before < 24 * MEGABYTE
    assert max(path.stat().st_size for path in tmp_path.rglob("*.pdf")) > SIZE


def _wait_for(client: httpx.Client) -> None:
    for _ in range(200):
        try:
            if client.get("/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("intake did not start")


def stalled(app: Served, client: httpx.Client) -> socket.socket:
    """Begin an upload, and say no more."""
    where = urlsplit(app.url)
    cookie = "; ".join(f"{each.name}={each.value}" for each in client.cookies.jar)
    line = socket.create_connection((where.hostname or "", where.port or 0), timeout=20)
    head = (
        f"PUT /uploads/{uuid.uuid4()} HTTP/1.1\r\nHost: {where.netloc}\r\nOrigin: {app.url}\r\n"
        f"Cookie: {cookie}\r\nX-Document-Name: a.pdf\r\nContent-Length: 5000\r\n\r\n%PDF-1.4"
    )
    line.sendall(head.encode())
    return line


def test_who_says_nothing_for_long_is_given_up(
    intake: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends with an answer, and nothing of the file is left."""
    monkeypatch.setattr(receiving, "PATIENCE", 0.2)
    with stalled(intake, client(intake, "mila")) as line:
        answer = line.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")
    assert not stored(intake)


def test_who_drips_is_given_up(
    intake: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte now and then is not enough to keep a place."""
    monkeypatch.setattr(receiving, "PATIENCE", 1)
    monkeypatch.setattr(receiving, "LEAST_SPEED", MEGABYTE)
    answer = b""
    with stalled(intake, client(intake, "mila")) as line:
        line.settimeout(0.1)
        for _ in range(200):
            with suppress(TimeoutError):
                answer = line.recv(65536)
                break
            line.sendall(b"x")
        line.settimeout(10)
        while more := line.recv(65536):
            answer += more
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"The file came too slowly: try again." in answer
    assert not stored(intake)


def test_many_slow_uploads_leave_room_for_pages_and_others(
    intake: Served, client: ClientOf, connect: Callable[..., psycopg.Connection]
) -> None:
    """However many one person sends at once, pages are answered, and others may upload."""
    mila, alice = client(intake, "mila"), client(intake, "alice")
    with ExitStack() as lines:
        for _ in range(receiving.AT_ONCE_A_PERSON * 6):
            lines.enter_context(stalled(intake, mila))
        assert mila.get("/batches").status_code == 200
        assert mila.get("/").status_code == 200
        assert put(alice, a_pdf()).status_code == 201
        refused = put(mila, a_pdf())
        assert refused.status_code == 429
        assert "You send 8 files already" in refused.json()["error"]
    assert _put_when_free(mila).status_code == 201
    assert len(submitter.list_uploads(connect("submitter"), actor="mila")) == 1
    assert len(stored(intake)) == 2


def test_who_gets_no_place_is_told_and_may_come_again(
    intake: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow senders of others do not make one wait without an answer, and the id is not spent."""
    monkeypatch.setattr(receiving, "_places", Turns(2, 0.2, "Too many files."))
    mila, alice, one = client(intake, "mila"), client(intake, "alice"), str(uuid.uuid4())
    with ExitStack() as lines:
        for _ in range(2):
            lines.enter_context(stalled(intake, mila))
        time.sleep(0.5)
        refused = put(alice, a_pdf(), upload_id=one)
        assert (refused.status_code, refused.json()) == (503, {"error": "Too many files."})
        assert refused.headers["Retry-After"]
    for _ in range(100):
        if (taken := put(alice, a_pdf(), upload_id=one)).status_code != 503:
            break
    assert taken.status_code == 201


def _put_when_free(client: httpx.Client) -> httpx.Response:
    """Send a file as soon as those that hung up have left their places."""
    for _ in range(100):
        answer = put(client, a_pdf())
        if answer.status_code != 429:
            break
        time.sleep(0.1)
    return answer
