"""The document agent: one PDF in; its fields, lines, tables and text out."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from forebay.agent import Attempt, Reject, Result, Retry
from forebay.errors import SettingError
from forebay.logs import EventLog
from forebay.storage import CHUNK, Storage, StorageError, locate
from forebay_agents import stopping
from forebay_agents.ai_parse import AiParse
from forebay_agents.checkpoints import Checkpoints, StoredCheckpoints, forget
from forebay_agents.combine import combine
from forebay_agents.confidence import document_confidence
from forebay_agents.einvoice import KNOWN_NAMES, SIZE_LIMIT, read_xml
from forebay_agents.findings import Findings, Found, Name
from forebay_agents.models import Model
from forebay_agents.pages import Page
from forebay_agents.progress import Progress
from forebay_agents.reading.reader import DocumentError, Reader
from forebay_agents.result import ResultBuilder
from forebay_agents.rules import EdgePages, LineReader, find_fields
from forebay_agents.scans import ScanReader
from forebay_agents.spool import PageSpool

log = EventLog(__name__)

T = TypeVar("T")

Place = tuple[Storage, str]
"""A storage, and a name in it."""


def run(attempt: Attempt) -> Result:
    """Read the document that the payload names, as {"document": path, "name": display name}.

    The path is one below a storage root. Raises Reject for a document that no attempt can read, and
    Retry when storage or a model fails, when the attempt is cancelled or when its time is over.
    """
    with _refusals():
        place = locate(_document(attempt.payload))
    return parse(attempt, place, place)


def parse(attempt: Attempt, place: Place, beside: Place) -> Result:
    """Read the document at `place`; what is kept of it gets names that begin as `beside` does."""
    attempt.progress(0, 1)  # from now on the deadline is known
    storage, name = place
    try:
        with _refusals(), storage.local(name) as path, Reader(path, attempt) as reader:
            checkpoints = StoredCheckpoints(*beside, attempt, partial(_content, attempt, path))
            result = _read(attempt, reader, checkpoints, place, beside)
    except Reject:
        forget(*beside, attempt)  # no attempt will need what was kept
        raise
    return replace(result, accepted=partial(forget, *beside, attempt))


def _document(payload: dict[str, object]) -> str:
    document = payload.get("document")
    if not isinstance(document, str) or not document.strip() or "\0" in document:
        raise Reject('The payload needs "document": the path of a PDF below a storage root.')
    return document


@contextmanager
def _refusals() -> Iterator[None]:
    """Say what is wrong with a document, its storage or this machine as the queue takes it."""
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
    except SettingError as error:
        raise Retry(str(error)) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Retry(f"This machine cannot work on it: {reason}.") from error


def _content(attempt: Attempt, path: Path) -> Iterator[bytes]:
    """Yield the bytes of the file that is read, as long as the attempt may go on."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            stopping.check(attempt, "while looking at what is known of the document")
            yield chunk


def _read(
    attempt: Attempt, reader: Reader, checkpoints: Checkpoints, place: Place, beside: Place
) -> Result:
    """Read all pages, find what they say, and return it as a result."""
    xml = _invoice_inside(attempt, reader)
    model = None if _is_whole(xml) else Model.from_environment()
    warehouse = None if _is_whole(xml) else AiParse.from_environment(*place)
    if warehouse:
        warehouse.ask(attempt, checkpoints)
        reader.notes += warehouse.notes
    edges, lines = EdgePages(), LineReader()
    look = partial(_look, attempt, reader.notes)
    with ResultBuilder(reader.pages) as builder, PageSpool() as spool:
        for page in _pages(attempt, reader, checkpoints, warehouse):
            builder.add(page)
            edges.add(page)
            look(f"the lines of page {page.number}", partial(lines.add, page), None)
            if model:
                spool.add_page(page)
        if all(page.is_broken for page in builder.summaries):
            why = builder.first_note or "it is broken."
            raise DocumentError("bad_input", f"None of the PDF's pages can be read: {why}")
        fields: dict[Name, Found] = look(
            "the fields", partial(find_fields, edges.pages, reader.notes), {}
        )
        rules = Findings(fields, lines.lines, lines.notes)
        said = model.extract(spool.pages(), attempt, checkpoints) if model else None
        findings = combine(rules, xml=xml, model=said)
        findings.notes.extend(reader.notes)
        confidence = document_confidence(findings, builder.summaries)
        return builder.finish(findings, confidence, *beside)


def _pages(
    attempt: Attempt, reader: Reader, checkpoints: Checkpoints, warehouse: AiParse | None
) -> Iterator[Page]:
    """Yield each page in order, with the words of scans where something can read them.

    What a warehouse has read takes the place of our own reading, page by page.
    """
    scans = ScanReader(reader, attempt, checkpoints)
    progress = Progress(attempt, reader.pages)
    for number in range(1, reader.pages + 1):
        stopping.check(attempt, f"at page {number} of {reader.pages}")
        page = reader.page(number)
        yield scans.read(warehouse.page(page) if warehouse else page)
        progress.done(number)


def _invoice_inside(attempt: Attempt, reader: Reader) -> Findings | None:
    """Return what the XML of an e-invoice says, or None.

    Files with the names of the standards are looked at first: of these a note tells if one says
    nothing. Others may hold an invoice, or something else.
    """
    attached = reader.attached(".xml", SIZE_LIMIT)
    for name in sorted(attached, key=lambda name: name not in KNOWN_NAMES):
        try:
            where = f"while reading {name} inside it"
            return stopping.wait_for(attempt, where, partial(read_xml, name, attached[name]))
        except ValueError as error:
            reader.notes += [str(error)] if name in KNOWN_NAMES else []
    return None


def _is_whole(xml: Findings | None) -> bool:
    """Tell an e-invoice's XML that leaves a model nothing to find."""
    return xml is not None and "total" in xml.fields and bool(xml.lines)


def _look(
    attempt: Attempt, notes: list[str], what: str, function: Callable[[], T], otherwise: T
) -> T:
    """Return what the rules find, and if they fail on an odd page what is given: with a note."""
    try:
        return stopping.wait_for(attempt, f"while looking for {what}", function)
    except Retry:
        raise
    except Exception as error:
        log.error("rules_failed", what=what, error=repr(error))
        traceback.print_exception(error)
        notes.append(f"Looking for {what} failed: that is a bug of the agent.")
        return otherwise
