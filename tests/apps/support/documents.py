"""Documents that were really read: in storage, with results whose evidence lies on their pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import psycopg

from agents.conftest import RecordedAttempt
from forebay.agent import Reject, Result
from forebay.calls import agent, operator, submitter, worker
from forebay_agents.parse_document import run
from forebay_lab.samples import write_samples

SAMPLES = ("invoice-long", "rechnung", "seikyusho", "invoice-encrypted")
"""An invoice of several pages, one in German, one in Japanese, and one that cannot be read."""

Reading = Result | str
"""What the agent answered: a result, or why there is none."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Printed documents in a folder, and what the agent answered of each."""

    folder: Path
    readings: Mapping[str, Reading]


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """A batch of alice's whose documents have been read; tasks are by the sample's name."""

    batch_id: int
    tasks: Mapping[str, int]


def read_samples(folder: Path) -> Samples:
    """Print the samples into the folder and read them as the agent does."""
    write_samples(folder, SAMPLES)
    with mock.patch.dict(os.environ, FOREBAY_STORAGE_ROOTS=str(folder)):
        return Samples(folder, {name: _read(f"{name}.pdf") for name in SAMPLES})


def store_batch(conn: psycopg.Connection, storage: Path, samples: Samples) -> ReadBatch:
    """Put the samples into storage, and a batch of them, worked off, into the database."""
    operator.register_agent(
        conn, agent="parse_document", launcher="local", entry_point="parse_document"
    )
    batch_id = submitter.open_batch(conn, name="Post of today", owner="alice", customer="acme")
    tasks = {name: _enqueue(conn, batch_id, name, storage, samples.folder) for name in SAMPLES}
    claims = worker.dequeue(conn, worker="w", agents=["parse_document"], batch_size=len(SAMPLES))
    attempts = {claim.task_id: claim.attempt_id for claim in claims}
    for name, reading in samples.readings.items():
        _report(conn, attempts[tasks[name]], reading)
    return ReadBatch(batch_id, tasks)


def _enqueue(
    conn: psycopg.Connection, batch_id: int, name: str, storage: Path, folder: Path
) -> int:
    stored = storage / "uploads" / f"{name}.pdf"
    stored.parent.mkdir(exist_ok=True)
    shutil.copy(folder / f"{name}.pdf", stored)
    payload = {"document": f"uploads/{name}.pdf", "name": f"July/{name} №1.pdf"}
    return submitter.enqueue(conn, agent="parse_document", payload=payload, batch_id=batch_id)


def _report(conn: psycopg.Connection, attempt_id: int, reading: Reading) -> None:
    if isinstance(reading, str):
        error = {"kind": "bad_input", "message": reading}
        agent.fail(conn, attempt_id=attempt_id, error=error, retryable=False)
        return
    agent.complete(conn, attempt_id=attempt_id, result=reading.data, confidence=reading.confidence)


def _read(name: str) -> Reading:
    try:
        return run(RecordedAttempt({"document": name, "name": name}))
    except Reject as reject:
        return reject.reason
