"""A person's PDF files on their way to an agent: checked, and copied under names of our own."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.cli.errors import Refused

STORAGE_ROOTS = "FOREBAY_STORAGE_ROOTS"  # folders that agents read from, separated as in PATH
HEADER_WINDOW = 1024  # readers accept that many bytes of junk before %PDF-
TOKENS_A_PAGE = 800
BYTES_A_PAGE = 50_000


@dataclass(frozen=True, slots=True)
class Stored:
    """One copy: the name that the person gave it, where it is, and what reading it may cost."""

    name: str
    path: Path
    estimated_tokens: int

    @property
    def payload(self) -> dict[str, Any]:
        """What the agent gets: the copy's name below the storage root, and the person's name."""
        return {"document": self.path.name, "name": self.name}


def home() -> Path:
    """Return the folder that holds what this user's Forebay keeps on disk; FOREBAY_HOME sets it."""
    from forebay.embedded import default_data_dir

    return default_data_dir().parent


def storage_root() -> Path:
    """Return where submitted files go: the first of FOREBAY_STORAGE_ROOTS, else below home."""
    roots = [root for root in os.environ.get(STORAGE_ROOTS, "").split(os.pathsep) if root]
    return Path(roots[0]) if roots else home() / "documents"


def pdfs_below(folder: Path) -> list[Path]:
    """Return the PDF files below folder, sorted; raises Refused when there are none."""
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder: pass one that holds PDF files.")
    named = (path for path in folder.rglob("*") if path.suffix.lower() == ".pdf")
    found = sorted(path for path in named if not path.is_dir())
    if not found:
        raise Refused(f"{folder} holds no .pdf file: pass a folder that does.")
    return found


def problem(path: Path) -> str | None:
    """Return why path cannot be submitted, as a sentence that lacks its subject, or None."""
    try:
        with open(path, "rb") as file:
            start = file.read(HEADER_WINDOW)
    except FileNotFoundError:
        return "does not exist: check the name."
    except IsADirectoryError:
        return "is a folder: pass the files in it, such as folder/*.pdf."
    except OSError as error:
        return f"cannot be read ({error.strerror}): check its permissions."
    if not start:
        return "is empty: export it again."
    if b"%PDF-" not in start:
        return "is not a PDF: pass PDF files only."
    return None


@contextmanager
def stored(paths: Iterable[Path]) -> Iterator[list[Stored]]:
    """Copy the files below the storage root; an error inside the block removes the copies."""
    copies: list[Stored] = []
    root = storage_root()
    root.mkdir(parents=True, exist_ok=True)
    try:
        for path in paths:
            copy = Stored(display_name(path.name), root / f"{uuid.uuid4()}.pdf", _estimate(path))
            copies.append(copy)
            shutil.copyfile(path, copy.path)
        yield copies
    except BaseException:
        for copy in copies:
            copy.path.unlink(missing_ok=True)
        raise


def display_name(path: str | Path) -> str:
    """Return a file's name as text: bytes that are no UTF-8 do not fit into JSON."""
    return os.fsencode(path).decode("utf-8", "replace")


def _estimate(path: Path) -> int:
    """Return about how many tokens the text has, from the pages, or from the size without them."""
    return TOKENS_A_PAGE * (_pages(path) or 1 + path.stat().st_size // BYTES_A_PAGE)


def _pages(path: Path) -> int | None:
    """Return how many pages there are, or None where that cannot be told without a password."""
    try:
        import pypdfium2
    except ImportError:  # comes with the agents extra
        return None
    try:
        with pypdfium2.PdfDocument(path) as document:
            return len(document) or None
    except (pypdfium2.PdfiumError, OSError):
        return None
