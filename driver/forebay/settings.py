"""What the environment says about this process: read once, at the start."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from forebay.errors import ForebayError, MissingSettingError

DATABASE_URL = "FOREBAY_DATABASE_URL"
LOG_LEVEL = "FOREBAY_LOG_LEVEL"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True, slots=True)
class Settings:
    """The FOREBAY_* variables; those that hold secrets stay out of the repr.

    Where no database is set, it is the running embedded server of FOREBAY_HOME.
    """

    database_url: str = field(repr=False)
    log_level: str = "INFO"

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Read the settings; raise ForebayError that names what is wrong or missing."""
        return cls(
            database_url=environment.get(DATABASE_URL, "").strip() or _embedded_server(),
            log_level=_log_level(environment.get(LOG_LEVEL, "INFO")),
        )


def _log_level(name: str) -> str:
    if name.upper() not in LEVELS:
        raise ForebayError(f"{LOG_LEVEL} is {name!r}: set it to one of {', '.join(LEVELS)}.")
    return name.upper()


def _embedded_server() -> str:
    """Return the DSN of the embedded server, if it runs."""
    from forebay.embedded import Server, default_data_dir

    if running := Server(default_data_dir()).status().dsn:
        return running
    raise MissingSettingError(
        f"{DATABASE_URL} is not set: set it to the database, such as"
        " postgresql://user@host/database, or start the embedded server with 'forebay pg start'."
    )
