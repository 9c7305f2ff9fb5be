"""What the environment says about this process: read once, at the start."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from forebay.errors import MissingSettingError

DATABASE_URL = "FOREBAY_DATABASE_URL"
LOG_LEVEL = "FOREBAY_LOG_LEVEL"


@dataclass(frozen=True, slots=True)
class Settings:
    """The FOREBAY_* variables; those that hold secrets stay out of the repr."""

    database_url: str = field(repr=False)
    log_level: str = "INFO"

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Read the settings; raise MissingSettingError that names what is missing."""
        return cls(
            database_url=_required(
                environment, DATABASE_URL, "such as postgresql://user@host/database"
            ),
            log_level=environment.get(LOG_LEVEL, "INFO").upper(),
        )


def _required(environment: Mapping[str, str], name: str, example: str) -> str:
    if value := environment.get(name, "").strip():
        return value
    raise MissingSettingError(f"{name} is not set: set it to the database, {example}.")
