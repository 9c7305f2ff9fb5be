"""The errors that a caller can act on, and the SQLSTATE that each one has in the database.

    ForebayError
    ├── StateMovedError            409: the state is not what the caller thinks
    │   ├── IdempotencyKeyReusedError   QF201
    │   ├── RunAlreadyRecordedError     QF202
    │   ├── UploadSubmittedError        QF203
    │   ├── MatchChangedError           QF204
    │   ├── AttemptEndedError           QF205
    │   └── BillReadSinceError          QF206
    ├── NotFoundError              404: no such thing
    │   ├── UnknownAgentError           QF301
    │   ├── UnknownBatchError           QF302
    │   ├── UnknownTaskError            QF303
    │   ├── UnknownAttemptError         QF304
    │   ├── UnknownQuotaError           QF305
    │   └── UnknownUploadError          QF306
    ├── RefusedError               403: a limit or a policy says no
    │   ├── InstallationClosedError     QF401
    │   ├── TooLargeError               QF402
    │   ├── LineFullError               QF403
    │   ├── TooManyMatchError           QF404
    │   ├── NotABranchError             QF405
    │   └── BranchUnfinishedError       QF406
    ├── InternalError              500: a fault of Forebay
    │   └── IllegalTransitionError      QF901
    ├── BillError                  a workspace's bill cannot be read, and why
    ├── TracesError                traces cannot be read, and why
    ├── BranchError                a branch cannot be made, opened or deleted, and why
    ├── InvalidDocumentError       the JSON cannot be stored, found before anything was sent
    ├── ConnectError               the database cannot be used, and why
    └── SettingError               a FOREBAY_* variable has a wrong value
        └── MissingSettingError    it is not set

Every other error of psycopg reaches the caller untouched: 22023 (a bad argument) as
`psycopg.errors.InvalidParameterValue`, 40001 (try again) as `SerializationFailure`. A server that
takes no writes any more (25006) counts as gone: `ReadOnlyServerError`, an OperationalError.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection


class ForebayError(Exception):
    """Say what was refused in one sentence; `detail` and `hint` are None when there is no more."""

    sqlstate: str | None = None

    def __init__(self, message: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail
        self.hint = hint


class StateMovedError(ForebayError):
    """The state has moved on: read it again, then decide."""


class IdempotencyKeyReusedError(StateMovedError):
    """Another payload was enqueued under this key: use a new key, or send the first payload."""

    sqlstate = "QF201"


class RunAlreadyRecordedError(StateMovedError):
    """Another run is recorded for this attempt: cancel the run that you have just started."""

    sqlstate = "QF202"


class UploadSubmittedError(StateMovedError):
    """The upload is in a batch already: look at that batch, or upload the file again."""

    sqlstate = "QF203"


class MatchChangedError(StateMovedError):
    """Another number of tasks matches than was confirmed: show what matches, and ask again."""

    sqlstate = "QF204"


class AttemptEndedError(StateMovedError):
    """The attempt has ended and nobody waits for its work: end the run."""

    sqlstate = "QF205"


class BillReadSinceError(StateMovedError):
    """Somebody began to read the bill later, and has recorded: what they record stays."""

    sqlstate = "QF206"


class NotFoundError(ForebayError):
    """There is no such thing: correct the name or id; trying again does not help."""


class UnknownAgentError(NotFoundError):
    """No agent has this name: register it first, or correct the name."""

    sqlstate = "QF301"


class UnknownBatchError(NotFoundError):
    """No batch of yours has this id: open it first, or ask as its owner."""

    sqlstate = "QF302"


class UnknownTaskError(NotFoundError):
    """No task has this id: correct it."""

    sqlstate = "QF303"


class UnknownAttemptError(NotFoundError):
    """No attempt has this id, or it is one of another task: report under the ids of your claim."""

    sqlstate = "QF304"


class UnknownQuotaError(NotFoundError):
    """No quota has this name: register it first, or correct the name."""

    sqlstate = "QF305"


class UnknownUploadError(NotFoundError):
    """No upload of yours has this id, or it was dropped or is not stored: upload the file again."""

    sqlstate = "QF306"


class RefusedError(ForebayError):
    """A limit or a policy says no: what was asked has to change, or an operator has to allow it."""


class InstallationClosedError(RefusedError):
    """The database is a branch or a copy: an operator opens it, if it is meant to do real work."""

    sqlstate = "QF401"


class TooLargeError(RefusedError):
    """The document is larger than the installation allows: store it elsewhere and send its path."""

    sqlstate = "QF402"


class LineFullError(RefusedError):
    """As many tasks wait as the agent allows: nothing was enqueued, try again when some started."""

    sqlstate = "QF403"


class TooManyMatchError(RefusedError):
    """More tasks match than one act may change: narrow the filter, and act more than once."""

    sqlstate = "QF404"


class NotABranchError(RefusedError):
    """The database is no branch, or open: it is masked by force only; or one that was begun."""

    sqlstate = "QF405"


class BranchUnfinishedError(RefusedError):
    """Not everything in the branch is masked yet: mask it, or delete it and make another."""

    sqlstate = "QF406"


class InternalError(ForebayError):
    """Forebay contradicts itself: report it with the message and the detail."""


class IllegalTransitionError(InternalError):
    """A function tried a change of state that the state machine forbids: nothing was changed."""

    sqlstate = "QF901"


class BillError(ForebayError):
    """The workspace's bill cannot be read: the message says why, as who refused it says it."""


