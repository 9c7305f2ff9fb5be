"""People log in with a password; a session ends when it should; guessing is slow."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from argon2 import PasswordHasher
from playwright.sync_api import Page

from apps.conftest import ClientOf, Serve
from apps.support.browser import Complaints
from apps.support.kit import ServeKit, asking
from apps.support.people import PASSWORD
from apps.support.screen import look
from apps.support.serving import Served
from forebay_apps.web import tries
from forebay_apps.web.pages import local
from forebay_apps.web.tries import FREE, LONGEST_WAIT, Tries, guesser
from forebay_apps.web.users import PASSWORD_CHARACTERS, UserError, Users


def log_in(
    client: httpx.Client, name: str, password: str = PASSWORD, **fields: str
) -> httpx.Response:
    return client.post("/login", data={"name": name, "password": password, **fields})


def test_a_stranger_is_asked_to_log_in_and_comes_back_to_the_page(door: Served, page: Page) -> None:
    """The page that was asked for, with its filters, is the page that is shown after the login."""
    page.goto(f"{door.url}/empty?limit=3&agent=a%26b")
    assert page.url.startswith(f"{door.url}/login?next=")
    page.get_by_label("Name").fill("vic")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{door.url}/empty?limit=3&agent=a%26b")
    assert page.locator(".who").inner_text().startswith("vic")


def test_the_login_page_reads_well(door: Served, page: Page) -> None:
    """In light, dark and on a phone, with and without a wrong password."""
    page.goto(f"{door.url}/login")
    look(page, "login")


def test_a_wrong_password_is_told_on_the_page(
    door: Served, page: Page, complaints: Complaints
) -> None:
    """The name stays, and nothing says which of the two was wrong."""
    complaints.expect("401")
    page.goto(f"{door.url}/login")
    for name in ("vic", "nobody"):
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill("not the password")
        page.get_by_role("button", name="Log in").click()
        assert page.get_by_role("alert").inner_text() == "The name or the password is wrong."
        assert page.get_by_label("Name").input_value() == name
    look(page, "login-wrong")


def test_a_session_is_a_cookie_that_scripts_and_other_sites_do_not_get(door: Served) -> None:
    """HttpOnly, SameSite, and Secure where the browser speaks https with a trusted proxy."""
    with asking(door, Origin=door.url) as client:
        cookie = log_in(client, "vic").headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie
        client.headers["X-Forwarded-Proto"] = "https"
        assert "Secure" not in log_in(client, "vic").headers["set-cookie"]


def test_behind_a_trusted_proxy_the_cookie_is_secure(serve_kit: ServeKit) -> None:
    """The proxy says that the browser speaks https."""
    served = serve_kit(FOREBAY_TRUSTED_PROXIES="127.0.0.1")
    with asking(served, Origin=served.url, **{"X-Forwarded-Proto": "https"}) as client:
        assert "Secure" in log_in(client, "vic").headers["set-cookie"]


def test_a_session_of_one_app_is_none_of_the_other(serve: Serve, client: ClientOf) -> None:
    """Their cookies have other names and other signatures, though the key is the same."""
    intake, orchestrator = serve("intake"), serve("orchestrator")
    cookie = client(intake, "root").cookies["forebay_intake"]
    with httpx.Client(base_url=orchestrator.url) as other:
        other.cookies.set("forebay_orchestrator", cookie)
        assert other.get("/events").status_code == 401


@pytest.mark.parametrize("change", ["passwd", "remove"])
def test_a_session_ends_with_the_password_and_with_the_user(
    door: Served, client: ClientOf, change: str
) -> None:
    """Whoever was thrown out is out with the next request."""
    vic = client(door, "vic")
    assert vic.get("/empty").status_code == 200
    users = Users(door.home / "users.json")
    if change == "passwd":
        users.put("vic", "viewer", "another long password")
    else:
        users.remove("vic")
    assert vic.get("/empty", headers={"X-Forebay-Live": "1"}).status_code == 401


def test_another_role_counts_at_once(door: Served, client: ClientOf) -> None:
    """A session names the person; what the person may stands in the users file."""
    vic = client(door, "vic")
    assert vic.get("/rules").status_code == 403
    Users(door.home / "users.json").give("vic", "admin")
    assert vic.get("/rules").status_code == 200


def test_a_forged_or_altered_session_is_none(door: Served, client: ClientOf) -> None:
    """The signature covers who it is."""
    cookie = client(door, "vic").cookies["forebay_kit"]
    for forged in (cookie[:-2], "x" + cookie, '{"name":"root"}', ""):
        with asking(door) as stranger:
            stranger.cookies.set("forebay_kit", forged)
            assert stranger.get("/events").status_code == 401


def with_cookie(served: Served, said: object) -> int:
    """Return how a request is answered whose session says this, signed by the app itself."""
    signer = served.app.state.identification._signer
    with asking(served) as stranger:
        stranger.cookies.set("forebay_kit", signer.dumps(said))
        return stranger.get("/empty", headers={"X-Forebay-Live": "1"}).status_code


def test_a_signed_session_of_another_shape_is_none(door: Served) -> None:
    """Another release may have signed what this one does not know."""
    stamp = Users(door.home / "users.json").one("vic").stamp
    assert with_cookie(door, {"name": "vic", "stamp": stamp}) == 200
    for said in (
        {},
        {"name": "vic"},
        {"stamp": stamp},
        {"name": ["vic"], "stamp": stamp},
        {"name": "vic", "stamp": None},
        {"name": {}, "stamp": stamp},
        ["vic", stamp],
        "vic",
        7,
        None,
    ):
        assert with_cookie(door, said) == 401, said


def test_logging_out_ends_it(door: Served, client: ClientOf) -> None:
    """The cookie is gone; the next page is the login."""
    vic = client(door, "vic")
    assert vic.post("/logout").headers["location"] == "/login"
    assert vic.get("/events").status_code == 401


def test_logging_out_ends_copies_of_the_cookie_too(serve_kit: ServeKit, client: ClientOf) -> None:
    """Also for another process with the same users file; others, and later logins, go on."""
    first, second = serve_kit(), serve_kit()
    oscar, vic = client(first, "oscar"), client(first, "vic")
    cookie = vic.cookies["forebay_kit"]
    with asking(second) as thief:
        thief.cookies.set("forebay_kit", cookie)
        live = {"X-Forebay-Live": "1"}
        assert thief.get("/empty", headers=live).status_code == 200
        assert vic.post("/logout").status_code == 303
        assert thief.get("/empty", headers=live).status_code == 401
        assert oscar.get("/empty").status_code == 200
        assert client(second, "vic").get("/empty").status_code == 200
        assert thief.get("/empty", headers=live).status_code == 401


def test_who_cannot_be_logged_out_everywhere_is_told(
    door: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the users file cannot be written, this browser forgets its session all the same."""

    def refuse(self: Users, users: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Users, "_write", refuse)
    vic = client(door, "vic")
    answer = vic.post("/logout")
    assert answer.status_code == 503
    assert "Your other sessions could not be ended" in answer.text
    assert vic.get("/events").status_code == 401


