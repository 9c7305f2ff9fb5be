"""What people are told of the storage: nothing of its folders and names, which the log has."""

from __future__ import annotations

from forebay.logs import EventLog
from forebay.storage import StorageError
from forebay_apps.web.errors import Refusal

log = EventLog(__name__)

UNUSABLE = "Documents can be neither stored nor read at this moment: try again later."
GONE = "The file is not there any more: upload it again."


def unusable(error: StorageError) -> Refusal:
    """Return what to answer when it is no matter of the one file."""
    log.error("storage_unusable", reason=str(error))
    return Refusal(503, UNUSABLE)


def unreadable(error: StorageError) -> Refusal:
    """Return what to answer to who wants to read a file."""
    if error.may_pass:
        return unusable(error)
    log.warning("document_unreadable", reason=str(error))
    return Refusal(404, GONE)
