"""Where a run and a trace can be looked at: addresses made from two settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from forebay.errors import SettingError
from forebay.rows import AttemptSummary
from forebay.settings import text

RUN_URL = "FOREBAY_RUN_URL"
TRACE_URL = "FOREBAY_TRACE_URL"
PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True, slots=True)
class Links:
    """The templates of addresses; empty where there is no such place to look at."""

    run_url: str = ""
    trace_url: str = ""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Links:
        """Read both templates; raise SettingError for one that makes no address."""
        return cls(
            run_url=_template(environment, RUN_URL, ("run_id", "job_id", "attempt_id", "task_id")),
            trace_url=_template(environment, TRACE_URL, ("trace_id", "attempt_id", "task_id")),
        )

    def run(self, attempt: Mapping[str, Any], **others: object) -> str | None:
        """Return where the run of an attempt is shown; a local process is shown nowhere."""
        if attempt["run_id"] is None or attempt["launcher"] == "local":
            return None
        return _filled(self.run_url, {**attempt, **others})

    def run_of(self, attempt: AttemptSummary) -> str | None:
        """Return where the run of an attempt of a list is shown; the list knows of no job."""
        return self.run(asdict(attempt))

    def trace(self, trace_id: str | None, **others: object) -> str | None:
        """Return where a trace is shown."""
        return _filled(self.trace_url, {"trace_id": trace_id, **others}) if trace_id else None


def _template(environment: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    template = text(environment, name)
    if template and urlsplit(template).scheme not in ("http", "https"):
        raise SettingError(f"{name} is {template!r}: set it to an address of http or https.")
    if unknown := set(PLACEHOLDER.findall(template)) - set(known):
        raise SettingError(
            f"{name} has the placeholder {{{min(unknown)}}}: it may have"
            f" {', '.join(f'{{{each}}}' for each in known)}."
        )
    return template


def _filled(template: str, values: Mapping[str, object]) -> str | None:
    """Return the template with its placeholders filled, None when one of them is not known."""
    if not template or any(values.get(name) is None for name in PLACEHOLDER.findall(template)):
        return None
    return PLACEHOLDER.sub(lambda found: quote(str(values[found[1]]), safe=""), template)
