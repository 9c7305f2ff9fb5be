"""Connections to Lakebase: who logs in, with what, for how long, and what is tried again."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from types import SimpleNamespace

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from forebay import Task, Worker
from forebay import pool as pools
from forebay.calls import operator, submitter, viewer
from forebay.databricks import logins
from forebay.databricks.lakebase import Address
from forebay.databricks.lakebase import lakebase as lakebase_of
from forebay.errors import ConnectError, ReadOnlyServerError
from forebay.pool import Database
from forebay.running_attempt import document_of
from forebay.settings import Settings
from forebay_apps.web.database import Connections
from forebay_lab.workspace import Fault, Principal
from support import worker
from support.lakebase import APP, Lake, everything_logged, lakebase
from support.server import TestServer

CREDENTIALS = "POST /api/2.0/(postgres|database)/credentials"
LIFE = 2.0  # seconds, of the credentials of tests that let them end
NewLake = Callable[..., Lake]


@pytest.fixture(name="new_lake")
def _new_lake(
    server: TestServer, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NewLake]:
    """Return a function that serves a Lakebase and sets the variables that lead to it."""
    for name in [name for name in os.environ if name.startswith(("DATABRICKS", "PG"))]:
        monkeypatch.delenv(name)
    with ExitStack() as stack:

        def new(**options: object) -> Lake:
            lake = stack.enter_context(lakebase(server, superuser.info.dbname, **options))
            for name, value in lake.environment.items():
                monkeypatch.setenv(name, value)
            return lake

        yield new


@pytest.fixture
def lake(new_lake: NewLake) -> Lake:
    """Serve an autoscaling project whose credentials last for an hour."""
    return new_lake()


def refused(lake: Lake) -> list[str]:
    """Return the SQLSTATEs of the logins that the gateway did not let in."""
    return [one.outcome for one in lake.gateway.logins if one.outcome != "ok"]


def who(conn: psycopg.Connection) -> str:
    """Return the session's user, which also proves that it works."""
    row = conn.execute("select current_user::text").fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize("provisioned", [False, True])
def test_cp6_either_kind_is_logged_in_to_as_the_service_principal(
    new_lake: NewLake, provisioned: bool
) -> None:
    """The host is the direct one that the workspace names, and the line is encrypted."""
    lake = new_lake(provisioned=provisioned)
    with Database(lake.url).connect() as conn:
        assert who(conn) == APP
        assert conn.info.host == "127.0.0.1"
        assert conn.pgconn.ssl_in_use
    (given,) = lake.credentials.given.values()
    assert given.user == APP


