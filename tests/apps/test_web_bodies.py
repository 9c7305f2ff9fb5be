"""What is sent is bounded in size and time; every answer has the headers that protect."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from apps.conftest import ClientOf
from apps.support.kit import asking
from apps.support.serving import Served
from apps.support.uploads import a_pdf, put
from forebay_apps.web import bodies
from forebay_apps.web.bodies import STRANGERS_BYTES
from forebay_apps.web.guard import HEADERS

FORM = "Content-Type: application/x-www-form-urlencoded\r\n"


def answer_to(served: Served, headers: str, body: bytes, path: str = "/login") -> bytes:
    """Return all that is answered to a form until the connection is closed, within seconds."""
    where = urlsplit(served.url)
    head = f"POST {path} HTTP/1.1\r\nHost: {where.netloc}\r\nOrigin: {served.url}\r\n{FORM}"
    with socket.create_connection((where.hostname, where.port), timeout=4) as line:
        line.sendall(f"{head}{headers}\r\n\r\n".encode() + body)
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return answer


def test_a_form_that_does_not_arrive_is_given_up(
    door: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a sentence, and the connection ends: one byte keeps no place."""
    monkeypatch.setattr(bodies, "SECONDS", 0.5)
    answer = answer_to(door, "Content-Length: 100", b"name=a")
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"It did not arrive within" in answer


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Content-Length: 2000000", b"n"),
        ("Transfer-Encoding: chunked", b"ffff\r\n" + b"n" * 0xFFFF + b"\r\n"),
    ],
)
def test_of_a_stranger_little_is_read(door: Served, headers: str, body: bytes) -> None:
    """More than a login needs is refused as soon as it is known, and nothing else is waited for."""
    answer = answer_to(door, headers, body)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"larger than 32,768 bytes" in answer


def test_what_arrives_after_a_refusal_loses_no_answer(door: Served) -> None:
    """A connection that is closed with something unread is reset, and with it goes the answer."""
    where = urlsplit(door.url)
    head = f"POST /login HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 2000000\r\n\r\n"
    with socket.create_connection((where.hostname, where.port), timeout=4) as line:
        line.sendall(head.encode())
        assert line.recv(1, socket.MSG_PEEK)  # it was refused
        line.sendall(b"x" * 2_000_000)
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"came from another site" in answer


def test_a_body_that_nobody_reads_keeps_no_connection(door: Served) -> None:
    """Who is refused at the door is not listened to any longer."""
    assert answer_to(door, "Content-Length: 100", b"a", "/act").startswith(b"HTTP/1.1 401")


def test_of_a_person_more_is_read(door: Served, client: ClientOf) -> None:
    """Forms of many tasks are long."""
    long = {"name": "vic", "password": "wrong", "next": "/" * STRANGERS_BYTES}
    assert client(door, "vic").post("/login", data=long).status_code == 401
    with asking(door, Origin=door.url) as stranger:
        assert stranger.post("/login", data=long).status_code == 413


def test_an_upload_may_take_its_time(
    intake: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has bounds of its own."""
    monkeypatch.setattr(bodies, "SECONDS", 0.2)

    def slowly() -> Iterator[bytes]:
        for byte in (a_pdf()[:1], a_pdf()[1:]):
            yield byte
            time.sleep(0.5)

    assert put(client(intake, "mila"), slowly()).status_code == 201


def test_errors_have_the_headers_too(door: Served, client: ClientOf) -> None:
    """What is unexpected, and what is too large: a page, as for any other error."""
    vic = client(door, "vic")
    vic.headers["Accept"] = "text/html"
    broken = vic.get("/broken/now")
    large = vic.post("/login", content=b"x" * 3_000_000, headers={"Content-Type": FORM[14:-2]})
    assert (broken.status_code, large.status_code) == (500, 413)
    assert "<h1>Something is broken</h1>" in broken.text or 'class="problem"' in broken.text
    assert "<h1>Too large</h1>" in large.text
    for answer in (broken, large):
        _check_headers(answer)


def _check_headers(answer: httpx.Response) -> None:
    assert answer.headers["Cache-Control"] == "no-store"
    for name, value in HEADERS.items():
        assert answer.headers[name] == value, name


def test_no_address_is_corrected(door: Served, client: ClientOf) -> None:
    """A redirect would name the host that the request said."""
    for path in ("/empty/", "/static"):
        answer = client(door, "vic").get(path, headers={"Host": "evil.example"})
        assert answer.status_code == 404
        assert "Location" not in answer.headers
