"""The embedded server on the command line."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from forebay.settings import Settings
from support.cli import Cli


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that the user who runs Postgres for root can enter."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_pg_starts_tells_and_stops(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """The embedded server of FOREBAY_HOME starts and stops by command, twice without harm.

    While it runs, it is the database where none is set.
    """
    monkeypatch.setenv("FOREBAY_HOME", str(folder))
    monkeypatch.delenv("FOREBAY_DATABASE_URL", raising=False)
    cli = Cli(capsys)
    try:
        assert cli("pg", "status", "--json").json["is_running"] is False
        started = cli("pg", "start", "--json")
        assert started.json["is_running"] is True
        assert cli("pg", "start", "--json").json == started.json
        with psycopg.connect(started.json["dsn"]) as conn:
            conn.execute("select 1")
        assert Settings.read({}).database_url == started.json["dsn"]
        assert "running" in cli("pg", "status").out
        assert "forebay db upgrade" in cli("tasks").err
    finally:
        stopped = cli("pg", "stop", "--json")
    assert stopped.json["is_running"] is False
    assert cli("pg", "stop").code == 0
