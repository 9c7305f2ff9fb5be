"""`forebay serve` and `forebay user`, as they are called."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from apps.support.hints import listening_to
from apps.support.people import PASSWORD
from apps.support.processes import lines, said, serving
from forebay_apps.web.database import STATEMENT_SECONDS
from forebay_apps.web.users import Users
from support.cli import Cli
from support.receiver import SECRET
from support.waiting import until

DSN = Callable[..., str]


def test_it_stops_when_asked_though_streams_are_open(role_dsn: DSN, tmp_path: Path) -> None:
    """SIGTERM with ten pages open: each stream ends, nothing has to be cut off, and the exit is
    one of success."""
    Users(tmp_path / "users.json").put("vic", "viewer", PASSWORD)
    with (
        serving("orchestrator", tmp_path, "--no-daemon", FOREBAY_DATABASE_URL=role_dsn("all")) as (
            process,
            url,
        ),
        httpx.Client(base_url=url, headers={"Origin": url}, timeout=20) as vic,
        ExitStack() as streams,
    ):
        vic.post("/login", data={"name": "vic", "password": PASSWORD})
        for _ in range(10):
            streams.enter_context(listening_to(vic))
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        events = [line["event"] for line in lines(tmp_path)]
        assert "nobody_can_log_in" not in events
        assert events[-1] == "stopped"
        assert not [line for line in lines(tmp_path) if line["level"] == "error"], said(tmp_path)


def test_it_stops_though_the_database_does_not_answer(
    role_dsn: DSN, tmp_path: Path, superuser: psycopg.Connection
) -> None:
    """What is being asked is cancelled: its thread would keep the process until it times out."""
    variables = {"FOREBAY_LOGIN": "proxy", "FOREBAY_TRUSTED_PROXIES": "127.0.0.1"}
    variables |= {"FOREBAY_VIEWERS": "*", "FOREBAY_DATABASE_URL": role_dsn("all")}
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    with (
        psycopg.connect(superuser.info.dsn) as locker,
        serving("orchestrator", tmp_path, "--no-daemon", **variables) as (process, url),
        ThreadPoolExecutor(1) as pool,
    ):
        locker.execute("lock table forebay.tasks in access exclusive mode")
        asked = pool.submit(httpx.get, f"{url}/tasks/list", headers={"X-Forwarded-User": "vic"})
        until(lambda: superuser.execute(waiting).fetchone() == (1,))
        process.send_signal(signal.SIGTERM)
        assert process.wait(STATEMENT_SECONDS - 3) == 0
        asked.exception()


def test_intake_is_served_too(role_dsn: DSN, tmp_path: Path) -> None:
    """And a login that lacks what it does not need is enough for it."""
    dsn = role_dsn("submitter", "viewer", "reader", "upkeep")
    with serving("intake", tmp_path, FOREBAY_DATABASE_URL=dsn) as (process, url):
        assert httpx.get(f"{url}/healthz").text == "ok\n"
        assert httpx.get(f"{url}/login").status_code == 200
        told = {line["event"]: line for line in lines(tmp_path)}
        assert told["serving"]["address"] == f"{url}/"
        assert "forebay user add" in told["nobody_can_log_in"]["hint"]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Call the command line with a home of its own."""
    monkeypatch.setenv("FOREBAY_HOME", str(tmp_path))
    return Cli(capsys)


def test_a_login_that_may_not_act_as_the_app_does_is_told_at_the_start(
    cli: Cli, role_dsn: DSN
) -> None:
    """Rather than on every page."""
    answer = cli("serve", "orchestrator", "--port", "0", "--dsn", role_dsn("viewer"))
    assert answer.code == 1
    assert "forebay_operator, forebay_reader" in answer.err
    assert "forebay_viewer" not in answer.err
    assert "run 'grant forebay_operator, forebay_reader, " in answer.err


def test_a_port_that_is_taken_is_told(cli: Cli, tmp_path: Path) -> None:
    """In one sentence."""
    from forebay_apps.serve import listening

    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        answer = cli("serve", "intake", "--port", port, "--dsn", "host=/nowhere")
    assert answer.code == 1
    assert f"port {port}" in answer.err


