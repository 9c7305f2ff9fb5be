"""A bill and the runs that it tells of: what the tests of billing stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import psycopg
import pytest
from databricks.sdk import WorkspaceClient

from conftest import Connect
from forebay.calls import agent as report
from forebay.calls import submitter, viewer, worker
from forebay.databricks.bill import Bill
from forebay.databricks.billing import Refreshed, refresh_billing
from forebay_lab.workspace import Workspace
from forebay_lab.workspace.billing import Billing
from forebay_lab.workspace.server import WORKSPACE_ID
from forebay_lab.workspace.statements import Statements
from support.clock import Clock
from support.daemon import register

WAREHOUSE = "w1"
TAG = ("project", "forebay")
OURS = dict([TAG])
LONG_AGO = datetime.fromisoformat("2025-01-01T00:00:00Z")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(slots=True)
class Books:
    """A stand-in's bill, and a database with runs; the clock is the database's."""

    rows: Billing
    statements: Statements
    bill: Bill
    clock: Clock
    db: psycopg.Connection
    upkeep: psycopg.Connection
    numbers: Iterator[int]

    def run_at(self, place: str, run_id: str | None = None) -> tuple[int, str]:
        """Have a task run in a workspace, with that run id; return task id and run id."""
        worker.observe_launcher(self.db, worker="w", launcher="lakeflow", place=place)
        return self.run(run_id=run_id)

    def run(
        self, *, minutes: float | None = 90, run_id: str | None = None, **task: Any
    ) -> tuple[int, str]:
        """Have a task run outside for so long (None: on and on); return task id and run id."""
        task_id = submitter.enqueue(self.db, agent="jobs", payload={}, **task)
        (claim,) = worker.dequeue(self.db, worker="w", agents=["jobs"])
        run_id = run_id or str(next(self.numbers))
        worker.record_run(self.db, attempt_id=claim.attempt_id, run_id=run_id)
        if minutes is not None:
            self.clock.advance(minutes * MINUTE)
            report.complete(self.db, attempt_id=claim.attempt_id, result={})
        return task_id, run_id

    def read(self) -> Refreshed:
        """Read the bill into the database, as of now."""
        return refresh_billing(self.upkeep, self.bill)

    def cost(self, task_id: int) -> tuple[Decimal, bool] | None:
        """Return what the machine of a task cost and whether that is final; None: unknown."""
        [attempt] = viewer.task_detail(self.db, task_id=task_id).attempts
        usd = attempt["compute_usd"]
        return None if usd is None else (Decimal(str(usd)), bool(attempt["is_compute_final"]))

    def sources(self) -> dict[tuple[str | None, str], int]:
        """Return of how many attempts which source told the cost of machines, and how."""
        return {
            (line.source, line.basis): line.attempts
            for line in viewer.cost_sources(self.db)
            if line.part == "compute"
        }

    def shared(self) -> dict[str, Decimal | None]:
        """Return what each product cost that no run has to itself."""
        return {line.product: line.usd for line in viewer.shared_costs(self.db)}


@pytest.fixture
def books(
    workspace: Workspace,
    client: Callable[..., WorkspaceClient],
    db: psycopg.Connection,
    clock: Clock,
    connect: Connect,
) -> Books:
    """Return a bill that holds nothing but a price of 0.50 a DBU, and an agent `jobs`.

    What is shared and ours has the tag OURS.
    """
    statements = Statements(workspace)
    statements.add_warehouse(WAREHOUSE)
    workspace.add(statements)
    rows = Billing(statements)
    rows.price("0.50", LONG_AGO)
    register(db, "jobs", launcher="lakeflow", job_id=7)
    bill = Bill(client(), WAREHOUSE, WORKSPACE_ID, TAG)
    return Books(rows, statements, bill, clock, db, connect("upkeep"), count(1001))
