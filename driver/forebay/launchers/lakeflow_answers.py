"""What the answers of the Jobs API mean, in the words that `observe_run` takes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, Literal

from databricks.sdk.errors import BadRequest, NotFound
from databricks.sdk.errors.base import DatabricksError
from databricks.sdk.errors.platform import STATUS_CODE_MAPPING

from forebay.databricks import login
from forebay.databricks.answers import NoAnswer, is_own
from forebay.jsonb import cut

HELD_UP = (401, 429, 503, 504)
"""Statuses of which run_outcomes says that nothing can begin at this moment."""

REFUSED = (400, 403, 409)
"""Statuses with which the API says no to one request."""

OF_THE_API = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")
"""The codes with which the API says that a job or a run is not there; ENDPOINT_NOT_FOUND is none.

The SDK takes the second one for a NotFound too, where the message says so.
"""

ABSENT = (
    r"(^|[.:]\s)(the )?{kind}:?( with)?( id:?)? ['\"]?{number}['\"]?( in job:? \d+)?"
    r" (does not exist|doesn't exist|(was|is|could) not (be )?found)\b"
)
"""How a sentence says it of a job or a run, from its beginning on."""

LONGEST_WORD = 200
LONGEST_TEXT = 2000
MOST_PARTS = 50  # of an object that is passed on
MOST_LEVELS = 4  # of objects in each other

Seen = dict[str, Any]


def seen_of(run: Mapping[str, Any], job_id: int | None = None) -> Seen:
    """Return what `observe_run` takes, from a run as the Jobs API sends it: its words untouched.

    A run of another job than `job_id` is not ours, whatever its id: it counts as not seen.
    """
    if job_id is not None and str(run.get("job_id", job_id)) != str(job_id):
        said = f"run {run.get('run_id')} is one of job {run.get('job_id')}, not of job {job_id}"
        return {"life_cycle_state": "POLL_FAILED"} | said_of("OTHER_JOB", None, said)
    state, status = _object(run, "state"), _object(run, "status")
    ended, queued = _object(status, "termination_details"), _object(status, "queue_details")
    message = (
        _word(state, "state_message")
        or _word(ended, "message")
        or _word(queued, "message")
        or _word(state, "queue_reason")
    )
    life = _word(state, "life_cycle_state") or _word(status, "state") or "UNKNOWN"
    return {
        "life_cycle_state": cut(life, LONGEST_WORD),
        "state": _passed_on(state),
        "status": _passed_on(status),
        "run_page_url": _passed_on(_word(run, "run_page_url")),
    } | said_of(_word(state, "result_state"), _word(ended, "code"), message)


def about_run(answer: dict[str, Any], wanted: str | None = None) -> dict[str, Any]:
    """Return an answer that has to be about a run. Raises NoAnswer.

    It is none where it names no run, or another one than is wanted.
    """
    run_id = answer.get("run_id")
    if isinstance(run_id, bool) or not isinstance(run_id, int) or run_id <= 0:
        raise NoAnswer("the workspace's answer names no run")
    if wanted not in (None, str(run_id)):
        raise NoAnswer(f"the workspace's answer is about run {run_id}")
    return answer


def said_of(result: str | None, code: str | None, message: str | None) -> Seen:
    """Return the words beside a state that are there."""
    told = {
        "result_state": cut(result or "", LONGEST_WORD),
        "termination_code": cut(code or "", LONGEST_WORD),
        "message": cut(message or "", LONGEST_TEXT),
    }
    return {name: word for name, word in told.items() if word}


def failed(status: str, code: str | None = None, message: str | None = None) -> Seen:
    """Return what `observe_run` takes for a launch that failed."""
    return {"life_cycle_state": "LAUNCH_FAILED"} | said_of(status, code, message)


def not_seen(error: Exception, run_id: str) -> Seen:
    """Return what a look at a run says that failed: nothing, or that the run is not there."""
    if is_missing(error, "Run", run_id):
        return {"life_cycle_state": "NOT_FOUND"} | said_of(None, None, words(error))
    said = said_of(result_of(error), code_of(error), words(error))
    return {"life_cycle_state": "POLL_FAILED"} | said


def is_answer(error: Exception) -> bool:
    """Tell whether the API itself said no to this one request: then it is there for others."""
    if not isinstance(error, DatabricksError) or not is_own(error):
        return False
    if isinstance(error, NotFound):
        return error.error_code in OF_THE_API
    return status_of(error) in REFUSED


def is_missing(error: Exception, kind: Literal["Job", "Run"], number: object) -> bool:
    """Tell whether the API itself says that there is no such job or run.

    Only what names it, and says so of it, does: not of its workspace, or a user.
    """
    if not isinstance(error, BadRequest | NotFound) or not is_answer(error):
        return False
    if error.error_code not in OF_THE_API:
        return False
    said = ABSENT.format(kind=kind, number=re.escape(str(number)))
    return bool(re.search(said, str(error), re.IGNORECASE))


def result_of(error: BaseException | None) -> str:
    """Return the word for how a request failed: the HTTP status, UNREACHABLE, or OTHER.

    A 404 is none: of what is not there, only `is_missing` tells whether it is the job or the run.
    """
    if not isinstance(error, DatabricksError):
        return "UNREACHABLE"
    status = status_of(error)
    if status == 404 or (status in REFUSED and not is_answer(error)):
        return "UNREACHABLE"
    return str(status or "OTHER")


def status_of(error: DatabricksError) -> int | None:
    """Return the HTTP status of an SDK error; None for one that has no class of its own."""
    for status, kind in STATUS_CODE_MAPPING.items():
        if isinstance(error, kind):
            return status
    return None


def code_of(error: BaseException | None) -> str | None:
    """Return the API's own word for an error, if it has one."""
    code = getattr(error, "error_code", None)
    return code if isinstance(code, str) else None


def words(error: BaseException) -> str:
    """Return an error's message, with the one behind it: the SDK says how long it tried."""
    said = login.words(error)
    cause = cause_of(error)
    return cut(said if cause is error else f"{said} ({words(cause)})", LONGEST_TEXT)


def cause_of(error: BaseException) -> BaseException:
    """Return the last error behind tries that took too long, else the error itself."""
    cause = error.__cause__ if isinstance(error, TimeoutError) else None
    return cause if isinstance(cause, DatabricksError) else error


def _object(whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = whole.get(name)
    return part if isinstance(part, dict) else {}


def _word(whole: Mapping[str, Any], name: str) -> str | None:
    word = whole.get(name)
    return word if isinstance(word, str) and word else None


def _passed_on(value: Any, levels: int = MOST_LEVELS) -> Any:
    """Return a part of an answer as it may be kept: not too deep, too long, or too much."""
    match value:
        case str():
            return cut(value, LONGEST_TEXT)
        case dict() | list() if not levels:
            return None
        case dict():
            parts = itertools.islice(value.items(), MOST_PARTS)
            return {cut(key, LONGEST_WORD): _passed_on(part, levels - 1) for key, part in parts}
        case list():
            return [_passed_on(part, levels - 1) for part in value[:MOST_PARTS]]
        case bool() | float() | None:
            return value
        case int():
            return value if abs(value) < 10**30 else str(value)[:LONGEST_WORD]
    return None
