"""Files that arrive: each is written to the storage, looked at, and kept or refused at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated
from urllib.parse import unquote
from uuid import UUID

import psycopg
from anyio import CapacityLimiter, to_thread
from fastapi import Header, Request
from psycopg_pool import PoolTimeout
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from forebay.calls import submitter
from forebay.errors import ForebayError, InstallationClosedError, NotFoundError
from forebay.looking import look
from forebay.storage import StorageError
from forebay_apps.intake.receiving import check_size, receive, sending
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.intake.storing import unusable
from forebay_apps.web.database import Access, Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.pages import Pages
from forebay_apps.web.rendering import failed

router = Pages()

AT_ONCE = 4
"""How many files are looked at at a time: each takes a process."""

_looks = CapacityLimiter(AT_ONCE)


@router.put("/uploads/{upload_id}")
async def put_upload(
    request: Request,
    upload_id: UUID,
    db: Db,
    x_document_name: Annotated[str, Header()],
    content_length: Annotated[int, Header()] = 0,
) -> Response:
    """Take a file as the body; the same one again is no error, as long as it was not submitted.

    Its name comes percent-encoded in X-Document-Name. Where it is refused, nothing of it is left,
    its id is spent, and the connection is closed: the rest of it is not waited for. What broke off
    may be sent again under its id; nothing of it is left either. What was stored under an id is
    never replaced: of several bodies the first that is whole counts, for all of them.
    """
    request.state.body.lift()  # `receive` has the bounds
    settings: IntakeSettings = request.app.state.intake
    arrival = Arrival(upload_id, db, settings)
    try:
        check_size(content_length, settings.upload_mb)
        async with sending(db.person.name):
            size, pages = await _take(request, arrival, unquote(x_document_name))
    except ClientDisconnect:
        return Response(status_code=400)  # for nobody: the connection is gone
    except TimeoutError:
        return failed(request, Refusal(408, "The file came too slowly: try again."))
    except StorageError as error:
        return failed(request, unusable(error))
    except (Refusal, ForebayError, psycopg.Error) as error:
        return failed(request, error)
    return JSONResponse({"upload_id": str(upload_id), "bytes": size, "pages": pages}, 201)


async def _take(request: Request, arrival: Arrival, name: str) -> tuple[int, int | None]:
    """Store and look at the body, and return its size and pages; nothing is left if refused."""
    document = await to_thread.run_sync(arrival.open, name)
    try:
        write = partial(arrival.write, document)
        size = await receive(request.stream(), write, arrival.settings.upload_mb)
        return size, await to_thread.run_sync(arrival.finish, document, size, limiter=_looks)
    except (Refusal, NotFoundError):
        await to_thread.run_sync(arrival.discard)
        raise


@router.delete("/uploads/{upload_id}")
def delete_upload(request: Request, upload_id: UUID, db: Db) -> Response:
    """Give a file up; once more is no error. In a copy that nobody has opened it is refused."""
    Arrival(upload_id, db, request.app.state.intake).discard()
    return Response(status_code=204)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One file that a person sends; every method waits, and wants a thread."""

    upload_id: UUID
    db: Access
    settings: IntakeSettings

    def open(self, name: str) -> str:
        """Take note of the file before its first byte, and return its name in the storage."""
        if "\0" in name:
            raise Refusal(422, "The name holds a NUL character: rename the file.")
        with self.db.submitter() as conn:
            return submitter.open_upload(
                conn, upload_id=self.upload_id, name=name, actor=self.db.person.name
            )

    def write(self, document: str, pieces: Iterable[bytes]) -> int:
        """Store the file, unless all of it is there from an earlier try, and return its size."""
        storage = self.settings.storage
        try:
            return storage.write(document, pieces)
        except StorageError:
            if not storage.exists(document):
                raise
        for _ in pieces:
            pass  # whoever sends it is to hear the answer
        return storage.size(document)

    def finish(self, document: str, size: int) -> int | None:
        """Look at the file that is stored, and return its pages; raises Refusal."""
        limits = replace(self.settings.reading, file_mb=self.settings.upload_mb)
        limits = replace(limits, pages=self.settings.upload_pages)
        with self.settings.storage.local(document) as path:
            (seen,) = look([path], limits)
        if seen.problem:
            raise Refusal(422, seen.problem)
        with self.db.submitter() as conn:
            submitter.finish_upload(
                conn,
                upload_id=self.upload_id,
                bytes_=size,
                pages=seen.pages,
                estimated_tokens=seen.estimated_tokens,
                actor=self.db.person.name,
            )
        return seen.pages

    def discard(self) -> None:
        """Give the file up and remove it, unless it was submitted; else its age removes it.

        Raises InstallationClosedError in a copy that nobody has opened, where it stays.
        """
        try:
            with self.db.submitter() as conn:
                document = submitter.drop_upload(
                    conn, upload_id=self.upload_id, actor=self.db.person.name
                )
            self.settings.storage.delete(document)
        except InstallationClosedError:
            raise
        except (ForebayError, psycopg.Error, PoolTimeout, StorageError):
            return
