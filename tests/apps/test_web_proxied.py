"""The apps behind a real nginx, set up as docs/apps.md says: https, login, uploads, the stream."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser

from agents.pdfs import pdf, text
from apps.conftest import Connect, Serve
from apps.support.browser import Complaints, new_page
from apps.support.hints import listening_to
from apps.support.people import PASSWORD
from apps.support.serving import Served
from apps.support.uploads import put
from forebay.calls import operator, submitter
from forebay_apps.web import tries
from forebay_apps.web.tries import FREE
from support.waiting import until

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

DOCS = (Path(__file__).parents[2] / "docs" / "apps.md").read_text()
CONFIG = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {server}
}}
"""
BROWSER = "127.0.0.2"  # another address than the proxy's
TRUSTING = {"FOREBAY_TRUSTED_PROXIES": "127.0.0.1"}

Proxied = Callable[[Served], httpx.Client]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Make a certificate of its own, and give the folder of forebay.pem and forebay.key."""
    named = "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    made = f"-keyout {tmp_path}/forebay.key -out {tmp_path}/forebay.pem"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 {named} {made}"
    subprocess.run(command.split(), check=True, capture_output=True)
    return tmp_path


@pytest.fixture
def proxied(certificate: Path) -> Iterator[Proxied]:
    """Return a function: proxied(app) is a client that speaks https with an nginx before the app.

    As the document sets it up, but for the ports and the place of the certificate.
    """
    trust = ssl.create_default_context(cafile=certificate / "forebay.pem")
    with ExitStack() as stack:

        def proxied(app: Served) -> httpx.Client:
            url = stack.enter_context(nginx(app, certificate))
            headers = {"Origin": url}
            line = httpx.HTTPTransport(verify=trust, local_address=BROWSER)
            client = httpx.Client(base_url=url, headers=headers, transport=line, timeout=30)
            return stack.enter_context(client)

        yield proxied


@contextmanager
def nginx(app: Served, folder: Path) -> Iterator[str]:
    """Run nginx with the block of the document, and give its address."""
    (server,) = re.findall(r"```nginx\n(.*?)```", DOCS, re.DOTALL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = server.replace("listen 443", f"listen 127.0.0.1:{port}")
    server = server.replace("/etc/ssl/", f"{folder}/")
    server = server.replace("127.0.0.1:8000", urlsplit(app.url).netloc)
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, server=server))
    process = subprocess.Popen(
        [NGINX or "", "-p", folder, "-e", folder / "error.log", "-c", config]
    )
    try:
        until(lambda: _answers(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "error.log").read_text()
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def log_in(client: httpx.Client, name: str, password: str = PASSWORD) -> httpx.Response:
    return client.post("/login", data={"name": name, "password": password})


def test_a_large_document_goes_through(serve: Serve, proxied: Proxied) -> None:
    """60 MB, by a session whose cookie is for https alone."""
    client = proxied(serve("intake", **TRUSTING))
    assert "Secure" in log_in(client, "mila").headers["set-cookie"]
    whole = pdf([text((50, 700, "Invoice"))])
    padding = b"%" + b"x" * (60 * 1024**2) + b"\n"
    cut = whole.index(b"\n") + 1
    answer = put(client, _moved(whole, cut, padding))
    assert answer.status_code == 201, answer.text


def _moved(whole: bytes, cut: int, padding: bytes) -> bytes:
    """Return a PDF with a long comment at its beginning; readers find the table all the same."""
    body = whole[:cut] + padding + whole[cut:]
    at = whole.index(b"startxref") + len(padding)
    start = int(body[at:].split()[1]) + len(padding)
    return body[:at] + b"startxref\n%d\n%%%%EOF\n" % start


def test_the_stream_is_passed_on_at_once(serve: Serve, proxied: Proxied, connect: Connect) -> None:
    """Hints come one by one, through nginx as without it: it keeps none back."""
    client = proxied(serve("orchestrator", **TRUSTING))
    assert log_in(client, "vic").status_code == 303
    operator.register_agent(connect("operator"), agent="a", launcher="pull")
    with listening_to(client) as hints:
        hints.until(lambda heard: heard[-1]["is_listening"])
        time.sleep(0.5)  # what came of the agent
        for _ in range(3):
            before = len(hints.heard)
            submitter.enqueue(connect("submitter"), agent="a", payload={})
            hints.until(lambda heard: len(heard) > before)  # noqa: B023
            time.sleep(0.5)


def test_a_browser_logs_in_acts_and_is_live(
    serve: Serve, certificate: Path, browser: Browser, complaints: Complaints
) -> None:
    """By HTTP/2; what it does is not taken for another site's."""
    complaints.expect("401")  # the open page may ask once more while it is left
    with nginx(serve("orchestrator", **TRUSTING), certificate) as url:
        page = new_page(browser.new_context(ignore_https_errors=True), complaints)
        page.goto(f"{url}/tasks")
        page.get_by_label("Name").fill("vic")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-liveness][data-state=live]")
        protocol = "performance.getEntriesByType('navigation')[0].nextHopProtocol"
        assert page.evaluate(protocol) == "h2"
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{url}/login")


def test_wrong_passwords_count_by_the_address_of_the_browser(
    serve: Serve, proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a browser says of itself does not count: nginx appends the address that it sees."""
    monkeypatch.setattr(tries, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    client = proxied(serve("orchestrator", **TRUSTING))
    for number in range(FREE):
        client.headers["X-Forwarded-For"] = f"192.0.2.{number}"
        assert log_in(client, "vic", "guess").status_code == 401
    assert log_in(client, "vic").status_code == 429