VIC: dict[str, object] = {"name": "vic", "role": "viewer", "password": ""}
MALFORMED = [
    "",
    "{",
    "null",
    "7",
    "{}",
    json.dumps({"vic": VIC}),
    json.dumps(["vic"]),
    json.dumps([{}]),
    json.dumps([VIC]),
    json.dumps([VIC | {"password": "plain text for once"}]),
    json.dumps([VIC | {"password": None}]),
    "[" * 100_000,
]
ALTERED: list[dict[str, object]] = [
    {"role": "king"},
    {"role": ["admin"]},
    {"name": ["vic"]},
    {"name": ""},
    {"name": "\ud800"},
    {"name": "x" * 101},
    {"password": 7},
    {"logouts": "1"},
    {"more": 1},
]


def malformed() -> list[str]:
    """Return what no users file holds; the altered ones are whole but for one thing."""
    whole = VIC | {"password": PasswordHasher(1, 8, 1).hash(PASSWORD)}
    twice = [whole, whole | {"name": "VIC", "role": "admin"}]
    return [*MALFORMED, json.dumps(twice), *(json.dumps([whole | each]) for each in ALTERED)]


def test_a_users_file_that_is_malformed_lets_nobody_in(door: Served, client: ClientOf) -> None:
    """Neither by a session nor by a password; what is open stays open, and nothing is a 500."""
    file = door.home / "users.json"
    vic, written = client(door, "vic"), file.read_text()
    with asking(door, Origin=door.url) as stranger:
        for text in malformed():
            file.write_text(text)
            with pytest.raises(UserError, match=r"users\.json cannot be read \(.*\): correct"):
                Users(file).all()
            assert vic.get("/empty", headers={"X-Forebay-Live": "1"}).status_code == 401, text
            refused = log_in(stranger, "vic")
            assert refused.status_code == 503, text
            assert "Nobody can log in now" in refused.text
            door.app.state.identification.tries = Tries()
            assert stranger.get("/healthz").status_code == 200
    file.write_text(written)
    assert vic.get("/empty").status_code == 200


