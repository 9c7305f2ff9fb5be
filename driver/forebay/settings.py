"""What the environment says about this process, and the one way to read a variable of it."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from forebay.errors import MissingSettingError, SettingError

DATABASE_URL = "FOREBAY_DATABASE_URL"
LOG_LEVEL = "FOREBAY_LOG_LEVEL"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True, slots=True)
class Settings:
    """The FOREBAY_* variables; those that hold secrets stay out of the repr.

    Where no database is set, it is that of the Databricks app whose LAKEBASE_ENDPOINT is set, or
    the running embedded server of FOREBAY_HOME.
    """

    database_url: str = field(repr=False)
    log_level: str = "INFO"

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Read the settings; raise SettingError that names what is wrong or missing."""
        return cls(
            database_url=text(environment, DATABASE_URL)
            or _of_the_app(environment)
            or _embedded_server(),
            log_level=log_level(environment, "INFO"),
        )


def text(environment: Mapping[str, str], name: str) -> str:
    """Return what a variable is set to, without space around it; empty when it is not set."""
    return environment.get(name, "").strip()


def log_level(environment: Mapping[str, str], default: str) -> str:
    """Return from which level on this process logs; raise SettingError."""
    return word(environment, LOG_LEVEL, LEVELS, default)


def word(environment: Mapping[str, str], name: str, words: Sequence[str], default: str) -> str:
    """Return which of the words a variable is set to, in any case; raise SettingError."""
    said = text(environment, name) or default
    for each in words:
        if said.casefold() == each.casefold():
            return each
    raise SettingError(f"{name} is {said!r}: set it to one of {', '.join(words)}.")


def number(
    environment: Mapping[str, str], name: str, default: float, *, least: float, most: float
) -> float:
    """Return the number that a variable is set to; raise SettingError outside of the bounds."""
    said = text(environment, name)
    try:
        value = float(said) if said else default
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise SettingError(f"{name} is {said!r}: set it to a number from {least:,} to {most:,}.")
    return value


def whole_number(
    environment: Mapping[str, str], name: str, default: int, *, least: int, most: int
) -> int:
    """Return the whole number that a variable is set to; raise SettingError for what is none."""
    value = number(environment, name, default, least=least, most=most)
    if value != int(value):
        said = text(environment, name)
        raise SettingError(f"{name} is {said!r}: set it to a whole number.")
    return int(value)


def _of_the_app(environment: Mapping[str, str]) -> str:
    """Return the URL of the database that a Databricks app was given, if it was."""
    endpoint = text(environment, "LAKEBASE_ENDPOINT")
    return f"lakebase:{endpoint}" if endpoint and text(environment, "DATABRICKS_APP_NAME") else ""


def address(environment: Mapping[str, str], name: str) -> str:
    """Return the http(s) address that a variable is set to, or nothing; raise SettingError."""
    said = text(environment, name)
    if said and not _is_address(said):
        raise SettingError(f"{name} is no address: set it to https://host/path.")
    return said


def is_plain(said: str) -> bool:
    """Tell whether a text is of ASCII alone, without control characters."""
    return said.isascii() and said.isprintable()


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")  # raises for a label that is empty or too long
        is_whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return False
    return bool(is_whole) and is_plain(url) and " " not in url


def _embedded_server() -> str:
    """Return the DSN of the embedded server, if it runs."""
    from forebay.embedded import Server, default_data_dir

    if running := Server(default_data_dir()).status().dsn:
        return running
    raise MissingSettingError(
        f"{DATABASE_URL} is not set: set it to the database, such as"
        " postgresql://user@host/database, or start the embedded server with 'forebay pg start'."
    )
