"""The system tables of billing, as a warehouse of the stand-in reads them: rows that a test adds.

Simulated: nothing bills anybody. The columns are those that are read here, not all there are.
"""

from __future__ import annotations

import itertools
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from forebay_lab.workspace.runs import JobRun, Work
from forebay_lab.workspace.server import WORKSPACE_ID
from forebay_lab.workspace.statements import Statements

TABLES = """
CREATE SCHEMA "system.billing";
CREATE TABLE "system.billing".usage (
    record_id VARCHAR, account_id VARCHAR, workspace_id VARCHAR, sku_name VARCHAR, cloud VARCHAR,
    usage_start_time TIMESTAMPTZ, usage_end_time TIMESTAMPTZ, usage_date DATE,
    custom_tags MAP(VARCHAR, VARCHAR), usage_unit VARCHAR, usage_quantity DECIMAL(38, 18),
    usage_metadata STRUCT(
        job_id VARCHAR, job_run_id VARCHAR, cluster_id VARCHAR, warehouse_id VARCHAR,
        endpoint_name VARCHAR, app_id VARCHAR, app_name VARCHAR
    ),
    record_type VARCHAR, ingestion_date DATE, billing_origin_product VARCHAR
);
CREATE TABLE "system.billing".list_prices (
    price_start_time TIMESTAMPTZ, price_end_time TIMESTAMPTZ, account_id VARCHAR, sku_name VARCHAR,
    cloud VARCHAR, currency_code VARCHAR, usage_unit VARCHAR,
    pricing STRUCT(
        "default" VARCHAR, promotional STRUCT("default" VARCHAR),
        effective_list STRUCT("default" VARCHAR)
    )
);
"""
ADD_USAGE = """
INSERT INTO "system.billing".usage SELECT
    ?, 'stand-in-account', ?, ?, ?, ?, ?, ?, ?, ?, ?,
    {
        'job_id': ?::VARCHAR, 'job_run_id': ?::VARCHAR, 'cluster_id': NULL,
        'warehouse_id': ?::VARCHAR, 'endpoint_name': NULL, 'app_id': NULL, 'app_name': ?::VARCHAR
    },
    ?, ?, ?
"""
ADD_PRICE = """
INSERT INTO "system.billing".list_prices SELECT
    ?, ?, 'stand-in-account', ?, ?, ?, ?,
    {'default': ?, 'promotional': {'default': NULL}, 'effective_list': {'default': ?}}
"""
JOBS_SKU = "PREMIUM_JOBS_SERVERLESS_COMPUTE"
SIMULATED_JOBS, SIMULATED_SQL = "SIMULATED_JOBS_SERVERLESS", "SIMULATED_SQL_SERVERLESS"
DBU_AN_HOUR = 2
TAGS = {"project": "forebay-dev"}
SINCE = datetime(2020, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Billing:
    """`system.billing.usage` and `system.billing.list_prices`, both empty at first."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._numbers = itertools.count(1)
        statements.execute(TABLES)

    def use(
        self,
        quantity: Decimal | str | None,
        at: datetime,
        *,
        run_id: str | None = None,
        hours: float | None = 1,
        record_type: str = "ORIGINAL",
        record_id: str | None = None,
        ingested: date | None = None,
        sku: str = JOBS_SKU,
        unit: str = "DBU",
        cloud: str = "AWS",
        product: str = "JOBS",
        workspace_id: str = WORKSPACE_ID,
        tags: dict[str, str] | None = None,
        **metadata: str,
    ) -> None:
        """Add a row of usage; it came on the day of its window, if `ingested` is None.

        `hours` None: its window has no end. `metadata` are job_id, warehouse_id and app_name.
        """
        start = at.astimezone(UTC)
        row: list[Any] = [
            record_id or f"record-{next(self._numbers)}",
            workspace_id,
            sku,
            cloud,
            start,
            None if hours is None else start + HOUR * hours,
            start.date(),
            tags or {},
            unit,
            None if quantity is None else Decimal(quantity),
            metadata.get("job_id"),
            run_id,
            metadata.get("warehouse_id"),
            metadata.get("app_name"),
            record_type,
            ingested or start.date(),
            product,
        ]
        self._statements.execute(ADD_USAGE, [row])

    def price(
        self,
        usd: Decimal | str,
        since: datetime,
        until: datetime | None = None,
        *,
        sku: str = JOBS_SKU,
        default: Decimal | str | None = None,
        currency: str = "USD",
        unit: str = "DBU",
        cloud: str = "AWS",
    ) -> None:
        """Add a list price of a unit; `default` is the price without promotions."""
        row = [since, until, sku, cloud, currency, unit, str(default or usd), str(usd)]
        self._statements.execute(ADD_PRICE, [row])

    def billed(self, work: Work, warehouse_id: str) -> Work:
        """Return the work with made-up rows for each run that ended, and one of the warehouse now.

        They are there at once: a real bill is hours late.
        """
        self.price("0.50", SINCE, sku=SIMULATED_JOBS)
        self.price("0.70", SINCE, sku=SIMULATED_SQL)
        self.use(
            "1",
            datetime.now(UTC),
            sku=SIMULATED_SQL,
            product="SQL",
            tags=TAGS,
            warehouse_id=warehouse_id,
        )

        def work_and_bill(run: JobRun) -> None:
            try:
                work(run)
            finally:
                self._bill(run)

        return work_and_bill

    def _bill(self, run: JobRun) -> None:
        dbu = Decimal(round(time.time() - run.started_at + 60)) * DBU_AN_HOUR / 3600
        self.use(
            dbu.quantize(Decimal("1e-6")),
            datetime.fromtimestamp(run.started_at, UTC),
            run_id=str(run.run_id),
            job_id=str(run.job_id),
            sku=SIMULATED_JOBS,
            tags=TAGS,
        )
