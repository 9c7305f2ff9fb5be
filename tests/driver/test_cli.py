"""The command line as a whole: what it says without a database, to bad input, and to its reader."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

import psycopg
import pytest

from forebay import __version__
from forebay.cli import main, output
from forebay.cli.psql import pg_environment
from support.cli import Cli, own_log
from support.server import TestServer

COMMAND = (sys.executable, "-m", "forebay.cli")
COMMANDS = (
    *("submit", "tasks", "task", "explain", "batch", "cancel", "retry", "reprocess"),
    *(
        "reprioritize",
        "annotate",
        "agent",
        "quota",
        "customer",
        "price",
        "cost",
        "run",
        "demo",
        "db",
        "pg",
        "psql",
    ),
)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Run commands where no database is configured."""
    monkeypatch.delenv("FOREBAY_DATABASE_URL", raising=False)
    monkeypatch.delenv("FOREBAY_DEBUG", raising=False)
    monkeypatch.setenv("FOREBAY_HOME", str(tmp_path))
    return Cli(capsys)


def test_help_names_every_command(cli: Cli) -> None:
    """`--help` lists the commands, and every one of them explains itself."""
    listed = cli("--help")
    assert listed.code == 0
    for command in COMMANDS:
        assert command in listed.out
        assert cli(command, "--help").code == 0


def test_version_is_the_packages(cli: Cli) -> None:
    """`--version` prints it and does nothing else."""
    assert (cli("--version").code, cli("--version").out) == (0, f"forebay {__version__}\n")


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("no-such-command",),
        ("tasks", "--limit", "many"),
        ("tasks", "--status", "lost"),
        ("tasks", "--since", "yesterday"),
        ("task",),
        ("task", 1 << 63),
        ("cancel", 1 << 63),
        ("batch", 1 << 63),
        ("db", "plan", "--sql", "--json"),
        ("cancel",),
        ("reprioritize", "1"),
        ("annotate", "1"),
        ("tasks", "--max-confidence", "2"),
        ("submit", "a.pdf", "--priority", "40000"),
        ("agent", "pause"),
        ("agent", "pause", "one", "--all"),
        ("agent", "set", "one", "--lease", "soon"),
        ("agent", "set", "one", "--launcher", "rocket"),
        ("agent", "set", "one", "--max-tpm", "many"),
        ("agent", "set", "one", "--aging", "slowly"),
        ("agent", "lift", "one", "--usd", "much"),
        ("agent", "lift", "one", "--usd", "nan"),
        ("quota", "set", "gpt"),
        ("quota", "set", "gpt", "--limit", "tokens=60000=1"),
        ("quota", "set", "gpt", "--limit", "tokens/minute=60000:sieve"),
        ("quota", "set", "gpt", "--limit", "tokens/minute=1", "--headroom", "1"),
        ("price", "set", "gpt"),
        ("price", "set", "gpt", "--input", "cheap"),
        ("pg", "start", "--port", "70000"),
    ],
)
def test_wrong_usage_is_exit_code_2(cli: Cli, args: tuple[object, ...]) -> None:
    """A command that cannot be understood does nothing and ends with 2."""
    assert cli(*args).code == 2


def test_no_database_is_refused_with_both_ways_out(cli: Cli) -> None:
    """Without a database the one sentence names the setting and the embedded server."""
    answer = cli("tasks", "--json")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("\n") == 1
    assert "FOREBAY_DATABASE_URL" in answer.err
    assert "forebay pg start" in answer.err


@pytest.mark.parametrize(
    "command", [("tasks",), ("db", "plan"), ("db", "upgrade"), ("demo",), ("run",), ("psql",)]
)
def test_a_dsn_that_cannot_be_read_is_not_repeated(
    cli: Cli, command: tuple[str, ...], tmp_path: Path
) -> None:
    """Whatever the command, the password of a DSN with a mistake in it is not shown."""
    (tmp_path / "a.pdf").write_text("%PDF-")
    options = ("--pdfs", tmp_path) if command == ("demo",) else ()
    answer = cli(*command, *options, "--dsn", "mysql://u:secret@h/x")
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "secret" not in answer.err
    assert "postgresql://" in answer.err


@pytest.mark.parametrize(
    "dsn", ["postgresql://nobody:secret@127.0.0.1:1/none", "not a dsn secret", "host=/nowhere"]
)
def test_wrong_dsn_is_one_sentence_without_its_password(cli: Cli, dsn: str) -> None:
    """A database that cannot be reached is named as such, and no secret is repeated."""
    answer = cli("tasks", "--dsn", dsn)
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert "secret" not in answer.err
    assert "database" in answer.err


def test_database_without_the_schema_is_refused(cli: Cli, server: TestServer) -> None:
    """An empty database is answered with the command that installs the schema."""
    answer = cli("tasks", "--dsn", server.dsn(server.user, "postgres"))
    assert answer.code == 1
    assert "forebay db upgrade" in answer.err


def test_login_without_the_role_is_refused(cli: Cli, role_dsn: Callable[..., str]) -> None:
    """A viewer who acts is told which role is missing."""
    answer = cli("cancel", 1, "--dsn", role_dsn("viewer"))
    assert answer.code == 1
    assert "grant it forebay_operator" in answer.err


