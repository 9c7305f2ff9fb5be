"""What the environment says about intake: what it takes, where that goes, and who works on it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from forebay.settings import text, whole_number
from forebay.storage import ROOTS, Storage, locate, named_roots, roots
from forebay_agents.reading.limits import MOST, Limits

AGENTS = "FOREBAY_INTAKE_AGENTS"
DEFAULT_AGENT = "parse_document"
DEFAULT_MB = 100
DEFAULT_PAGES = 1000


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    """The FOREBAY_* variables of intake.

    `reading` bounds what one PDF may cost the process that looks at it; of its limits a file has to
    keep the smaller of `file_mb` and `upload_mb`, and the smaller numbers of pages.
    """

    storages: tuple[Storage, ...]
    upload_mb: int
    upload_pages: int
    agents: tuple[str, ...]
    reading: Limits

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> IntakeSettings:
        """Read the settings; raise SettingError that names what is wrong."""
        named = text(environment, AGENTS).split(",")
        reading = Limits.from_environment(environment)
        return cls(
            storages=tuple(roots({**environment, ROOTS: named_roots(environment)})),
            upload_mb=_limit(environment, "FOREBAY_UPLOAD_MB", DEFAULT_MB, reading.file_mb),
            upload_pages=_limit(environment, "FOREBAY_UPLOAD_PAGES", DEFAULT_PAGES, reading.pages),
            agents=tuple(name.strip() for name in named if name.strip()) or (DEFAULT_AGENT,),
            reading=reading,
        )

    @property
    def storage(self) -> Storage:
        """Where uploads go: the first root."""
        return self.storages[0]

    def locate(self, document: str) -> tuple[Storage, str]:
        """Return the storage that holds a document, and its name there; raises StorageError."""
        return locate(document, self.storages)


def _limit(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Return what is set, or what the agents can read where that is less."""
    return min(whole_number(environment, name, default, least=1, most=MOST), most)
