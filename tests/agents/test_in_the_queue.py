"""The document agent as a task: it stops in time, and a crash costs no page twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from reportlab.pdfgen.canvas import Canvas

from forebay.calls import operator, submitter
from forebay_lab.model_server import CallLog, Fault, Limit, ModelServer, Simulation
from support.daemon import attempts, ended, is_alive, register, running, task, usage
from support.scans import FakeTesseract, write_scan
from support.waiting import until

from .model_support import settings

Db = psycopg.Connection


@pytest.fixture
def daemon(role_dsn: Callable[..., str], tmp_path: Path) -> Iterator[None]:
    """Run a daemon beside the test."""
    with running(role_dsn("worker", "agent"), tmp_path / "logs"):
        yield


def submit(db: Db, document: str, **definition: Any) -> int:
    """Register the agent, enqueue one document, and return the task."""
    definition = {
        "entry_point": "parse_document",
        "backoff_base": timedelta(seconds=0.1),
    } | definition
    register(db, "parse_document", **definition)
    return submitter.enqueue(db, agent="parse_document", payload={"document": document})


def pid_of(attempt: dict[str, Any]) -> int:
    return int(attempt["run_id"].split("/")[1])


def test_a_crash_costs_no_page_twice(
    db: Db, storage: Path, tesseract: Callable[[float], FakeTesseract], daemon: None
) -> None:
    """Pages that were read before SIGKILL are not read again, and nothing of that is left over."""
    fake = tesseract(0.2)
    write_scan(storage / "scan.pdf", 8)
    task_id = submit(db, "scan.pdf")
    until(lambda: fake.calls >= 4, 60)
    (first,) = attempts(db, task_id)
    os.kill(pid_of(first), signal.SIGKILL)
    row = ended(db, task_id, 60)
    assert row["status"] == "completed", row["error"]
    assert row["result"]["page_count"] == 8
    assert row["result"]["text"].count("INV-7") == 8
    assert [each["status"] for each in attempts(db, task_id)] == ["failed", "succeeded"]
    assert fake.calls <= 9
    until(lambda: [path.name for path in storage.iterdir()] == ["scan.pdf"])


def test_a_deadline_stops_a_slow_document(
    db: Db, storage: Path, tesseract: Callable[[float], FakeTesseract], daemon: None
) -> None:
    """An attempt whose time is over says so within a second, though a page would take a minute."""
    tesseract(60)
    write_scan(storage / "scan.pdf", 3)
    task_id = submit(db, "scan.pdf", timeout=timedelta(seconds=2), backoff_base=timedelta(hours=1))
    row = until(lambda: (row := task(db, task_id))["error"] and row)
    assert row["error"]["kind"] == "timeout"
    (attempt,) = attempts(db, task_id)
    assert attempt["finished_at"] - attempt["deadline_at"] < timedelta(seconds=1)
    assert (row["status"], attempt["attempt_no"]) == ("enqueued", 1)
    until(lambda: not is_alive(pid_of(attempt)))


def test_a_cancel_stops_a_running_document(
    db: Db, storage: Path, tesseract: Callable[[float], FakeTesseract], daemon: None
) -> None:
    """The attempt and all that it started are gone long before its page is read."""
    fake = tesseract(60)
    write_scan(storage / "scan.pdf", 3)
    task_id = submit(db, "scan.pdf")
    until(lambda: fake.calls == 1, 60)
    (attempt,) = attempts(db, task_id)
    operator.cancel(db, task_ids=[task_id], reason="test")
    until(lambda: not is_alive(pid_of(attempt)))
    assert ended(db, task_id)["status"] == "cancelled"
    until(lambda: not processes_of(storage.parent))


def processes_of(folder: Path) -> list[str]:
    """Return the command lines of the processes whose PATH begins with this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"PATH={folder}{os.pathsep}" in (process / "environ").read_text(errors="replace"):
                found.append((process / "cmdline").read_text())
        except OSError:  # ended, or another user's
            continue
    return found