def test_a_users_file_that_cannot_be_opened_is_told_in_a_sentence(tmp_path: Path) -> None:
    """A folder in its place, or a file where its folder should be."""
    (tmp_path / "file").touch()
    for file in (tmp_path, tmp_path / "file" / "users.json"):
        with pytest.raises(UserError, match="cannot be"):
            Users(file).all()
        with pytest.raises(UserError, match="cannot be"):
            Users(file).put("vic", "viewer", PASSWORD)


def test_the_longest_password_that_is_taken_logs_in(door: Served) -> None:
    """What `forebay user` takes, the login takes: the limit is in one place."""
    users, longest = Users(door.home / "users.json"), "ä" * PASSWORD_CHARACTERS[1]
    users.put("new", "viewer", longest)
    with pytest.raises(UserError, match="12 to 1,000 characters"):
        users.put("new", "viewer", longest + "ä")
    with asking(door, Origin=door.url) as client:
        assert log_in(client, "new", longest + "ä").status_code == 401
        assert log_in(client, "new", longest).status_code == 303


def test_a_name_is_the_same_in_any_case(door: Served) -> None:
    """It is written, logged in with and shown in one form."""
    users = Users(door.home / "users.json")
    users.put("Ada.L", "viewer", PASSWORD)
    assert users.find("ADA.l") is not None
    users.give("ADA.L", "admin")
    with asking(door, Origin=door.url) as client:
        assert log_in(client, " ada.L ").status_code == 303
        assert "For ada.l, admin" in client.get("/mine").text
    users.remove("aDa.l")
    assert users.find("Ada.L") is None


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the waits: hashing takes seconds on a busy machine."""
    monkeypatch.setattr(tries, "time", SimpleNamespace(monotonic=lambda: 1000.0))


@pytest.mark.usefixtures("still")
def test_after_a_few_wrong_passwords_each_further_one_waits(door: Served) -> None:
    """Also the right one waits then, and the answer says how long."""
    with asking(door, Origin=door.url) as client:
        wrong = [log_in(client, "vic", "guess").status_code for _ in range(FREE)]
        answer = log_in(client, "vic")
    assert wrong == [401] * FREE
    assert answer.status_code == 429
    assert "wait" in answer.text


@pytest.mark.usefixtures("still")
def test_many_guesses_at_once_are_no_way_around(door: Served) -> None:
    """A try counts before its password is looked at."""
    with asking(door, Origin=door.url) as client, ThreadPoolExecutor(20) as pool:
        codes = list(pool.map(lambda _: log_in(client, "vic", "guess").status_code, range(20)))
    assert codes.count(429) == 20 - FREE


@pytest.mark.usefixtures("still")
def test_nobody_is_kept_out_by_the_guesses_of_others(serve_kit: ServeKit) -> None:
    """Tries count by address, which a trusted proxy tells and nobody else."""
    served = serve_kit(FOREBAY_TRUSTED_PROXIES="127.0.0.1")
    with asking(served, Origin=served.url) as client:
        for _ in range(FREE + 1):
            client.headers["X-Forwarded-For"] = "192.0.2.1"
            refused = log_in(client, "vic", "guess")
        client.headers["X-Forwarded-For"] = "192.0.2.1, 192.0.2.2"
        assert (refused.status_code, log_in(client, "vic").status_code) == (429, 303)


@pytest.mark.usefixtures("still")
def test_an_address_that_a_stranger_says_it_has_counts_for_nothing(door: Served) -> None:
    """Without a trusted proxy, every header of that name is the guesser's own."""
    with asking(door, Origin=door.url) as client:
        for number in range(FREE + 1):
            client.headers["X-Forwarded-For"] = f"192.0.2.{number}"
            refused = log_in(client, "vic", "guess")
        assert refused.status_code == 429


