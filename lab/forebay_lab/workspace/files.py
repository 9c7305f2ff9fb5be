"""The Files API over folders: Volumes, uploads in parts, and the cloud storage behind them.

Parts and downloads go by presigned URLs, as on Databricks: to `/cloud-storage/...` of this server,
without a token. `presigned` says what is offered; the SDK falls back to the workspace itself where
that is nothing, or where the cloud storage cannot be reached.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal

from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

CHUNK = 1 << 20
LONGEST_PATH = 1024
MOST_ENTRIES = 1000
URL_SECONDS = 3600

EXPIRED = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
)

Presigned = Literal["multipart", "resumable", "nothing"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: a Volume's full name and folder, and the path on this machine."""

    volume: str
    folder: Path
    path: Path


@dataclass(slots=True)
class Session:
    """One upload in parts; `parts` are their files and tags by number."""

    place: Place
    overwrite: bool
    parts: dict[int, tuple[Path, str]] = field(default_factory=dict)


class Files(Area):
    """Files of Volumes: `add_volume("main.docs.inbox", folder)` keeps those of one in a folder.

    Principals need READ_VOLUME and WRITE_VOLUME on `volumes/main.docs.inbox`. The next
    `short_lived` presigned URLs have expired when they are used. An upload makes the folders above
    it, as it is known to do, unless `makes_folders` is false.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.presigned: Presigned = "multipart"
        self.makes_folders = True
        self.short_lived = 0
        self.sessions: dict[str, Session] = {}
        self._workspace = workspace
        self._volumes: dict[str, Path] = {}
        self._urls: dict[str, tuple[Place, str, int, float]] = {}
        self._lock = threading.Lock()

    def add_volume(self, name: str, folder: Path) -> None:
        """Serve a folder, which is made, as the Volume CATALOG.SCHEMA.VOLUME."""
        assert name.count(".") == 2, name
        folder.mkdir(parents=True, exist_ok=True)
        self._volumes[name] = folder

    def path(self, path: str) -> Path:
        """Return where this machine has a file or folder of a Volume. Raises ApiError."""
        return self._place(path).path

    # Files

    @route("GET", "/api/2.0/fs/files/{path...}")
    def get_file(self, request: Request) -> Answer:
        return _sent(self._file(request, "READ_VOLUME"), request)

    @route("HEAD", "/api/2.0/fs/files/{path...}")
    def head_file(self, request: Request) -> Answer:
        return Answer(headers=_metadata(self._file(request, "READ_VOLUME")))

    @route("PUT", "/api/2.0/fs/files/{path...}")
    def put_file(self, request: Request) -> Answer:
        place = self._target(request)
        if "content-length" not in request.headers:
            raise ApiError(411, "BAD_REQUEST", "Content-Length is required.")
        overwrite = _overwrite(request)
        staged = self._staged(place, request)
        try:
            _publish(staged, place.path, overwrite)
        finally:
            staged.unlink(missing_ok=True)
        return Answer(status=204)

    @route("DELETE", "/api/2.0/fs/files/{path...}")
    def delete_file(self, request: Request) -> Answer:
        self._file(request, "WRITE_VOLUME").path.unlink()
        return Answer(status=204)

    # Uploads in parts

    @route("POST", "/api/2.0/fs/files/{path...}")
    def upload_in_parts(self, request: Request) -> Any:
        place = self._target(request)
        match request.query.get("action"):
            case "initiate-upload":
                return self._initiate(place, overwrite=_overwrite(request))
            case "complete-upload":
                return self._complete(request)
            case "abort-upload":
                self._drop(self._session(request.query.get("session_token", "")))
                return {}
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "There is no such action.")

    @route("POST", "/api/2.0/fs/create-upload-part-urls")
    def create_upload_part_urls(self, request: Request) -> dict[str, Any]:
        body = request.json()
        session = self._session(body["session_token"])
        self._check(request, session.place, "WRITE_VOLUME")
        first = int(body["start_part_number"])
        return {
            "upload_part_urls": [
                {
                    "url": self._url(request, session.place, body["session_token"], number),
                    "part_number": number,
                    "headers": [{"name": "x-stand-in-part", "value": str(number)}],
                }
                for number in range(first, first + int(body["count"]))
            ]
        }

    @route("PUT", "/cloud-storage/{key}", is_open=True)
    def put_part(self, request: Request) -> Answer:
        place, token, number, ends_at = self._signed(request)
        if ends_at <= self._workspace.now():
            return Answer(status=403, headers=_xml(), chunks=[EXPIRED])
        if request.headers.get("x-stand-in-part") != str(number):
            raise ApiError(403, "AccessDenied", "A header that was signed is missing.")
        staged, tag = self._staged(place, request), f'"{secrets.token_hex(8)}"'
        with self._lock:
            session = self.sessions.get(token)
            if session is not None:
                old = session.parts.get(number)
                session.parts[number] = staged, tag
        if session is None:
            staged.unlink()
            raise ApiError(404, "NoSuchUpload", "The upload does not exist.")
        if old is not None:
            old[0].unlink()
        return Answer(headers={"etag": tag})

    # Downloads by a presigned URL

    @route("POST", "/api/2.0/fs/create-download-url")
    def create_download_url(self, request: Request) -> dict[str, Any]:
        if self.presigned == "nothing":
            raise ApiError(404, "ENDPOINT_NOT_FOUND", "Presigned URLs are not offered here.")
        place = self._place(request.query.get("path", ""))
        self._check(request, place, "READ_VOLUME")
        _require_file(place)
        return {"url": self._url(request, place, "", 0), "headers": []}

    @route("GET", "/cloud-storage/{key}", is_open=True)
    def get_signed(self, request: Request) -> Answer:
        place, _, _, ends_at = self._signed(request)
        if ends_at <= self._workspace.now():
            return Answer(status=403, headers=_xml(), chunks=[EXPIRED])
        return _sent(_require_file(place), request)

    # Folders

    @route("GET", "/api/2.0/fs/directories/{path...}")
    def list_directory(self, request: Request) -> dict[str, Any]:
        place = self._directory(request, "READ_VOLUME")
        names = sorted(os.listdir(place.path))
        after = request.query.get("page_token", "")
        size = min(int(request.query.get("page_size") or MOST_ENTRIES), MOST_ENTRIES)
        here = [name for name in names if name > after]
        entries = [_entry(request, place.path / name) for name in here[:size]]
        more = {"next_page_token": here[size - 1]} if len(here) > size else {}
        return {"contents": [entry for entry in entries if entry]} | more

    @route("HEAD", "/api/2.0/fs/directories/{path...}")
    def head_directory(self, request: Request) -> Answer:
        self._directory(request, "READ_VOLUME")
        return Answer()

    @route("PUT", "/api/2.0/fs/directories/{path...}")
    def create_directory(self, request: Request) -> Answer:
        _make(self._allowed(request, "WRITE_VOLUME").path)
        return Answer(status=204)

    @route("DELETE", "/api/2.0/fs/directories/{path...}")
    def delete_directory(self, request: Request) -> Answer:
        place = self._directory(request, "WRITE_VOLUME")
        try:
            place.path.rmdir()
        except OSError:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "The directory is not empty.") from None
        return Answer(status=204)

    @route("GET", "/api/2.1/unity-catalog/volumes/{name}")
    def get_volume(self, request: Request) -> dict[str, str]:
        name = request.params["name"]
        if name not in self._volumes:
            raise ApiError(404, "VOLUME_DOES_NOT_EXIST", f"Volume '{name}' does not exist.")
        self._may(request, name, "READ_VOLUME")
        keys = ("catalog_name", "schema_name", "name")
        own = dict(zip(keys, name.split("."), strict=True))
        return own | {"full_name": name, "volume_type": "MANAGED"}

    # What the handlers share

    def _place(self, path: str) -> Place:
        """Return where an absolute path leads. Raises ApiError."""
        parts = path.removeprefix("/").rstrip("/").split("/")
        if len(path) > LONGEST_PATH or {"", ".", ".."} & set(parts) or "\0" in path:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "The path is invalid.")
        name = ".".join(parts[1:4])
        if len(parts) < 4 or parts[0] != "Volumes" or name not in self._volumes:
            raise ApiError(404, "NOT_FOUND", f"Volume '{name}' does not exist.")
        folder = self._volumes[name]
        return Place(name, folder, folder.joinpath(*parts[4:]))

    def _allowed(self, request: Request, level: str) -> Place:
        place = self._place(request.params["path"])
        self._check(request, place, level)
        return place

    def _target(self, request: Request) -> Place:
        """Return where an upload goes."""
        place = self._allowed(request, "WRITE_VOLUME")
        if not self.makes_folders and not place.path.parent.is_dir():
            raise ApiError(404, "NOT_FOUND", "The parent directory is not found.")
        return place

    def _check(self, request: Request, place: Place, level: str) -> None:
        self._may(request, place.volume, level)

    def _may(self, request: Request, volume: str, level: str) -> None:
        if not self._workspace.access.may(request.principal, f"volumes/{volume}", level):
            what = level.replace("_", " ")
            message = f"User does not have {what} on Volume '{volume}'."
            raise ApiError(403, "PERMISSION_DENIED", message)

    def _file(self, request: Request, level: str) -> Place:
        return _require_file(self._allowed(request, level))

    def _directory(self, request: Request, level: str) -> Place:
        place = self._allowed(request, level)
        if not place.path.is_dir():
            raise ApiError(404, "NOT_FOUND", "The directory being accessed is not found.")
        return place

    def _staged(self, place: Place, request: Request) -> Path:
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

    def _initiate(self, place: Place, *, overwrite: bool) -> dict[str, Any]:
        if self.presigned == "nothing":
            raise ApiError(404, "ENDPOINT_NOT_FOUND", "Uploads in parts are not offered here.")
        if not overwrite and place.path.exists():
            raise _exists()
        token = secrets.token_urlsafe(16)
        if self.presigned == "resumable":
            return {"resumable_upload": {"session_token": token}}
        with self._lock:
            self.sessions[token] = Session(place, overwrite)
        return {"multipart_upload": {"session_token": token}}

    def _session(self, token: str) -> Session:
        with self._lock:
            if token not in self.sessions:
                raise ApiError(404, "NOT_FOUND", "The upload session is not found.")
            return self.sessions[token]

    def _complete(self, request: Request) -> dict[str, Any]:
        session = self._session(request.query.get("session_token", ""))
        said = {one["part_number"]: one["etag"] for one in request.json()["parts"]}
        kept = {number: tag for number, (_, tag) in session.parts.items()}
        if not said or sorted(said) != list(range(1, len(said) + 1)) or said != kept:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "The parts are not those that came.")
        file, name = tempfile.mkstemp(dir=session.place.folder.parent, prefix=".stand-in-")
        with open(file, "wb") as whole:
            for number in sorted(said):
                with session.parts[number][0].open("rb") as part:
                    shutil.copyfileobj(part, whole, CHUNK)
        try:
            _publish(Path(name), session.place.path, session.overwrite)
        finally:
            Path(name).unlink(missing_ok=True)
        self._drop(session)
        return {}

    def _drop(self, session: Session) -> None:
        with self._lock:
            self.sessions = {key: one for key, one in self.sessions.items() if one is not session}
        for staged, _ in session.parts.values():
            staged.unlink(missing_ok=True)

    def _url(self, request: Request, place: Place, token: str, number: int) -> str:
        key = secrets.token_urlsafe(24)
        with self._lock:
            life = 0 if self.short_lived > 0 else URL_SECONDS
            self.short_lived = max(self.short_lived - 1, 0)
            self._urls[key] = place, token, number, self._workspace.now() + life
        return f"{request.base_url}/cloud-storage/{key}?X-Signature=simulated"

    def _signed(self, request: Request) -> tuple[Place, str, int, float]:
        if "authorization" in request.headers:  # the cloud's storage takes one or the other
            raise ApiError(400, "InvalidArgument", "Only one way to authenticate is allowed.")
        with self._lock:
            found = self._urls.get(request.params["key"])
        if found is None:
            raise ApiError(403, "SignatureDoesNotMatch", "The signature is wrong.")
        return found


def _overwrite(request: Request) -> bool:
    return request.query.get("overwrite", "true") != "false"


def _exists() -> ApiError:
    return ApiError(409, "ALREADY_EXISTS", "The file being created already exists.")


def _xml() -> dict[str, str]:
    return {"content-type": "application/xml", "content-length": str(len(EXPIRED))}


def _require_file(place: Place) -> Place:
    if not place.path.is_file():
        raise ApiError(404, "NOT_FOUND", "The file being accessed is not found.")
    return place


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise _exists() from None


def _publish(staged: Path, path: Path, overwrite: bool) -> None:
    """Give a whole file its name, at once, and make the folders above it."""
    if path.is_dir():
        raise ApiError(409, "ALREADY_EXISTS", "The path is a directory.")
    _make(path.parent)
    if overwrite:
        os.replace(staged, path)
        return
    try:
        os.link(staged, path)
    except FileExistsError:
        raise _exists() from None


def _metadata(place: Place) -> dict[str, str]:
    stated = place.path.stat()
    return {
        "content-type": "application/octet-stream",
        "content-length": str(stated.st_size),
        "last-modified": formatdate(int(stated.st_mtime), usegmt=True),
    }


def _entry(request: Request, path: Path) -> dict[str, Any] | None:
    """Return what a listing says of a file or folder; None for one that has just gone."""
    whole = f"/{request.params['path'].strip('/')}/{path.name}"
    try:
        stated = path.stat()
    except FileNotFoundError:
        return None
    entry: dict[str, Any] = {"path": whole, "name": path.name, "is_directory": path.is_dir()}
    if not path.is_dir():
        entry |= {"file_size": stated.st_size, "last_modified": int(stated.st_mtime * 1000)}
    return entry


def _sent(place: Place, request: Request) -> Answer:
    """Answer with a file, or with the range of it that is asked for."""
    headers = _metadata(place)
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
