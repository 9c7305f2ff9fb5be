"""A busy installation: some hours of made-up work, done through the stored functions.

Time is stopped while the past is made, and runs again afterwards: what is processing at the end
has a real lease, and limits show what is used of them at this moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg

from forebay.calls import agent, operator, submitter, worker
from forebay.rows import ClaimedAttempt
from forebay.schema.files import sql_root
from support.clock import Clock

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)

ACME, HOSTILE, JAPANESE = "acme", 'Müller & <b>Söhne</b> "GmbH"', "川崎商店"
NAMES = (
    "invoice 2026-07.pdf",
    "Rechnung Straße 100%.pdf",
    "scans/2026/07/receipt.pdf",
    "<script>alert('1')</script>.pdf",
    "請求書 7月.pdf",
    'it\'s "quoted" 🧾.pdf',
    "a-name-that-goes-on-" + "and-on-" * 38 + ".pdf",
)
OUTAGE = "the provider is down until 9: <status.example>"


@dataclass(frozen=True, slots=True)
class Busy:
    """What stands in the database: ids to open, counts to compare."""

    done_batch: int
    """Alice's, with completed, failed, cancelled and reprocessed tasks, and every kind of usage."""
    running_batch: int
    """Alice's: some completed, three in progress, the rest waits."""
    other_batch: int
    """Bob's, of classify."""
    completed: int
    failed: int
    cancelled: int
    processing: int
    waiting: int
    delayed: int
    paused: int
    retried: int
    """Lost its first lease, completed by the second attempt."""
    noted: int
    """Has a note, and was reprocessed."""


def make_busy(superuser: psycopg.Connection, conn: psycopg.Connection) -> Busy:
    """Make a busy installation of an empty one; conn may call everything, in autocommit."""
    now = datetime.now(UTC)
    with _stopped(superuser) as clock:
        clock.set(now - 6 * HOUR)
        _define(conn)
        work = _Work(conn, clock)
        done = work.finished_batch()
        work.catch_up(now - 90 * MINUTE)
        other = work.classified_batch()
        work.catch_up(now - 20 * MINUTE)
        running = work.half_done_batch()
        work.catch_up(now - SECOND)
    present = _Present(conn)
    return Busy(
        done_batch=done.batch_id,
        other_batch=other,
        running_batch=running,
        completed=done.completed,
        failed=done.failed,
        cancelled=done.cancelled,
        retried=done.retried,
        noted=done.noted,
        processing=present.claim(running),
        waiting=present.waiting(running),
        delayed=present.delayed(),
        paused=present.paused(),
    )


@contextmanager
def _stopped(superuser: psycopg.Connection) -> Iterator[Clock]:
    """Stop the database's time within the block."""
    yield Clock.install(superuser)
    superuser.execute((sql_root() / "functions/internal/_now.sql").read_bytes())


def _define(conn: psycopg.Connection) -> None:
    """Define agents of every kind, a quota, prices, customers with terms."""
    operator.register_quota(
        conn,
        quota="openai/gpt-5",
        limits=[
            {"unit": "requests", "per": "minute", "amount": 500},
            {"unit": "tokens", "per": "minute", "amount": 200_000},
            {"unit": "concurrent_calls", "amount": 8},
        ],
        actor="root@example.org",
    )
    operator.register_price(
        conn, model="gpt-5", usd_per_m_input=Decimal("1.25"), usd_per_m_output=Decimal(10),
        usd_per_m_cached=Decimal("0.125"), actor="root@example.org",
    )  # fmt: skip
    common: dict[str, Any] = {"lease": 15 * MINUTE, "timeout": 4 * HOUR, "backoff_base": SECOND}
    operator.register_agent(
        conn, agent="parse_document", launcher="local", entry_point="parse_document",
        max_concurrent_tasks=6, max_tpm=120_000, quotas=["openai/gpt-5"], actor="ops", **common,
    )  # fmt: skip
    operator.register_agent(
        conn, agent="classify", max_tpm=60_000, max_rpm=60, fair_by_customer=True,
        max_usd_per_day=Decimal(25), **common,
    )  # fmt: skip
    operator.register_agent(conn, agent="summarise", max_concurrent_tasks=2, **common)
    operator.register_agent(conn, agent="translate", launcher="lakeflow", job_id=81, **common)
    operator.register_customer(
        conn, customer=ACME, priority_boost=5, max_usd_per_day=Decimal(40), actor="ops"
    )


