"""POST /api/callbacks: what agents report over HTTP, signed as Standard Webhooks has it.

The signature is over the raw bytes, so nothing is read of a body before it is known whose it is.
The timestamp is part of it and may be 5 minutes off, either way. The same message again is harmless
at any time: the stored function `callback` changes nothing twice, and so no message id is kept.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from fastapi import APIRouter, Request
from psycopg_pool import PoolTimeout, TooManyRequests
from standardwebhooks import Webhook, WebhookVerificationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from forebay.callbacks import PROBE, SECRETS
from forebay.calls import agent as calls
from forebay.errors import ForebayError, UnknownAttemptError
from forebay.logs import EventLog
from forebay.webhooks import read_secrets
from forebay_apps.web.errors import CLASHES, Refusal, problem
from forebay_apps.web.proxies import address
from forebay_apps.web.tries import guesser
from forebay_apps.web.turns import Turns, in_thread

log = EventLog(__name__)

MAX_BYTES = 2 * 1024 * 1024
BODY_SECONDS = 20.0  # for a body to arrive
RETRY_AFTER = 2  # seconds, while the database is away or many events arrive
ARRIVING = 32  # bodies at once whose signature is not looked at yet
ARRIVING_OF_ONE = 8  # from one address; its others wait meanwhile
ARRIVING_SECONDS = 5.0  # that one waits at most
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
SIGNATURE = re.compile(r"v1,[A-Za-z0-9+/]{43}=")  # of SHA-256, in base64
LONGEST_ID = 100  # characters of a message id in the log
FROM_DATABASE = (psycopg.Error, PoolTimeout, TooManyRequests, ForebayError)

router = APIRouter()

_arriving = Turns(
    ARRIVING,
    ARRIVING_SECONDS,
    "Too many events arrive at this moment: send it again.",
    each=ARRIVING_OF_ONE,
)


def read_webhooks(variables: Mapping[str, str]) -> list[Webhook]:
    """Return what checks the signatures of the configured secrets. Raises SettingError."""
    return [Webhook(secret) for secret in read_secrets(variables, SECRETS)]


@router.post("/api/callbacks")
async def receive(request: Request) -> JSONResponse:
    """Take in one event; 2xx says that it need not come again, and what the task's state is."""
    try:
        event = await _signed(request)
        answer = await run_in_threadpool(_taken, request, event)
    except Refusal as refusal:
        return _refused(request, refusal, str(refusal))
    except FROM_DATABASE as error:
        return _refused(request, _refusal(error), type(error).__name__)
    log.info("callback_taken", **answer)
    return JSONResponse(answer)


async def _signed(request: Request) -> Any:
    """Return the event that is sent; of what nobody has signed only little is held at a time."""
    state = request.app.state
    sender = guesser(address(request, state.settings.proxies))
    async with _arriving.turn(sender):
        return await in_thread(_event, state.webhooks, request.headers, await _body(request))


async def _body(request: Request) -> bytes:
    """Read the body, as far as the limit."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refusal(415, "Send the body as it is, without Content-Encoding.")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise Refusal(413, f"The body is larger than {MAX_BYTES:,} bytes.")
    except TimeoutError:
        raise Refusal(408, f"The body did not arrive within {BODY_SECONDS:.0f} seconds.") from None
    except ClientDisconnect:
        raise Refusal(400, "The body ended early.") from None
    return bytes(body)


def _event(webhooks: list[Webhook], headers: Mapping[str, str], body: bytes) -> Any:
    """Return the JSON of a body that one of the secrets has signed."""
    if not webhooks:
        raise Refusal(403, f"No callbacks are taken here: {SECRETS} is not set.")
    reason = "The signature is wrong."
    signed = _signed_by(headers)
    for webhook in webhooks:
        try:
            webhook.verify(body, signed, json_parse=False)
            break
        except WebhookVerificationError as error:
            reason = f"{error}."
        except ValueError:  # of the parts of the signature, or of a body that is no text
            continue
    else:
        raise Refusal(401, reason)
    try:
        return json.loads(body.decode())
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON, or nested too deep.") from None


def _signed_by(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that sign a body, of several signatures those that can be one.

    The package gives up at the first that is malformed, and a good one may stand beside it.
    """
    found = {name: headers.get(name, "") for name in HEADERS}
    well_formed = filter(SIGNATURE.fullmatch, found["webhook-signature"].split())
    return found | {"webhook-signature": " ".join(well_formed) or found["webhook-signature"]}


def _taken(request: Request, event: Any) -> dict[str, str]:
    """Hand the event to the database; the ids are strings, since browsers round large numbers."""
    with request.app.state.connections.as_role("agent") as connection:
        answer = calls.callback(connection, event=event)
    return {"task_id": str(answer["task_id"])} | {k: answer[k] for k in ("status", "effect")}


def _refusal(error: Exception) -> Refusal:
    """Say what a sender is to do: correct the event (4xx), or send it again later (503)."""
    found = problem(error)
    if found.status >= 500 or isinstance(error, CLASHES):
        return Refusal(503, "The event could not be stored: send it again.")
    return Refusal(found.status, found.sentence)


def _refused(request: Request, refusal: Refusal, reason: str) -> JSONResponse:
    """Answer with the reason, and log that without a word of the payload; a probe is no warning."""
    message = request.headers.get("webhook-id", "")[:LONGEST_ID]
    said: dict[str, Any] = {
        "status": refusal.status,
        "reason": reason,
        "message": message,
        "sender": request.client and request.client.host,
    }
    is_probe = message == PROBE and reason == UnknownAttemptError.__name__
    level: Callable[..., None] = log.error if refusal.status >= 500 else log.warning
    (log.info if is_probe else level)("callback_probed" if is_probe else "callback_refused", **said)
    headers = {"Retry-After": str(RETRY_AFTER)} if refusal.status == 503 else {}
    return JSONResponse({"error": str(refusal)}, refusal.status, headers)
