"""Rows about uploads, and about a batch as its owner sees it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from forebay.rows.queue import Document, TaskStatus

CleanWord = Literal["file", "leftovers"]


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """A row of `list_uploads`: a file that can be submitted; document is its stored name."""

    upload_id: UUID
    name: str
    document: str
    bytes: int
    pages: int | None
    estimated_tokens: int | None
    opened_at: datetime
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class UploadToClean:
    """A row of `uploads_to_clean`: the document itself, or what its task left beside it."""

    upload_id: UUID
    document: str
    what: CleanWord


@dataclass(frozen=True, slots=True)
class BatchTask:
    """A row of `batch_tasks`: one task of a batch, without its result.

    fields is what the result has under "fields", up to 4 kB; progress and started_at are those of
    the attempt that runs; llm_usd is None while nothing of its cost is known.
    """

    task_id: int
    agent: str
    status: TaskStatus
    priority: int
    payload: Document
    attempt_count: int
    progress_done: int | None
    progress_total: int | None
    confidence: Decimal | None
    fields: Document | None
    error: Document | None
    reprocess_of: int | None
    used_input_tokens: int
    used_output_tokens: int
    used_cached_tokens: int
    llm_usd: Decimal | None
    is_cost_known: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A row of `batch_results`: one task of a batch, with what went in and came out."""

    task_id: int
    agent: str
    status: TaskStatus
    payload: Document
    result: Document | None
    confidence: Decimal | None
    error: Document | None
    used_input_tokens: int
    used_output_tokens: int
    used_cached_tokens: int
    llm_usd: Decimal | None
    is_cost_known: bool
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class BatchOutlook:
    """The answer of `batch_outlook`: where a batch stands, and how long it will still take.

    ahead counts the tasks of others before its last one in line. time_left is None while nothing
    can be said of it, per_minute where its agents finished nothing in the last 15 minutes.
    """

    batch_id: int
    name: str
    customer: str | None
    owner: str | None
    agents: list[str]
    created_at: datetime
    tasks: int
    enqueued: int
    processing: int
    completed: int
    failed: int
    cancelled: int
    finished_at: datetime | None
    ahead: int
    remaining_tokens: int
    per_minute: Decimal | None
    limited_by: str | None
    time_left: timedelta | None
    confidence_median: Decimal | None
    llm_usd: Decimal | None
    is_cost_known: bool
    as_of: datetime
