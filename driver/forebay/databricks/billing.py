"""What runs cost, from the workspace's bill into the database: the source `billing`.

Rows of a bill come late and are corrected later, so it is read by when its rows came, with an
overlap. Of a run of which anything came, everything is read again and replaces what was known of
each of its windows; so is what was shared on a day. Reading twice changes nothing. A run without
rows stays unknown; one that used something of which no price is listed becomes unknown, and is read
again until there is a price.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import groupby, islice
from typing import Any, TypeVar

import psycopg

from forebay.calls import upkeep
from forebay.databricks.bill import EXACT, Bill, RunLine, SharedLine
from forebay.errors import InvalidDocumentError
from forebay.logs import first_line
from forebay.rows import BillReading, RunToBill

SOURCE = "billing"
BATCH = 1000
DAY = timedelta(days=1)

Record = dict[str, Any]
T = TypeVar("T")


@dataclass(slots=True)
class Refreshed:
    """What a reading did: how many runs the bill told of, how many records changed.

    What is shared is not read without a tag to know it by (`is_shared_read`). Of `unpriced_skus` no
    price is listed: what used them is unknown. `left_out` says of which lines the amount could not
    be recorded, and why: it is unknown too.
    """

    runs: int = 0
    records: int = 0
    is_shared_read: bool = True
    unpriced_skus: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)


def refresh_billing(connection: psycopg.Connection[Any], bill: Bill) -> Refreshed:
    """Record what the bill tells of our runs, and, where it has a tag, of what they share.

    Without a tag what is recorded as shared stays as it is.

    The connection is one that commits each call, as a member of forebay_upkeep. Raises BillError,
    and BillReadSinceError when another reading began later and has recorded; after an error the
    next reading begins where this one did.
    """
    begun = upkeep.begin_bill(connection, source=SOURCE, settings=bill.settings)
    reading = _Reading(connection, bill, begun, Refreshed(is_shared_read=bill.tag is not None))
    if begun.day is not None:
        reading.read_runs(begun.day)
        if reading.done.is_shared_read:
            reading.read_shared(begun.day)
    upkeep.end_bill(connection, began_at=begun.began_at, source=SOURCE, settings=bill.settings)
    return reading.done


@dataclass(slots=True)
class _Reading:
    """One reading, from what begin_bill said on, and what it did."""

    connection: psycopg.Connection[Any]
    bill: Bill
    begun: BillReading
    done: Refreshed

    def read_runs(self, since: date) -> None:
        for runs in self._runs(self.bill.changed_runs(since)):
            first_day = min(run.started_at for run in runs).astimezone(UTC).date() - DAY
            lines = self.bill.run_lines([run.run_id for run in runs], first_day)
            self._record(_run_records(self.bill.workspace_id, runs, lines, self.done))

    def _runs(self, changed: Sequence[str]) -> Iterator[Sequence[RunToBill]]:
        """Yield our runs among the changed ones, and those whose cost is not final, each once."""
        seen: set[int] = set()
        for run_ids in _in_batches(changed):
            if runs := self._runs_to_bill(run_ids=run_ids):
                seen |= {run.attempt_id for run in runs}
                yield runs
        after = 0
        while runs := self._runs_to_bill(after_attempt_id=after):
            after = runs[-1].attempt_id
            if others := [run for run in runs if run.attempt_id not in seen]:
                yield others

    def _runs_to_bill(self, **which: Any) -> list[RunToBill]:
        places = self.bill.places
        return upkeep.runs_to_bill(
            self.connection, source=SOURCE, limit=BATCH, places=places, **which
        )

    def read_shared(self, since: date) -> None:
        for days in _in_batches(self.bill.changed_days(since, self.begun.shared_days)):
            lines = {
                day: list(of_day)
                for day, of_day in groupby(self.bill.shared_lines(days), key=lambda line: line.day)
            }
            for day in days:
                is_final = _midnight(day) + DAY <= self.begun.settled_until
                records = _shared_records(
                    self.bill.workspace_id, lines.get(day, []), is_final, self.done
                )
                self._record(records, day)

    def _record(self, records: Iterable[Record], shared_day: date | None = None) -> None:
        """Record them in batches; the first withdraws what else is recorded of a shared day."""
        rest = iter(records)
        most = min(BATCH, self.begun.batch_size)
        while (batch := list(islice(rest, most))) or shared_day:
            self._record_batch(batch, shared_day)
            shared_day = None

    def _record_batch(self, batch: list[Record], shared_day: date | None) -> None:
        """Record a batch; of what the database does not take the amount is unknown, and named."""
        try:
            self.done.records += upkeep.record_bill(
                self.connection,
                rows=batch,
                began_at=self.begun.began_at,
                source=SOURCE,
                shared_day=shared_day,
            )
        except (psycopg.DataError, InvalidDocumentError) as error:
            if len(batch) > 1:
                half = len(batch) // 2
                self._record_batch(batch[:half], shared_day)
                self._record_batch(batch[half:], None)
            elif batch:
                [record] = batch
                self.done.left_out.add(f"{record['record_id']}: {first_line(error)}")
                if record["usd"] is not None:
                    self._record_batch([record | {"usd": None}], shared_day)


def _run_records(
    workspace_id: str, runs: Iterable[RunToBill], lines: Iterable[RunLine], done: Refreshed
) -> Iterator[Record]:
    """Yield a record for each of these runs, window, cloud, SKU and unit; usd None: no price."""
    ours = {run.run_id: run for run in runs}
    of_ours = (line for line in lines if line.run_id in ours)
    for run_id, of_run in groupby(of_ours, key=lambda line: line.run_id):
        done.runs += 1
        for line in of_run:
            begins, ends = _moment(line.started_at), _moment(line.ended_at)
            parts = (workspace_id, run_id, begins, ends, line.cloud, line.sku, line.unit)
            yield {
                "record_id": "/".join(part or "none" for part in parts),
                "attempt_id": ours[run_id].attempt_id,
                "usd": _usd([line], done),
                "started_at": begins,
                "ended_at": ends,
                "is_final": ours[run_id].is_settled,
            }


def _shared_records(
    workspace_id: str, lines: Iterable[SharedLine], is_final: bool, done: Refreshed
) -> Iterator[Record]:
    """Yield a record for each day and product; usd is None where a price is missing."""
    for (day, product), of_day in groupby(lines, key=lambda line: (line.day, line.product)):
        yield {
            "record_id": f"{workspace_id}/shared/{day.isoformat()}/{product}",
            "product": product,
            "usd": _usd(of_day, done),
            "started_at": _moment(_midnight(day)),
            "ended_at": _moment(_midnight(day) + DAY),
            "is_final": is_final,
        }


def _usd(lines: Iterable[RunLine | SharedLine], done: Refreshed) -> str | None:
    """Return what they cost together, with all digits; None, and the SKUs named, without a price.

    Half of a cost would look like all of it.
    """
    used = list(lines)
    missing = {line.sku for line in used if line.usd is None}
    done.unpriced_skus |= missing
    if missing:
        return None
    total = Decimal(0)
    for line in used:
        total = EXACT.add(total, line.usd or Decimal(0))
    digits = f"{total:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _in_batches(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None