def test_a_person_logs_in_under_an_address(
    lake: Lake, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a client id the workspace says who it is: here, that there is no such role yet."""
    monkeypatch.delenv("DATABRICKS_CLIENT_ID")
    monkeypatch.delenv("DATABRICKS_CLIENT_SECRET")
    monkeypatch.setenv("DATABRICKS_TOKEN", lake.workspace.token)
    with pytest.raises(ConnectError, match=r'role "ada@example\.com" does not exist') as caught:
        Database(lake.url).connect()
    assert not caught.value.is_transient


def test_connections_that_open_together_ask_for_one_credential(lake: Lake) -> None:
    """The first one asks; all wait for its answer."""
    lake.workspace.faults.add(Fault("slow", on=CREDENTIALS, seconds=0.5))
    with ThreadPoolExecutor(10) as threads:
        for conn in threads.map(lambda _: Database(lake.url).connect(), range(10)):
            conn.close()
    assert lake.asked == 1


def test_cp1_a_credential_is_replaced_before_it_ends(new_lake: NewLake) -> None:
    """New connections go on past the end of many credentials, and none is ever refused."""
    lake = new_lake(seconds=LIFE)
    until = time.monotonic() + 3 * LIFE
    database = Database(lake.url)
    while time.monotonic() < until:
        database.connect().close()
        time.sleep(0.1)
    assert refused(lake) == []
    assert 3 <= lake.asked <= 12


def test_nobody_waits_for_a_renewal(new_lake: NewLake) -> None:
    """While a credential is still good, a new connection takes it, however slow the workspace."""
    lake = new_lake(seconds=6)
    database = Database(lake.url)
    database.connect().close()
    lake.workspace.faults.add(Fault("slow", on=CREDENTIALS, seconds=30, times=None))
    time.sleep(6 * logins.RENEW_AFTER)
    began = time.monotonic()
    database.connect().close()
    assert time.monotonic() - began < 0.7


def test_a_workspace_that_is_away_matters_only_when_the_credential_ends(new_lake: NewLake) -> None:
    """Until then connections are opened; after that it is said, as something that may pass."""
    lake = new_lake(seconds=5)
    database = Database(lake.url, connect_timeout=1)
    database.connect().close()
    with lake.workspace.down():
        time.sleep(5 * logins.RENEW_AFTER)
        database.connect().close()
        time.sleep(5 * (1 - logins.RENEW_AFTER))
        with pytest.raises(ConnectError, match="workspace") as caught:
            database.connect()
        assert caught.value.is_transient
    database.check(patience=25)


def test_a_credential_that_is_refused_is_replaced_at_once(lake: Lake) -> None:
    """Whatever ended it early, such as a clock that is wrong, one more is asked for."""
    Database(lake.url).connect().close()
    lake.credentials.revoke_all()
    with Database(lake.url).connect() as conn:
        assert who(conn) == APP
    assert (lake.asked, refused(lake)) == (2, ["28P01"])


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_clock_that_is_wrong_keeps_nobody_out(lake: Lake, hours: int) -> None:
    """A credential that seems to have ended is used once; one that seems to last is not trusted."""
    lake.workspace.now = lambda: time.time() + hours * 3600
    for _ in range(2):
        Database(lake.url).connect().close()
    assert refused(lake) == []
    life = lakebase_of(lake.url).life
    assert life is not None
    assert life <= 3600


def test_cp6_what_waiting_cannot_mend_is_said_at_once(lake: Lake) -> None:
    """Who may not use the project is told the workspace's words, the name and a remedy."""
    lake.workspace.access.revoke(APP, "postgres/projects/forebay")
    began = time.monotonic()
    with pytest.raises(ConnectError, match=r"projects/forebay.*CAN_USE.*check the name") as caught:
        Database(lake.url).check(patience=60)
    assert not caught.value.is_transient
    assert time.monotonic() - began < 20


def test_cp6_a_login_that_the_database_refuses_is_said_at_once(lake: Lake) -> None:
    """A credential for another principal's role is refused; two tries are enough to know."""
    url = lake.url + "&user=somebody-else"
    with pytest.raises(ConnectError, match=r"authentication failed.*bootstrap") as caught:
        Database(url).check(patience=60)
    assert not caught.value.is_transient
    assert refused(lake) == ["28P01", "28P01"]


@pytest.mark.parametrize(
    ("secret", "endpoint"), [("wrong", "primary"), (None, "missing"), ("", "primary")]
)
def test_cp6_wrong_settings_are_said_at_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, secret: str | None, endpoint: str
) -> None:
    """A wrong secret, no secret, no such endpoint, the wrong kind: none may pass by itself."""
    if secret is not None:
        monkeypatch.setenv("DATABRICKS_CLIENT_SECRET", secret)
    url = lake.url.replace("primary", endpoint)
    for each in (url, "lakebase:instances/forebay"):
        with pytest.raises(ConnectError, match="gives no credential") as caught:
            Database(each).check(patience=60)
        assert not caught.value.is_transient


@pytest.mark.parametrize("how", ["refuses", "starts", "holds"])
def test_cp6_a_wake_up_from_zero_is_waited_for(lake: Lake, how: str) -> None:
    """A connection wakes it and is there when it is awake, without an error."""
    lake.gateway.sleep(1, how)  # type: ignore[arg-type]
    with Database(lake.url).connect() as conn:
        assert who(conn) == APP


