"""The bill of a workspace, as its system tables tell it: usage, priced at list price.

A row of `system.billing.usage` says what ran in a window of time. Corrections are rows too: one
takes back what a row said, one says it anew, and all may have the same record_id. So amounts are
sums over all rows of a run and window, whatever their record_type. A row has one price, the one of
when its window began, also where a price changes inside the window. Prices are list prices:
discounts are in no system table.

Quantities and prices come as decimal strings and are multiplied here: SQL would round.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact

from databricks.sdk import WorkspaceClient

from forebay.databricks.answers import FAILURES
from forebay.databricks.bill_settings import BillSettings, Price
from forebay.databricks.client import id_of, workspace_client
from forebay.databricks.login import words
from forebay.databricks.statements import Row, StatementFailed, query
from forebay.errors import BillError
from forebay.logs import first_line

EXACT = Context(prec=200, traps=[Inexact])
RUN_ID = re.compile("[0-9]{1,40}")
"""What a workspace calls a run; an attempt's own word for it may be anything."""

MOST_SHARED = 800
"""Characters of what is read of what is shared; of all settings the database takes 1,000."""

TOTAL = "CASE WHEN COUNT({0}) = COUNT(*) THEN SUM({0}) END"
"""A sum that is unknown where a part of it is."""

PRICED = """
LEFT JOIN system.billing.list_prices AS p
ON p.cloud = u.cloud AND p.sku_name = u.sku_name AND p.usage_unit = u.usage_unit
    AND p.currency_code = 'USD' AND p.price_start_time <= u.started_at
    AND (p.price_end_time IS NULL OR u.started_at < p.price_end_time)
"""

RUNS_CHANGED = """
SELECT DISTINCT u.usage_metadata.job_run_id AS run_id
FROM system.billing.usage AS u
WHERE u.workspace_id = :workspace_id AND u.ingestion_date >= :since
    AND u.billing_origin_product = 'JOBS' AND u.usage_metadata.job_run_id IS NOT NULL
ORDER BY run_id
"""

RUNS = """
WITH wanted AS (
    SELECT explode(split(:run_ids, ',')) AS run_id
), used AS (
    SELECT
        w.run_id, u.cloud, u.sku_name, u.usage_unit, u.usage_start_time AS started_at,
        u.usage_end_time AS ended_at, {used} AS quantity
    FROM system.billing.usage AS u
    INNER JOIN wanted AS w ON u.usage_metadata.job_run_id = w.run_id
    WHERE u.workspace_id = :workspace_id AND u.usage_date >= :first_day
        AND u.billing_origin_product = 'JOBS'
    GROUP BY w.run_id, u.cloud, u.sku_name, u.usage_unit, u.usage_start_time, u.usage_end_time
)
SELECT
    u.run_id, u.cloud, u.sku_name, u.usage_unit, u.started_at, u.ended_at, u.quantity,
    TRY_CAST({price} AS DECIMAL(38, 18)) AS price
FROM used AS u {priced}
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY u.run_id, u.cloud, u.sku_name, u.usage_unit, u.started_at, u.ended_at
    ORDER BY p.price_start_time DESC
) = 1
ORDER BY u.run_id, u.started_at, u.ended_at, u.cloud, u.sku_name, u.usage_unit
"""

DAYS_CHANGED = """
SELECT DISTINCT CAST(u.usage_date AS STRING) AS day
FROM system.billing.usage AS u
WHERE u.workspace_id = :workspace_id AND u.usage_date IS NOT NULL AND (
    u.ingestion_date >= :since
    OR array_contains(split(:days, ','), CAST(u.usage_date AS STRING))
)
ORDER BY day
"""

SHARED = """
WITH wanted AS (
    SELECT explode(split(:days, ',')) AS day
), used AS (
    SELECT
        w.day, u.billing_origin_product AS product, u.cloud, u.sku_name, u.usage_unit,
        u.usage_start_time AS started_at, {used} AS quantity
    FROM system.billing.usage AS u
    INNER JOIN wanted AS w ON CAST(u.usage_date AS STRING) = w.day
    WHERE u.workspace_id = :workspace_id AND u.usage_date >= :first_day
        AND (u.billing_origin_product <> 'JOBS' OR u.usage_metadata.job_run_id IS NULL)
        AND (
            u.custom_tags[:tag_key] = :tag_value OR u.usage_metadata.warehouse_id = :warehouse_id
            OR (
                u.usage_metadata.app_name <> ''
                AND array_contains(split(:apps, ','), u.usage_metadata.app_name)
            )
        )
    GROUP BY
        w.day, u.billing_origin_product, u.cloud, u.sku_name, u.usage_unit, u.usage_start_time
), priced AS (
    SELECT
        u.day, u.product, u.sku_name, u.quantity,
        TRY_CAST({price} AS DECIMAL(38, 18)) AS price
    FROM used AS u {priced}
    QUALIFY ROW_NUMBER() OVER (
        PARTITION BY u.day, u.product, u.cloud, u.sku_name, u.usage_unit, u.started_at
        ORDER BY p.price_start_time DESC
    ) = 1
)
SELECT day, product, sku_name, price, {together} AS quantity
FROM priced
GROUP BY day, product, sku_name, price
ORDER BY day, product, sku_name, price
"""


