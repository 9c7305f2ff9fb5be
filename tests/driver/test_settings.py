"""Settings and logs: what is missing is named, and no secret gets out."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay import logs
from forebay.errors import MissingSettingError, SettingError
from forebay.settings import Settings, number, whole_number
from support.cli import own_log

SECRET = "postgresql://app:hunter2@db.example/forebay"


class Terminal(io.StringIO):
    """A stream that says that a person reads it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _keep_logging() -> Iterator[None]:
    with own_log():
        yield


@pytest.mark.parametrize("environment", [{}, {"FOREBAY_DATABASE_URL": "  "}])
def test_a_missing_setting_is_named(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error names the variable and shows what to set it to."""
    monkeypatch.setenv("FOREBAY_HOME", str(tmp_path))
    with pytest.raises(
        MissingSettingError, match=r"FOREBAY_DATABASE_URL is not set.*postgresql://"
    ):
        Settings.read(environment)


def test_a_wrong_log_level_is_named() -> None:
    """A typo is told with the words that there are."""
    with pytest.raises(SettingError, match=r"FOREBAY_LOG_LEVEL is 'banana'.*DEBUG, INFO"):
        Settings.read({"FOREBAY_DATABASE_URL": SECRET, "FOREBAY_LOG_LEVEL": "banana"})


@pytest.mark.parametrize("value", ["abc", "0", "1001", "nan", "1e99", "9" * 400])
def test_a_wrong_number_is_named_with_its_bounds(value: str) -> None:
    """What is no number, or out of bounds, is told with what it may be."""
    with pytest.raises(SettingError, match=r"X is '.*': set it to a number from 1 to 1,000\."):
        number({"X": value}, "X", 5, least=1, most=1000)


def test_numbers_have_defaults_and_may_be_whole() -> None:
    """A variable that is not set, or blank, has its default; 2.5 is no whole number."""
    assert number({}, "X", 5, least=1, most=9) == 5
    assert number({"X": " 2.5 "}, "X", 5, least=1, most=9) == 2.5
    assert whole_number({"X": " "}, "X", 5, least=1, most=9) == 5
    with pytest.raises(SettingError, match="whole number"):
        whole_number({"X": "2.5"}, "X", 5, least=1, most=9)


def test_the_database_url_is_not_in_the_repr() -> None:
    """A settings object may be logged or shown in a traceback."""
    settings = Settings.read({"FOREBAY_DATABASE_URL": SECRET, "FOREBAY_LOG_LEVEL": "debug"})
    assert (settings.database_url, settings.log_level) == (SECRET, "DEBUG")
    assert "hunter2" not in repr(settings)


def test_an_event_is_a_line_of_words_on_a_terminal() -> None:
    """Event name, then key=value; a value with spaces is quoted."""
    stream = Terminal()
    logs.configure(stream=stream)
    logs.EventLog("forebay.test").warning("task_lost", task_id=7, reason="lease expired")
    assert stream.getvalue().endswith(' warning task_lost task_id=7 reason="lease expired"\n')


def test_an_event_is_one_json_object_elsewhere() -> None:
    """A log collector gets one object a line, numbers as numbers."""
    stream = io.StringIO()
    logs.configure(stream=stream)
    logs.EventLog("forebay.test").info("claimed", attempts=3, reason="two\nlines")
    event = json.loads(stream.getvalue())
    assert event["event"] == "claimed"
    assert (event["attempts"], event["reason"], event["level"]) == (3, "two\nlines", "info")


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_a_password_in_somebody_elses_text_is_masked(stream: io.StringIO) -> None:
    """A DSN that slips into an error's text does not reach the log with its password."""
    logs.configure(stream=stream)
    log = logs.EventLog("forebay.test")
    log.error("failed", reason=f"bad dsn {SECRET}", other="host=x password='hunter2 y' user=z")
    logging.getLogger("library").warning("cannot use %s", SECRET)
    assert "hunter2" not in stream.getvalue()
    assert "db.example" in stream.getvalue()
