"""Which refusals are the API's own answers: the one place that tells them from a gateway's.

What stands between answers with the same statuses while the workspace is away, often with a page.
The SDK makes a code of such a page too, NOT_FOUND for one, which the API itself may have said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from databricks.sdk.errors import NotFound
from databricks.sdk.errors.base import DatabricksError
from databricks.sdk.errors.customizer import _ErrorCustomizer

STRANGERS = ("ENDPOINT_NOT_FOUND", "FORBIDDEN")
"""Codes of what has no such address, or lets nobody in: they say nothing of what was asked for."""

OWN = "forebay_is_own"


class Mark(_ErrorCustomizer):
    """Have the SDK's errors know whether they were answered in the form of the API."""

    def customize_error(self, response: requests.Response, kwargs: dict[str, Any]) -> None:
        kwargs[OWN] = _is_of_the_api(response)


def is_own(error: BaseException | None) -> bool:
    """Tell whether the API itself refused what was asked for, whatever else is well or not.

    Of an answer without a body, as to a HEAD, that cannot be told: it counts as none.
    """
    return (
        isinstance(error, DatabricksError)
        and bool(error.kwargs.get(OWN))
        and error.error_code not in STRANGERS
    )


@contextmanager
def absent() -> Iterator[None]:
    """Go on where the API itself says that something is not there; raise all else."""
    try:
        yield
    except NotFound as error:
        if not is_own(error):
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
