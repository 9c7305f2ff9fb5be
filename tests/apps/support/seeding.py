"""A day of made-up work, done through the real functions on a clock that is moved along.

What it leaves: finished tasks of several agents over the last day, some that failed or were done
again, lost and superseded attempts, a paused agent, and tasks that run and wait.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import psycopg

from forebay.calls import agent, operator, submitter, upkeep, worker
from forebay.rows import ClaimedAttempt
from support.clock import Clock

MINUTE = timedelta(minutes=1)
MODEL = "gpt-sim-large"
CUSTOMERS = ("acme", "Möbel Krüger", "northwind", "globex", None)
LAUNCHERS = ["pull", "local", "lakeflow"]
ERRORS = (
    ("bad_input", "The file is encrypted: no page of it can be read.", False),
    ("context_too_long", "The document has 412 pages, more than the model takes.", False),
    ("overloaded", "The model server answered 503.", True),
    ("agent_bug", "KeyError: 'total' in parse_lines", True),
)


class Day:
    """A simulated day: arrivals, claims and ends in the order of time."""

    def __init__(self, superuser: psycopg.Connection[Any], tasks: int, seed: int) -> None:
        self.conn = superuser
        self.clock = Clock.install(superuser)
        self.chance = random.Random(seed)
        self.events: list[tuple[datetime, int, Any]] = []
        self.number = count()
        self.end = datetime.now(UTC)
        self.left = tasks

    def run(self) -> None:
        """Let the day pass."""
        start = self.clock.set(self.end - timedelta(hours=24))
        self._register()
        at = start
        while self.left > 0:
            at += timedelta(minutes=self.chance.expovariate(1 / 22))
            self._at(at if at < self.end else self.end - MINUTE, self._arrive)
            self.left -= 1 if at < self.end else self.left
        for tick in range(24 * 6):
            self._at(start + tick * 10 * MINUTE, lambda: worker.sweep(self.conn))
        while self.events:
            moment, _, act = heapq.heappop(self.events)
            if moment > self.end:
                break
            self.clock.set(max(moment, self.clock.now()))
            act()
            self._claim()
        self.clock.set(self.end)
        self._afterwards()

    def _at(self, moment: datetime, act: Any) -> None:
        heapq.heappush(self.events, (moment, next(self.number), act))

    def _register(self) -> None:
        limits = [
            {"unit": "tokens", "per": "minute", "amount": 400_000, "kind": "window"},
            {"unit": "requests", "per": "minute", "amount": 60, "kind": "window"},
        ]
        operator.register_quota(self.conn, quota="foundation-models", limits=limits)
        operator.register_price(
            self.conn,
            model=MODEL,
            valid_from=self.end - timedelta(days=30),
            usd_per_m_input=Decimal("2.50"),
            usd_per_m_output=Decimal("10.00"),
            usd_per_m_cached=Decimal("0.60"),
        )
        common = {"lease": timedelta(minutes=12), "actor": "ada"}
        operator.register_agent(
            self.conn, agent="invoices", launcher="lakeflow", job_id=7731, max_concurrent_tasks=6,
            max_tpm=240_000, quotas=["foundation-models"], **common,
        )  # fmt: skip
        operator.register_agent(
            self.conn, agent="contracts", launcher="lakeflow", job_id=7732, max_concurrent_tasks=3,
            quotas=["foundation-models"], max_usd_per_day=Decimal(40), **common,
        )  # fmt: skip
        operator.register_agent(
            self.conn, agent="parse_document", launcher="local", entry_point="parse_document",
            max_concurrent_tasks=4, **common,
        )  # fmt: skip
        operator.register_agent(self.conn, agent="claims-triage", max_rpm=30, **common)

    def _arrive(self) -> None:
        """Hand in a batch of a few to many documents."""
        name = self.chance.choices(
            ["invoices", "contracts", "parse_document", "claims-triage"], [6, 2, 3, 1]
        )[0]
        many = self.chance.choice([1, 2, 3, 5, 8, 13, 21])
        customer = self.chance.choice(CUSTOMERS)
        stamp = self.clock.now()
        batch = submitter.open_batch(
            self.conn,
            name=f"{name} of {stamp:%d %b, %H:%M}",
            customer=customer,
            owner=self.chance.choice(["ada", "grace"]),
        )
        documents = [
            {
                "payload": {"document": f"uploads/{batch}-{n}.pdf", "name": f"Scan {n:03}.pdf"},
                "priority": self.chance.choice([0, 0, 0, 10, -10]),
                "estimated_tokens": self.chance.randint(4_000, 40_000),
            }
            for n in range(1, many + 1)
        ]
        submitter.enqueue_many(self.conn, agent=name, tasks=documents, batch_id=batch)

    def _claim(self) -> None:
        for name in ("invoices", "contracts", "parse_document", "claims-triage"):
            claims = worker.dequeue(
                self.conn,
                worker=f"driver-{self.chance.randint(1, 2)}",
                agents=[name],
                batch_size=4,
                launchers=LAUNCHERS,
            )
            for claim in claims:
                self._begin(claim)

    def _begin(self, claim: ClaimedAttempt) -> None:
        now = self.clock.now()
        if claim.launcher == "lakeflow":
            run = str(9007199254740993 + claim.attempt_id)
            worker.record_run(self.conn, attempt_id=claim.attempt_id, run_id=run)
        took = timedelta(seconds=self.chance.lognormvariate(4.2, 0.7))
        total = self.chance.randint(2, 24)
        self._at(
            now + took / 2,
            lambda: agent.report_progress(
                self.conn, attempt_id=claim.attempt_id, done=total // 2, total=total
            ),
        )
        if self.chance.random() < 0.03:  # its worker dies, and sometimes reports after all
            self._at(now + timedelta(minutes=14), lambda: worker.sweep(self.conn))
            if self.chance.random() < 0.5:
                self._at(now + timedelta(minutes=15), lambda: self._finish(claim, took))
            return
        self._at(now + took, lambda: self._finish(claim, took))

    def _finish(self, claim: ClaimedAttempt, took: timedelta) -> None:
        tells_usage = self.chance.random() < 0.94
        usage = [self._call(n, claim, took) for n in range(1, self.chance.randint(2, 5))]
        if tells_usage:
            agent.report_usage(self.conn, attempt_id=claim.attempt_id, usage=usage)
        if self.chance.random() < 0.08:
            kind, message, again = self.chance.choice(ERRORS)
            agent.fail(
                self.conn,
                attempt_id=claim.attempt_id,
                error={"kind": kind, "message": message},
                retryable=again,
            )
            return
        sure = Decimal(str(round(min(1.0, self.chance.betavariate(9, 1.4)), 3)))
        fields = {"kind": "invoice", "number": f"R-{claim.task_id}", "total": "1,190.00"}
        result = {"page_count": self.chance.randint(1, 24), "fields": fields}
        is_sure = self.chance.random() < 0.95
        agent.complete(
            self.conn,
            attempt_id=claim.attempt_id,
            result=result,
            confidence=sure if is_sure else None,
        )

    def _call(self, number: int, claim: ClaimedAttempt, took: timedelta) -> dict[str, Any]:
        tokens = self.chance.randint(2_000, 12_000)
        return {
            "call_id": f"page-{number}",
            "model": MODEL,
            "input_tokens": tokens,
            "output_tokens": tokens // self.chance.randint(6, 14),
            "cached_tokens": self.chance.choice([0, 0, tokens // 3]),
            "latency_ms": int(took.total_seconds() * 1000 / 6),
            "started_at": (self.clock.now() - took * 0.8).isoformat(),
            "trace_id": f"tr-{claim.attempt_id:08x}{number:02x}",
        }

    def _afterwards(self) -> None:
        """Let people act, and leave work that waits and runs."""
        ids = "select task_id from forebay.tasks where status = %s order by task_id desc limit %s"

        def some(status: str, many: int) -> list[int]:
            return [row[0] for row in self.conn.execute(ids, [status, many]).fetchall()]

        if failed := some("failed", 3):
            operator.retry(
                self.conn, task_ids=failed[:1], reason="The file was replaced.", actor="ada"
            )
            operator.annotate(
                self.conn, task_ids=failed, note="Asked the customer for the password.", actor="ada"
            )
        if done := some("completed", 2):
            operator.reprocess(self.conn, task_ids=done, reason="The total looks odd", actor="ada")
        for name, many in (("invoices", 9), ("contracts", 4), ("claims-triage", 5)):
            tasks = [
                {"payload": {"name": f"Scan {n}.pdf"}, "estimated_tokens": 24_000}
                for n in range(many)
            ]
            batch = submitter.open_batch(self.conn, name=f"{name}, just now", owner="grace")
            submitter.enqueue_many(self.conn, agent=name, tasks=tasks, batch_id=batch)
        operator.pause_agent(
            self.conn,
            agent="claims-triage",
            until=self.end + timedelta(hours=2),
            reason="The model is being replaced",
            actor="grace",
        )
        self._claim()
        running = self.conn.execute(
            "select attempt_id from forebay.task_attempts where finished_at is null limit 3"
        ).fetchall()
        for done_pages, (attempt_id,) in enumerate(running, 2):
            agent.report_progress(self.conn, attempt_id=attempt_id, done=done_pages, total=9)
        worker.sweep(self.conn)


@contextmanager
def _real_time_again(superuser: psycopg.Connection[Any]) -> Iterator[None]:
    row = superuser.execute("select pg_get_functiondef('forebay._now'::regproc)").fetchone()
    assert row is not None
    try:
        yield
    finally:
        superuser.execute(row[0])


def seed_day(superuser: psycopg.Connection[Any], tasks: int = 60, seed: int = 7) -> None:
    """Fill the database with a day of `tasks` batches that ends now; the clock is real after it."""
    with _real_time_again(superuser):
        Day(superuser, tasks, seed).run()


def record_compute(superuser: psycopg.Connection[Any], usd_per_hour: Decimal) -> None:
    """Record what the ended attempts cost to compute."""
    rows = [
        {
            "record_id": f"local:{row.attempt_id}",
            "attempt_id": row.attempt_id,
            "usd": str(
                Decimal(str((row.finished_at - row.started_at).total_seconds()))
                * usd_per_hour
                / 3600
            ),
            "is_final": False,
        }
        for row in upkeep.attempts_to_cost(superuser, source="local", limit=10_000)
    ]
    upkeep.record_compute_usage(superuser, rows=rows, source="local")