@pytest.mark.parametrize(
    ("which", "variable", "value"),
    [
        ("intake", "FOREBAY_STORAGE_ROOTS", "/etc/passwd"),
        ("intake", "FOREBAY_STORAGE_ROOTS", "/proc/nope"),
        ("orchestrator", "FOREBAY_WEBHOOK_URL", "http://exa mple/x"),
        ("orchestrator", "FOREBAY_WEBHOOK_URL", "http://a..b/x"),
        ("orchestrator", "FOREBAY_WEBHOOK_URL", "http://a/ü"),
        ("orchestrator", "FOREBAY_METRICS_TOKEN", "tökén-long-enough"),
        ("orchestrator", "FOREBAY_METRICS_TOKEN", "a token\nof two lines"),
        ("orchestrator", "OTEL_EXPORTER_OTLP_ENDPOINT", "notaurl"),
        ("orchestrator", "FOREBAY_DAEMON_DATABASE_URL", "garbage"),
        ("orchestrator", "DATABRICKS_APP_PORT", "99999"),
        ("orchestrator", "DATABRICKS_APP_PORT", "abc"),
    ],
)
def test_a_setting_that_makes_no_sense_stops_the_start(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, which: str, variable: str, value: str
) -> None:
    """With one sentence that names it; the database is not asked for that."""
    monkeypatch.setenv("FOREBAY_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv(variable, value)
    answer = cli("serve", which, "--dsn", "host=/nowhere")
    assert answer.code == 1
    assert variable in answer.err
    assert answer.err.count("\n") == 1


def test_a_port_that_was_given_is_not_blamed_on_the_environment(cli: Cli) -> None:
    """Only a variable that is set is named."""
    answer = cli("serve", "intake", "--port", "99999")
    assert answer.code == 2
    assert "--port" in answer.err
    assert "DATABRICKS_APP_PORT" not in answer.err


def test_a_home_that_cannot_be_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder alone says nothing of the setting that it is from."""
    monkeypatch.setenv("FOREBAY_HOME", "/proc/nope")
    assert "FOREBAY_HOME" in cli("demo").err


def test_users_are_added_listed_changed_and_removed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The password comes from standard input where nobody can be asked."""

    def typing(text: str) -> None:
        source = tmp_path / "typed"
        source.write_text(text)
        monkeypatch.setattr("sys.stdin", source.open())

    typing(f"{PASSWORD}\n")
    assert cli("user", "add", "anna", "--role", "operator").code == 0
    assert cli("user", "list", "--json").json == [{"name": "anna", "role": "operator"}]
    users = Users(tmp_path / "users.json")
    assert users.checked("anna", PASSWORD)
    typing("another long password\n")
    assert cli("user", "passwd", "anna").code == 0
    assert cli("user", "role", "anna", "viewer").code == 0
    found = users.checked("anna", "another long password")
    assert found
    assert found.role == "viewer"
    assert not users.checked("anna", PASSWORD)
    assert cli("user", "remove", "anna").code == 0
    assert cli("user", "list", "--json").json == []


@pytest.mark.parametrize(
    ("arguments", "typed", "sentence"),
    [
        (["add", "anna"], "short", "12 to 1,000 characters"),
        (["add", "anna"], "x" * 1001, "12 to 1,000 characters"),
        (["add", "anna", "--role", "king"], PASSWORD, "There is no role 'king'"),
        (["add", " "], PASSWORD, "The name must have"),
        (["passwd", "nobody"], PASSWORD, "There is no user 'nobody'"),
        (["remove", "nobody"], "", "There is no user 'nobody'"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    typed: str,
    sentence: str,
) -> None:
    """And changes nothing."""
    (tmp_path / "typed").write_text(typed)
    monkeypatch.setattr("sys.stdin", (tmp_path / "typed").open())
    answer = cli("user", *arguments)
    assert answer.code == 1
    assert sentence in answer.err
    assert cli("user", "list", "--json").json == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["user", "list"],
        ["user", "add", "anna"],
        ["user", "passwd", "anna"],
        ["user", "role", "anna", "viewer"],
        ["user", "remove", "anna"],
        ["serve", "intake", "--port", "0"],
    ],
)
def test_a_malformed_users_file_is_told_in_one_sentence(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    role_dsn: DSN,
    tmp_path: Path,
    arguments: list[str],
) -> None:
    """By each command on it, and at the start of an app; the file stays as it is."""
    file = tmp_path / "users.json"
    file.write_text('[{"name": ["anna"]}]')
    (tmp_path / "typed").write_text(PASSWORD)
    monkeypatch.setattr("sys.stdin", (tmp_path / "typed").open())
    monkeypatch.setenv("FOREBAY_DATABASE_URL", role_dsn("all"))
    answer = cli(*arguments)
    assert answer.code == 1
    assert f"{file} cannot be read (a user lacks" in answer.err
    assert "Traceback" not in answer.err
    assert file.read_text() == '[{"name": ["anna"]}]'
