"""What is missing in a workspace: each thing that a part needs is tried, and said in one line.

It reads, and nothing else, except for a probe file in each storage root, which it removes, and a
notification to itself. A SQL warehouse that sleeps is woken. Every group of checks has a thread of
its own and no more time than it is given: a workspace that does not answer holds up nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from forebay import callbacks, storage
from forebay.databricks.bill_settings import WAREHOUSE
from forebay.databricks.findings import Case, Finding, Group, missing, ok, unknown
from forebay.databricks.login import words
from forebay.databricks.principals import Part
from forebay.errors import ForebayError
from forebay.logs import EventLog, first_line
from forebay.settings import DATABASE_URL

log = EventLog(__name__)

SECONDS = 90.0
"""How long everything may take together, unless told otherwise."""

T = TypeVar("T")

LENT: dict[Part, tuple[str, ...]] = {
    "orchestrator": (DATABASE_URL, WAREHOUSE, "FOREBAY_MLFLOW_EXPERIMENT", callbacks.SECRETS),
    "intake": (DATABASE_URL, storage.ROOTS),
}
"""Which of the job's settings stand in for those of a part; for the others all of them."""


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
    first, has_begun = begun.results(until)
    if not has_begun:
        return [_late("workspace", seconds)]
    ((case, login),) = first
    if case is None:
        return [login]
    running = [
        (name, _Begun(_guarded(check.group, case, name)))
        for name, check in GROUPS.items()
        if part in check.parts
    ]
    found = [login]
    for name, one in running:
        findings, has_ended = one.results(until)
        found += findings if has_ended else [*findings, _late(name, seconds)]
    return found


def watch_start(part: Part, settings: Mapping[str, str]) -> None:
    """Examine a part beside its start, and log what is missing; nothing waits for it."""

    def work() -> None:
        for finding in examine(part, settings):
            if finding.state in ("missing", "unknown"):
                log.warning(f"doctor_{finding.state}", check=finding.check, said=finding.said)

    threading.Thread(target=work, name="doctor", daemon=True).start()


def _begin(
    part: Part,
    settings: Mapping[str, str],
    jobs: Sequence[int],
    orchestrator: str | None,
    intake: str | None,
) -> Iterator[tuple[Case | None, Finding]]:
    """Log in, and complete the settings by those of the first job."""
    from forebay.databricks.checks.jobs import settings_of_job
    from forebay.databricks.client import workspace_client

    try:
        client = workspace_client(http_seconds=10, retry_seconds=10)
        who = client.config.client_id or client.current_user.me().user_name or ""
        client.config.authenticate()
    except (ValueError, OSError) as error:
        said = f"no login: {words(error)}"
        yield None, missing("workspace", said)
        return
    given = {name: value for name, value in settings.items() if value.strip()}
    for job_id in jobs[:1]:
        lent = settings_of_job(client, job_id)
        given = {n: v for n, v in lent.items() if n in LENT.get(part, lent)} | given
    case = Case(part, given, client, who, tuple(jobs), orchestrator, intake)
    yield case, ok("workspace", f"logged in to {client.config.host} as {who}")


def _guarded(group: Group, case: Case, name: str) -> Callable[[], Iterator[Finding]]:
    """Return what runs a group; an error that it does not expect is a finding too."""

    def work() -> Iterator[Finding]:
        try:
            yield from group(case)
        except ForebayError as error:
            yield missing(name, first_line(error))
        except Exception as error:
            said = f"cannot be looked at ({type(error).__name__}: {first_line(error)})"
            yield unknown(name, said)

    return work


def _late(name: str, seconds: float) -> Finding:
    return unknown(name, f"no answer within {seconds:g} seconds")


class _Begun(Generic[T]):
    """Something that runs in a thread of its own, which ends with the process at the latest."""

    def __init__(self, work: Callable[[], Iterable[T]]) -> None:
        self._results: list[T] = []
        self._work = work
        self._thread = threading.Thread(target=self._run, name="doctor", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for result in self._work():
            self._results.append(result)

    def results(self, until: float) -> tuple[list[T], bool]:
        """Return what came until then, on the monotonic clock, and whether that is all."""
        self._thread.join(max(until - time.monotonic(), 0))
        has_ended = not self._thread.is_alive()
        return list(self._results), has_ended
