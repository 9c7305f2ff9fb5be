"""What pages show when the database's notifications, answers or connections fail."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from apps.conftest import ClientOf, Connect, Outage
from apps.support.hints import listening_to
from apps.support.kit import ServeKit
from apps.support.serving import Served
from forebay.calls import operator, submitter
from forebay_apps.live import hub as hubs
from forebay_apps.live import snapshots
from forebay_apps.web import database as databases
from support.relay import Relay
from support.waiting import until

LISTENER = "application_name = 'forebay listener' and datname = current_database()"
OURS = "application_name = 'forebay kit' and datname = current_database()"


@pytest.fixture
def work(connect: Connect) -> Callable[[], int]:
    """Return a function that enqueues a task."""
    conn = connect("submitter", "operator")
    operator.register_agent(conn, agent="a", launcher="pull")
    return lambda: submitter.enqueue(conn, agent="a", payload={})


def tasks(answer: httpx.Response) -> int:
    assert answer.status_code == 200, answer.text
    return int(answer.text.split("<h2>")[1].split(" ")[0])


def age(answer: httpx.Response) -> float:
    return float(answer.headers["x-forebay-age"])


def board(client: httpx.Client) -> httpx.Response:
    return client.get("/board/now", headers={"X-Forebay-Live": "1"})


def connections(conn: psycopg.Connection, which: str) -> int:
    found = conn.execute(f"select count(*) from pg_stat_activity where {which}").fetchone()
    assert found
    return int(found[0])


def test_a_change_is_hinted_and_the_next_answer_has_it(
    kit: Served, client: ClientOf, work: Callable[[], int]
) -> None:
    """Whoever fetches on a hint sees what it was about, though an answer was kept."""
    vic = client(kit, "vic")
    with listening_to(client(kit, "vic")) as hints:
        hints.until(lambda heard: heard[-1]["is_listening"])
        for number in range(1, 6):
            assert tasks(board(vic)) == number - 1
            before = len(hints.heard)
            work()
            hints.until(lambda heard: len(heard) > before)  # noqa: B023
            assert tasks(board(vic)) == number


def test_nt3_a_listener_that_was_ended_is_replaced_and_everything_fetched_anew(
    kit: Served, client: ClientOf, work: Callable[[], int], superuser: psycopg.Connection
) -> None:
    """What changed while nobody listened is hinted as soon as somebody does."""
    vic = client(kit, "vic")
    until(lambda: kit.app.state.hub.is_listening)
    with listening_to(client(kit, "vic")) as hints:
        before = len(hints.heard)
        ended = superuser.execute(
            f"select pg_terminate_backend(pid) from pg_stat_activity where {LISTENER}"
        ).fetchall()
        assert ended == [(True,)]
        work()
        hints.until(lambda heard: len(heard) > before)
        assert tasks(board(vic)) == 1
        until(lambda: connections(superuser, LISTENER) == 1)


def test_nt3_the_database_goes_away_and_comes_back(
    kit: Served, client: ClientOf, work: Callable[[], int], outage: Outage
) -> None:
    """Meanwhile pages say so; afterwards they work and listen again, without a restart."""
    vic = client(kit, "vic")
    until(lambda: kit.app.state.hub.is_listening)
    work()
    assert tasks(board(vic)) == 1
    with outage():
        kit.app.state.hub.changed_elsewhere()
        until(lambda: not kit.app.state.hub.is_listening)
        refused = vic.get("/board/now?limit=5", headers={"X-Forebay-Live": "1"})
        assert refused.status_code == 503
        assert "does not answer" in refused.text
        assert refused.headers["retry-after"]
        assert vic.get("/").status_code == 200
        assert vic.get("/healthz").text == "ok\n"
    until(lambda: board(vic).status_code == 200)
    until(lambda: kit.app.state.hub.is_listening, 30)


def test_pages_are_told_at_once_that_nobody_listens(
    kit: Served, client: ClientOf, outage: Outage
) -> None:
    """A lost listener is an event of its own: the next ping is too late."""
    with listening_to(client(kit, "vic")) as hints:
        hints.until(lambda heard: heard[-1]["is_listening"])
        with outage():
            until(lambda: not kit.app.state.hub.is_listening)
            hints.until(lambda heard: not heard[-1]["is_listening"], 2)


def test_pages_are_live_soon_after_the_database_is_back(
    kit: Served, client: ClientOf, connect: Connect, outage: Outage
) -> None:
    """However long it was away: a stream that stayed open says so, and the next answer is new."""
    vic = client(kit, "vic")
    with listening_to(client(kit, "vic")) as hints:
        hints.until(lambda heard: heard[-1]["is_listening"])
        with outage():
            until(lambda: not kit.app.state.hub.is_listening)
            time.sleep(6)  # tries to connect come ever more seldom meanwhile
        hints.until(lambda heard: heard[-1]["is_listening"], 3.5)
        until(lambda: board(vic).status_code == 200)
        operator.register_agent(connect("operator"), agent="a", launcher="pull")
        submitter.enqueue(connect("submitter"), agent="a", payload={})
        until(lambda: tasks(board(vic)) == 1, snapshots.REUSE_SECONDS - 1)


def test_a_stream_ends_by_itself_before_a_proxy_would_cut_it(
    kit: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After END_AFTER, with pings in between and a proper end, through the server that is used."""
    monkeypatch.setattr("forebay_apps.live.stream.END_AFTER", 1.5)
    monkeypatch.setattr("forebay_apps.live.stream.PING_EVERY", 0.4)
    until(lambda: kit.app.state.hub.is_listening)
    began = time.monotonic()
    with client(kit, "vic").stream("GET", "/events") as answer:
        said = "".join(answer.iter_text())  # raises unless the end is a proper one
    assert 1.4 < time.monotonic() - began < 30
    assert said.count("event: ping") >= 2