def test_cp6_it_is_waited_for_only_so_long(lake: Lake) -> None:
    """What does not come up within connect_timeout is said to be away for now."""
    Database(lake.url).connect().close()
    lake.gateway.sleep(60)
    began = time.monotonic()
    with pytest.raises(ConnectError, match="starting up") as caught:
        Database(lake.url, connect_timeout=2).connect()
    assert caught.value.is_transient
    assert time.monotonic() - began < 4


@pytest.mark.parametrize("cut", ["idle_seconds", "lifetime_seconds"])
def test_cp3_a_pool_hands_out_no_connection_that_was_cut(lake: Lake, cut: str) -> None:
    """Whether it was idle for too long or has become too old; the pool waits a second, and has
    another one then.
    """
    with Database(lake.url).open_pool(max_size=2) as pool:
        setattr(lake.gateway, cut, 2)
        for _ in range(3):
            with pool.connection() as conn:
                assert who(conn) == APP
            time.sleep(2.3)
    assert lake.gateway.cuts >= 2


def test_cp2_pools_recover_from_an_outage_of_any_length(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool that has given up trying to reconnect begins again with the next who asks."""
    monkeypatch.setattr(pools, "GIVE_UP_RECONNECTING", 0.3)
    database = Database(lake.url, connect_timeout=1)
    connections = Connections(database)
    with database.open_pool(max_size=1) as pool:
        with connections.as_role("viewer") as conn:
            viewer.agent_status(conn)
        with lake.gateway.down():
            time.sleep(4)
            with pytest.raises(psycopg.OperationalError), pool.connection(timeout=0.2):
                pass
            time.sleep(2)
        with pool.connection(timeout=10) as conn:
            assert who(conn) == APP
        with connections.as_role("viewer") as conn:
            viewer.agent_status(conn)
    connections.close()


def test_cp2_an_async_pool_does_the_same(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its own code for it."""
    monkeypatch.setattr(pools, "GIVE_UP_RECONNECTING", 0.3)
    database = Database(lake.url, connect_timeout=1)

    async def session() -> None:
        async with database.async_pool(max_size=1) as pool:
            await pool.wait()
            with lake.gateway.down():
                await asyncio.sleep(3)
            async with pool.connection(timeout=10) as conn:
                await conn.execute("select 1")

    asyncio.run(session())


def test_a_loop_goes_on_while_a_credential_is_fetched(new_lake: NewLake) -> None:
    """The workspace takes a second; nothing else of the loop waits for it."""
    lake = new_lake()
    Database(lake.url).connect().close()
    lake.credentials.revoke_all()
    lake.workspace.faults.add(Fault("slow", on=CREDENTIALS, seconds=1.5))
    gaps = []

    async def tick() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - began)

    async def session() -> None:
        ticking = asyncio.create_task(tick())
        async with Database(lake.url).async_pool() as pool, pool.connection() as conn:
            await conn.execute("select 1")
        ticking.cancel()

    asyncio.run(session())
    assert lake.asked == 2
    assert sum(gaps) > 1.4
    assert max(gaps) < 0.8


def test_connections_of_a_pool_do_not_grow_older_than_credentials(new_lake: NewLake) -> None:
    """Their longest life is below that of the credential they began with."""
    for seconds, most in ((3600, 2700), (600, 450)):
        lake = new_lake(seconds=seconds)
        unknown, known = asyncio.run(_async_lifetimes(lake))
        assert unknown > known == pytest.approx(most, abs=5)
        assert asyncio.run(_async_lifetimes(lake)) == pytest.approx((most, most), abs=5)
        with Database(lake.url).open_pool() as pool:
            assert pool.max_lifetime == pytest.approx(most, abs=5)


