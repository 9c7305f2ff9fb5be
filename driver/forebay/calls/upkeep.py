"""What upkeep calls (role forebay_upkeep): the sweep, which workers may call too, and clean-ups."""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from forebay.calls._call import AnyConnection, Integer, stored
from forebay.calls.worker import sweep
from forebay.rows import UploadToClean

__all__ = ["sweep", "uploads_cleaned", "uploads_to_clean"]


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
