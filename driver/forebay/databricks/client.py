"""The one way in which this package makes a client of the workspace: no call may take for long."""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import databricks.sdk.config
from databricks.sdk import WorkspaceClient
from databricks.sdk._base_client import _BaseClient
from databricks.sdk.clock import RealClock
from databricks.sdk.core import Config

import forebay
from forebay.databricks import is_on_databricks as is_on_databricks
from forebay.databricks.answer_time import give_answers_time
from forebay.databricks.answers import Judge, was_not_done
from forebay.databricks.login import Login, told

HTTP_SECONDS = 10
"""How long one answer may take, as a whole, before it counts as lost."""

RETRY_SECONDS = 20
"""How long the SDK may try again before the call fails."""

QUERY = re.compile(r"\?[^\s'\")]+")
LOGGERS = (
    "databricks.sdk",
    "databricks.sdk.mixins.files",
    "databricks.sdk.mixins.files_utils",
    "urllib3.connectionpool",
)
"""Loggers that get to see what must not be in a log."""

PART_TRIES = 5
"""How often a part of a file is sent or asked for before the transfer fails: for about 10 s."""

_is_sent_once: ContextVar[bool] = ContextVar("_is_sent_once", default=False)


def workspace_client(
    *, http_seconds: int = HTTP_SECONDS, retry_seconds: int = RETRY_SECONDS, **options: Any
) -> WorkspaceClient:
    """Return a client for the workspace that the SDK's own variables and profiles name.

    `options` are those of the SDK's Config, such as host and token. The SDK tries again whatever it
    takes to be passing, posts included: a call that must not happen twice carries a token of its
    own, or is made inside of `sent_once`. Raises LoginError where no credentials are found, and
    takes up to `retry_seconds` where the workspace does not answer, whatever time it asks for. The
    calls raise LoginError where no login is to be had, and what the SDK raises when it has tried
    for so long: TimeoutError.
    """
    options.setdefault("clock", _BoundedClock(retry_seconds))
    login = Login(min(http_seconds, HTTP_SECONDS))
    try:
        config = Config(
            http_timeout_seconds=http_seconds,
            retry_timeout_seconds=retry_seconds,
            credentials_strategy=login,
            product="forebay",
            product_version=forebay.__version__,
            **options,
        )
    except ValueError as error:
        raise told(error) from error
    config.files_ext_network_transfer_inactivity_timeout_seconds = http_seconds
    config.experimental_files_ext_cloud_api_max_retries = PART_TRIES
    client = WorkspaceClient(config=config)
    # The one place where an answer can be seen beside its request; files travel by it too.
    sender = client.api_client._api_client
    give_answers_time(sender._session, http_seconds).hooks["response"].append(login.again)
    sender._error_parser = Judge(sender._error_parser)
    return client


def id_of(client: WorkspaceClient) -> str:
    """Return the workspace's id, which it is asked for where neither setting nor host tells it.

    Raises ValueError where its answer does not tell, and what the SDK raises where there is none.
    """
    try:
        return str(client.config.workspace_id or client.get_workspace_id())
    except TypeError:
        raise ValueError("the workspace does not tell its id") from None


class _Asker(_BaseClient):
    """What the SDK asks a host about itself with, as a Config is made: bounded like all else."""

    def __init__(self, *, retry_timeout_seconds: int, http_timeout_seconds: float) -> None:
        super().__init__(
            retry_timeout_seconds=retry_timeout_seconds,
            http_timeout_seconds=http_timeout_seconds,
            clock=_BoundedClock(retry_timeout_seconds or RETRY_SECONDS),
        )
        give_answers_time(self._session, http_timeout_seconds or HTTP_SECONDS)


@contextmanager
def sent_once() -> Iterator[None]:
    """Have the SDK try only that again, in this block, which was certainly not carried out.

    It raises all else as it comes.
    """
    before = _is_sent_once.set(True)
    try:
        yield
    finally:
        _is_sent_once.reset(before)


class _BoundedClock(RealClock):
    """A clock that sleeps `longest` seconds at most between two looks at the time, in a thread.

    The SDK sleeps for as long as a Retry-After says, in one piece or in many, and only then looks
    whether its time is over. It sleeps before every other try, while it handles the error of the
    last one: this is where it can be kept from trying again.
    """

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._slept = threading.local()

    def time(self) -> float:
        self._slept.seconds = 0.0
        return super().time()

    def sleep(self, seconds: float) -> None:
        error = sys.exception()
        if error and _is_sent_once.get() and not was_not_done(error):
            raise error
        slept = getattr(self._slept, "seconds", 0.0)
        seconds = seconds if seconds > 0 else 1.0  # a Retry-After may say anything
        super().sleep(max(min(seconds, self._longest - slept), 0.0))
        self._slept.seconds = slept + seconds


def _keep_secrets_out(record: logging.LogRecord) -> bool:
    """Cut a line of the log before bodies, which hold tokens and documents, and queries of URLs.

    Who knows a presigned URL may read or write the file, for an hour.
    """
    record.msg, record.args = QUERY.sub("?…", record.getMessage().split("\n")[0]), None
    return True


# A Config cannot be given one.
databricks.sdk.config._BaseClient = _Asker  # type: ignore[attr-defined, assignment]
for _name in LOGGERS:
    logging.getLogger(_name).addFilter(_keep_secrets_out)