@pytest.fixture
def half_open(
    serve_kit: ServeKit, role_dsn: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Served, Relay]]:
    """Serve the kit through a line that can go dead without a word."""
    monkeypatch.setattr(hubs, "PROBE_SECONDS", 0.5)
    monkeypatch.setattr(snapshots, "GIVE_UP_SECONDS", 3)
    dsn = role_dsn("all")
    where = conninfo_to_dict(dsn)
    relay = Relay(f"{where['host']}/.s.PGSQL.{where['port']}")
    try:
        served = serve_kit(
            FOREBAY_DATABASE_URL=make_conninfo(dsn, host="127.0.0.1", port=relay.port)
        )
        yield served, relay
    finally:
        relay.close()


def test_nt4_a_line_that_is_silently_dead_is_found_out_and_replaced(
    half_open: tuple[Served, Relay], client: ClientOf, work: Callable[[], int]
) -> None:
    """The listener's by its probe, the pool's before it is given to anybody."""
    served, relay = half_open
    vic = client(served, "vic")
    until(lambda: served.app.state.hub.is_listening)
    assert tasks(board(vic)) == 0
    relay.go_dead()
    work()
    until(lambda: not served.app.state.hub.is_listening)
    until(lambda: served.app.state.hub.is_listening)
    until(lambda: (answer := board(vic)).status_code == 200 and tasks(answer) == 1)


def test_nobody_is_given_a_connection_whose_line_is_dead(half_open: tuple[Served, Relay]) -> None:
    """It is tried before, for a moment only, and replaced."""
    served, relay = half_open
    connections = served.app.state.connections

    def ask() -> int:
        with connections.as_role("viewer") as conn:
            return int(conn.info.backend_pid)

    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(ask).result()
        relay.go_dead()
        assert pool.submit(ask).result(20) != before


def test_a_query_on_a_line_that_dies_does_not_block_its_page_for_ever(
    half_open: tuple[Served, Relay], client: ClientOf, superuser: psycopg.Connection
) -> None:
    """It is given up, and the next one is made on another connection."""
    served, relay = half_open
    vic = client(served, "vic")
    assert tasks(board(vic)) == 0
    with psycopg.connect(superuser.info.dsn) as locker, ThreadPoolExecutor(1) as pool:
        locker.execute("lock table forebay.tasks in access exclusive mode")
        asked = pool.submit(board, vic)
        served.app.state.hub.changed_elsewhere()
        until(lambda: connections(superuser, f"{OURS} and wait_event_type = 'Lock'") > 0)
        relay.go_dead()
        asked.result()
    until(lambda: (a := board(vic)).status_code == 200 and float(a.headers["x-forebay-age"]) < 3)


