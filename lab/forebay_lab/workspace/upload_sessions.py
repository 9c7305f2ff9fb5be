"""Uploads in parts: their sessions, from the first part to the whole file."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from forebay_lab.workspace.routing import ApiError
from forebay_lab.workspace.volumes import CHUNK, Place, publish


@dataclass(slots=True)
class Session:
    """One upload in parts; `parts` are their files and tags by number."""

    place: Place
    overwrite: bool
    parts: dict[int, tuple[Path, str]] = field(default_factory=dict)


class UploadSessions:
    """The sessions that were begun and have not ended, by token; nothing ends one by itself."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def begin(self, place: Place, *, overwrite: bool) -> str:
        """Begin a session, and return its token."""
        token = secrets.token_urlsafe(16)
        with self._lock:
            self.sessions[token] = Session(place, overwrite)
        return token

    def get(self, token: str) -> Session:
        """Return a session. Raises ApiError."""
        with self._lock:
            if token not in self.sessions:
                raise ApiError(404, "NOT_FOUND", "The upload session is not found.")
            return self.sessions[token]

    def keep(self, token: str, number: int, staged: Path) -> str:
        """Keep a part that has come, in the place of an earlier one, and return its tag."""
        tag = f'"{secrets.token_hex(8)}"'
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
        return tag

    def complete(self, token: str, said: Mapping[int, str]) -> None:
        """Make the file of the parts that are said, with their tags. Raises ApiError."""
        session = self.get(token)
        kept = {number: tag for number, (_, tag) in session.parts.items()}
        if not said or sorted(said) != list(range(1, len(said) + 1)) or said != kept:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "The parts are not those that came.")
        file, name = tempfile.mkstemp(dir=session.place.folder.parent, prefix=".stand-in-")
        with open(file, "wb") as whole:
            for number in sorted(said):
                with session.parts[number][0].open("rb") as part:
                    shutil.copyfileobj(part, whole, CHUNK)
        try:
            publish(Path(name), session.place.path, session.overwrite)
        finally:
            Path(name).unlink(missing_ok=True)
        self._end(token)

    def drop(self, token: str) -> None:
        """End a session. Raises ApiError."""
        self.get(token)
        self._end(token)

    def _end(self, token: str) -> None:
        """Forget a session that there may be, and remove its parts."""
        with self._lock:
            session = self.sessions.pop(token, None)
        for staged, _ in session.parts.values() if session else ():
            staged.unlink(missing_ok=True)
