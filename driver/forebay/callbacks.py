"""The sender of callbacks: what an attempt reports, told to the orchestrator over HTTP as well.

It is set up by FOREBAY_CALLBACK_URL and FOREBAY_CALLBACK_SECRETS, and
FOREBAY_CALLBACK_AUTH where a proxy asks who comes. A receiver that is away costs the attempt's
process a few seconds and nothing else: what was reported stays as it is.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from forebay import jsonb
from forebay.errors import ForebayError, SettingError
from forebay.logs import EventLog, first_line
from forebay.settings import number, text, word
from forebay.webhooks import NO_HEADERS, NotDelivered, Receiver

if TYPE_CHECKING:
    from forebay.databricks.bearer import Bearer

log = EventLog(__name__)

URL = "FOREBAY_CALLBACK_URL"
SECRETS = "FOREBAY_CALLBACK_SECRETS"
SECONDS = "FOREBAY_CALLBACK_SECONDS"
AUTH = "FOREBAY_CALLBACK_AUTH"
CLIENT_ID = "FOREBAY_CALLBACK_CLIENT_ID"
CLIENT_SECRET = "FOREBAY_CALLBACK_CLIENT_SECRET"
PROBE = "forebay-doctor"  # the message id of a report of no task, which tries the way
NOT_LOGGED_IN = {302, 401}  # what a proxy answers to a bearer that it does not know
PATIENCE = 15.0  # seconds in which a callback is tried, unless SECONDS says another number
TRY_SECONDS = 8.0  # that one try may take: a receiver without its database needs 5 to say so
WAITS = (0.2, 0.5, 1.0, 2.0)  # seconds between tries; the last one repeats
LOOK_EVERY = 0.1  # seconds between two looks at whether to stop


class Callbacks:
    """Send the events of an attempt to the receiver. Failures are logged, never raised.

    Nothing is tried again once `is_stopped` says so. Close it when nothing is to be sent any more.
    A `bearer` goes with each try; one that is refused is renewed, once.
    """

    def __init__(
        self,
        receiver: Receiver,
        is_stopped: Callable[[], bool],
        patience: float = PATIENCE,
        bearer: Bearer | None = None,
    ) -> None:
        self._receiver = receiver
        self._bearer = bearer
        self._is_stopped = is_stopped
        self._patience = patience
        self._closed = threading.Event()

    @classmethod
    def from_settings(
        cls, is_stopped: Callable[[], bool], environment: Mapping[str, str] = os.environ
    ) -> Callbacks | None:
        """Return what the environment sets up; None where it sets up nothing, or wrongly.

        What is wrong is logged: a report must not depend on it.
        """
        try:
            receiver = Receiver.read(environment, URL, SECRETS)
            patience = number(environment, SECONDS, PATIENCE, least=0, most=3600)
            bearer = read_bearer(environment)
        except SettingError as error:
            log.warning("callbacks_off", reason=first_line(error))
            return None
        return cls(receiver, is_stopped, patience, bearer) if receiver else None

    def send(self, event: dict[str, Any]) -> bool:
        """Post the event until it is taken, and tell whether it was.

        It ends sooner when it is refused for good, when time is up, or on a stop.
        """
        return self._send(event, time.monotonic() + self._patience)

    def begin(self, event: dict[str, Any]) -> threading.Event:
        """Send the event beside the caller, without end; what is returned is set once it is taken.

        For a report that has no other way: it may wait for the receiver as long as its attempt.
        """
        taken = threading.Event()

        def work() -> None:
            if self._send(event, math.inf):
                taken.set()

        threading.Thread(target=work, name="callback", daemon=True).start()
        return taken

    def close(self) -> None:
        """Try nothing any more."""
        self._closed.set()

    def _send(self, event: dict[str, Any], give_up_at: float) -> bool:
        waits = chain(WAITS, repeat(WAITS[-1]))
        may_renew = self._bearer is not None
        while True:
            try:
                return self._post(event, min(TRY_SECONDS, give_up_at - time.monotonic()))
            except NotDelivered as error:
                if may_renew and self._bearer and error.status in NOT_LOGGED_IN:
                    may_renew = False
                    self._bearer.renew()
                    continue
                pause = max(error.retry_after, next(waits))
                is_over = error.is_final or time.monotonic() + pause >= give_up_at
            if is_over or not self._rested(pause):
                return False

    def _post(self, event: dict[str, Any], seconds: float) -> bool:
        """Return True once it is taken, False for what is no JSON; raises NotDelivered."""
        message_id = f"{event['type']}.{event['data']['attempt_id']}"
        try:
            body = jsonb.dump_safe("event", event)
            self._receiver.post(message_id, body, seconds=seconds, headers=self._headers())
        except ForebayError as error:
            log.warning("callback_not_sent", message=message_id, reason=first_line(error))
            return False
        except NotDelivered as error:
            name = "callback_refused" if error.is_final else "callback_delayed"
            log.warning(name, message=message_id, reason=first_line(error))
            raise
        return True

    def _headers(self) -> Mapping[str, str]:
        if self._bearer is None:
            return NO_HEADERS
        from forebay.databricks.bearer import NoBearer

        try:
            return self._bearer.headers()
        except NoBearer as error:
            raise NotDelivered(str(error), is_final=False) from error

    def _rested(self, seconds: float) -> bool:
        """Wait so long; return False at once on a stop."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._is_stopped() or self._closed.wait(min(left, LOOK_EVERY)):
                return False
        return True


def read_bearer(environment: Mapping[str, str]) -> Bearer | None:
    """Return what AUTH asks for, None for nothing: the bearer of this process or of a principal.

    Raises SettingError for a client id without its secret, and the reverse.
    """
    if word(environment, AUTH, ("none", "databricks"), "none") == "none":
        return None
    from forebay.databricks.bearer import Bearer, ambient

    client_id, secret = text(environment, CLIENT_ID), text(environment, CLIENT_SECRET)
    if bool(client_id) != bool(secret):
        missing = CLIENT_SECRET if client_id else CLIENT_ID
        raise SettingError(f"{missing} is not set: set {CLIENT_ID} and {CLIENT_SECRET}, or none.")
    return Bearer.of_service_principal(client_id, secret) if client_id else ambient()
