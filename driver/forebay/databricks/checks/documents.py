"""What documents are read with: storage roots, a warehouse, endpoints, an experiment."""

from __future__ import annotations

import secrets as random
from collections.abc import Iterator, Mapping

from databricks.sdk.errors import NotFound

from forebay import storage
from forebay.databricks import acls
from forebay.databricks.bill_settings import WAREHOUSE, BillSettings
from forebay.databricks.findings import Case, Finding, missing, off, ok, refused, told
from forebay.databricks.principals import Part
from forebay.databricks.statements import StatementFailed, query
from forebay.errors import SettingError

EXPERIMENT = "FOREBAY_MLFLOW_EXPERIMENT"
MODELS = {
    "FOREBAY_MODEL_NAME": "FOREBAY_MODEL_BASE_URL",
    "FOREBAY_VISION_MODEL_NAME": "FOREBAY_VISION_BASE_URL",
}
"""Settings that name endpoints, and those that say where these are."""

WITHOUT = {
    "FOREBAY_MODEL_NAME": "documents are read without a model",
    "FOREBAY_VISION_MODEL_NAME": "no model looks at pages without text",
}
WITHOUT_WAREHOUSE: dict[Part, str] = {
    "orchestrator": "the bill is not read",
    "agent": "ai_parse_document is not used",
    "person": "'forebay cost refresh' cannot read the bill",
}
STATEMENT_SECONDS = 60
PROBE = "forebay-doctor-{}.probe"
"""The name of the probe file in a storage root."""


def documents(case: Case) -> Iterator[Finding]:
    """Write a probe into each storage root, read it back, and remove it."""
    named = case.setting(storage.ROOTS)
    if not named:
        said = f"{storage.ROOTS} is not set: set it to the Volume's path{_or_lent(case)}"
        yield missing("documents", said)
    for root in filter(None, named.split(":")):
        yield _probed(root, case.settings)


def _or_lent(case: Case) -> str:
    """Return how a person's shell is lent what the job's task sets, where no job is named."""
    return ", or name the job with --job" if case.part == "person" and not case.jobs else ""


def warehouse(case: Case) -> Iterator[Finding]:
    """Ask the warehouse for one row; the dashboard's part also of each table of the bill."""
    warehouse_id = case.setting(WAREHOUSE)
    if not warehouse_id:
        yield off("warehouse", f"{WAREHOUSE} is not set: {WITHOUT_WAREHOUSE[case.part]}")
        return
    try:
        case.client.warehouses.get(warehouse_id)
        query(case.client, warehouse_id, "SELECT 1 AS one", seconds=STATEMENT_SECONDS)
    except NotFound as error:
        yield refused("warehouse", error, f"correct {WAREHOUSE}")
        return
    except (OSError, StatementFailed) as error:
        yield refused("warehouse", error, f"grant CAN_USE on {warehouse_id}")
        return
    yield ok("warehouse", f"{warehouse_id} answers")
    if case.part in ("orchestrator", "person"):
        for table in acls.BILLING:
            yield _readable(case, warehouse_id, table)
        yield from _misread(case.settings)


def endpoints(case: Case) -> Iterator[Finding]:
    """See each serving endpoint that reads documents."""
    for name_of, without in WITHOUT.items():
        if not case.setting(name_of):
            said = f"{name_of} is not set here: {without}{_or_lent(case)}"
            yield off("serving endpoint", said)
    for name_of, name in served(case):
        check = f"serving endpoint {name}"
        try:
            state = case.client.serving_endpoints.get(name).state
        except NotFound as error:
            yield refused(check, error, f"correct {name_of}")
            continue
        except (OSError, ValueError) as error:
            yield refused(check, error, "grant CAN_QUERY on it")
            continue
        ready = state.ready.value if state and state.ready else "of unknown state"
        yield (
            ok(check, f"it is {ready}")
            if ready == "READY"
            else missing(
                check, f"it is {ready}: wait until it is ready, or name another in {name_of}"
            )
        )


def served(case: Case) -> Iterator[tuple[str, str]]:
    """Give the settings whose models are serving endpoints of the workspace, and their names."""
    for name_of, place_of in MODELS.items():
        name = case.setting(name_of)
        place = case.setting(place_of) or case.setting(MODELS["FOREBAY_MODEL_NAME"])
        if name and place.casefold() == "databricks":
            yield name_of, name


def experiment(case: Case) -> Iterator[Finding]:
    """Find the experiment of the traces, and see whether an agent may write to it."""
    name = case.setting(EXPERIMENT)
    if not name:
        yield off("experiment", f"{EXPERIMENT} is not set: there are no traces")
        return
    try:
        found = case.client.experiments.get_by_name(name).experiment
    except (OSError, ValueError) as error:
        yield refused("experiment", error, f"correct {EXPERIMENT}, or grant CAN_READ")
        return
    yield ok("experiment", f"{name} is there")
    if case.part == "agent" and found and found.experiment_id:
        need = acls.Need("experiments", found.experiment_id, "CAN_EDIT")
        yield acls.found(case, acls.Other(case.part, case.who), need)


def _probed(root: str, settings: Mapping[str, str]) -> Finding:
    check, name = f"documents {root}", PROBE.format(random.token_hex(4))
    try:
        here = storage.roots({**settings, storage.ROOTS: root})[0]
        content = name.encode()
        here.write(name, [content], replace=True)  # nothing is looked for before: the name is new
        try:
            read = b"".join(here.read(name))
        finally:
            here.delete(name)
    except storage.StorageError as error:
        return told(check, error)
    if read != content:
        return missing(check, f"the probe {name} came back as other bytes")
    return ok(check, "a probe was written, read and removed")


def _misread(settings: Mapping[str, str]) -> Iterator[Finding]:
    """Say what no bill can be read with."""
    try:
        BillSettings.read(settings)
    except SettingError as error:
        yield missing("bill", str(error))


def _readable(case: Case, warehouse_id: str, table: str) -> Finding:
    try:
        query(
            case.client,
            warehouse_id,
            f"SELECT 1 AS one FROM {table} LIMIT 1",
            seconds=STATEMENT_SECONDS,
        )
    except (OSError, StatementFailed) as error:
        return refused(f"table {table}", error, f"grant SELECT to {case.who}")
    return ok(f"table {table}", "it can be read")
