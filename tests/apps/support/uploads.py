"""Files for the tests of intake, and how a program sends them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx

from agents.pdfs import pdf, text
from apps.support.serving import Served

NAMES = (
    "../../etc/passwd.pdf",
    "folder/sub folder/a.pdf",
    'it\'s "quoted" & <b>bold</b>.pdf',
    "100% of 50 %20 %zz.pdf",
    "請求書 七月 ﾃｽﾄ.pdf",
    "receipt 🧾👩‍👩‍👧.pdf",
    "a name that goes on " + "and on " * 40 + ".pdf",
    "; rm -rf $HOME `id` \\x.pdf",
    "same.pdf",
    "same.pdf",
)
"""What people call their files: all of it is data."""


def a_pdf(words: str = "Invoice", pages: int = 1) -> bytes:
    """Return a small PDF."""
    return pdf([text((50, 700, words))] * pages)


def put(
    client: httpx.Client,
    content: bytes | Iterator[bytes],
    name: str = "a.pdf",
    upload_id: str | None = None,
) -> httpx.Response:
    """Send a file as the page does."""
    return client.put(
        f"/uploads/{upload_id or uuid.uuid4()}",
        content=content,
        headers={"X-Document-Name": quote(name, safe=""), "Accept": "application/json"},
    )


def uploaded(client: httpx.Client, names: tuple[str, ...]) -> list[str]:
    """Send a PDF for each name, and return their ids."""
    answers = [put(client, a_pdf(), name) for name in names]
    assert [answer.status_code for answer in answers] == [201] * len(names)
    return [answer.json()["upload_id"] for answer in answers]


def submit(
    client: httpx.Client, ids: list[str], key: str | None = None, **fields: str
) -> httpx.Response:
    """Submit uploads as the page does."""
    form = {
        "submission_key": key or str(uuid.uuid4()),
        "upload_ids": " ".join(ids),
        "agent": "parse_document",
        "urgency": "normal",
        **fields,
    }
    return client.post("/batches", data=form, headers={"Accept": "application/json"})


def stored(app: Served) -> list[Path]:
    """Return what is in the storage, unfinished files too."""
    return [path for path in app.storage.rglob("*") if path.is_file()]
