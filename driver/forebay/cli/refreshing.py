"""What `forebay cost refresh` does: it reads the bill and the traces that the settings name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from forebay.cli import documents, output, words
from forebay.cli.database import connect
from forebay.cli.errors import Refused, sentence

if TYPE_CHECKING:
    from forebay.databricks.billing import Refreshed
    from forebay.traces.harvest import Traced

WAREHOUSE = "FOREBAY_WAREHOUSE_ID"
EXPERIMENT = "FOREBAY_MLFLOW_EXPERIMENT"
HOW = ("FOREBAY_BILLING_TAG", "FOREBAY_BILLING_APPS", "FOREBAY_BILLING_PRICE")
"""How the bill is read: whoever reads it otherwise replaces what others read."""


def refresh_costs(dsn: str | None, environment: Mapping[str, str], as_json: bool) -> None:
    """Read what is set up, and print what that did: {"bill": ..., "traces": ...}, null for none.

    Where the environment names neither warehouse nor experiment, the agents' jobs may. Of bill and
    traces one that fails keeps nobody from the other: what failed is raised at the end.
    """
    documents.require("databricks", "Reading the bill and the traces")
    if not _is_set(environment):
        environment = _settings_of_jobs(dsn) | dict(environment)
    if not _is_set(environment):
        raise Refused(
            f"Set {WAREHOUSE}, the SQL warehouse that reads the bill, or {EXPERIMENT}, the MLflow"
            " experiment that traces are in: neither is set, nor a parameter of an agent's job."
        )
    bill, traces = None, None
    failures: list[Exception] = []
    with _kept(failures):
        traces = _read_traces(dsn, environment)
    with _kept(failures):
        bill = _read_bill(dsn, environment)
    _print(bill, traces, as_json)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise Refused(" ".join(dict.fromkeys(map(sentence, failures)))) from failures[0]


@contextmanager
def _kept(failures: list[Exception]) -> Iterator[None]:
    """Add an error of the block to failures, and go on."""
    try:
        yield
    except Exception as error:
        failures.append(error)


def _print(bill: Refreshed | None, traces: Traced | None, as_json: bool) -> None:
    if as_json and (bill or traces):
        output.print_json({"bill": bill, "traces": traces})
    if bill and not as_json:
        output.print_row(bill, BILL, as_json)
    if traces and not as_json:
        output.print_row(traces, TRACES, as_json)
    if bill and not bill.is_shared_read:
        output.note(f"What is shared was not read: {HOW[0]} says which tag it has.")


def _is_set(environment: Mapping[str, str]) -> bool:
    return bool(environment.get(WAREHOUSE) or environment.get(EXPERIMENT))


def _settings_of_jobs(dsn: str | None) -> dict[str, str]:
    """Return the settings among the parameters of the agents' jobs; none without a workspace."""
    from forebay.calls import viewer
    from forebay.databricks.checks.jobs import settings_of_job
    from forebay.databricks.client import workspace_client

    with connect(dsn) as conn:
        jobs = {row.job_id for row in viewer.agent_status(conn) if row.launcher == "lakeflow"}
    found: dict[str, str] = {}
    if not jobs:
        return found
    try:
        client = workspace_client(http_seconds=10, retry_seconds=10)
        for job_id in sorted(filter(None, jobs)):
            found |= settings_of_job(client, job_id)
    except (ValueError, OSError):
        return {}
    return {name: found[name] for name in (WAREHOUSE, EXPERIMENT, *HOW) if name in found}


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
