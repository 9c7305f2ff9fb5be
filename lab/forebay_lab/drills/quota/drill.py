"""Run the cells of a drill, some at a time, on one database."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from forebay import schema
from forebay.embedded import Server
from forebay_lab.drills.quota.cells import Cell, Plan
from forebay_lab.drills.quota.report import Outcome
from forebay_lab.drills.quota.run import run_cell

SETTINGS = {"max_connections": "1000"}

Tell = Callable[[Outcome], None]


def run(cells: Sequence[Cell], plan: Plan, tell: Tell, dsn: str | None = None) -> list[Outcome]:
    """Run all cells, some at a time, and return what they came to, in their order.

    Each outcome is told as soon as it is there. Without a DSN a server of its own is started, and
    removed after it. An error or an interrupt ends all cells. Raises DrillFailed.
    """
    stop = threading.Event()
    with _folder() as folder, _database(folder, dsn) as where:
        schema.upgrade(where)

        def one(number: int, cell: Cell) -> Outcome:
            log = folder / f"calls-{number}.jsonl"
            agent = f"{folder.name}-{number}"  # a name that no drill before has left
            outcome = Outcome(cell, run_cell(where, cell, plan, agent, log, stop))
            tell(outcome)
            return outcome

        with ThreadPoolExecutor(plan.lanes) as pool:
            try:
                return list(pool.map(one, range(len(cells)), cells))
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="forebay-drill-"))
    folder.chmod(0o755)  # the server runs as another user where we are root
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _database(folder: Path, dsn: str | None) -> Iterator[str]:
    if dsn:
        yield dsn
        return
    server = Server(folder / "pg", settings=SETTINGS, durable=False)
    try:
        yield server.start()
    finally:
        server.stop()
