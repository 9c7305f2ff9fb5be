"""What went wrong, as a person is told: a status, a title, and a sentence that says what to do."""

import re
import secrets
import traceback
from dataclasses import dataclass

import psycopg
from fastapi.exceptions import RequestValidationError
from psycopg_pool import PoolTimeout, TooManyRequests
from starlette.exceptions import HTTPException

from forebay import errors
from forebay.logs import EventLog, first_line
from forebay_apps.live.snapshots import Slow
from forebay_apps.web.people import Role

log = EventLog(__name__)


class Forbidden(Exception):
    """The person's role does not allow this; `needed` does.

    `instead` is a sentence about what the person may do.
    """

    def __init__(self, needed: Role, instead: str = "") -> None:
        super().__init__(f"This needs the role {needed}.")
        self.needed = needed
        self.instead = instead


class Refusal(Exception):
    """Answer with this status and sentence: what the person sent cannot be done."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in the words of a page."""

    status: int
    title: str
    sentence: str


HANDLED = (
    Forbidden,
    Refusal,
    Slow,
    TimeoutError,
    errors.ForebayError,
    psycopg.Error,
    HTTPException,
    RequestValidationError,
)
TITLES = {
    400: "That cannot be done",
    401: "Log in",
    403: "Not allowed",
    404: "Not here",
    405: "That cannot be done",
    408: "Too slow",
    409: "It has changed meanwhile",
    413: "Too large",
    422: "That cannot be done",
    429: "Too much for now",
    503: "No answer",
}
CLASHES = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
PARAMETER = re.compile(r"""(?<![\w"'])p_(?=[a-z])""")  # outside of quotes, in which data is
INNER = re.compile(r"\bforebay\.\w")  # a stored function's name, which is for programmers
NUL = "A NUL character cannot be stored: remove it."
UNREACHABLE = Problem(503, "The database does not answer", "Try again in a moment.")


def problem(error: Exception) -> Problem:
    """Return what to tell the person; what is nobody's mistake is logged with a code to find it."""
    match error:
        case Forbidden():
            said = (str(error), "Ask an admin of this installation for it.", error.instead)
            return _problem(403, " ".join(filter(None, said)))
        case Refusal():
            return _problem(error.status, str(error))
        case HTTPException():
            return _problem(error.status_code, _of_http(error))
        case RequestValidationError():
            return _problem(400, _of_validation(error))
        case Slow() | TimeoutError() | psycopg.errors.QueryCanceled():
            return Problem(503, "The database is slow", "It did not answer in time. Try again.")
        case errors.ConnectError() | PoolTimeout() | TooManyRequests():
            return UNREACHABLE
        case errors.NotFoundError():
            return _problem(404, _sentences(error))
        case errors.StateMovedError():
            return _problem(409, _sentences(error))
        case errors.TooLargeError() | errors.TooManyMatchError():
            return _problem(413, _sentences(error))
        case errors.LineFullError():
            return _problem(429, _sentences(error))
        case errors.RefusedError():
            return _problem(403, _sentences(error))
        case errors.InvalidDocumentError() | errors.SettingError():
            return _problem(400, _sentences(error))
        case errors.BillError():
            return _problem(503, _sentences(error))
        case psycopg.DataError() | psycopg.IntegrityError():
            return _problem(400, _of_data(error))
        case psycopg.errors.ProgramLimitExceeded() | psycopg.errors.StatementTooComplex():
            return _problem(400, "It holds more than the database takes.")
        case _ if isinstance(error, CLASHES):
            return _problem(409, "Somebody changed it at the same moment. Try again.")
        case psycopg.OperationalError():
            return UNREACHABLE
    return _unexpected(error)


def _unexpected(error: Exception) -> Problem:
    code = secrets.token_hex(4)
    where = "".join(traceback.format_tb(error.__traceback__))
    kind, reason = type(error).__name__, first_line(error)
    log.error("request_failed", code=code, error=kind, reason=reason, traceback=where)
    return Problem(
        500,
        "Something is broken",
        f"This is a fault of Forebay or of its set-up. The log has more under {code}.",
    )


def _problem(status: int, sentence: str) -> Problem:
    return Problem(status, TITLES.get(status, "That did not work"), sentence)


def _of_http(error: HTTPException) -> str:
    if error.status_code == 404 and error.detail == "Not Found":
        return "There is nothing at this address."
    return _said(error.detail)


def _of_validation(error: RequestValidationError) -> str:
    """Name the first field that is wrong."""
    first = error.errors()[0]
    return _said(f"{first['loc'][-1]}: {first['msg']}")


def _of_data(error: psycopg.Error) -> str:
    """Return what is wrong with what was sent; of NUL the driver says so, in its own terms."""
    said = error.diag.message_primary or first_line(error)
    return NUL if "NUL (0x00)" in said else _said(said)


def _sentences(error: errors.ForebayError) -> str:
    """Return what the database says, without a hint that names a stored function."""
    hint = None if INNER.search(error.hint or "") else error.hint
    return " ".join(_said(part) for part in (str(error), error.detail, hint) if part)


def _said(text: str) -> str:
    """Return a text of the database or a library as a sentence, its parameters named plainly."""
    text = PARAMETER.sub("", text)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
