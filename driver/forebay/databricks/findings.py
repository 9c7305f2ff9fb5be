"""What the doctor examines, and what it says of each thing: one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from forebay.databricks import secrets
from forebay.databricks.answers import is_silence
from forebay.databricks.login import words
from forebay.databricks.principals import Part
from forebay.settings import text

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

State = Literal["ok", "off", "missing", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of one thing: `said` is what is there, or what is missing and how to mend it.

    off: nothing is set, and `said` is what goes without. unknown: it could not be looked at, and
    `said` says why.
    """

    check: str
    state: State
    said: str


@dataclass(frozen=True, slots=True)
class Case:
    """What is examined: one part, by its settings, as whoever this process is logged in as.

    `who` is that principal's name. `jobs` are looked at beside those of the database's agents.
    Where one of them or of the apps `orchestrator` and `intake`, each by its name or application
    id, is named, it is looked at too what the principals of all of these may do.
    """

    part: Part
    settings: Mapping[str, str] = field(repr=False)
    client: WorkspaceClient = field(repr=False)
    who: str = ""
    jobs: tuple[int, ...] = ()
    orchestrator: str | None = None
    intake: str | None = None

    def setting(self, name: str) -> str:
        """Return a setting; a secret is fetched. Raises SettingError."""
        said = text(self.settings, name)
        return secrets.fetched({name: said})[name] if secrets.is_kept(said) else said


Group = Callable[[Case], Iterable[Finding]]


def ok(check: str, said: str) -> Finding:
    """Say that a thing is as it has to be."""
    return Finding(check, "ok", said)


def off(check: str, said: str) -> Finding:
    """Say what goes without a setting that nobody has to set."""
    return Finding(check, "off", said)


def missing(check: str, said: str) -> Finding:
    """Say what is missing, and how to mend it."""
    return Finding(check, "missing", said)


def unknown(check: str, said: str) -> Finding:
    """Say why a thing cannot be looked at."""
    return Finding(check, "unknown", said)


def refused(check: str, error: Exception, mend: str) -> Finding:
    """Say what the workspace answered in place of a thing, and how to mend that.

    Where it did not answer itself, nothing is known of the thing.
    """
    if is_silence(error):
        return unknown(check, f"{words(error)}: look again when the workspace answers")
    return missing(check, f"{words(error)}: {mend}")


def told(check: str, error: BaseException) -> Finding:
    """Say what an error of our own says, which tells how to mend it; it has the SDK's behind it."""
    chain: list[BaseException | None] = [error]
    while chain[-1]:
        chain.append(chain[-1].__cause__)
    return (unknown if any(map(is_silence, chain)) else missing)(check, words(error))
