"""What to make of a connection that could not be opened: try again, or say what is wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import psycopg

from forebay.databricks.lakebase import Lakebase
from forebay.errors import ConnectError

RETRY_EVERY = 0.5  # seconds between tries to reach a server that is not up yet
REFUSED = ("authentication failed", "is not permitted to log in", "no password supplied")
WRONG = ("does not exist", "pg_hba.conf", "permission denied", "invalid value", "parameter")
UNKNOWN = ("resolve", "translate host name")
PASSING = ("[Errno -3]", "Temporary failure")  # of a name: who knows it was not reached


class Tries:
    """What to do when a connection fails: try again soon, at once, or not."""

    def __init__(self, here: Lakebase | None, seconds: float) -> None:
        self._lakebase = here
        self._give_up_at = time.monotonic() + seconds
        self._has_new_credential = False

    def pause(self, error: psycopg.OperationalError, parameters: Mapping[str, Any]) -> float | None:
        """Return the seconds to wait before the next try; None when there is to be none.

        Elsewhere than in Lakebase there is none. A credential that is refused is replaced once.
        """
        if self._lakebase is None:
            return None
        if "authentication" in str(error) and not self._has_new_credential:
            self._lakebase.drop(parameters["password"])
            self._has_new_credential = True
            return 0
        is_late = time.monotonic() + RETRY_EVERY > self._give_up_at
        return RETRY_EVERY if connect_error(error).is_transient and not is_late else None


def connect_error(error: psycopg.OperationalError, *, is_lakebase: bool = False) -> ConnectError:
    """Return it as a sentence that says what to do.

    What is not known to be a mistake may pass: a server says many things while it starts or ends.
    """
    said = " ".join(str(error).split("\n")[0].split())
    is_refused, is_wrong, is_unknown, is_passing = (
        any(word in said for word in words) for words in (REFUSED, WRONG, UNKNOWN, PASSING)
    )
    is_wrong = is_refused or is_wrong or (is_unknown and not is_passing)
    correct = "correct the DSN"
    if is_lakebase and "authentication" in said:
        correct = "have 'forebay databricks bootstrap' give this principal its role there"
    remedy = correct if is_wrong else f"start the server, or {correct}"
    return ConnectError(
        f"Cannot connect to the database ({said}): {remedy}.",
        is_transient=not is_wrong,
        is_final=is_refused and not is_lakebase,  # each connection there has another credential
    )
