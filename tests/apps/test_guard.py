"""Nothing is open but what says so; a role may what it may; other sites' requests are refused."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from fastapi.routing import APIRoute

from apps.conftest import ClientOf, Serve
from apps.support.kit import ServeKit, asking
from apps.support.serving import Served
from forebay.cli import user
from forebay.errors import SettingError
from forebay_apps.web.database import Access
from forebay_apps.web.errors import Forbidden
from forebay_apps.web.people import ROLES, Person, role_of
from forebay_apps.web.settings import WebSettings

ALL = {"FOREBAY_ADMINS": "root", "FOREBAY_OPERATORS": "Oscar", "FOREBAY_VIEWERS": "vic"}
OPEN = {"/healthz", "/login", "/api/callbacks", "/metrics"}


@pytest.mark.parametrize("which", ["intake", "orchestrator"])
def test_a_stranger_gets_nothing_but_what_is_open(serve: Serve, which: str) -> None:
    """Every route of both apps, asked without a session: the login page, or 401."""
    served = serve(which)
    asked = 0
    with asking(served, Origin=served.url, Accept="text/html") as stranger:
        for path, method in routes(served):
            answer = stranger.request(method, path.replace("{", "").replace("}", ""))
            if path in OPEN:
                continue
            asked += 1
            if method == "GET":
                assert answer.status_code == 303, path
                assert answer.headers["location"].startswith("/login"), path
            else:
                assert answer.status_code == 401, (method, path)
    assert asked >= 2


def routes(served: Served) -> list[tuple[str, str]]:
    """Return each path and method of an app, routers that it includes included."""
    found = []
    pending = list(served.app.router.routes)
    while pending:
        route = pending.pop()
        if isinstance(route, APIRoute):
            found += [(route.path, method) for method in route.methods]
        elif inner := getattr(route, "original_router", None):
            pending += inner.routes
    return found


def test_no_spelling_of_an_address_opens_a_door(door: Served) -> None:
    """What is open is what the path is, not what it looks like or what a header adds to it."""
    where = urlsplit(door.url)
    for target, host in (
        ("/rules?/healthz", where.netloc),
        ("/rules%3F/healthz", where.netloc),
        ("/login/../rules", where.netloc),
        ("/static/../rules", where.netloc),
        ("/loginx", where.netloc),
        ("//rules", where.netloc),
        ("/rules", "x/healthz?"),
        ("/rules", "x/static/#"),
        ("/rules;/static/", where.netloc),
    ):
        with socket.create_connection((where.hostname, where.port)) as line:
            line.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            status = line.recv(64).decode().split()[1]
        assert status in ("400", "401", "404"), (target, host, status)


def test_healthz_is_open_and_says_nothing(door: Served) -> None:
    """A platform may ask whether the process serves."""
    with asking(door) as stranger:
        assert stranger.get("/healthz").text == "ok\n"


def test_each_role_may_what_those_below_it_may_and_more(door: Served, client: ClientOf) -> None:
    """Pages, live parts and acts are refused alike."""
    expected = {
        "mila": {"/empty": 200, "/mine": 200, "/board/now": 403, "/rules": 403, "/act": 403},
        "oscar": {"/empty": 200, "/mine": 200, "/rules": 403, "/act": 303},
        "root": {"/empty": 200, "/mine": 200, "/rules": 200, "/act": 303},
    }
    for name, codes in expected.items():
        person = client(door, name)
        got = {p: (person.post(p) if p == "/act" else person.get(p)).status_code for p in codes}
        assert got == codes, name


def test_the_orchestrator_is_for_viewers_and_up(serve: Serve, client: ClientOf) -> None:
    """A submitter's own batches are in intake."""
    served = serve("orchestrator")
    mila = client(served, "mila")
    for path in ("/", "/events", "/nothing"):
        refused = mila.get(path)
        assert refused.status_code == 403
        assert "Go to the start" not in refused.text  # she would be refused there as well
    assert mila.post("/logout").status_code == 303
    assert client(served, "vic").get("/").status_code == 200


def test_the_database_itself_refuses_what_a_connection_is_not_for(kit: Served) -> None:
    """A page that called the wrong function would fail, whatever its code checks."""
    connections = kit.app.state.connections
    with connections.as_role("viewer") as conn:
        assert conn.execute("select current_user").fetchone() == ("forebay_viewer",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("select forebay.task_result(1)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("select count(*) from forebay.tasks")


def test_a_person_gets_only_the_connections_of_the_role(kit: Served) -> None:
    """A route that forgot its guard still has no connection to act with."""
    needed = {
        "submitter": "submitter",
        "viewer": "viewer",
        "operator": "operator",
        "reader": "admin",
    }
    for role in ROLES:
        access = Access(kit.app.state.connections, Person("x", role))
        for name, least in needed.items():
            if access.person.may(least):
                with getattr(access, name)() as conn:
                    assert conn.execute("select current_user").fetchone() == (f"forebay_{name}",)
            else:
                with pytest.raises(Forbidden):
                    getattr(access, name)()


FOREIGN: list[dict[str, str]] = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://["},
    {"Origin": "//HOST"},
    {"Origin": "ftp://HOST"},
    {"Origin": "http://", "Host": ""},
    {},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "SAME"},
]