def test_waits_grow_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try after the free ones waits twice as long, up to a bound; a right one forgets."""
    now = 1000.0
    monkeypatch.setattr(tries, "time", SimpleNamespace(monotonic=lambda: now))
    counted = Tries()
    waits = []
    for _ in range(FREE + 10):
        if wait := counted.begin("a"):
            waits.append(wait)
            now += wait
            assert counted.begin("a") == 0
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert counted.begin("a") == LONGEST_WAIT
    assert counted.begin("b") == 0
    counted.forget("a")
    assert counted.begin("a") == 0


def test_a_guesser_with_a_whole_network_is_one() -> None:
    """Addresses of IPv6 cost nothing: the network of a customer counts as one."""
    assert guesser("2001:db8::1") == guesser("2001:db8::ffff:1")
    assert guesser("2001:db8::1") != guesser("2001:db8:0:1::1")
    assert guesser("192.0.2.1") != guesser("192.0.2.2")


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example",
        "//[",
        "http://[",
        "/\\evil.example",
        "/tasks\\..\\x",
        "/\t/evil.example",
        "/\r\nSet-Cookie: a=b",
        "/\ud800",
        "javascript:alert(1)",
        "evil",
        "",
    ],
)
def test_after_the_login_nobody_is_sent_elsewhere(address: str) -> None:
    """Only paths of this app are gone back to."""
    assert local(address) == "/"
    assert local(address, "/tasks") == "/tasks"
    assert local("/tasks?agent=ä b&x=//b") == "/tasks?agent=ä b&x=//b"


def test_no_next_page_breaks_the_login(door: Served) -> None:
    """Not even an address that is none."""
    with asking(door, Origin=door.url) as client:
        for address in ("//[", "http://["):
            assert client.get("/login", params={"next": address}).status_code == 200
            assert log_in(client, "vic", next=address).headers["location"] == "/"


def test_a_login_that_another_site_sends_is_refused(door: Served) -> None:
    """Otherwise it could log somebody in as somebody else."""
    with asking(door, Origin="https://evil.example") as client:
        assert log_in(client, "vic").status_code == 403


def test_the_users_file_is_its_owners_and_holds_no_password(door: Served) -> None:
    """Mode 600, names, roles and argon2 hashes."""
    file = door.home / "users.json"
    Users(file).put("new", "viewer", PASSWORD)
    assert file.stat().st_mode & 0o777 == 0o600
    (line,) = [line for line in json.loads(file.read_text()) if line["name"] == "new"]
    assert line["password"].startswith("$argon2id$")
    assert PASSWORD not in file.read_text()


def test_users_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    """Each change reads the file and replaces it under a lock."""
    file = tmp_path / "users.json"
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: Users(file).put(f"user {n}", "viewer", PASSWORD), range(6)))
    assert len(Users(file).all()) == 6
