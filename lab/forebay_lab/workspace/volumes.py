"""The folders behind Volumes: files that are put there whole, looked at, and sent."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from typing import Any

from forebay_lab.workspace.routing import Answer, ApiError, Request

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a Volume's full name and folder, and the path on this machine."""

    volume: str
    folder: Path
    path: Path


def exists_already() -> ApiError:
    """Return what to raise for a name that is taken."""
    return ApiError(409, "ALREADY_EXISTS", "The file being created already exists.")


def stage(place: Place, request: Request) -> Path:
    """Write a body to a file beside the Volume, and return it; raises ApiError if it broke."""
    file, name = tempfile.mkstemp(dir=place.folder.parent, prefix=".stand-in-")
    size = 0
    with open(file, "wb") as staged:
        while chunk := request.body.read(CHUNK):
            size += staged.write(chunk)
    if size != request.length:
        os.unlink(name)
        raise ApiError(400, "BAD_REQUEST", "The body ended early.")
    return Path(name)


def require_file(place: Place) -> Place:
    """Return a place that a file is at. Raises ApiError."""
    if not place.path.is_file():
        raise ApiError(404, "NOT_FOUND", "The file being accessed is not found.")
    return place


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raises ApiError for what is a file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise exists_already() from None


def publish(staged: Path, path: Path, overwrite: bool) -> None:
    """Give a whole file its name, at once, and make the folders above it."""
    if path.is_dir():
        raise ApiError(409, "ALREADY_EXISTS", "The path is a directory.")
    make_folder(path.parent)
    if overwrite:
        os.replace(staged, path)
        return
    try:
        os.link(staged, path)
    except FileExistsError:
        raise exists_already() from None


def metadata(place: Place) -> dict[str, str]:
    """Return the headers that tell of a file."""
    stated = place.path.stat()
    return {
        "content-type": "application/octet-stream",
        "content-length": str(stated.st_size),
        "last-modified": formatdate(int(stated.st_mtime), usegmt=True),
    }


def entry(whole: str, path: Path) -> dict[str, Any] | None:
    """Return what a listing says of a file or folder; None for one that has just gone."""
    try:
        stated = path.stat()
    except FileNotFoundError:
        return None
    said: dict[str, Any] = {"path": whole, "name": path.name, "is_directory": path.is_dir()}
    if not path.is_dir():
        said |= {"file_size": stated.st_size, "last_modified": int(stated.st_mtime * 1000)}
    return said


def sent(place: Place, request: Request) -> Answer:
    """Answer with a file, or with the range of it that is asked for."""
    headers = metadata(place)
    size = int(headers["content-length"])
    unchanged_since = request.headers.get("if-unmodified-since")
    if unchanged_since and parsedate_to_datetime(headers["last-modified"]) > parsedate_to_datetime(
        unchanged_since
    ):
        raise ApiError(412, "PRECONDITION_FAILED", "The file was changed.")
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if not asked:
        return Answer(headers=headers, chunks=_chunks(place.path, 0, size))
    start, end = int(asked[1]), min(int(asked[2] or size - 1), size - 1)
    if start > end:
        raise ApiError(416, "INVALID_PARAMETER_VALUE", "The file has no such range.")
    headers["content-length"] = str(end - start + 1)
    headers["content-range"] = f"bytes {start}-{end}/{size}"
    return Answer(status=206, headers=headers, chunks=_chunks(place.path, start, end - start + 1))


def _chunks(path: Path, start: int, length: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while length > 0 and (chunk := file.read(min(CHUNK, length))):
            length -= len(chunk)
            yield chunk