@dataclass(frozen=True, slots=True)
class _Done:
    batch_id: int
    completed: int
    failed: int
    cancelled: int
    retried: int
    noted: int


@dataclass(frozen=True, slots=True)
class _Work:
    """What agents did in the past, step by step, each at its time."""

    conn: psycopg.Connection
    clock: Clock

    def catch_up(self, time: datetime) -> None:
        """Let the time go on to this one, and the sweep run."""
        self.clock.set(time)
        worker.sweep(self.conn, worker="dispatcher@host-1")

    def finished_batch(self) -> _Done:
        """Do a batch of 24 documents, with all that may happen to one."""
        batch_id, ids = _batch(self.conn, "July invoices", "alice", ACME, "parse_document", 24)
        operator.cancel(self.conn, task_ids=ids[:2], reason="sent twice", actor="oscar@example.org")
        lost, refused, bad, *rest = self._claim("parse_document", 6)
        agent.report_progress(self.conn, attempt_id=lost.attempt_id, done=2, total=9)
        self._call(lost, 900, 40)
        self.clock.advance(2 * SECOND)
        agent.fail(
            self.conn,
            attempt_id=refused.attempt_id,
            error={"kind": "infrastructure", "message": "connection reset by peer"},
        )
        agent.fail(
            self.conn,
            attempt_id=bad.attempt_id,
            error={"kind": "bad_input", "message": "page 3 is <encrypted>: nobody can read it"},
        )
        for number, claim in enumerate(rest):
            self._finish(claim, number)
        self.catch_up(self.clock.now() + 20 * MINUTE)
        number = len(rest)
        while claims := self._claim("parse_document", 6):
            for claim in claims:
                self._finish(claim, number)
                number += 1
            self.clock.advance(4 * MINUTE)
        return _Done(
            batch_id=batch_id,
            completed=rest[0].task_id,
            failed=bad.task_id,
            cancelled=ids[0],
            retried=lost.task_id,
            noted=self._noted(rest[1].task_id),
        )

    def classified_batch(self) -> int:
        """Do most of bob's 60 texts, for two customers, quickly."""
        batch_id, _ = _batch(self.conn, "分類 100% <i>", "bob", HOSTILE, "classify", 60)
        for number in range(5):
            for place, claim in enumerate(self._claim("classify", 10)):
                self._finish(claim, 10 * number + place, seconds=1)
            self.clock.advance(10 * MINUTE)
        operator.pause_agent(self.conn, agent="summarise", reason=OUTAGE, actor="oscar@example.org")
        return batch_id

    def half_done_batch(self) -> int:
        """Do four of alice's 30 documents."""
        batch_id, _ = _batch(self.conn, "August invoices", "alice", ACME, "parse_document", 30)
        for number, claim in enumerate(self._claim("parse_document", 4)):
            self._finish(claim, number)
        return batch_id

    def _claim(self, name: str, size: int) -> list[ClaimedAttempt]:
        launchers = {"parse_document": "host-1/daemon", "classify": "host-2/pull"}
        claims = worker.dequeue(self.conn, worker=launchers[name], agents=[name], batch_size=size)
        for claim in claims:
            if claim.launcher == "local":
                worker.record_run(
                    self.conn, attempt_id=claim.attempt_id, run_id=f"host-1/{4000 + claim.task_id}"
                )
        return claims

    def _call(self, claim: ClaimedAttempt, tokens: int, output: int, **fields: Any) -> None:
        call = {
            "call_id": f"c{tokens}", "model": "gpt-5", "input_tokens": tokens,
            "output_tokens": output, "cached_tokens": tokens // 4, "latency_ms": 1200,
            "started_at": self.clock.now().isoformat(), "trace_id": f"{claim.attempt_id:032x}",
        }  # fmt: skip
        agent.report_usage(self.conn, attempt_id=claim.attempt_id, usage=call | fields)

    def _finish(self, claim: ClaimedAttempt, number: int, seconds: float = 3) -> None:
        """Complete an attempt, after one call or two; every eighth has a call of unknown cost."""
        self.clock.advance(timedelta(seconds=seconds + number % 5))
        self._call(claim, 1500 + 37 * number, 180 + number)
        if number % 2:
            self._call(claim, 700 + number, 90, trace_id=None)
        if number % 8 == 3:
            self._call(claim, 50, 5, model="in-house")
        agent.complete(
            self.conn,
            attempt_id=claim.attempt_id,
            result=_result(number),
            confidence=None if number % 9 == 8 else Decimal(99 - (number * 7) % 60) / 100,
        )

    def _noted(self, task_id: int) -> int:
        """Have an operator look at a task's result, note what is wrong, and have it done again."""
        operator.annotate(
            self.conn,
            task_ids=[task_id],
            note="The total is that of page 2: see <invoice 17>.",
            actor="oscar@example.org",
        )
        operator.reprocess(
            self.conn, task_ids=[task_id], reason="the total is wrong", actor="oscar@example.org"
        )
        return task_id


