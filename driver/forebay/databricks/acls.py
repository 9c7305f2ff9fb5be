"""What the workspace tells of who may do what: lists of access, read and never changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forebay import storage
from forebay.databricks import secrets
from forebay.databricks.bill_settings import WAREHOUSE
from forebay.databricks.doctor import Case, Finding
from forebay.databricks.principals import principal_of_app, principal_of_job

LEVELS = {
    "jobs": ("CAN_VIEW", "CAN_MANAGE_RUN", "CAN_MANAGE", "IS_OWNER"),
    "sql/warehouses": ("CAN_VIEW", "CAN_MONITOR", "CAN_USE", "CAN_MANAGE", "IS_OWNER"),
    "apps": ("CAN_USE", "CAN_MANAGE"),
    "experiments": ("CAN_READ", "CAN_EDIT", "CAN_MANAGE"),
    "secrets": ("READ", "WRITE", "MANAGE"),
}
"""The levels of each kind of object; a later one includes those before it."""

EVERYBODY = {"users", "account users"}
BOTH = ("READ_VOLUME", "WRITE_VOLUME")

Listed = list[tuple[str, str]]


def holds(case: Case, principal: str, kind: str, thing: str, level: str) -> Iterator[Finding]:
    """Find whether a principal, or everybody, has at least a level on an object."""
    check = f"{level} on {kind}/{thing}"
    try:
        listed = _listed(case, kind, thing)
    except (OSError, ValueError) as error:
        said = f"who has it is not to be seen ({type(error).__name__}): look as an admin"
        yield Finding(check, "unknown", said)
        return
    enough = LEVELS[kind][LEVELS[kind].index(level) :]
    if any(who in EVERYBODY | {principal} and had in enough for who, had in listed):
        yield Finding(check, "ok", f"{principal} has it")
        return
    groups = sorted({who for who, had in listed if had in enough and _is_group(who)} - {"admins"})
    through = f", unless through the group {', '.join(groups)}" if groups else ""
    said = f"{principal} does not have it{through}: declare it in the permissions of the {kind}"
    yield Finding(check, "missing", said)


def of_others(case: Case) -> Iterator[Finding]:
    """Look at what the apps' principals, and the job's, need on the objects that are configured."""
    wants: list[tuple[str, str, str, str]] = []
    agent = principal_of_job(case.client, str(case.jobs[0])).name if case.jobs else None
    warehouse_id = case.setting(WAREHOUSE)
    experiment = _experiment(case)
    scopes = {secrets.where(v)[0] for n, v in case.settings.items() if secrets.is_kept(v) and n}
    if case.orchestrator:
        app = principal_of_app(case.client, "orchestrator", case.orchestrator).name
        wants += [(app, "jobs", str(job_id), "CAN_MANAGE_RUN") for job_id in case.jobs]
        wants += [(app, "experiments", experiment, "CAN_READ")]
        wants += [(app, "sql/warehouses", warehouse_id, "CAN_USE")]
        wants += [(app, "secrets", scope, "READ") for scope in sorted(scopes)]
        wants += [(agent or "", "apps", case.orchestrator, "CAN_USE")]
    wants += [(agent or "", "experiments", experiment, "CAN_EDIT")]
    wants += [(agent or "", "sql/warehouses", warehouse_id, "CAN_USE")]
    wants += [(agent or "", "secrets", scope, "READ") for scope in sorted(scopes)]
    for principal, kind, thing, level in wants:
        if principal and thing:
            yield from holds(case, principal, kind, thing, level)
    for principal in filter(None, (_intake(case), agent)):
        yield from _of_volumes(case, principal)


def _of_volumes(case: Case, principal: str) -> Iterator[Finding]:
    for root in case.setting(storage.ROOTS).split(":"):
        parts = root.split("/")
        if parts[:2] != ["", "Volumes"] or len(parts) < 5:
            continue
        name = ".".join(parts[2:5])
        check = f"{' and '.join(BOTH)} on {name}"
        try:
            answer = _get(case, f"/api/2.1/unity-catalog/permissions/volume/{name}")
        except (OSError, ValueError) as error:
            said = f"who has it is not to be seen ({type(error).__name__}): look as its owner"
            yield Finding(check, "unknown", said)
            continue
        had = {
            privilege
            for one in answer.get("privilege_assignments", [])
            if one.get("principal") in EVERYBODY | {principal}
            for privilege in one.get("privileges", [])
        }
        lacks = [one for one in BOTH if not {one, "ALL_PRIVILEGES"} & had]
        if lacks:
            said = f"{principal} lacks {' and '.join(lacks)}: grant it on the volume"
            yield Finding(check, "missing", said)
        else:
            yield Finding(check, "ok", f"{principal} has both")


def _listed(case: Case, kind: str, thing: str) -> Listed:
    """Return who has which level on an object. Raises the SDK's errors."""
    if kind == "secrets":
        answer = _get(case, "/api/2.0/secrets/acls/list", scope=thing)
        return [(one["principal"], one["permission"]) for one in answer.get("items", [])]
    answer = _get(case, f"/api/2.0/permissions/{kind}/{thing}")
    return [
        (_name(entry), one["permission_level"])
        for entry in answer.get("access_control_list", [])
        for one in entry.get("all_permissions", [])
    ]


def _name(entry: dict[str, Any]) -> str:
    named = ("service_principal_name", "user_name", "group_name")
    return next((str(entry[name]) for name in named if entry.get(name)), "")


def _is_group(name: str) -> bool:
    """Tell a group's name from an address and from an application id."""
    return "@" not in name and name.count("-") != 4


def _experiment(case: Case) -> str:
    from forebay.databricks.checks import EXPERIMENT

    name = case.setting(EXPERIMENT)
    if not name:
        return ""
    try:
        found = case.client.experiments.get_by_name(name).experiment
    except OSError:
        return ""  # the experiment's own check says why
    return (found.experiment_id if found else "") or ""


def _intake(case: Case) -> str | None:
    return principal_of_app(case.client, "intake", case.intake).name if case.intake else None


def _get(case: Case, path: str, **query: str) -> dict[str, Any]:
    answer = case.client.api_client.do("GET", path, query=query)
    return dict(answer) if isinstance(answer, dict) else {}
