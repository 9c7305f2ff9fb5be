"""The document agent: one PDF in; its text, tables and fields out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from forebay.agent import Attempt, Reject, Result, Retry
from forebay.storage import Storage, StorageError, locate
from forebay_agents.collected import Collected
from forebay_agents.reading.documents import Document, DocumentError

PROGRESS_INTERVAL = 0.5
"""Seconds between two reports of progress."""

Place = tuple[Storage, str]
"""A storage, and a name in it."""


def run(attempt: Attempt) -> Result:
    """Read the document that the payload names, as {"document": path, "name": display name}.

    The path is one below a storage root. Raises Reject for a document that no attempt can read, and
    Retry when storage fails, when the attempt is cancelled or when its time is over.
    """
    with _refusals():
        place = locate(_document(attempt.payload))
    return parse(attempt, place, place)


def parse(attempt: Attempt, place: Place, beside: Place) -> Result:
    """Read the document at `place`; what is kept of it gets names that begin as `beside` does."""
    storage, name = place
    with _refusals(), storage.local(name) as path, Document(path) as document:
        return _read(attempt, document)


def _document(payload: dict[str, object]) -> str:
    document = payload.get("document")
    if not isinstance(document, str) or not document.strip() or "\0" in document:
        raise Reject('The payload needs "document": the path of a PDF below a storage root.')
    return document


@contextmanager
def _refusals() -> Iterator[None]:
    """Say what is wrong with a document or its storage as the queue takes it."""
    try:
        yield
    except DocumentError as error:
        if error.kind == "infrastructure":
            raise Retry(error.message) from error
        raise Reject(error.message, error.kind) from error
    except StorageError as error:
        if error.may_pass:
            raise Retry(str(error)) from error
        raise Reject(str(error)) from error


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