@dataclass(frozen=True, slots=True)
class _Present:
    """What goes on at this moment."""

    conn: psycopg.Connection

    def claim(self, batch_id: int) -> int:
        """Claim three documents and return the first, which is in the middle of its pages."""
        claims = worker.dequeue(
            self.conn, worker="host-1/daemon", agents=["parse_document"], batch_size=3
        )
        for claim in claims:
            run = f"host-1/{4000 + claim.task_id}"
            worker.record_run(self.conn, attempt_id=claim.attempt_id, run_id=run)
        first = claims[0]
        assert first.batch_id == batch_id
        agent.report_progress(self.conn, attempt_id=first.attempt_id, done=4, total=10)
        agent.report_usage(
            self.conn,
            attempt_id=first.attempt_id,
            usage={
                "call_id": "a", "model": "gpt-5", "input_tokens": 2100, "output_tokens": 160,
                "cached_tokens": 512,
            },
        )  # fmt: skip
        worker.sweep(self.conn, worker="dispatcher@host-1")
        return first.task_id

    def waiting(self, batch_id: int) -> int:
        """Return a task of the batch that waits for its turn."""
        tasks = submitter.batch_tasks(self.conn, batch_id=batch_id, actor="alice")
        return next(task.task_id for task in tasks if task.status == "enqueued")

    def delayed(self) -> int:
        """Enqueue a task for tomorrow."""
        return submitter.enqueue(
            self.conn,
            agent="classify",
            payload={"text": "tomorrow"},
            customer=JAPANESE,
            run_after=datetime.now(UTC) + 24 * HOUR,
        )

    def paused(self) -> int:
        """Enqueue a task for the agent that is paused."""
        return submitter.enqueue(
            self.conn, agent="summarise", payload={"text": "a letter"}, idempotency_key="letter-1"
        )


def _batch(
    conn: psycopg.Connection, name: str, owner: str, customer: str, agent_name: str, count: int
) -> tuple[int, Sequence[int]]:
    """Open a batch and enqueue documents of all kinds of names; return the tasks in their order."""
    batch_id = submitter.open_batch(conn, name=name, customer=customer, owner=owner)
    tasks = [
        {
            "payload": {"document": f"{batch_id}-{number}.pdf", "name": NAMES[number % len(NAMES)]},
            "estimated_tokens": 2000,
            "priority": 10 if number == 0 else 0,
        }
        for number in range(count)
    ]
    rows = submitter.enqueue_many(conn, agent=agent_name, tasks=tasks, batch_id=batch_id)
    return batch_id, [row.task_id for row in rows]


def _result(number: int) -> dict[str, Any]:
    return {
        "kind": "invoice",
        "fields": {"number": f"R{number:04}", "total": "10927.00", "seller": "Oberwasser & Co."},
    }
