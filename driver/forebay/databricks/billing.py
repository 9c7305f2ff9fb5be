"""What runs cost, from the workspace's bill into the database: the source `billing`.

Rows of a bill come late and are corrected later, so it is read by when its rows came, with an
overlap. Of a run of which anything came, everything is read again and replaces what was known of
each of its windows: reading twice changes nothing. A run without rows stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from itertools import groupby, islice
from typing import Any, TypeVar

import psycopg

from forebay.calls import upkeep
from forebay.databricks.bill import EXACT, Bill, RunLine, SharedLine
from forebay.rows import BillReading, RunToBill

SOURCE = "billing"
BATCH = 1000
DAY = timedelta(days=1)

Record = dict[str, Any]
T = TypeVar("T")


@dataclass(slots=True)
class Refreshed:
    """What a reading did: how many runs the bill told of, how many records changed.

    Of `unpriced_skus` no price is listed: what used them is left unknown.
    """

    runs: int = 0
    records: int = 0
    unpriced_skus: set[str] = field(default_factory=set)


def refresh_billing(connection: psycopg.Connection[Any], bill: Bill) -> Refreshed:
    """Record what the bill tells of our runs, and of what they share.

    The connection is one that commits each call, as a member of forebay_upkeep. Raises BillError;
    the next reading then begins where this one did.
    """
    done = Refreshed()
    reading = upkeep.begin_bill(connection, source=SOURCE)
    if reading.day is not None:
        before = datetime.combine(reading.day, time(), UTC)
        for records in _all_records(connection, bill, reading, done):
            done.records += upkeep.record_compute_usage(
                connection, rows=records, source=SOURCE, as_of=before
            )
    upkeep.record_compute_usage(connection, rows=[], source=SOURCE, as_of=reading.began_at)
    return done


def _all_records(
    connection: psycopg.Connection[Any], bill: Bill, reading: BillReading, done: Refreshed
) -> Iterator[list[Record]]:
    assert reading.day is not None
    for runs in _runs(connection, bill.changed_runs(reading.day)):
        first_day = min(run.started_at for run in runs).astimezone(UTC).date() - DAY
        lines = bill.run_lines([run.run_id for run in runs], first_day)
        yield from _in_batches(_run_records(bill.workspace_id, runs, lines, done))
    yield from _in_batches(
        _shared_records(bill.workspace_id, reading, bill.shared_lines(reading.day), done)
    )


def _runs(
    connection: psycopg.Connection[Any], changed: Sequence[str]
) -> Iterator[Sequence[RunToBill]]:
    """Yield our runs among the changed ones, and those whose cost is not final, each once."""
    seen: set[int] = set()
    for run_ids in _in_batches(changed):
        runs = upkeep.runs_to_bill(connection, run_ids=run_ids, source=SOURCE, limit=BATCH)
        seen |= {run.attempt_id for run in runs}
        if runs:
            yield runs
    after = 0
    while runs := upkeep.runs_to_bill(
        connection, source=SOURCE, after_attempt_id=after, limit=BATCH
    ):
        after = runs[-1].attempt_id
        if others := [run for run in runs if run.attempt_id not in seen]:
            yield others


def _run_records(
    workspace_id: str, runs: Iterable[RunToBill], lines: Iterable[RunLine], done: Refreshed
) -> Iterator[Record]:
    """Yield a record for each run, window and SKU; none of a run of which a price is missing."""
    ours = {run.run_id: run for run in runs}
    for run_id, of_run in groupby(lines, key=lambda line: line.run_id):
        used = list(of_run)
        missing = {line.sku for line in used if line.usd is None}
        done.unpriced_skus |= missing
        if missing:
            continue
        done.runs += 1
        for line in used:
            window = f"{_moment(line.started_at)}/{_moment(line.ended_at)}"
            yield {
                "record_id": f"{workspace_id}/{run_id}/{window}/{line.sku}/{line.unit}",
                "attempt_id": ours[run_id].attempt_id,
                "usd": _plain(line.usd),
                "started_at": _moment(line.started_at),
                "ended_at": _moment(line.ended_at),
                "is_final": ours[run_id].is_settled,
            }


def _shared_records(
    workspace_id: str, reading: BillReading, lines: Iterable[SharedLine], done: Refreshed
) -> Iterator[Record]:
    """Yield a record for each day and product; none where a price is missing."""
    for (day, product), of_day in groupby(lines, key=lambda line: (line.day, line.product)):
        used = list(of_day)
        missing = {line.sku for line in used if line.usd is None}
        done.unpriced_skus |= missing
        if missing:
            continue
        total = Decimal(0)
        for line in used:
            total = EXACT.add(total, line.usd or Decimal(0))
        begins = datetime.combine(day, time(), UTC)
        yield {
            "record_id": f"{workspace_id}/shared/{day.isoformat()}/{product}",
            "product": product,
            "usd": _plain(total),
            "started_at": _moment(begins),
            "ended_at": _moment(begins + DAY),
            "is_final": begins + DAY <= reading.settled_until,
        }


def _in_batches(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _plain(usd: Decimal | None) -> str:
    """Return the digits that say something: all of them, without an exponent."""
    digits = f"{usd or Decimal(0):f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
