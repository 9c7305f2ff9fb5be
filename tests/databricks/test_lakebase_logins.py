"""Logins to Lakebase while the workspace's own login is not well, and results that wait."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from forebay import agent as agents
from forebay import run_attempt as running
from forebay.calls import worker as calls
from forebay.databricks import logins
from forebay.databricks.lakebase import Login
from forebay.databricks.lakebase import lakebase as lakebase_of
from forebay.databricks.logins import Logins
from forebay.errors import ConnectError
from forebay.pool import Database
from forebay.running_attempt import RunningAttempt, document_of
from forebay_apps.web.database import Connections
from forebay_lab.workspace import Fault
from forebay_lab.workspace.routing import Answer, Request
from support import worker
from support.lakebase import Lake, lakebase
from support.server import TestServer

LOGIN = "POST /oidc/v1/token"


@pytest.fixture(name="lake")
def _lake(
    server: TestServer, superuser: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Lake]:
    """Serve a Lakebase, and set the variables that lead to it."""
    for name in [name for name in os.environ if name.startswith(("DATABRICKS", "PG"))]:
        monkeypatch.delenv(name)
    with lakebase(server, superuser.info.dbname) as lake:
        for name, value in lake.environment.items():
            monkeypatch.setenv(name, value)
        yield lake


def end_bearers(lake: Lake) -> None:
    """Have neither a bearer nor a credential be good any more."""
    lake.workspace.access.expire_tokens()
    lake.credentials.revoke_all()


def befall_for_a_second(lake: Lake, **fault: Any) -> None:
    """Have a fault befall every login to the workspace for the next second."""
    faults = lake.workspace.faults
    added = faults.add(Fault("status", on=LOGIN, times=None, **fault))
    threading.Timer(1, faults.remove, [added]).start()


@pytest.mark.parametrize("status", [429, 503])
def test_a_result_outlives_a_login_that_is_away(
    lake: Lake, db: psycopg.Connection, status: int
) -> None:
    """The bearer has ended, no other is given for a second, and the connection is cut."""
    attempt, task_id = begun(db, Database(lake.url))
    end_bearers(lake)
    lake.gateway.cut()
    befall_for_a_second(lake, status=status)
    running._report(attempt, agents.Result({"pages": 3}), None)
    assert worker.detail(db, task_id).status == "completed"


def test_cp1_a_result_goes_by_a_connection_that_outlives_its_credential(
    lake: Lake, db: psycopg.Connection
) -> None:
    """The credential is looked at only at the login: neither another one nor another login."""
    attempt, task_id = begun(db, Database(lake.url))
    end_bearers(lake)
    running._report(attempt, agents.Result({"pages": 3}), None)
    assert worker.detail(db, task_id).status == "completed"
    assert (lake.asked, len(lake.gateway.logins)) == (1, 1)


def begun(db: psycopg.Connection, database: Database) -> tuple[RunningAttempt, int]:
    """Return an attempt that is connected, and its task."""
    worker.register(db, max_attempts=1, lease=timedelta(minutes=1))
    (task_id,) = worker.enqueue(db)
    (claimed,) = calls.dequeue(db, worker="w", agents=["parse"])
    attempt = RunningAttempt(document_of(claimed, database), lambda: False)
    attempt.connection()
    return attempt, task_id


def test_a_start_waits_for_a_login_that_is_away(lake: Lake) -> None:
    """As it does for the workspace, and for the database."""
    befall_for_a_second(lake)
    Database(lake.url).check(patience=20)


def test_a_login_that_hangs_costs_one_try(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one begins, and the connection is there."""
    monkeypatch.setattr("forebay.databricks.client.HTTP_SECONDS", 1)
    Database(lake.url).connect().close()
    end_bearers(lake)
    lake.workspace.faults.add(Fault("slow", on=LOGIN, seconds=30))
    Database(lake.url).connect().close()


def test_a_bearer_that_is_refused_is_renewed(lake: Lake) -> None:
    """Nobody hears of it, though the SDK thinks that it is good for another hour."""
    Database(lake.url).connect().close()
    end_bearers(lake)
    Database(lake.url).connect().close()
    assert len(lake.workspace.calls(*LOGIN.split())) == 2


