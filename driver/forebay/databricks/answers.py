"""Which answers are the API's own: the one place that tells them from a gateway's.

What stands between answers with the same statuses while the workspace is away, often with a page.
The SDK makes a code of such a page too, NOT_FOUND for one, which the API itself may have said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from databricks.sdk.errors import (
    BadRequest,
    NotFound,
    PermissionDenied,
    TemporarilyUnavailable,
    TooManyRequests,
    Unauthenticated,
)
from databricks.sdk.errors.base import DatabricksError
from databricks.sdk.errors.customizer import _ErrorCustomizer
from databricks.sdk.errors.deserializer import _ErrorDeserializer
from databricks.sdk.errors.parser import _Parser
from urllib3.exceptions import NewConnectionError

from forebay.databricks.login import LoginError
from forebay.logs import without_credentials

FAILURES = (DatabricksError, OSError, ValueError, TypeError, AttributeError)
"""What a request raises: an error that was answered, no answer, or one that the SDK cannot read.

TimeoutError, which it raises once it has tried for as long as it may, is an OSError.
"""

NEVER_SENT = (LoginError, requests.ConnectTimeout, requests.exceptions.ProxyError)
NOT_NOW = (Unauthenticated, TooManyRequests, TemporarilyUnavailable)
FOR_GOOD = (BadRequest, PermissionDenied, NotFound)
"""With the API's own code, these carried nothing out. What it says otherwise may come too late."""

STRANGER = "FORBIDDEN"
"""A code of what lets nobody in, and no word of the API's."""

NETWORK = re.compile(r"blocked by Databricks IP ACL|Unauthorized network access", re.IGNORECASE)
"""What is said where an address is let in to nothing, as by a workspace's IP access list."""

NO_SUCH_API = "ENDPOINT_NOT_FOUND"
"""A code of the API's own that says nothing of the thing which was asked for."""

LAUNCH_TOKEN = re.compile(r'"idempotency_token": "([^"]{8,})"')
"""In a request: who knows it may take the work of the run that it starts."""

OWN = "forebay_is_own"
BODY = "forebay_has_body"


class NoAnswer(requests.RequestException, ValueError):
    """What came, with a good status, is not what the API promises: it counts as a lost answer."""


class Mark(_ErrorCustomizer):
    """Have the SDK's errors know whether they were answered in the form of the API.

    What says it may repeat the request: what that carried for nobody else is left out.
    """

    def customize_error(self, response: requests.Response, kwargs: dict[str, Any]) -> None:
        kwargs[OWN] = _is_of_the_api(response)
        kwargs[BODY] = bool(response.content)
        if message := kwargs.get("message"):
            kwargs["message"] = _without_secrets(str(message), response.request)


class Unreadable(_ErrorDeserializer):
    """Say of a refusal that the SDK cannot read what it is; the SDK tells the whole request."""

    def deserialize_error(self, response: requests.Response, _body: bytes) -> dict[str, Any]:
        return {"message": _not_of_the_api(response)}


class Judge(_Parser):
    """Judge all that is answered as the SDK's own parser does, and find what is no answer."""

    def __init__(self, parser: _Parser) -> None:
        super().__init__()
        self._error_parsers = [*parser._error_parsers, Unreadable()]
        self._error_customizers = [*parser._error_customizers, Mark()]

    def get_api_error(self, response: requests.Response) -> DatabricksError | None:
        """Return the error of a refusal. Raises NoAnswer."""
        error = super().get_api_error(response)
        if error:
            return error
        if _was_asked_for_json(response) and not isinstance(_document(response), dict | list):
            raise NoAnswer(_not_of_the_api(response))
        return None


def is_own(error: BaseException | None) -> bool:
    """Tell whether the API itself refused what was asked for, whatever else is well or not.

    Of an answer without a body, as to a HEAD, that cannot be told: it counts as none.
    """
    return (
        isinstance(error, DatabricksError)
        and bool(error.kwargs.get(OWN))
        and error.error_code != STRANGER
        and not NETWORK.search(str(error))
    )


def is_silence(error: BaseException | None) -> bool:
    """Tell whether the API did not answer: nothing came, or the words of what stands before it.

    An answer without a body may be its own. A login that is refused for good is an answer.
    """
    if isinstance(error, DatabricksError):
        has_come = is_own(error) or not error.kwargs.get(BODY, True)
        return not has_come and getattr(error, "is_transient", True)
    return isinstance(error, TimeoutError | requests.RequestException)


def is_absent(error: BaseException) -> bool:
    """Tell whether the API itself says that the thing which was asked for is not there."""
    return isinstance(error, NotFound) and is_refusal(error)


def is_refusal(error: BaseException) -> bool:
    """Tell whether the API itself says no to what was asked for, and would again."""
    return isinstance(error, FOR_GOOD) and is_own(error) and error.error_code != NO_SUCH_API


def last_try(error: BaseException) -> BaseException:
    """Return the error of the last try, where the SDK tried until its time was over."""
    return (isinstance(error, TimeoutError) and error.__cause__) or error


def was_not_done(error: BaseException) -> bool:
    """Tell whether it is certain that a request was not carried out: it may be sent again.

    A limit of requests comes before all else, whoever says it.
    """
    error = last_try(error)
    if isinstance(error, (*NEVER_SENT, TooManyRequests)):
        return True
    if isinstance(error, requests.ConnectionError):
        behind = next(iter(error.args), None)
        return isinstance(getattr(behind, "reason", None), NewConnectionError)
    return is_own(error) and isinstance(error, (*NOT_NOW, *FOR_GOOD))


@contextmanager
def absent() -> Iterator[None]:
    """Go on where something is not there; raise all else."""
    try:
        yield
    except NotFound as error:
        if not is_absent(error):
            raise


def _without_secrets(text: str, request: requests.PreparedRequest) -> str:
    """Return a text without the bearer of its request, and the token of the launch that it is."""
    text = without_credentials(text, str(request.headers.get("Authorization", "")))
    for token in LAUNCH_TOKEN.findall(request.body if isinstance(request.body, str) else ""):
        text = text.replace(token, "***")
    return text


def _not_of_the_api(response: requests.Response) -> str:
    status = f"{response.status_code} {response.reason or ''}".strip()
    told = "a page that is no answer of the API's" if response.content else "nothing in it"
    return f"{status}, with {told}"


def _was_asked_for_json(response: requests.Response) -> bool:
    """Tell whether an answer has to be JSON: one to a change may also have no body."""
    asked = response.request
    if asked.headers.get("Accept") != "application/json" or response.status_code == 204:
        return False
    return asked.method in ("GET", "POST") or bool(response.content)


def _document(response: requests.Response) -> Any:
    """Return what an answer has in it, None where that is no JSON."""
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return None


def _is_of_the_api(response: requests.Response) -> bool:
    """Tell whether a refusal has a code of the API's, or is one of its lists of principals'."""
    said = _document(response)
    if not isinstance(said, dict):
        return False
    code = said.get("error_code")
    return bool(code and isinstance(code, str)) or "schemas" in said  # those of SCIM