async def _async_lifetimes(lake: Lake) -> tuple[float, float]:
    """Return how old connections of an async pool may grow, as it opens and after the first."""
    pool = Database(lake.url).async_pool()
    begun = pool.max_lifetime
    async with pool:
        async with pool.connection() as conn:
            await conn.execute("select 1")
        return begun, pool.max_lifetime


def test_a_node_that_only_reads_is_not_connected_to(lake: Lake) -> None:
    """After a failover the connection is there as soon as a node takes writes."""
    lake.gateway.fail_over(1)
    with Database(lake.url).connect() as conn:
        assert conn.execute("show transaction_read_only").fetchone() == ("off",)


def test_a_connection_whose_server_stops_taking_writes_is_dropped(
    lake: Lake, db: psycopg.Connection
) -> None:
    """25006: the call fails as when the line was cut, and the pool has another connection then."""
    operator.register_agent(db, agent="a")
    lake.gateway.is_read_only = True
    with Database(lake.url + "&target_session_attrs=any").open_pool(max_size=1) as pool:
        pool.wait()
        lake.gateway.is_read_only = False
        with pytest.raises(ReadOnlyServerError), pool.connection() as conn:
            submitter.enqueue(conn, agent="a", payload={})
        assert conn.closed
        with pool.connection() as conn:
            assert submitter.enqueue(conn, agent="a", payload={}) > 0


def test_a_result_outlives_a_failover(lake: Lake, db: psycopg.Connection) -> None:
    """It is reported on a connection to a node that takes writes, as what it is."""
    worker.register(db, max_attempts=1)
    (task_id,) = worker.enqueue(db)
    pulling = Worker(lake.url + "&target_session_attrs=any", agent="parse")

    @pulling.handler
    def handle(task: Task) -> dict[str, int]:
        lake.gateway.fail_over(3)
        threading.Timer(6, pulling.stop).start()
        return {"pages": 3}

    with everything_logged() as said:
        pulling.run()
    found = worker.detail(db, task_id)
    assert found.status == "completed"
    assert "takes no writes" in "".join(said)


def test_a_transaction_that_is_read_only_by_itself_keeps_its_connection(
    lake: Lake, db: psycopg.Connection
) -> None:
    """Its caller hears what is wrong: the server has not changed."""
    operator.register_agent(db, agent="a")
    with Database(lake.url).connect() as conn:
        conn.execute("begin read only")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            submitter.enqueue(conn, agent="a", payload={})
        assert not conn.closed


def test_an_attempt_gets_the_url_and_not_the_credential(lake: Lake) -> None:
    """Its process asks for its own: it may run longer than a credential lasts."""
    names = ("task_id", "attempt_id", "attempt_no", "agent", "entry_point", "payload")
    attempt = SimpleNamespace(
        **dict.fromkeys(names), launch_token="token", deadline_at=datetime.now(UTC)
    )
    document = document_of(attempt, Database(lake.url))  # type: ignore[arg-type]
    assert document["conninfo"] == lake.url
    assert lake.asked == 0


