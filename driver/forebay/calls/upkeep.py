"""What upkeep calls (role forebay_upkeep): sweeps, clean-ups, announcements, costs, branches."""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from uuid import UUID

from forebay.calls._call import AnyConnection, Integer, JsonList, stored
from forebay.calls.worker import sweep
from forebay.rows import (
    Announcement,
    AttemptToCost,
    AttemptToTrace,
    BillReading,
    BranchState,
    Clone,
    MaskState,
    RunToBill,
    UploadToClean,
)

__all__ = [
    "announcement_sent",
    "attempts_to_cost",
    "attempts_to_trace",
    "begin_bill",
    "begin_branch",
    "branch_state",
    "collect_announcements",
    "end_bill",
    "folder_to_clean",
    "list_clones",
    "mask_data",
    "prepare_branch",
    "record_bill",
    "record_compute_usage",
    "record_traces",
    "runs_to_bill",
    "sweep",
    "uploads_cleaned",
    "uploads_to_clean",
    "was_prepared",
]


@stored
def uploads_to_clean(
    connection: AnyConnection, *, older_than: timedelta, limit: Integer = 100
) -> list[UploadToClean]:
    """Return what the storage may be rid of, the oldest first; files in it are dropped by the call.

    Commit, remove what each row names, then call `uploads_cleaned`; until then it comes again.
    """


@stored
def uploads_cleaned(connection: AnyConnection, *, upload_ids: Sequence[UUID]) -> int:
    """Take note that the storage is rid of these, and return of how many."""


@stored
def folder_to_clean(connection: AnyConnection) -> str | None:
    """Return the folder in which the storage may be rid of what uploads left that died.

    None in a copy that nobody has opened: nothing may be removed there.
    """


@stored
def attempts_to_cost(connection: AnyConnection, *, limit: Integer = 1000) -> list[AttemptToCost]:
    """Return ended attempts whose compute cost no source has told, in the order they ended."""


@stored
def begin_bill(
    connection: AnyConnection,
    *,
    source: str = "billing",
    overlap: timedelta = timedelta(days=3),
    settings: str | None = None,
) -> BillReading:
    """Say which rows of a bill are to be read; one row.

    With other `settings` than before, all are. Record all of them with `record_bill`, then call
    `end_bill`.
    """


@stored
def runs_to_bill(
    connection: AnyConnection,
    *,
    run_ids: Sequence[str] | None = None,
    source: str = "billing",
    after_attempt_id: int = 0,
    limit: Integer = 1000,
    places: Sequence[str] | None = None,
) -> list[RunToBill]:
    """Return our runs among these, by attempt; None: those of which a bill may tell more.

    `places` are the names of the workspace whose bill it is: runs of others are left out. The next
    page is after the last `attempt_id`.
    """


@stored
def record_bill(
    connection: AnyConnection,
    *,
    rows: JsonList,
    began_at: datetime,
    source: str = "billing",
    shared_day: date | None = None,
) -> Integer:
    """Record what a reading tells; return how many records were new, had changed, or are withdrawn.

    Rows are as `record_compute_usage` takes them; what else is recorded as shared of `shared_day`
    is withdrawn. Raises BillReadSinceError.
    """


@stored
def end_bill(
    connection: AnyConnection,
    *,
    began_at: datetime,
    source: str = "billing",
    settings: str | None = None,
) -> None:
    """Say that all of a reading is recorded. Raises BillReadSinceError."""


@stored
def record_compute_usage(
    connection: AnyConnection,
    *,
    rows: JsonList,
    source: str = "local",
    as_of: datetime | None = None,
) -> Integer:
    """Record what machines cost, and return how many records were new or had changed.

    A row is `record_id`, `usd`, and as far as known `attempt_id`, `seconds`, `started_at`,
    `ended_at`, `is_final`; a cost that no run has to itself has a `product` instead. `usd` null: of
    something that was used no price is known. What the source `local` says gives way to any other.
    """


@stored
def attempts_to_trace(connection: AnyConnection, *, limit: Integer = 100) -> list[AttemptToTrace]:
    """Hand out ended attempts whose traces are to be looked for now, in the order they are due.

    Commit, look, then call `record_traces` for each; without that it comes again in two minutes.
    """


@stored
def record_traces(
    connection: AnyConnection,
    *,
    attempt_id: int,
    calls: JsonList,
    traces: Integer = 0,
    is_whole: bool = False,
) -> str:
    """Record what a look found; returns found, partial, awaited, or missing: nobody looks again.

    Calls are as `report_usage` takes them: all that the traces named in them tell of now. Raises
    UnknownAttemptError.
    """


@stored
def collect_announcements(
    connection: AnyConnection,
    *,
    oldest_waiting: timedelta = timedelta(minutes=15),
    limit: Integer = 100,
) -> list[Announcement]:
    """Return what has to be told and nobody is telling, oldest first.

    Commit, send each, then call `announcement_sent`; without that it comes again after a minute.
    """


@stored
def announcement_sent(
    connection: AnyConnection, *, announcement_id: UUID, error: str | None = None
) -> str:
    """Say that one was sent, or why not; returns sent, waiting, given_up or unknown."""


@stored
def prepare_branch(connection: AnyConnection, *, name: str, actor: str | None = None) -> UUID:
    """Note where this database is at home, before a copy is made of it; return its id.

    The copy then dispatches nothing from its first moment on.
    """


@stored
def branch_copied(connection: AnyConnection, *, name: str) -> None:
    """Say in the original that the copy is made: `begin_branch` then refuses there for certain."""


@stored
def begin_branch(connection: AnyConnection, *, name: str, actor: str | None = None) -> BranchState:
    """Make a copy a branch of its own, with its agents paused and its runs left to the original.

    Raises NotABranchError in what is no copy of that name, and where somebody has begun it: of two
    who made one copy it is the branch of the one whose call returns.
    """


@stored
def branch_state(connection: AnyConnection) -> BranchState:
    """Return whether this database is a branch, of what, and whether it is finished; one row."""


@stored
def mask_data(
    connection: AnyConnection, *, limit: Integer = 5000, force: bool = False
) -> MaskState:
    """Blank the next rows for good: call it, and commit, until `is_complete`.

    Raises NotABranchError in what is no branch, or is open, unless force is true.
    """


@stored
def finish_branch(connection: AnyConnection) -> BranchState:
    """Say that a branch was vacuumed after it was masked: only then may it be opened; one row.

    Raises NotABranchError, and BranchUnfinishedError where not everything is masked.
    """


@stored
def list_clones(connection: AnyConnection, *, mark: str) -> list[Clone]:
    """Return the databases of this server whose names begin so, by name."""


@stored
def was_prepared(connection: AnyConnection, *, name: str) -> bool:
    """Return whether `prepare_branch` was ever told this name here."""
