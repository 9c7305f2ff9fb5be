"""A deploy of the bundle into the stand-in, as the CLI makes it: what is declared, and no more."""

from __future__ import annotations

from databricks.support_bundle import Tree, references
from databricks.support_bundle_rights import AGENT as AGENT_VARIABLE
from databricks.support_bundle_rights import INTAKE as INTAKE_REFERENCE
from databricks.support_bundle_rights import ORCHESTRATOR as ORCHESTRATOR_REFERENCE
from databricks.support_bundle_rights import granted
from forebay_lab.workspace import deployed as stand_in
from forebay_lab.workspace.deployed import Deployed

WHO = {
    ORCHESTRATOR_REFERENCE: stand_in.ORCHESTRATOR,
    INTAKE_REFERENCE: stand_in.INTAKE,
    AGENT_VARIABLE: stand_in.AGENT,
}
THINGS = {
    ("jobs", "agent"): "jobs/7",
    ("experiments", "traces"): "experiments/1",
    ("apps", "orchestrator"): "apps/forebay-orchestrator-dev",
    ("sql_warehouses", "forebay"): f"sql/warehouses/{stand_in.WAREHOUSE}",
    ("postgres_projects", "forebay"): f"postgres/projects/{stand_in.PROJECT}",
    ("secret_scopes", "forebay"): f"secrets/{stand_in.SCOPE}",
    ("volumes", "documents"): f"volumes/{stand_in.VOLUME}",
}
"""Principals and objects of the bundle, as the stand-in calls them."""


def declared(resources: Tree) -> dict[tuple[str, str], str]:
    """Return the level of each principal of ours on each object."""
    return {
        (WHO[name], thing): level
        for (group, key), thing in THINGS.items()
        for name, level in sorted(granted(resources[group][key]))  # WRITE_VOLUME comes last
        if name in WHO
    }


def deploy(here: Deployed, resources: Tree) -> None:
    """Give apps what their resources say; then have each object's list be what it declares.

    Whoever is not declared at the object loses what he had there. The job runs as declared, or as
    who deploys.
    """
    access = here.workspace.access
    for key, app in resources["apps"].items():
        principal = WHO[f"${{resources.apps.{key}.service_principal_client_id}}"]
        for path, name in references(app["resources"]):
            _, group, thing, _ = name.split(".")
            if (group, thing) in THINGS:
                need = next(v for v in app["resources"][path[0]].values() if isinstance(v, dict))
                access.grant(principal, THINGS[group, thing], need["permission"])
    for thing in THINGS.values():
        for name in access.granted(thing):
            access.revoke(name, thing)
    for (name, thing), level in declared(resources).items():
        access.grant(name, thing, level)
    run_as = resources["jobs"]["agent"].get("run_as", {})
    name = WHO.get(run_as.get("service_principal_name"), stand_in.DEPLOYER)
    here.job.settings["run_as"] = {"service_principal_name": name}