def test_refusals_name_what_was_typed(cli: Cli, role_dsn: Callable[..., str]) -> None:
    """The database speaks of its parameters and functions; a person knows options and commands."""
    dsn = role_dsn("all")
    refused = cli("agent", "set", "one", "--lease", "0s", "--dsn", dsn).err
    assert "lease must" in refused
    assert "p_" not in refused
    unknown = cli("agent", "list", "nosuch", "--dsn", dsn).err
    assert "'forebay agent set'" in unknown
    assert "forebay." not in unknown.replace("forebay.\n", "")


def test_debug_shows_the_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With FOREBAY_DEBUG=1 the error itself comes out."""
    monkeypatch.setenv("FOREBAY_DEBUG", "1")
    with own_log(), pytest.raises(Exception, match="FOREBAY_DATABASE_URL"):
        main(["tasks"])


def test_dsn_in_the_environment_is_not_shown_in_help(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Help names the variable and never its value."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", "postgresql://me:secret@host/db")
    assert "secret" not in cli("tasks", "--help").out


def test_psql_opens_the_database_without_showing_its_dsn(dsn: str) -> None:
    """`forebay psql` passes its arguments on, and the connection through the environment."""
    environment = os.environ | {"FOREBAY_DATABASE_URL": dsn}
    query = "select current_database()"
    done = subprocess.run(
        [*COMMAND, "psql", "-A", "-t", "-c", query],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]


def test_psql_comes_with_the_embedded_server(dsn: str, tmp_path: Path) -> None:
    """On a machine without psql the one of the embedded server's programs is opened."""
    done = subprocess.run(
        [*COMMAND, "psql", "-A", "-t", "-c", "select 1"],
        env=os.environ | {"FOREBAY_DATABASE_URL": dsn, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_psql_environment_holds_the_whole_dsn() -> None:
    """Every part of a DSN has its PG* variable."""
    assert pg_environment("postgresql://me:p%40ss@host:5433/db?sslmode=require") == {
        "PGUSER": "me",
        "PGPASSWORD": "p@ss",
        "PGHOST": "host",
        "PGPORT": "5433",
        "PGDATABASE": "db",
        "PGSSLMODE": "require",
    }


def test_reader_that_leaves_early_is_no_error(dsn: str) -> None:
    """`forebay tasks --json | head` ends without a traceback."""
    script = f"{sys.executable} -m forebay.cli db status --json | true"
    done = subprocess.run(
        ["sh", "-c", script],
        env=os.environ | {"FOREBAY_DATABASE_URL": dsn},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""


def test_of_what_was_applied_status_lists_the_migrations(
    dsn: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
    short = cli("db", "status").out
    assert f"installed  {__version__}" in short
    assert "migrations/0001" in short
    assert "functions/" not in short
    assert "functions/worker/dequeue.sql" in cli("db", "status", "--verbose").out


def test_a_log_level_that_is_none_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_LOG_LEVEL", "loud")
    said = cli("db", "status")
    assert said.code == 1
    assert "FOREBAY_LOG_LEVEL is 'loud'" in said.err


def test_a_table_that_is_wider_than_its_terminal_is_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that are wrapped can be read, and numbers that are cut cannot."""
    monkeypatch.setattr(output, "WIDTH_OF_A_PIPE", 40)
    names = "abcdefghi"
    row = {name: 1_234_567_890 + number for number, name in enumerate(names)}
    output.print_rows([row], {name: itemgetter(name) for name in names}, as_json=False)
    said = capsys.readouterr().out
    assert [number for number in row.values() if str(number) not in said] == []


ID = "0f4cbb1e-7d0e-4c53-9f0c-6a1d2b3c4d5e"
MODEL = "databricks-simulated-model"


def _printed(capsys: pytest.CaptureFixture[str], row: dict[str, str]) -> list[str]:
    output.print_rows([row], {heading: itemgetter(heading) for heading in row}, as_json=False)
    return capsys.readouterr().out.splitlines()


def test_a_table_breaks_no_word_that_the_terminal_has_room_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has blanks goes on below itself instead; no line is longer than the terminal is wide."""
    monkeypatch.setattr(output, "WIDTH_OF_A_PIPE", 100)
    roles = ", ".join(f"forebay_role_{number}" for number in range(6))
    row = {"part": "orchestrator", "principal": ID, "login": "was there", "roles": roles}
    lines = _printed(capsys, row)
    text = "\n".join(lines)
    assert ID in text
    assert text.count("forebay_role_") == 6
    times = dict.fromkeys(("from", "until"), "2026-11-30 23:03:42")
    prices = dict.fromkeys(("input/M", "output/M", "cached/M", "page", "call"), "0.0125")
    lines += _printed(capsys, {"model": MODEL} | times | prices)
    assert MODEL in "\n".join(lines)
    assert max(map(len, lines)) <= 100


def test_a_table_breaks_words_where_the_terminal_is_too_narrow_for_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of them is left out, and the table is as wide as the terminal."""
    monkeypatch.setattr(output, "WIDTH_OF_A_PIPE", 50)
    lines = _printed(capsys, {"model": MODEL, "principal": ID})
    lines = [line for line in lines if line.strip()]
    at = lines[0].index("principal")
    assert "".join(line[:at].strip() for line in lines[2:]) == MODEL
    assert "".join(line[at:].strip() for line in lines[2:]) == ID
    assert max(map(len, lines)) == 50


def test_wide_letters_have_the_room_that_they_take(capsys: pytest.CaptureFixture[str]) -> None:
    """A name of letters that take two places each is on one line."""
    name = "請求書" * 5
    assert any(name in line for line in _printed(capsys, {"document": name, "n": "1"}))