def test_the_variables_of_an_app_name_its_database(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its endpoint mapped, an app needs no setting of ours; elsewhere they mean nothing."""
    place, _, query = lake.url.removeprefix("lakebase:").partition("?")
    port, dbname = (each.partition("=")[2] for each in query.split("&"))
    variables = {"LAKEBASE_ENDPOINT": place, "PGHOST": "127.0.0.1", "PGPORT": port}
    variables |= {"PGDATABASE": dbname, "PGUSER": APP, "DATABRICKS_APP_NAME": "intake"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with Database(Settings.read(os.environ).database_url).connect() as conn:
        assert who(conn) == APP
    assert lake.workspace.calls("GET", f"/api/2.0/postgres/{place}") == []
    elsewhere = {name: value for name, value in variables.items() if "APP" not in name}
    assert Address.read(f"lakebase:{place}", elsewhere).given == {}


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("lakebase:projects/p", "cannot be read"),
        ("lakebase:instances/i?password=hunter2", "may have host"),
        ("lakebase:instances/i?sslmode=prefer", "clear text"),
    ],
)
def test_a_wrong_url_is_refused_without_asking_anybody(url: str, said: str) -> None:
    """What it must not hold is not repeated."""
    with pytest.raises(ConnectError, match=said) as caught:
        Database(url).validate()
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ConnectError, match=said):
        Database(url).connect()


def test_the_command_line_takes_the_url(lake: Lake, db: psycopg.Connection) -> None:
    """Also for psql, whose arguments show nothing, and for what works on the schema."""
    operator.register_agent(db, agent="reader-of-pdfs")

    def forebay(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "forebay.cli", *arguments],
            env=os.environ | {"FOREBAY_DATABASE_URL": lake.url},
            capture_output=True,
            text=True,
            timeout=60,
        )

    listed = forebay("agent", "list", "--json")
    assert "reader-of-pdfs" in listed.stdout, listed.stderr
    selected = forebay("psql", "-Atc", "select current_user")
    assert selected.stdout.strip() == APP, selected.stderr
    status = forebay("db", "status")
    assert "may not act as forebay_owner" in status.stderr


def test_tokens_are_in_no_log_no_error_and_no_repr(
    lake: Lake, db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong, and also with the SDK's own log of what it sends and receives."""
    monkeypatch.setattr(pools, "GIVE_UP_RECONNECTING", 0.3)
    database = Database(lake.url, connect_timeout=1)
    with everything_logged() as said:
        Database(lake.url).connect().close()
        for url, asleep in ((f"{lake.url}&user=x", 0), (f"{lake.url}&dbname=x", 0), (lake.url, 30)):
            lake.gateway.sleep(asleep)
            with pytest.raises(ConnectError) as caught:
                Database(url, connect_timeout=1).connect()
            said += traceback.format_exception(caught.value)
        with database.pool(min_size=1) as pool, pytest.raises(psycopg.OperationalError) as lost:
            pool.getconn(timeout=1.5)
        said += traceback.format_exception(lost.value)
        said += [repr(database), str(database), repr(lakebase_of(lake.url)._logins.get(1))]
    assert lake.asked >= 2
    assert lake.tokens_in("".join(said)) == []
    assert any("/credentials" in line for line in said)


def test_the_pool_is_psycopgs(lake: Lake) -> None:
    """`pool` passes on what a ConnectionPool takes."""
    with Database(lake.url).pool(min_size=0, max_size=2, name="mine") as pool:
        assert isinstance(pool, ConnectionPool)
        assert pool.name == "mine"


def test_without_the_sdk_it_is_said_what_to_install(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: a wait brings no package."""
    monkeypatch.setitem(sys.modules, "databricks.sdk", None)
    with pytest.raises(ConnectError, match="install Forebay's extra databricks") as caught:
        Database(lake.url).connect()
    assert not caught.value.is_transient


IMPORTED = """
import sys
from forebay.databricks.lakebase import lakebase
from forebay.pool import Database

class Look:
    def find_spec(self, name, *_):
        if name == "databricks.sdk":
            print("imported while a login goes on:", lakebase(sys.argv[1])._logins._coming)

sys.meta_path.insert(0, Look())
Database(sys.argv[1]).connect().close()
"""


def test_the_import_of_the_sdk_is_no_part_of_the_first_login(lake: Lake) -> None:
    """It takes as long as the machine is busy, which is no sign of a workspace that is away."""
    command = [sys.executable, "-c", IMPORTED, lake.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.stdout == "imported while a login goes on: None\n", done.stderr


def test_an_unknown_user_of_the_workspace_is_told_so(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A credential is for whom the workspace knows, whatever role the URL names."""
    lake.workspace.access.add(Principal("other", secret="s"))
    monkeypatch.setenv("DATABRICKS_CLIENT_ID", "other")
    monkeypatch.setenv("DATABRICKS_CLIENT_SECRET", "s")
    with pytest.raises(ConnectError, match="other does not have CAN_USE"):
        Database(lake.url).connect()
