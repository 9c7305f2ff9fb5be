"""What the bundle must not say: a secret in the clear, a right too many or too few, a lost name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from databricks.support_bundle import GIVEN, Tree, leaves

AGENT = GIVEN["var.agent_principal"]
ORCHESTRATOR, INTAKE = (
    f"${{resources.apps.{app}.service_principal_client_id}}" for app in ("orchestrator", "intake")
)
PEOPLE = "users"

RIGHTS = {
    ("apps", "orchestrator", PEOPLE, "CAN_USE"),
    ("apps", "orchestrator", AGENT, "CAN_USE"),
    ("apps", "intake", PEOPLE, "CAN_USE"),
    ("jobs", "agent", ORCHESTRATOR, "CAN_MANAGE_RUN"),
    *(("postgres_projects", "forebay", who, "CAN_USE") for who in (ORCHESTRATOR, INTAKE, AGENT)),
    *(("sql_warehouses", "forebay", who, "CAN_USE") for who in (ORCHESTRATOR, AGENT)),
    *(("secret_scopes", "forebay", who, "READ") for who in (ORCHESTRATOR, AGENT)),
    ("experiments", "traces", ORCHESTRATOR, "CAN_READ"),
    ("experiments", "traces", AGENT, "CAN_EDIT"),
    *(("schemas", "forebay", who, "USE_SCHEMA") for who in (INTAKE, AGENT)),
    *(
        ("volumes", "documents", who, privilege)
        for who in (INTAKE, AGENT)
        for privilege in ("READ_VOLUME", "WRITE_VOLUME")
    ),
}
"""Every right that the bundle gives on an object: there is no other."""

SECRET = re.compile(r"(SECRETS?|KEY|TOKEN|PASSWORD)$")
CLEAR = re.compile(
    r"whsec_|dapi[0-9a-f]{8}|-----BEGIN|://[^/\s]*:[^/\s]*@|password\s*=", re.IGNORECASE
)


def granted(thing: Tree) -> set[tuple[str, str]]:
    """Return who has which level, as the object's own side says."""
    who = ("service_principal_name", "user_name", "group_name")
    said = {
        (next(str(one[name]) for name in who if name in one), one["level"])
        for one in thing.get("permissions", [])
    }
    return said | {
        (grant["principal"], privilege)
        for grant in thing.get("grants", [])
        for privilege in grant["privileges"]
    }


def settings(resources: Tree) -> Iterator[tuple[str, str, str]]:
    """Give each setting of the apps and of the job: whose, its name and its value."""
    for key, app in resources["apps"].items():
        for one in app["config"]["env"]:
            yield f"apps.{key}", one["name"], str(one.get("value", ""))
    for key, job in resources["jobs"].items():
        for task in job["tasks"]:
            for name, value in task["python_wheel_task"]["named_parameters"].items():
                yield f"jobs.{key}", name, str(value)


def faults(resources: Tree) -> list[str]:
    """Return what is wrong, a line each."""
    return [*_of_rights(resources), *_of_secrets(resources), *_of_names(resources)]


def _of_rights(resources: Tree) -> Iterator[str]:
    found = {
        (group, key, who, level)
        for group, things in resources.items()
        for key, thing in things.items()
        for who, level in granted(thing)
    }
    yield from (f"a right too many: {one}" for one in found - RIGHTS)
    yield from (f"a right too few: {one}" for one in RIGHTS - found)


def _of_secrets(resources: Tree) -> Iterator[str]:
    scopes = {scope["name"] for scope in resources["secret_scopes"].values()}
    for whose, name, value in settings(resources):
        named = re.fullmatch(r"secret:([^/]+)/[\w.-]+", value)
        if SECRET.search(name) and value and not named:
            yield f"{whose} {name}: a secret in the clear"
        if named and named[1] not in scopes:
            yield f"{whose} {name}: there is no scope {named[1]}"
    for path, value in leaves(resources):
        if CLEAR.search(str(value)):
            yield f"{path}: looks like a secret"


def _of_names(resources: Tree) -> Iterator[str]:
    """Each setting that names a thing names the one that is declared."""
    (volume,) = resources["volumes"].values()
    (schema,) = resources["schemas"].values()
    (database,) = resources["postgres_databases"].values()
    (experiment,) = resources["experiments"].values()
    (warehouse,) = resources["sql_warehouses"].values()
    (tag,) = warehouse["tags"]["custom_tags"]
    root = f"/Volumes/{schema['catalog_name']}/{schema['name']}/{volume['name']}"
    endpoint = "${resources.postgres_endpoints.primary.id}"
    declared = {
        "FOREBAY_STORAGE_ROOTS": root,
        "FOREBAY_DATABASE_URL": f"lakebase:{endpoint}?dbname={database['postgres_database']}",
        "FOREBAY_BILLING_TAG": f"{tag['key']}={tag['value']}",
        "FOREBAY_BILLING_APPS": ",".join(app["name"] for app in resources["apps"].values()),
        "FOREBAY_MLFLOW_EXPERIMENT": experiment["name"],
        "FOREBAY_JOB_RUN_AS": AGENT,
    }
    for whose, name, value in settings(resources):
        if value != declared.get(name, value):
            yield f"{whose} {name}: {value} is not what is declared"
