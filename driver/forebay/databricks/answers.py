"""Which refusals are the API's own answers: the one place that tells them from a gateway's.

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
from databricks.sdk.errors import NotFound
from databricks.sdk.errors.base import DatabricksError
from databricks.sdk.errors.customizer import _ErrorCustomizer
from databricks.sdk.errors.deserializer import _ErrorDeserializer

STRANGER = "FORBIDDEN"
"""A code of what lets nobody in, and no word of the API's."""

NETWORK = re.compile(r"blocked by Databricks IP ACL|Unauthorized network access", re.IGNORECASE)
"""What is said where an address is let in to nothing, as by a workspace's IP access list."""

NO_SUCH_API = "ENDPOINT_NOT_FOUND"
"""A code of the API's own that says nothing of the thing which was asked for."""

OWN = "forebay_is_own"
BODY = "forebay_has_body"


class Mark(_ErrorCustomizer):
    """Have the SDK's errors know whether they were answered in the form of the API.

    What says it may repeat the request: the bearer that it carried is left out.
    """

    def customize_error(self, response: requests.Response, kwargs: dict[str, Any]) -> None:
        kwargs[OWN] = _is_of_the_api(response)
        kwargs[BODY] = bool(response.content)
        credential = str(response.request.headers.get("Authorization", "")).partition(" ")[2]
        if credential:
            kwargs["message"] = str(kwargs.get("message") or "").replace(credential, "***")


class Unreadable(_ErrorDeserializer):
    """Say of a refusal that the SDK cannot read what it is; the SDK tells the whole request."""

    def deserialize_error(self, response: requests.Response, _body: bytes) -> dict[str, Any]:
        status = f"{response.status_code} {response.reason or ''}".strip()
        return {"message": f"{status}, with a page that is no answer of the API's"}


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
    return isinstance(error, NotFound) and is_own(error) and error.error_code != NO_SUCH_API


@contextmanager
def absent() -> Iterator[None]:
    """Go on where something is not there; raise all else."""
    try:
        yield
    except NotFound as error:
        if not is_absent(error):
            raise


def _is_of_the_api(response: requests.Response) -> bool:
    """Tell whether a refusal has a code of the API's, or is one of its lists of principals'."""
    try:
        said = json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    if not isinstance(said, dict):
        return False
    code = said.get("error_code")
    return bool(code and isinstance(code, str)) or "schemas" in said  # those of SCIM
