"""What `forebay cost refresh` does: it reads the bill and the traces that the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from forebay.cli import output, words
from forebay.cli.database import connect
from forebay.cli.errors import Refused

if TYPE_CHECKING:
    from forebay.databricks.billing import Refreshed
    from forebay.traces.harvest import Traced

WAREHOUSE = "FOREBAY_WAREHOUSE_ID"
EXPERIMENT = "FOREBAY_MLFLOW_EXPERIMENT"


def refresh_costs(dsn: str | None, environment: Mapping[str, str], as_json: bool) -> None:
    """Read what is set up, and print what that did: {"bill": ..., "traces": ...}, null for none."""
    from forebay.extras import has

    if not environment.get(WAREHOUSE) and not environment.get(EXPERIMENT):
        raise Refused(
            f"Set {WAREHOUSE}, the SQL warehouse that reads the bill, or {EXPERIMENT}, the MLflow"
            " experiment that traces are in: neither is set."
        )
    if not has("databricks"):
        raise Refused("Install the extra databricks: pip install 'forebay[databricks]'.")
    traces, bill = _read_traces(dsn, environment), _read_bill(dsn, environment)
    if as_json:
        output.print_json({"bill": bill, "traces": traces})
        return
    if bill:
        output.print_row(bill, BILL, as_json)
    if traces:
        output.print_row(traces, TRACES, as_json)


def _read_bill(dsn: str | None, environment: Mapping[str, str]) -> Refreshed | None:
    from forebay.databricks.bill_settings import BillSettings

    settings = BillSettings.read(environment)
    if settings is None:
        return None
    from forebay.databricks.bill import Bill
    from forebay.databricks.billing import refresh_billing

    bill = Bill.of(settings)
    with connect(dsn) as conn:
        return refresh_billing(conn, bill)


def _read_traces(dsn: str | None, environment: Mapping[str, str]) -> Traced | None:
    if not environment.get(EXPERIMENT):
        return None
    from forebay.traces.harvest import refresh_traces
    from forebay.traces.mlflow_store import MlflowTraces

    traces = MlflowTraces.of(environment)
    if traces is None:
        return None
    with connect(dsn) as conn:
        return refresh_traces(lambda: nullcontext(conn), traces)


BILL: output.Columns = {
    "runs": "runs",
    "records": "records",
    "without a price": lambda row: ", ".join(sorted(row.unpriced_skus)),
    "left out": lambda row: "; ".join(sorted(row.left_out)),
}
TRACES: output.Columns = {
    "attempts looked for": "attempts",
    "calls in traces": "calls",
    "their traces": lambda row: ", ".join(
        f"{words.number(count)} {state}" for state, count in sorted(row.states.items())
    ),
}
