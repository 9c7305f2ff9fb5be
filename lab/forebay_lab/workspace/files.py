"""The Files API over folders: Volumes, uploads in parts, and the cloud storage behind them.

Parts and downloads go by presigned URLs, as on Databricks: to `/cloud-storage/...` of this server,
without a token. `presigned` says what is offered; the SDK falls back to the workspace itself where
that is nothing, or where the cloud storage cannot be reached.
"""

from __future__ import annotations

import os
import secrets
import threading
from pathlib import Path
from typing import Any, Literal

from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace
from forebay_lab.workspace.upload_sessions import UploadSessions
from forebay_lab.workspace.volumes import (
    Place,
    entry,
    exists_already,
    make_folder,
    metadata,
    publish,
    require_file,
    sent,
    stage,
)

LONGEST_PATH = 1024
MOST_ENTRIES = 1000
URL_SECONDS = 3600

EXPIRED = (
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
)

Presigned = Literal["multipart", "resumable", "nothing"]


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
        self.uploads = UploadSessions()
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
        return sent(self._file(request, "READ_VOLUME"), request)

    @route("HEAD", "/api/2.0/fs/files/{path...}")
    def head_file(self, request: Request) -> Answer:
        return Answer(headers=metadata(self._file(request, "READ_VOLUME")))

    @route("PUT", "/api/2.0/fs/files/{path...}")
    def put_file(self, request: Request) -> Answer:
        place = self._target(request)
        if "content-length" not in request.headers:
            raise ApiError(411, "BAD_REQUEST", "Content-Length is required.")
        overwrite = _overwrite(request)
        staged = stage(place, request)
        try:
            publish(staged, place.path, overwrite)
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
                said = {one["part_number"]: one["etag"] for one in request.json()["parts"]}
                self.uploads.complete(request.query.get("session_token", ""), said)
                return {}
            case "abort-upload":
                self.uploads.drop(request.query.get("session_token", ""))
                return {}
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "There is no such action.")

    @route("POST", "/api/2.0/fs/create-upload-part-urls")
    def create_upload_part_urls(self, request: Request) -> dict[str, Any]:
        body = request.json()
        session = self.uploads.get(body["session_token"])
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
        tag = self.uploads.keep(token, number, stage(place, request))
        return Answer(headers={"etag": tag})

    # Downloads by a presigned URL

    @route("POST", "/api/2.0/fs/create-download-url")
    def create_download_url(self, request: Request) -> dict[str, Any]:
        if self.presigned == "nothing":
            raise ApiError(404, "ENDPOINT_NOT_FOUND", "Presigned URLs are not offered here.")
        place = self._place(request.query.get("path", ""))
        self._check(request, place, "READ_VOLUME")
        require_file(place)
        return {"url": self._url(request, place, "", 0), "headers": []}

    @route("GET", "/cloud-storage/{key}", is_open=True)
    def get_signed(self, request: Request) -> Answer:
        place, _, _, ends_at = self._signed(request)
        if ends_at <= self._workspace.now():
            return Answer(status=403, headers=_xml(), chunks=[EXPIRED])
        return sent(require_file(place), request)

    # Folders

    @route("GET", "/api/2.0/fs/directories/{path...}")
    def list_directory(self, request: Request) -> dict[str, Any]:
        place = self._directory(request, "READ_VOLUME")
        names = sorted(os.listdir(place.path))
        after = request.query.get("page_token", "")
        size = min(int(request.query.get("page_size") or MOST_ENTRIES), MOST_ENTRIES)
        here = [name for name in names if name > after]
        path = f"/{request.params['path'].strip('/')}"
        entries = [entry(f"{path}/{name}", place.path / name) for name in here[:size]]
        more = {"next_page_token": here[size - 1]} if len(here) > size else {}
        return {"contents": [one for one in entries if one]} | more

    @route("HEAD", "/api/2.0/fs/directories/{path...}")
    def head_directory(self, request: Request) -> Answer:
        self._directory(request, "READ_VOLUME")
        return Answer()

    @route("PUT", "/api/2.0/fs/directories/{path...}")
    def create_directory(self, request: Request) -> Answer:
        make_folder(self._allowed(request, "WRITE_VOLUME").path)
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
        return require_file(self._allowed(request, level))

    def _directory(self, request: Request, level: str) -> Place:
        place = self._allowed(request, level)
        if not place.path.is_dir():
            raise ApiError(404, "NOT_FOUND", "The directory being accessed is not found.")
        return place

    def _initiate(self, place: Place, *, overwrite: bool) -> dict[str, Any]:
        if self.presigned == "nothing":
            raise ApiError(404, "ENDPOINT_NOT_FOUND", "Uploads in parts are not offered here.")
        if not overwrite and place.path.exists():
            raise exists_already()
        if self.presigned == "resumable":
            return {"resumable_upload": {"session_token": secrets.token_urlsafe(16)}}
        return {
            "multipart_upload": {"session_token": self.uploads.begin(place, overwrite=overwrite)}
        }

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


def _xml() -> dict[str, str]:
    return {"content-type": "application/xml", "content-length": str(len(EXPIRED))}
