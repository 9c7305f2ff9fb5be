"""What is missing in a workspace: each thing that a part needs is tried, and said in one line.

It reads, and nothing else, except for a probe file in each storage root, which it removes, and a
notification to itself. A SQL warehouse that sleeps is woken. Every group of checks has a thread of
its own and no more time than it is given: a workspace that does not answer holds up nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from forebay.databricks import secrets
from forebay.databricks.principals import Part
from forebay.errors import ForebayError
from forebay.logs import EventLog, first_line
from forebay.settings import text

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

log = EventLog(__name__)

SECONDS = 90.0
"""How long everything may take together, unless told otherwise."""

T = TypeVar("T")
State = Literal["ok", "missing", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of one thing: `said` is what is there, or what is missing and how to mend it.

    unknown: it could not be looked at, and `said` says why.
    """

    check: str
    state: State
    said: str


@dataclass(frozen=True, slots=True)
class Case:
    """What is examined: one part, by its settings, as whoever this process is logged in as.

    `who` is that principal's name. `jobs` are looked at beside those of the database's agents, and
    `orchestrator` and `intake` are names of apps: with them, what their principals may do is looked
    at too, and what the job's may.
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


def examine(
    part: Part,
    settings: Mapping[str, str],
    *,
    jobs: Sequence[int] = (),
    orchestrator: str | None = None,
    intake: str | None = None,
    seconds: float = SECONDS,
) -> list[Finding]:
    """Return what was found, in a set order, within about so many seconds.

    Settings that are not there are taken from the first job's task, as the bundle sets them.
    Without a login nothing else is tried.
    """
    from forebay.databricks.checks import GROUPS

    until = time.monotonic() + seconds
    begun = _Begun(lambda: _begin(part, settings, jobs, orchestrator, intake))
    case, first = begun.result(until) or (None, [_late("workspace", seconds)])
    if case is None:
        return first
    running = [(name, _Begun(_listed(group, case, name))) for name, group in GROUPS.items()]
    return first + [
        finding
        for name, one in running
        for finding in one.result(until) or ([] if one.has_ended else [_late(name, seconds)])
    ]


def watch_start(part: Part, settings: Mapping[str, str]) -> None:
    """Examine a part beside its start, and log what is missing; nothing waits for it."""

    def work() -> None:
        for finding in examine(part, settings):
            if finding.state != "ok":
                log.warning(f"doctor_{finding.state}", check=finding.check, said=finding.said)

    threading.Thread(target=work, name="doctor", daemon=True).start()


def _begin(
    part: Part,
    settings: Mapping[str, str],
    jobs: Sequence[int],
    orchestrator: str | None,
    intake: str | None,
) -> tuple[Case | None, list[Finding]]:
    """Log in, and complete the settings by those of the first job."""
    from forebay.databricks.checks import words
    from forebay.databricks.client import workspace_client

    try:
        client = workspace_client(http_seconds=10, retry_seconds=10)
        who = client.config.client_id or client.current_user.me().user_name or ""
        client.config.authenticate()
    except (ValueError, OSError) as error:
        said = f"no login: {words(error)}: check DATABRICKS_HOST and the credentials"
        return None, [Finding("workspace", "missing", said)]
    given = dict(settings)
    for job_id in jobs[:1]:
        given = settings_of_job(client, job_id) | {n: v for n, v in given.items() if v.strip()}
    case = Case(part, given, client, who, tuple(jobs), orchestrator, intake)
    said = f"logged in to {client.config.host} as {who}"
    return case, [Finding("workspace", "ok", said)]


def settings_of_job(client: WorkspaceClient, job_id: int) -> dict[str, str]:
    """Return the settings among the parameters of a job's tasks; nothing where it is not seen."""
    try:
        job = client.jobs.get(job_id)
    except OSError:
        return {}  # the check of the job says why
    tasks = job.settings.tasks if job.settings else None
    named = [t.python_wheel_task.named_parameters or {} for t in tasks or [] if t.python_wheel_task]
    return {name: value for each in named for name, value in each.items() if name.isupper()}


def _listed(group: Group, case: Case, name: str) -> Callable[[], list[Finding]]:
    """Return what runs a group to its end; an error that it does not expect is a finding too."""

    def work() -> list[Finding]:
        found: list[Finding] = []
        try:
            for finding in group(case):
                found.append(finding)
        except ForebayError as error:
            found.append(Finding(name, "missing", first_line(error)))
        except Exception as error:
            said = f"cannot be looked at ({type(error).__name__}: {first_line(error)})"
            found.append(Finding(name, "unknown", said))
        return found

    return work


def _late(name: str, seconds: float) -> Finding:
    return Finding(name, "unknown", f"no answer within {seconds:g} seconds")


class _Begun(Generic[T]):
    """Something that runs in a thread of its own, which ends with the process at the latest."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._results: list[T] = []
        self._thread = threading.Thread(
            target=lambda: self._results.append(work()), name="doctor", daemon=True
        )
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Tell whether it has a result."""
        return bool(self._results)

    def result(self, until: float) -> T | None:
        """Return what came of it, None if nothing has until then, on the monotonic clock."""
        self._thread.join(max(until - time.monotonic(), 0))
        return self._results[0] if self._results else None