@dataclass(frozen=True, slots=True)
class RunLine:
    """What a run used of one SKU in one window; usd is None where no price is listed."""

    run_id: str
    cloud: str
    sku: str
    unit: str
    started_at: datetime | None
    ended_at: datetime | None
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class SharedLine:
    """What was used of one SKU on a day and belongs to no run; product is the bill's word."""

    day: date
    product: str
    sku: str
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Bill:
    """The bill of one workspace, read through a SQL warehouse.

    `tag`, `price` and `apps` are those of BillSettings.
    """

    client: WorkspaceClient
    warehouse_id: str
    workspace_id: str
    tag: tuple[str, str] | None = None
    price: Price = "effective_list"
    apps: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: BillSettings) -> Bill:
        """Return the bill that the settings name, of the workspace that the SDK's own ones name.

        This asks the workspace who it is. Raises BillError.
        """
        with _said_as_one():
            client = workspace_client()
            name = settings.workspace_id or id_of(client)
        return cls(client, settings.warehouse_id, name, settings.tag, settings.price, settings.apps)

    @property
    def settings(self) -> str:
        """Say what is read and how: read in another way, it tells something else.

        What would be longer than the database takes is told by its hash.
        """
        shared = ", ".join(["=".join(self.tag), *self.apps]) if self.tag else "runs alone"
        if len(shared) > MOST_SHARED:
            shared = f"sha256 {hashlib.sha256(shared.encode()).hexdigest()}"
        return f"{self.price}, {shared}, workspace {self.workspace_id}"

    @property
    def places(self) -> list[str]:
        """Return what attempts call the workspace: its id, or the address that we know it by."""
        config = self.client.config
        is_here = str(config.workspace_id or self.workspace_id) == self.workspace_id
        return [self.workspace_id, *([config.host] if is_here and config.host else [])]

    def changed_runs(self, since: date) -> list[str]:
        """Return the runs of which a row came on that day or later: anybody's runs."""
        rows = self._query(RUNS_CHANGED, {"since": since})
        return [row["run_id"] or "" for row in rows]

    def changed_days(self, since: date, others: Sequence[date]) -> list[date]:
        """Return the days of which a row came on that day or later; of others, those it has."""
        given: dict[str, str | date] = {"since": since, "days": _listed(others)}
        rows = self._query(DAYS_CHANGED, given)
        return [date.fromisoformat(row["day"] or "") for row in rows]

    def run_lines(self, run_ids: Sequence[str], first_day: date) -> list[RunLine]:
        """Return all that these runs used from that day on, by run and time.

        What cannot be the id of a run is not asked for.
        """
        asked = [run_id for run_id in run_ids if RUN_ID.fullmatch(run_id)]
        if not asked:
            return []
        given: dict[str, str | date] = {"run_ids": ",".join(asked), "first_day": first_day}
        return [_run_line(row) for row in self._query(RUNS, given)]

    def shared_lines(self, days: Sequence[date]) -> list[SharedLine]:
        """Return what is ours of these days and belongs to no run, by day and product.

        That is what has the tag, the warehouse itself, and apps by their names; without a tag
        nothing is read.
        """
        if not days or self.tag is None:
            return []
        key, value = self.tag
        given: dict[str, str | date] = {
            "days": _listed(days),
            "first_day": min(days),
            "tag_key": key,
            "tag_value": value,
            "warehouse_id": self.warehouse_id,
            "apps": ",".join(self.apps),
        }
        return [_shared_line(row) for row in self._query(SHARED, given)]

    def _query(self, sql: str, given: Mapping[str, str | date]) -> list[Row]:
        column = {
            "effective_list": "p.pricing.effective_list.`default`",
            "default": "p.pricing.`default`",
        }[self.price]
        written = sql.format(
            price=column,
            priced=PRICED,
            used=TOTAL.format("u.usage_quantity"),
            together=TOTAL.format("quantity"),
        )
        parameters = {"workspace_id": self.workspace_id, **given}
        with _said_as_one():
            return query(self.client, self.warehouse_id, written, parameters)


@contextmanager
def _said_as_one() -> Iterator[None]:
    """Raise BillError for whatever keeps the workspace from answering, login included."""
    try:
        yield
    except StatementFailed as error:
        raise BillError(f"The bill cannot be read: {first_line(error)}") from error
    except FAILURES as error:
        said = words(error) or type(error).__name__
        raise BillError(f"The bill cannot be read: {said}.") from error


def _run_line(row: Row) -> RunLine:
    return RunLine(
        run_id=row["run_id"] or "",
        cloud=row["cloud"] or "",
        sku=row["sku_name"] or "",
        unit=row["usage_unit"] or "",
        started_at=_moment(row["started_at"]),
        ended_at=_moment(row["ended_at"]),
        usd=_usd(row),
    )


def _shared_line(row: Row) -> SharedLine:
    return SharedLine(
        day=date.fromisoformat(row["day"] or ""),
        product=row["product"] or "unknown",
        sku=row["sku_name"] or "",
        usd=_usd(row),
    )


def _usd(row: Row) -> Decimal | None:
    """Return quantity times price, with all digits; None without a price, but nothing costs 0."""
    quantity, price = row["quantity"], row["price"]
    if quantity is None:
        return None
    if price is None:
        return None if Decimal(quantity) else Decimal(0)
    return EXACT.multiply(Decimal(quantity), Decimal(price))


def _listed(days: Sequence[date]) -> str:
    return ",".join(day.isoformat() for day in days)


def _moment(said: str | None) -> datetime | None:
    """Return an aware time; one without an offset is UTC, as the API's sessions are."""
    if said is None:
        return None
    moment = datetime.fromisoformat(said)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
