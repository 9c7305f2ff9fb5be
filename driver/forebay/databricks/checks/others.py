"""What the principals of apps and jobs may do, as the workspace and the database tell it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from forebay import callbacks, schema, storage
from forebay.databricks import secrets
from forebay.databricks.acls import BILLING, Need, Other, found
from forebay.databricks.bill_settings import WAREHOUSE
from forebay.databricks.checks.documents import EXPERIMENT, served
from forebay.databricks.checks.jobs import all_jobs, settings_of
from forebay.databricks.findings import Case, Finding, missing, ok, told, unknown
from forebay.databricks.login import words
from forebay.databricks.principals import (
    CALLERS,
    Part,
    PrincipalError,
    app_of,
    principal_of_app,
    principal_of_job,
)
from forebay.errors import ForebayError
from forebay.memberships import held
from forebay.pool import Database
from forebay.settings import DATABASE_URL

LAKEBASE = re.compile(r"lakebase:(project|instance)s/([^/?]+)")


def others(case: Case) -> Iterator[Finding]:
    """Look at each principal that is named, and at those of the agents' jobs beside them.

    That is, at its roles in the database, and at its rights elsewhere.
    """
    if not (case.jobs or case.orchestrator or case.intake):
        return
    case = replace(case, jobs=tuple(all_jobs(case)))
    seen: list[tuple[Other, Case]] = []
    for label, look in _named(case):
        try:
            seen.append(look())
        except (PrincipalError, OSError, ValueError) as error:
            yield told(label, error)
    if not seen:
        return
    yield from _roles(case, [who for who, _ in seen])
    for who, its in seen:
        for need in _needs(its, who.part):
            yield need if isinstance(need, Finding) else found(case, who, need)


def _named(case: Case) -> Iterator[tuple[str, Callable[[], tuple[Other, Case]]]]:
    """Give the name of each app and job, and what looks up whom it runs as, and its settings."""
    apps: list[tuple[Part, str | None]] = [
        ("orchestrator", case.orchestrator),
        ("intake", case.intake),
    ]
    for part, name in apps:
        if name:
            yield f"app {name}", partial(_of_app, case, part, name)
    for job_id in case.jobs:
        yield f"job {job_id}", partial(_of_job, case, job_id)


def _of_app(case: Case, part: Part, named: str) -> tuple[Other, Case]:
    principal = principal_of_app(case.client, part, named).name
    label = app_of(case.client, named) or part
    return Other(part, principal, label, f"--{part} {named}"), case


def _of_job(case: Case, job_id: int) -> tuple[Other, Case]:
    principal = principal_of_job(case.client, str(job_id)).name
    job = case.client.jobs.get(job_id)
    label = (job.settings and job.settings.name) or f"job {job_id}"
    its = replace(case, settings={**case.settings, **settings_of(job)})
    return Other("agent", principal, label, f"--job {job_id}"), its


def _needs(case: Case, part: Part) -> Iterator[Need | Finding]:
    """Give what a part needs of what is configured; a Finding where that cannot be told."""
    if place := LAKEBASE.match(case.setting(DATABASE_URL)):
        yield Need(f"database-{place[1]}s", place[2], "CAN_USE")
    if part in ("intake", "agent"):
        yield from _of_volumes(case)
    if part == "intake":
        return
    if warehouse_id := case.setting(WAREHOUSE):
        yield Need("sql/warehouses", warehouse_id, "CAN_USE")
    yield from _of_experiment(case, "CAN_EDIT" if part == "agent" else "CAN_READ")
    kept = filter(secrets.is_kept, case.settings.values())
    for scope in sorted({secrets.where(value)[0] for value in kept}):
        yield Need("secrets", scope, "READ")
    if part == "agent":
        yield from _of_endpoints(case)
        if case.orchestrator and case.settings.get(callbacks.URL):
            yield _of_callbacks(case, case.orchestrator)
        return
    for job_id in case.jobs:
        yield Need("jobs", str(job_id), "CAN_MANAGE_RUN")
    if case.setting(WAREHOUSE):
        yield Need("catalog", "system", "USE_CATALOG")
        yield Need("schema", "system.billing", "USE_SCHEMA")
        for table in BILLING:
            yield Need("table", table, "SELECT")


def _of_volumes(case: Case) -> Iterator[Need]:
    for root in case.setting(storage.ROOTS).split(":"):
        parts = root.split("/")
        if parts[:2] == ["", "Volumes"] and len(parts) >= 5:
            catalog, schema_name, volume = parts[2:5]
            yield Need("catalog", catalog, "USE_CATALOG")
            yield Need("schema", f"{catalog}.{schema_name}", "USE_SCHEMA")
            for privilege in ("READ_VOLUME", "WRITE_VOLUME"):
                yield Need("volume", f"{catalog}.{schema_name}.{volume}", privilege)


def _of_experiment(case: Case, level: str) -> Iterator[Need]:
    name = case.setting(EXPERIMENT)
    if not name:
        return
    try:
        experiment = case.client.experiments.get_by_name(name).experiment
    except (OSError, ValueError):
        return  # the experiment's own check says why
    if experiment and experiment.experiment_id:
        yield Need("experiments", experiment.experiment_id, level, shown=name)


def _of_endpoints(case: Case) -> Iterator[Need | Finding]:
    for _, name in served(case):
        try:
            endpoint_id = case.client.serving_endpoints.get(name).id
        except (OSError, ValueError):
            continue  # the endpoint's own check says why
        if endpoint_id:
            yield Need("serving-endpoints", endpoint_id, "CAN_QUERY", shown=name)
        else:
            said = "the workspace's own endpoint has no list of access: a run shows it"
            yield ok(f"CAN_QUERY on serving-endpoints/{name}", said)


def _of_callbacks(case: Case, orchestrator: str) -> Need | Finding:
    """Give what it takes to come to the orchestrator's app."""
    if name := app_of(case.client, orchestrator):
        return Need("apps", name, "CAN_USE")
    said = f"no app that you may see runs as {orchestrator}: pass --orchestrator the app's name"
    return unknown("CAN_USE on the orchestrator's app", said)


def _roles(case: Case, named: list[Other]) -> Iterator[Finding]:
    """Say which callers' roles each principal's login lacks in the database."""
    url = case.setting(DATABASE_URL)
    if not url:
        return
    try:
        with Database(url, application_name="forebay doctor").connect() as connection:
            schema.check_compatible(connection)
            held_by = held(connection, [who.principal for who in named])
    except ForebayError as error:
        yield unknown("database roles", f"they cannot be seen: {words(error)}")
        return
    for who in named:
        check, roles = f"{who.label}: database roles", held_by.get(who.principal)
        lacking = ", ".join(
            f"forebay_{one}" for one in CALLERS[who.part] if one not in (roles or ())
        )
        what = f"has no {lacking}" if roles is not None else "has no login in the database"
        mend = f"'forebay databricks bootstrap {who.named}' gives it"
        yield (
            missing(check, f"{who.principal} {what}: {mend}")
            if lacking
            else ok(check, f"{who.principal} acts as all of its roles")
        )