def test_a_refused_secret_says_what_to_check_and_no_settings(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No wait helps, not even for a result."""
    monkeypatch.setenv("DATABRICKS_CLIENT_SECRET", "wrong-secret")
    with pytest.raises(ConnectError, match="check DATABRICKS_CLIENT_ID") as caught:
        Database(lake.url).connect()
    assert (caught.value.is_transient, caught.value.is_final) == (False, True)
    assert "Config" not in str(caught.value)


ASKED = {
    "endpoint": "GET /api/2.0/postgres/.*/endpoints/",
    "credential": "POST /api/2.0/postgres/credentials",
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    ("status", "page"),
    [
        (404, "<html><title>Not Found</title></html>"),
        (403, "<html><title>Forbidden</title></html>"),
        (403, '{"message": "The VPN is down."}'),
        (401, "<html><title>Log in</title></html>"),
        (400, "<html><title>Bad Request</title></html>"),
        (400, ""),
    ],
)
def test_a_gateways_refusal_may_pass(lake: Lake, asked: str, status: int, page: str) -> None:
    """It is none of the workspace's: a start waits for the API's own word."""
    fault = Fault("status", on=ASKED[asked], status=status, page=page, times=None)
    lake.workspace.faults.add(fault)
    with pytest.raises(ConnectError, match="wait until the workspace answers") as caught:
        Database(lake.url).connect()
    assert (caught.value.is_transient, caught.value.is_final) == (True, False)
    threading.Timer(1, lake.workspace.faults.remove, [fault]).start()
    Database(lake.url).check(patience=20)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (404, "NOT_FOUND"),
        (404, "RESOURCE_DOES_NOT_EXIST"),
        (403, "PERMISSION_DENIED"),
        (400, "INVALID_PARAMETER_VALUE"),
        (400, "BAD_REQUEST"),
    ],
)
def test_the_apis_own_refusal_is_said_at_once(
    lake: Lake, asked: str, status: int, code: str
) -> None:
    """Waiting does not help against a wrong name, or a right that is not there."""
    lake.workspace.faults.add(Fault("status", on=ASKED[asked], status=status, code=code))
    with pytest.raises(ConnectError, match="check the name") as caught:
        Database(lake.url).connect()
    assert not caught.value.is_transient


ODD = [
    {"token": None},
    {"token": ""},
    {"expire_time": None},
    {"expire_time": "soon"},
    "text",
    [],
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_a_credential_that_makes_no_sense_may_pass(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, odd: Any
) -> None:
    """It is one sentence, and neither a bug nor a wrong name."""
    handle = lake.workspace.handle

    def handled(request: Request) -> Answer:
        answer = handle(request)
        if request.path.endswith("/credentials"):
            changed = {**answer.body, **odd} if isinstance(odd, dict) else odd
            if isinstance(changed, dict):
                changed = {name: value for name, value in changed.items() if value is not None}
            return Answer(changed)
        return answer

    monkeypatch.setattr(lake.workspace, "handle", handled)
    with pytest.raises(ConnectError, match="wait until the workspace answers") as caught:
        Database(lake.url).connect()
    assert caught.value.is_transient


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """Have this process's clock show the time of a zone for the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        yield
    time.tzset()


def test_a_time_without_a_zone_is_utc(
    server: TestServer, superuser: psycopg.Connection, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a provisioned instance may say it; the process's own clock is ahead of it by hours."""
    with (
        in_zone("Asia/Tokyo"),
        lakebase(server, superuser.info.dbname, provisioned=True) as provisioned,
    ):
        monkeypatch.setenv("DATABRICKS_HOST", provisioned.workspace.url)
        handle = provisioned.workspace.handle

        def handled(request: Request) -> Answer:
            answer = handle(request)
            if ends_at := answer.body.get("expiration_time"):
                answer.body["expiration_time"] = ends_at.removesuffix("Z").partition("+")[0]
            return answer

        monkeypatch.setattr(provisioned.workspace, "handle", handled)
        Database(provisioned.url).connect().close()
        assert lakebase_of(provisioned.url).life == pytest.approx(3600, abs=60)


def test_pools_that_open_before_the_first_login_follow_the_life_of_credentials(lake: Lake) -> None:
    """What a connection may live is known once one was opened: the web apps check nothing first."""
    lake.credentials.seconds = 600
    connections = Connections(Database(lake.url))
    with connections.as_role("viewer"):
        (pool,) = connections._pools.values()
        assert pool.max_lifetime == pytest.approx(450, abs=5)
    connections.close()


def test_a_fetch_without_an_end_is_waited_for_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next who asks begins another; one that comes late harms nobody."""
    monkeypatch.setattr(logins, "ABANDON_AFTER", 0.1)
    waits = iter([0.5, 0.0])

    def fetch() -> Login:
        time.sleep(next(waits))
        return Login("host", "user", "token", 60)

    fetched = Logins(fetch)
    with pytest.raises(TimeoutError):
        fetched.get(0.2)
    assert fetched.get(0.2).token == "token"
