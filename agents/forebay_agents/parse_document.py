"""The document agent: one PDF in; its text, tables and fields out."""

import time

from forebay.agent import Attempt, Reject, Result, Retry
from forebay_agents import storage
from forebay_agents.collected import Collected
from forebay_agents.reading.documents import Document, DocumentError

PROGRESS_INTERVAL = 0.5
"""Seconds between two reports of progress."""


def run(attempt: Attempt) -> Result:
    """Read the document that the payload names, as {"document": path, "name": display name}.

    The result holds pages (their number), text, tables, fields and notes. Raises Reject for a
    document that no attempt can read, and Retry when storage fails or the attempt is cancelled.
    """
    path = storage.locate(attempt.payload.get("document"))
    try:
        with Document(path) as document:
            return _read(attempt, document)
    except DocumentError as error:
        if error.kind == "infrastructure":
            raise Retry(error.message) from error
        raise Reject(error.message, error.kind) from error


def _read(attempt: Attempt, document: Document) -> Result:
    collected = Collected(len(document))
    reported = float("-inf")
    for page in document.pages():
        if attempt.cancelled():
            raise Retry(f"Stopped on request at page {page.number} of {len(document)}.")
        collected.add(page)
        if time.monotonic() - reported >= PROGRESS_INTERVAL or page.number == len(document):
            attempt.progress(page.number, len(document))
            reported = time.monotonic()
    return collected.result()
