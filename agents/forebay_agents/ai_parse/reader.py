"""Have a SQL warehouse read a document of a Volume, once, and give its pages."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from forebay.agent import Attempt, Retry
from forebay.jsonb import mended
from forebay.settings import number, text
from forebay.storage import Storage
from forebay_agents import paid, stopping
from forebay_agents.ai_parse.answer import Answer
from forebay_agents.ai_parse.layout import laid_out
from forebay_agents.checkpoints import Checkpoints
from forebay_agents.pages import Page

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

WAREHOUSE = "FOREBAY_WAREHOUSE_ID"
"""The setting that has documents be read so, where they are in a Volume."""

DPI = "FOREBAY_AI_PARSE_DPI"
DEFAULT_DPI = 200.0
"""Of the pictures whose pixels the boxes are counted in: no documentation tells."""

SQL = (
    "SELECT to_json(ai_parse_document(content, map('version', '2.0'))) AS parsed"
    " FROM read_files(:path, format => 'binaryFile')"
)
KEY = "ai-parse-2.0"
MODEL = "ai_parse_document"
CALL_ID = "ai-parse-document"
WHERE = "while the warehouse read the document"

SECONDS = 900.0
"""How long the warehouse may take: it may have to start first."""

VOLUMES = "/Volumes/"
PATTERN = set("*?[]{}\\")
"""What is no letter of a name to read_files."""

MAY_PASS = {
    *("ABORTED", "CANCELLED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"),
    *("SERVICE_UNDER_MAINTENANCE", "TEMPORARILY_UNAVAILABLE", "WORKSPACE_TEMPORARILY_UNAVAILABLE"),
}
"""Codes of statements that another attempt may carry out."""

LONGEST_REASON = 200


class AiParse:
    """The pages of one document as ai_parse_document reads them; `notes` say how that went."""

    def __init__(self, warehouse_id: str, path: str, dpi: float = DEFAULT_DPI) -> None:
        self.notes: list[str] = []
        self._warehouse_id = warehouse_id
        self._path = path
        self._dpi = dpi
        self._answer: Answer | None = None

    @classmethod
    def from_environment(
        cls, storage: Storage, name: str, environment: Mapping[str, str] = os.environ
    ) -> AiParse | None:
        """Return a reader of this document; None without a warehouse, or where it cannot see it.

        Raises SettingError.
        """
        warehouse_id = text(environment, WAREHOUSE)
        path = f"{getattr(storage, 'root', '')}/{name}"
        if not warehouse_id or not path.startswith(VOLUMES) or PATTERN & set(path):
            return None
        return cls(warehouse_id, path, number(environment, DPI, DEFAULT_DPI, least=1, most=2400))

    def ask(self, attempt: Attempt, checkpoints: Checkpoints) -> None:
        """Have the document be read, unless it was before; what comes of it is in the notes.

        Raises Retry for what another attempt may find mended, and for a stop.
        """
        self._answer = paid.kept(checkpoints, KEY, Answer.read, attempt)
        if self._answer is None:
            document = self._asked(attempt, checkpoints)
            if document is None:
                return
            self._answer = Answer.read(document)
        self.notes.append(f"Read by ai_parse_document, version {self._answer.version}.")
        for problem in self._answer.problems:
            self.notes.append(f"ai_parse_document says of the document: {_short(problem)}.")

    def page(self, page: Page) -> Page:
        """Return the page with what the warehouse read; as it is, where that is nothing."""
        if self._answer is None:
            return page
        if problem := self._answer.errors.get(page.number):
            note = f"ai_parse_document did not read page {page.number}: {_short(problem)}."
        elif elements := self._answer.elements.get(page.number):
            return laid_out(page, elements, self._dpi)
        else:
            note = f"ai_parse_document found nothing on page {page.number}: read by ourselves."
        return replace(page, notes=[*page.notes, note])

    def _asked(self, attempt: Attempt, checkpoints: Checkpoints) -> Any:
        """Return the JSON of the answer, which is kept; None where the document cannot be read so.

        The call is reported before it is made: where this process dies, what it took is unknown,
        and not nothing.
        """
        began, clock = datetime.now(UTC), time.monotonic()
        call = {
            "call_id": CALL_ID,
            "source": "agent",
            "model": MODEL,
            "started_at": began.isoformat(),
        }
        attempt.usage(call)
        seconds = min(SECONDS, attempt.seconds_left())
        asked = partial(self._query, seconds)
        document: Any = None
        pages: int | None = None
        try:
            document, pages = _parsed(stopping.wait_for(attempt, WHERE, asked, math.inf))
        except _Refused as refused:
            pages = 0 if refused.is_free else None
            if refused.retry:
                raise refused.retry from refused.__cause__
            self.notes.append(f"ai_parse_document did not read it: {_short(str(refused))}.")
            return None
        finally:
            known = {} if pages is None else {"pages": pages, "input_tokens": 0, "output_tokens": 0}
            latency = round((time.monotonic() - clock) * 1000)
            used = call | {"latency_ms": latency} | known
            if document is None:
                attempt.usage(used)
            else:
                paid.keep(checkpoints, KEY, document, used, attempt)
        if document is None:
            self.notes.append("ai_parse_document gave no usable answer for it.")
        return document

    def _query(self, seconds: float) -> list[dict[str, str | None]]:
        """Ask the warehouse; runs in a thread of its own. Raises _Refused."""
        from forebay.databricks.answers import FAILURES, was_not_done
        from forebay.databricks.client import sent_once
        from forebay.databricks.statements import StatementFailed, begin, rows

        until = time.monotonic() + seconds
        try:
            client = _client()
            with sent_once():
                begun = begin(client, self._warehouse_id, SQL, {"path": self._path})
        except FAILURES as error:
            raise _Refused("", _not_begun(error), is_free=was_not_done(error)) from error
        try:
            return rows(client, begun, until)
        except StatementFailed as failed:
            retry = Retry(_away(str(failed)), kind="overloaded")
            raise _Refused(str(failed), retry if failed.code in MAY_PASS else None) from failed
        except FAILURES as error:
            raise _Refused("", Retry(_away(_words(error)))) from error


class _Refused(Exception):
    """The warehouse gave no answer; `retry` is what to raise where another attempt may get one."""

    def __init__(self, reason: str, retry: Retry | None, *, is_free: bool = False) -> None:
        super().__init__(reason)
        self.retry = retry
        self.is_free = is_free


def _not_begun(error: Exception) -> Retry:
    """Return what to raise where the warehouse took no statement, as far as is known."""
    from databricks.sdk.errors import TooManyRequests

    from forebay.databricks.answers import is_refusal, last_try

    if isinstance(last_try(error), TooManyRequests):
        return Retry("The SQL warehouse is asked too often (429).", kind="rate_limited")
    if is_refusal(error):
        said = f"The SQL warehouse refuses: {_words(error)}; check {WAREHOUSE} and CAN_USE."
        return Retry(said)
    return Retry(_away(_words(error)))


def _words(error: Exception) -> str:
    """Return what was answered in place of the statement; of what is no answer, the kind."""
    from databricks.sdk.errors.base import DatabricksError

    from forebay.databricks import login
    from forebay.databricks.answers import last_try

    last = last_try(error)
    return _short(login.words(last)) if isinstance(last, DatabricksError) else type(last).__name__


def _client() -> WorkspaceClient:
    from forebay.databricks.client import workspace_client

    return workspace_client()


def _parsed(rows: list[dict[str, str | None]]) -> tuple[Any, int | None]:
    """Return the answer's JSON and how many pages it is of, which is what is billed."""
    said = rows[0].get("parsed") if len(rows) == 1 else None
    try:
        document = json.loads(said or "null")
        return document, Answer.read(document).page_count
    except (ValueError, TypeError, RecursionError):
        return None, None


def _away(reason: str) -> str:
    return f"The SQL warehouse gave no answer ({_short(reason)}): it is asked again."


def _short(reason: str) -> str:
    return " ".join(mended(reason).split())[:LONGEST_REASON].rstrip(".")
