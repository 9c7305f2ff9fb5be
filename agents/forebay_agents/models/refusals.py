"""What an endpoint's refusals mean to the queue: one table, and the sentences to it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from forebay.agent import ErrorKind, Reject, Retry
from forebay.logs import without_credentials
from forebay_agents.models.settings import CONTEXT_TOKENS, STRUCTURED, TIMEOUT, Endpoint

if TYPE_CHECKING:
    from openai import APIError, APIStatusError

LONGEST_WAIT = timedelta(hours=1)
"""An endpoint that asks for a longer wait is asked again after this one."""

LONGEST_MESSAGE = 200
"""Characters of an endpoint's own words that a sentence repeats."""

TOO_LONG = ("context_length", "context length", "context window", "too long", "too many tokens")
FILTERED = ("content_filter", "content filter", "content management policy", "content_policy")


class ContextExceeded(Exception):
    """The request is longer than the model's context: ask with less text."""


class Filtered(Exception):
    """The endpoint's content filter refuses this text, and would again."""


GIVEN_UP = (408, 499)
"""Statuses of calls that ended under way: a model may have seen them."""

KINDS: dict[int, ErrorKind] = {
    408: "timeout",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
"""The kinds of the statuses that are tried again; all others are `infrastructure`."""


def is_free(error: APIError | Retry | None) -> bool:
    """Tell whether the endpoint refused the request before a model saw it."""
    status = getattr(error, "status_code", 0)
    return 400 <= status < 500 and status not in GIVEN_UP


def meaning(error: APIError | Retry, endpoint: Endpoint) -> Exception:
    """Return what to raise for an error of the `openai` package: ContextExceeded, Filtered, Retry.

    No refusal is a Reject: none of them is the document's fault. A Retry is what it is.
    """
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    match error:
        case Retry():
            return error
        case APITimeoutError():
            return too_slow()
        case APIConnectionError():
            return Retry(
                f"The model endpoint cannot be reached ({type(error.__cause__).__name__}):"
                f" check {endpoint.url_setting} and the network."
            )
        case APIStatusError():
            return _status(error, endpoint)
    return Retry(f"The model endpoint's answer cannot be used ({type(error).__name__}).")


def too_slow() -> Retry:
    """Return what to raise for a call that took longer than it may."""
    return Retry(
        f"The model endpoint did not answer in time: raise {TIMEOUT} if that is usual.",
        kind="timeout",
    )


def too_large() -> Retry:
    """Return what to raise for a body of more bytes than any answer has, or of unknown size."""
    return Retry(
        "The model endpoint's answer is too large, or compressed without being asked to be:"
        " check that it speaks the chat API."
    )


def _status(error: APIStatusError, endpoint: Endpoint) -> Exception:
    status = error.status_code
    said = f"{error.code or ''} {error.type or ''} {error.message}".lower()
    if status == 413 or (status in (400, 422) and any(sign in said for sign in TOO_LONG)):
        return ContextExceeded()
    if status in (400, 403, 422) and any(sign in said for sign in FILTERED):
        return Filtered()
    after = retry_after(error.response.headers) if status >= 429 else None
    return Retry(_sentence(error, endpoint), after, KINDS.get(status, "infrastructure"))


def _sentence(error: APIStatusError, endpoint: Endpoint) -> str:
    match error.status_code:
        case 401 | 403 if endpoint.is_databricks:
            return (
                f"The workspace does not let us ask {endpoint.name!r} ({error.status_code}):"
                " grant this principal CAN_QUERY on the serving endpoint."
            )
        case 401 | 403:
            return (
                f"The model endpoint does not accept the key ({error.status_code}):"
                f" mend {endpoint.key_setting}."
            )
        case 404:
            return (
                f"The model endpoint knows no model {endpoint.name!r} at this address (404):"
                f" mend {endpoint.name_setting} or {endpoint.url_setting}."
            )
        case 408:
            return (
                "The model endpoint gave the call up as too slow (408): raise its own timeout,"
                f" or lower {CONTEXT_TOKENS}, if that is usual."
            )
        case 429 if error.code == "insufficient_quota":
            return "The model endpoint's quota is used up (429): its account needs attention."
        case 429:
            return "The model endpoint asks to be called less often (429)."
        case 503 | 529:
            return f"The model endpoint is overloaded ({error.status_code})."
        case status if status >= 500:
            return f"The model endpoint failed ({status})."
        case status:
            return (
                f"The model endpoint refuses the request ({status}:"
                f" {_words(error)}); if it is the response format, set {STRUCTURED}."
            )


def _words(error: APIStatusError) -> str:
    """Return the endpoint's own words on one line, without the request's credentials."""
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = " ".join(str(message or error.code or "no reason given").split())
    for response in (*error.response.history, error.response):
        text = without_credentials(text, response.request.headers.get("authorization", ""), "…")
    return text[:LONGEST_MESSAGE].rstrip(".")


def context_too_small(endpoint: Endpoint) -> Reject:
    """Return what to raise where the context holds not even a short piece of a page."""
    return Reject(
        f"The model {endpoint.name!r} refuses even a short piece of a page as too long:"
        f" use a model with a larger context, or lower {CONTEXT_TOKENS}.",
        "context_too_long",
    )


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> timedelta | None:
    """Return how long the endpoint asks to wait: between nothing and an hour, None if unsaid.

    Read from `retry-after-ms`, or from `retry-after` as seconds or as an HTTP date.
    """
    wait = _milliseconds(headers.get("retry-after-ms"), 1)
    said = headers.get("retry-after")
    wait = wait if wait is not None else _milliseconds(said, 1000)
    if wait is None and said:
        with contextlib.suppress(ValueError, OverflowError):
            until = parsedate_to_datetime(said)
            until = until if until.tzinfo else until.replace(tzinfo=UTC)
            wait = until - (now or datetime.now(UTC))
    return None if wait is None else max(timedelta(0), min(wait, LONGEST_WAIT))


def _milliseconds(text: str | None, factor: int) -> timedelta | None:
    try:
        return timedelta(milliseconds=float(text) * factor) if text else None
    except (ValueError, OverflowError):
        return None