def test_a_slow_database_gets_no_more_to_do_and_pages_keep_what_they_show(
    kit: Served, client: ClientOf, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty pages ask again and again: one query waits; each page gets the older answer, and its
    age grows. Other pages answer as ever."""
    monkeypatch.setattr(snapshots, "PATIENCE_SECONDS", 0.3)
    vic = client(kit, "vic")
    first = board(vic)
    with psycopg.connect(superuser.info.dsn) as locker, ThreadPoolExecutor(40) as pool:
        locker.execute("lock table forebay.tasks in access exclusive mode")
        for _ in range(3):
            kit.app.state.hub.changed_elsewhere()
            answers = list(pool.map(lambda _: board(vic), range(40)))
            assert {a.headers["x-forebay-version"] for a in answers} == {
                first.headers["x-forebay-version"]
            }
        assert age(answers[-1]) > 0.8
        assert connections(superuser, f"{OURS} and state = 'active'") == 1
        assert vic.get("/empty").status_code == 200
    until(lambda: board(vic).headers["x-forebay-version"] > first.headers["x-forebay-version"])


def test_a_statement_that_takes_too_long_is_cut_off(
    serve_kit: ServeKit,
    role_dsn: Callable[..., str],
    client: ClientOf,
    superuser: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It ends in the database too, and the page says that the database is slow."""
    monkeypatch.setattr(databases, "STATEMENT_SECONDS", 1)
    kit = serve_kit(FOREBAY_DATABASE_URL=role_dsn("all"))
    vic = client(kit, "vic")
    with psycopg.connect(superuser.info.dsn) as locker:
        locker.execute("lock table forebay.tasks in access exclusive mode")
        answer = board(vic)
        assert answer.status_code == 503
        assert "The database is slow" in answer.text
        until(lambda: connections(superuser, f"{OURS} and state = 'active'") == 0)


def test_fifty_pages_ask_the_database_no_more_than_one(
    kit: Served, client: ClientOf, work: Callable[[], int], superuser: psycopg.Connection
) -> None:
    """Every page fetches on every hint; the answers are made once, for people of every role that
    may see them. No page has a connection.

    What is counted is each statement that the app sends, those that try a connection too.
    """
    asked = Counter[str]()

    class Counted(psycopg.Cursor[Any]):
        def execute(self, *arguments: Any, **options: Any) -> Any:
            asked["statements"] += 1
            return super().execute(*arguments, **options)

    kit.app.state.connections._configure = lambda conn: setattr(conn, "cursor_factory", Counted)
    clients = [client(kit, name) for name in ("vic", "oscar", "root")]
    keys = [each.cookies["forebay_kit"] for each in clients]
    with ExitStack() as stack:
        for number in range(47):
            other = stack.enter_context(httpx.Client(base_url=kit.url, timeout=20))
            other.cookies.set("forebay_kit", keys[number % 3])
            clients.append(other)
        alone = _asked_while_working(kit, clients[:1], work, asked)
        of_each_role = _asked_while_working(kit, clients[:3], work, asked)
        together = _asked_while_working(kit, clients, work, asked)
        assert connections(superuser, OURS) <= databases.POOL_SIZE
        assert connections(superuser, LISTENER) == 1
    assert alone > 6
    assert of_each_role <= 1.5 * alone, f"{of_each_role} against {alone}"
    assert together <= 1.5 * alone, f"{together} against {alone}"


def _asked_while_working(
    kit: Served, clients: list[httpx.Client], work: Callable[[], int], asked: Counter[str]
) -> int:
    """Return how many statements pages cost that fetch on each hint, as tasks come in."""
    before, ended = asked["statements"], threading.Event()

    def show(client: httpx.Client) -> int:
        fetched = 0
        with listening_to(client) as hints:
            seen = 0
            while not ended.is_set():
                if len(hints.heard) > seen:
                    seen, fetched = len(hints.heard), fetched + 1
                    assert board(client).status_code == 200
                time.sleep(0.005)
        return fetched

    with ThreadPoolExecutor(len(clients)) as pool:
        showing = [pool.submit(show, client) for client in clients]
        until(lambda: kit.app.state.hub.streams == len(clients))
        for _ in range(60):
            work()
            time.sleep(0.05)
        ended.set()
        assert all(each.result() > 3 for each in showing)
    return asked["statements"] - before


def test_ui1_ui2_a_thousand_browsers_come_and_go_without_a_trace(
    kit: Served, client: ClientOf, superuser: psycopg.Connection
) -> None:
    """They close or reset, before and after the answer begins; nothing of them is left."""
    session = client(kit, "vic").cookies["forebay_kit"]
    where = urlsplit(kit.url)
    request = (
        f"GET /events HTTP/1.1\r\nHost: {where.netloc}\r\nCookie: forebay_kit={session}\r\n\r\n"
    ).encode()
    until(lambda: kit.app.state.hub.is_listening)
    before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for number in range(1000):
        with socket.create_connection((where.hostname, where.port)) as browser:
            browser.sendall(request[: None if number % 4 else 20])
            if number % 4 == 1:
                browser.recv(64)
            if number % 2:
                linger = struct.pack("ii", 1, 0)  # reset instead of closing
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    until(lambda: kit.app.state.hub.streams == 0)
    until(lambda: len(os.listdir("/proc/self/fd")) <= before + 5)
    assert threading.active_count() <= threads + 5
    assert connections(superuser, OURS) <= databases.POOL_SIZE
    assert board(client(kit, "vic")).status_code == 200


def test_where_there_is_no_room_for_another_stream_pages_poll(
    kit: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bounded number is open; the next one is told to come back later."""
    monkeypatch.setattr("forebay_apps.live.stream.MOST_STREAMS", 2)
    with listening_to(client(kit, "vic")), listening_to(client(kit, "vic")):
        refused = client(kit, "vic").get("/events")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    until(lambda: kit.app.state.hub.streams == 0)


def test_nobody_takes_every_stream(
    kit: Served, client: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person's pages poll when there are too many; the others hear of changes at once."""
    monkeypatch.setattr("forebay_apps.live.stream.MOST_OF_A_PERSON", 1)
    with listening_to(client(kit, "vic")), listening_to(client(kit, "oscar")):
        assert client(kit, "vic").get("/events").status_code == 503
    until(lambda: kit.app.state.hub.streams == 0)
    with listening_to(client(kit, "vic")):
        pass


def test_what_one_person_sees_is_never_given_to_another(kit: Served, client: ClientOf) -> None:
    """Answers that depend on the person are kept by person and role; others know no name."""
    people = {name: client(kit, name) for name in ("vic", "oscar", "mila")}
    for name, role in (("vic", "viewer"), ("oscar", "operator"), ("vic", "viewer")):
        assert f"For {name}, {role}" in people[name].get("/mine").text
    assert people["mila"].get("/board/now").status_code == 403
    assert people["vic"].get("/board/now").status_code == 200
    assert people["mila"].get("/board/now").status_code == 403


def test_what_is_for_operators_is_not_sent_to_viewers(kit: Served, client: ClientOf) -> None:
    """They share an answer of the database, and one never has the other's copy."""
    vic, oscar = client(kit, "vic"), client(kit, "oscar")
    for _ in range(2):
        seen, acted_on = board(vic), board(oscar)
        assert "<p>Act</p>" not in seen.text
        assert "<!--" not in seen.text
        assert "<p>Act</p>" in acted_on.text
        assert seen.headers["etag"] != acted_on.headers["etag"]
    again = {"X-Forebay-Live": "1", "If-None-Match": acted_on.headers["etag"]}
    assert oscar.get("/board/now", headers=again).status_code == 304
    assert vic.get("/board/now", headers=again).status_code == 200