class TracesError(ForebayError):
    """Traces cannot be read: the message says why, as MLflow says it."""


class BranchError(ForebayError):
    """A branch cannot be made, opened or deleted: the message says why, and what is left of it."""


class InvalidDocumentError(ForebayError, ValueError):
    """The argument cannot be stored as JSON: mend the value that the message names."""

    sqlstate = "22023"


class ConnectError(ForebayError):
    """The database cannot be used; `is_transient` is true when waiting may be enough.

    `is_final` is true when it is not, even for who was connected before: the login is refused.
    """

    def __init__(
        self,
        message: str,
        *,
        is_transient: bool = False,
        is_final: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.is_transient = is_transient
        self.is_final = is_final


class SettingError(ForebayError):
    """A setting is wrong: the message names the variable, and what it may be set to."""


class MissingSettingError(SettingError):
    """A setting is not in the environment: set the variable that the message names."""


TAKES_NO_WRITES = "default_transaction_read_only"
BY_SQLSTATE: dict[str, type[ForebayError]] = {
    "QF201": IdempotencyKeyReusedError,
    "QF202": RunAlreadyRecordedError,
    "QF203": UploadSubmittedError,
    "QF204": MatchChangedError,
    "QF205": AttemptEndedError,
    "QF206": BillReadSinceError,
    "QF301": UnknownAgentError,
    "QF302": UnknownBatchError,
    "QF303": UnknownTaskError,
    "QF304": UnknownAttemptError,
    "QF305": UnknownQuotaError,
    "QF306": UnknownUploadError,
    "QF401": InstallationClosedError,
    "QF402": TooLargeError,
    "QF403": LineFullError,
    "QF404": TooManyMatchError,
    "QF405": NotABranchError,
    "QF406": BranchUnfinishedError,
    "QF901": IllegalTransitionError,
}


class ReadOnlyServerError(psycopg.OperationalError):
    """The server takes no writes any more, as after a failover: try again on another connection."""

    sqlstate = "25006"


@contextmanager
def on_writable(connection: Connection[Any] | AsyncConnection[Any]) -> Iterator[None]:
    """Break the connection off, and raise ReadOnlyServerError, when its server takes no writes.

    Whoever has a connection of his own, or one of a pool, then gets another one as when it is cut.
    A transaction that was begun read-only is no reason.
    """
    try:
        yield
    except psycopg.errors.ReadOnlySqlTransaction as error:
        said = map(connection.info.parameter_status, ("in_hot_standby", TAKES_NO_WRITES))
        if "on" not in said:
            raise
        connection.pgconn.finish()
        raise ReadOnlyServerError("the server takes no writes any more") from error


@contextmanager
def translated() -> Iterator[None]:
    """Raise the class of BY_SQLSTATE in place of a psycopg error that has one of its codes."""
    try:
        yield
    except psycopg.Error as error:
        found = BY_SQLSTATE.get(error.sqlstate or "")
        if found is None:
            raise
        diagnosis = error.diag
        raise found(
            diagnosis.message_primary or str(error),
            detail=diagnosis.message_detail,
            hint=diagnosis.message_hint,
        ) from error


def lacks_right(
    who: str,
    error: psycopg.errors.InsufficientPrivilege,
    roles: str = "forebay_worker and forebay_agent",
) -> RefusedError:
    """Return the refusal of a daemon, worker or job whose login may not make one of its calls."""
    return RefusedError(
        f"The {who}'s login lacks a right ({error.diag.message_primary}): grant it {roles}."
    )