def test_requests_that_another_site_sends_change_nothing(door: Served, client: ClientOf) -> None:
    """The session comes along with them; where they come from tells them apart."""
    oscar = client(door, "oscar")
    del oscar.headers["Origin"]
    host = door.url.removeprefix("http://")
    for headers in FOREIGN:
        said = {
            name: value.replace("SAME", door.url).replace("HOST", host)
            for name, value in headers.items()
        }
        assert oscar.post("/act", headers=said).status_code == 403, headers
    assert door.app.state.acted == 0
    for own in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": door.url}):
        assert oscar.post("/act", headers=own).status_code == 303
    assert door.app.state.acted == 2


def test_what_is_for_machines_is_not_asked_where_it_comes_from(door: Served) -> None:
    """It sees to itself who may ask."""
    with asking(door) as machine:
        assert machine.post("/api/open").text == "opened"
        assert machine.post("/api/open/").status_code in (401, 403)


def test_every_answer_forbids_what_pages_do_not_need(door: Served, client: ClientOf) -> None:
    """Scripts of others, being framed, guessing of types, keeping pages."""
    vic = client(door, "vic")
    for path in ("/empty", "/nothing", "/rules", "/board/now", "/login"):
        headers = vic.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "script-src" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_proxy_names_the_person_and_nobody_else_does(serve_kit: ServeKit) -> None:
    """Its header is believed from its addresses alone."""
    trusting = serve_kit(FOREBAY_LOGIN="proxy", FOREBAY_TRUSTED_PROXIES="127.0.0.0/8", **ALL)
    with asking(trusting, **{"X-Forwarded-User": "oscar"}) as proxy:
        assert "oscar, operator" in proxy.get("/mine").text
        assert proxy.get("/login").status_code == 404
    with asking(trusting) as proxy:
        assert proxy.get("/mine").status_code == 401
        twice = [("X-Forwarded-User", "root"), ("X-Forwarded-User", "vic")]
        assert proxy.get("/mine", headers=httpx.Headers(twice)).status_code == 401
    wary = serve_kit(FOREBAY_LOGIN="proxy", FOREBAY_TRUSTED_PROXIES="10.0.0.1", **ALL)
    with asking(wary, **{"X-Forwarded-User": "root"}) as stranger:
        assert stranger.get("/").status_code == 401


def test_a_stranger_is_told_why_nobody_is_known(serve_kit: ServeKit) -> None:
    """Whoever sets up a proxy reads which of the two does not fit: the address or the header."""
    wary = serve_kit(FOREBAY_LOGIN="proxy", FOREBAY_TRUSTED_PROXIES="10.0.0.1", **ALL)
    with asking(wary) as proxy:
        told = proxy.get("/mine", headers={"X-Forwarded-User": "root"}).text
        assert "the address 127.0.0.1 is not in FOREBAY_TRUSTED_PROXIES" in told
        assert "did not say who you are" not in told
        assert "did not say who you are, in X-Forwarded-User" in proxy.get("/mine").text
    trusting = serve_kit(FOREBAY_LOGIN="proxy", FOREBAY_TRUSTED_PROXIES="127.0.0.1", **ALL)
    with asking(trusting) as proxy:
        twice = httpx.Headers([("X-Forwarded-User", "root"), ("X-Forwarded-User", "vic")])
        assert "came more than once" in proxy.get("/mine", headers=twice).text
        assert "did not say who you are" in proxy.get("/mine").text


@pytest.mark.parametrize("header", ["X-Forwarded-User", "X-Forwarded-Email"])
def test_a_name_comes_in_utf8(serve_kit: ServeKit, header: str) -> None:
    """As proxies send it; a name in another encoding is nobody's, not somebody else's."""
    login = {"FOREBAY_LOGIN": "proxy", "FOREBAY_TRUSTED_PROXIES": "127.0.0.1"}
    databricks = {"DATABRICKS_APP_NAME": "forebay"}
    given = login if header == "X-Forwarded-User" else databricks
    served = serve_kit(FOREBAY_ADMINS="josé,請求書", **given)
    with asking(served) as app:
        for name in ("josé", "JOSÉ", "請求書"):
            said = app.get("/mine", headers=[(header.encode(), name.encode())])
            assert f"{name.lower()}, admin" in said.text
        for odd in ("josé".encode("latin-1"), b"\xff\xfe", b"jos\xc3"):
            answer = app.get("/mine", headers=[(header.encode(), odd)])
            assert answer.status_code == 401
            assert f"{header} is not in UTF-8" in answer.text


