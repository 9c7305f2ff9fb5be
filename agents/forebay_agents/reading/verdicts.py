"""What people are told of documents and pages that are too much or cannot be read."""

from pathlib import Path
from typing import Any

from forebay_agents.pages import Page
from forebay_agents.reading.errors import DocumentError, OcrUnavailable, PageFailed
from forebay_agents.reading.limits import MEGABYTE, Limits
from forebay_agents.reading.process import Loss


def check_size(path: Path, limits: Limits) -> None:
    """Raise DocumentError when the file is larger than allowed; a missing one is found later."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        return
    if size > limits.file_mb * MEGABYTE:
        has = f"The file has {size // MEGABYTE:,} MB"
        raise DocumentError("bad_input", f"{has}, and {limits.file_mb:,} are allowed; split it.")


def check_pages(pages: int, limits: Limits) -> int:
    """Return the number of pages; raises DocumentError when they are more than allowed."""
    if pages > limits.pages:
        has = f"The PDF has {pages:,} pages"
        raise DocumentError("bad_input", f"{has}, and {limits.pages:,} are allowed; split it.")
    return pages


def raise_errors(answer: dict[str, Any]) -> None:
    """Raise the error that a child's answer tells."""
    if problem := answer.get("error"):
        raise DocumentError(answer["kind"], problem)
    if problem := answer.get("page_failed"):
        raise PageFailed(problem)
    if problem := answer.get("unavailable"):
        raise OcrUnavailable(problem)


def of_document(loss: Loss, limits: Limits) -> DocumentError:
    """Return why a document on which the child was lost cannot be opened."""
    match loss:
        case "time":
            what = f"Opening the PDF takes longer than {limits.seconds_to_open} seconds"
        case "memory":
            what = f"Opening the PDF needs more than {limits.memory_mb} MB of memory"
        case "abort":
            what = f"Opening the PDF seems to need more than {limits.memory_mb} MB of memory"
        case _:
            what = "The PDF is broken: the reader fails on it"
    return DocumentError("bad_input", f"{what}; export it again.")


def of_page(what: str, loss: Loss, limits: Limits, seconds: int) -> str:
    """Return what is wrong with a page, or with what was made of it, without the full stop."""
    match loss:
        case "time":
            return f"{what} takes longer than {seconds} seconds"
        case "memory":
            return f"{what} needs more than {limits.memory_mb} MB of memory"
        case "abort":
            return f"{what} seems to need more than {limits.memory_mb} MB of memory"
        case "size":
            return f"{what} gives more than can be handled"
        case "crash":
            return f"{what} makes the reader crash"


def of_pages(losses: int) -> DocumentError:
    """Return why a document that has cost too many children is given up."""
    problem = f"Reading the PDF failed {losses} times, on different pages; export it again."
    return DocumentError("bad_input", problem)


def broken(number: int, note: str) -> Page:
    """Return a page that cannot be read."""
    return Page(number, is_broken=True, source="none", certainty=0.0, notes=[note])