def test_progress_is_shown_page_by_page(
    db: Db, storage: Path, tesseract: Any, daemon: None
) -> None:
    """While a document is read, its attempt says how far it is."""
    tesseract(0.3)
    write_scan(storage / "scan.pdf", 6)
    task_id = submit(db, "scan.pdf")
    until(lambda: [a for a in attempts(db, task_id) if 0 < (a["progress_done"] or 0) < 6], 60)
    ended(db, task_id, 60)
    (attempt,) = attempts(db, task_id)
    assert (attempt["progress_done"], attempt["progress_total"]) == (6, 6)


def test_a_crash_costs_no_answer_twice(
    db: Db, storage: Path, monkeypatch: pytest.MonkeyPatch, daemon: None
) -> None:
    """Answers of the model that came before SIGKILL are not asked for again; all are recorded."""
    write_statement(storage / "long.pdf", 12)
    with ModelServer() as server:
        for name, value in settings(server, CONTEXT_TOKENS="8000").items():
            monkeypatch.setenv(name, value)
        asked = server.simulation.requests
        good = [Fault("slow", seconds=0.01)] * 2
        server.simulation.queued.extend([*good, Fault("hang", seconds=60)])
        task_id = submit(db, "long.pdf")
        until(lambda: len(asked) == 3, 60)
        (first,) = attempts(db, task_id)
        os.kill(pid_of(first), signal.SIGKILL)
        row = ended(db, task_id, 60)
    assert row["status"] == "completed", row["error"]
    assert row["result"]["notes"][0].startswith("Read by the model simulated-model")
    used = usage(db, task_id)
    assert len(used) > 3
    assert len(asked) == len(used) + 1  # only the call that hung was made twice
    assert all(tokens for _, tokens in used)


def test_documents_share_a_quota(
    db: Db, storage: Path, monkeypatch: pytest.MonkeyPatch, daemon: None
) -> None:
    """Their calls wait for one another, so that the endpoint has none to refuse.

    Its period is shorter, since a busy machine may take a call to it later than another.
    """
    limits = (Limit.parse("requests/2s=3"), Limit.parse("tokens/2s=30000"))
    said = [
        {"unit": "requests", "per": "3 seconds", "amount": 3},
        {"unit": "tokens", "per": "3 seconds", "amount": 30_000},
    ]
    operator.register_quota(db, quota="endpoint", limits=said)
    write_statement(storage / "long.pdf", 12)
    with ModelServer(Simulation(limits=limits, log=CallLog())) as server:
        for name, value in settings(server, CONTEXT_TOKENS="8000").items():
            monkeypatch.setenv(name, value)
        task_ids = [submit(db, "long.pdf", quotas=["endpoint"]) for _ in range(2)]
        rows = [ended(db, task_id, 90) for task_id in task_ids]
        log = server.simulation.log
    assert [row["status"] for row in rows] == ["completed"] * 2
    assert log is not None
    assert {record["event"] for record in log.records} == {"admitted", "ended"}
    tried = [attempt for task_id in task_ids for attempt in attempts(db, task_id)]
    assert len(tried) == 2
    assert any(attempt["held_up"] for attempt in tried)
    assert sum(len(usage(db, task_id)) for task_id in task_ids) == len(log.records) // 2 > 6


def test_a_refusal_of_the_endpoint_costs_no_attempt(
    db: Db, storage: Path, monkeypatch: pytest.MonkeyPatch, daemon: None
) -> None:
    """The task comes back when the endpoint said, and its attempts are not used up."""
    write_statement(storage / "short.pdf", 1)
    with ModelServer() as server:
        for name, value in settings(server).items():
            monkeypatch.setenv(name, value)
        refusal = Fault("rate_limited", headers=(("retry-after", "1"),))
        server.simulation.queued.extend([refusal] * 2)
        row = ended(db, submit(db, "short.pdf", max_attempts=1), 60)
    assert (row["status"], row["attempt_count"], row["attempt_no"]) == ("completed", 1, 3)


def write_statement(path: Path, pages: int) -> None:
    """Write a statement that is too long for one prompt."""
    canvas = Canvas(str(path))
    for page in range(pages):
        canvas.drawString(72, 800, "Account statement")
        for line in range(45):
            canvas.drawString(
                72, 780 - 16 * line, f"2026-03-{line % 28 + 1:02} Payment to firm {line}"
            )
            canvas.drawRightString(500, 780 - 16 * line, f"{page * 100 + line}.50")
        canvas.showPage()
    canvas.save()