def test_with_passwords_no_header_names_anybody(door: Served) -> None:
    """There is one way to be known."""
    names = {"X-Forwarded-User": "root", "X-Forwarded-Email": "root", "Remote-User": "root"}
    with asking(door, **names) as stranger:
        assert stranger.get("/events").status_code == 401


def test_databricks_names_the_person(serve_kit: ServeKit) -> None:
    """By the address of mail, else the user name; a list says who is what."""
    served = serve_kit(
        DATABRICKS_APP_NAME="forebay", FOREBAY_VIEWERS="*", FOREBAY_ADMINS="a@b.example"
    )
    with asking(served) as app:
        for mail in ("A@b.example", "a@B.EXAMPLE"):
            both = {"X-Forwarded-Email": mail, "X-Forwarded-User": "123"}
            assert "a@b.example, admin" in app.get("/mine", headers=both).text
        assert "123, viewer" in app.get("/mine", headers={"X-Forwarded-User": "123"}).text
        assert app.get("/mine").status_code == 401


def test_the_command_line_knows_the_roles_of_the_apps() -> None:
    """It names them also where the apps are not installed."""
    assert user.ROLES == ROLES


def test_who_is_on_no_list_may_submit_and_no_more() -> None:
    """Names are compared without case; the highest list counts; * is everybody."""
    names = {"admin": frozenset({"root"}), "viewer": frozenset({"root", "vic"})}
    assert [role_of(name, names) for name in ("ROOT", "vic", "mila")] == [
        "admin",
        "viewer",
        "submitter",
    ]
    assert role_of("mila", {"operator": frozenset({"*"})}) == "operator"


@pytest.mark.parametrize(
    ("variables", "names"),
    [
        ({"FOREBAY_LOGIN": "none"}, "FOREBAY_LOGIN"),
        ({"FOREBAY_LOGIN": "proxy"}, "FOREBAY_TRUSTED_PROXIES"),
        ({"FOREBAY_LOGIN": "proxy", "FOREBAY_TRUSTED_PROXIES": "a.b"}, "FOREBAY_TRUSTED_PROXIES"),
        ({"FOREBAY_LOGIN": "databricks"}, "DATABRICKS|Databricks"),
        *(
            ({"FOREBAY_LOGIN": "proxy", "FOREBAY_TRUSTED_PROXIES": said}, "holds every address")
            for said in ("0.0.0.0/0", "10.0.0.1, ::/0", "128.0.0.0/1,10.0.0.5,0.0.0.0/1")
        ),
        *(
            ({"FOREBAY_PROXY_USER_HEADER": said}, "FOREBAY_PROXY_USER_HEADER .* no name")
            for said in ("X Bad: Header", "X-User:", "X-Usér", "a\nb")
        ),
        ({"FOREBAY_SESSION_KEY": "short"}, "FOREBAY_SESSION_KEY"),
    ],
)
def test_settings_that_would_leave_a_door_open_are_refused(
    tmp_path,
    variables: dict[str, str],
    names: str,  # type: ignore[no-untyped-def]
) -> None:
    """The message names the variable."""
    with pytest.raises(SettingError, match=names):
        WebSettings.read({"FOREBAY_HOME": str(tmp_path), **variables})


def test_the_key_that_signs_sessions_is_made_once_and_kept_private(tmp_path: Path) -> None:
    """Sessions outlive a restart; nobody else reads the key, nor does a log."""
    first = WebSettings.read({"FOREBAY_HOME": str(tmp_path)})
    again = WebSettings.read({"FOREBAY_HOME": str(tmp_path)})
    assert first.session_key == again.session_key
    assert (tmp_path / "session.key").stat().st_mode & 0o777 == 0o600
    assert first.session_key not in repr(first)


@pytest.mark.parametrize("held", ["", "\n", "short"])
def test_a_file_without_a_key_signs_nothing(tmp_path: Path, held: str) -> None:
    """Everybody could sign with the key that is empty."""
    (tmp_path / "session.key").write_text(held)
    with pytest.raises(SettingError, match=r"session\.key holds no key: remove it"):
        WebSettings.read({"FOREBAY_HOME": str(tmp_path)})
