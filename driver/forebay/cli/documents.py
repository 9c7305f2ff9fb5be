"""A person's PDF files on their way to an agent: checked, and copied under names of our own."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from forebay.cli.database import person
from forebay.cli.errors import Refused

if TYPE_CHECKING:
    import psycopg

    from forebay.looking import Look
    from forebay.storage import Storage


@dataclass(frozen=True, slots=True)
class Stored:
    """One copy: the name that the person gave it, its name in the storage, and its tokens."""

    name: str
    document: str
    estimated_tokens: int

    @property
    def payload(self) -> dict[str, Any]:
        """What the agent gets: the copy's name below the storage root, and the person's name."""
        return {"document": self.document, "name": self.name}


def home() -> Path:
    """Return the folder that holds what this user's Forebay keeps on disk; FOREBAY_HOME sets it."""
    from forebay.embedded import default_data_dir

    return default_data_dir().parent


def storage() -> Storage:
    """Return where submitted files go: the first of the storage roots. Raises SettingError."""
    from forebay.storage import ROOTS, named_roots, prepare, roots

    first = roots({**os.environ, ROOTS: named_roots()})[0]
    prepare([first])
    return first


def own_pdfs(folder: Path) -> list[Path]:
    """Return the PDF files below folder, sorted; raises Refused when there are none."""
    if not os.path.isdir(folder):
        raise Refused(f"{folder} is not a folder: pass one that holds PDF files.")
    found = pdfs_below(folder)
    if not found:
        raise Refused(f"{folder} holds no .pdf file: pass a folder that does.")
    return found


def pdfs_below(folder: Path) -> list[Path]:
    """Return the PDF files below folder, sorted; none below what is no folder, or is not open."""
    named = (
        Path(above, name) for above, _, names in os.walk(folder) for name in names if _is_pdf(name)
    )
    return sorted(named)


def _is_pdf(name: str) -> bool:
    return Path(name).suffix.lower() == ".pdf"


def problem(path: Path) -> str | None:
    """Return why path cannot be submitted, as a sentence that lacks its subject, or None."""
    from forebay.pdf import HEADER_WINDOW, header_problem

    try:
        if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
            return "is no plain file: pass PDF files only."
        with open(path, "rb") as file:
            return header_problem(file.read(HEADER_WINDOW))
    except FileNotFoundError:
        return "does not exist: check the name."
    except IsADirectoryError:
        return "is a folder: pass the files in it, such as folder/*.pdf."
    except OSError as error:
        return f"cannot be read ({error.strerror}): check its permissions."


def require(extra: str, what: str) -> None:
    """Raise Refused, which says what to install, unless all that an extra brings is there."""
    from forebay.extras import has, install

    if not has(extra):
        raise Refused(f"{what} needs more: {install(extra)}.")


@contextmanager
def stored(conn: psycopg.Connection[Any], looks: Iterable[Look]) -> Iterator[list[Stored]]:
    """Copy the files into the storage; an error inside the block removes the copies.

    Raises InstallationClosedError before anything is stored.
    """
    folder = _folder(conn)
    copies: list[Stored] = []
    keep = storage()
    try:
        for each in looks:
            name, document = display_name(each.path.name), str(folder / f"{uuid.uuid4()}.pdf")
            copies.append(Stored(name, document, each.estimated_tokens))
            with _named(each.path):
                keep.write(document, _chunks(each.path))
        yield copies
    except BaseException:
        for copy in copies:
            keep.delete(copy.document)
        raise


def _folder(conn: psycopg.Connection[Any]) -> PurePosixPath:
    """Return where copies go below the root: at its top, but those of a branch into its own folder.

    Where an upload would go tells it, and that there is none in a copy that nobody has opened.
    """
    from forebay.calls import submitter

    with conn.transaction(force_rollback=True):
        named = submitter.open_upload(conn, upload_id=uuid.uuid4(), name="a file", actor=person())
    folder = PurePosixPath(named).parent
    return folder if len(folder.parts) > 1 else PurePosixPath()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Raise what the storage says of a copy with the name of the person's file before it."""
    from forebay.storage import StorageError

    try:
        yield
    except StorageError as error:
        raise Refused(f"{path} is not submitted: {error}") from error


def display_name(path: str | Path) -> str:
    """Return a file's name as text: bytes that are no UTF-8 do not fit into JSON."""
    return os.fsencode(path).decode("utf-8", "replace")


def _chunks(path: Path) -> Iterator[bytes]:
    from forebay.storage import CHUNK

    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
