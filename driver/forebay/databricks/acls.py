"""What the workspace tells of who may do what: lists of access, read and never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forebay.databricks.findings import Case, Finding, missing, ok, unknown
from forebay.databricks.principals import ADDRESS, APPLICATION_ID, Part

LEVELS = {
    "jobs": ("CAN_VIEW", "CAN_MANAGE_RUN", "CAN_MANAGE", "IS_OWNER"),
    "sql/warehouses": ("CAN_VIEW", "CAN_MONITOR", "CAN_USE", "CAN_MANAGE", "IS_OWNER"),
    "apps": ("CAN_USE", "CAN_MANAGE"),
    "experiments": ("CAN_READ", "CAN_EDIT", "CAN_MANAGE"),
    "secrets": ("READ", "WRITE", "MANAGE"),
    "serving-endpoints": ("CAN_VIEW", "CAN_QUERY", "CAN_MANAGE"),
    "database-projects": ("CAN_USE", "CAN_MANAGE"),
    "database-instances": ("CAN_USE", "CAN_MANAGE"),
}
"""The levels of each kind of object; a later one includes those before it."""

UNITY = ("catalog", "schema", "table", "volume")
"""The kinds of Unity Catalog, which have privileges, and those of what they are in, too."""

DECLARED = {
    "jobs": "resources/jobs.yml",
    "sql/warehouses": "resources/shared.yml",
    "experiments": "resources/shared.yml",
    "secrets": "resources/shared.yml",
    "apps": "resources/apps.yml",
    "database-projects": "resources/database.yml",
}
"""Which file of the bundle has the permissions of an object; the others are granted by hand."""

EVERYBODY = {"users", "account users"}
BILLING = ("system.billing.usage", "system.billing.list_prices")

Listed = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Other:
    """Whose rights are looked at; `label` names the app or the job in lines about it.

    `named` is how a command names it: an option, and what it is given.
    """

    part: Part
    principal: str
    label: str = ""
    named: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """What somebody has to have on an object; `shown` is how lines call the object."""

    kind: str
    thing: str
    level: str
    shown: str = ""

    @property
    def words(self) -> str:
        """Return what is needed, as a line begins with it."""
        thing = self.shown or self.thing
        if self.kind in UNITY:
            return f"{self.level.replace('_', ' ')} on {self.kind} {thing}"
        return f"{self.level} on {self.kind}/{thing}"


def found(case: Case, who: Other, need: Need) -> Finding:
    """Find whether a principal, or everybody, has at least a level on an object."""
    check = f"{who.label}: {need.words}" if who.label else need.words
    try:
        listed = _privileges(case, need) if need.kind in UNITY else _listed(case, need)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        said = f"who has it is not to be seen ({type(error).__name__}): look as an admin"
        return unknown(check, said)
    enough = _enough(need)
    having = {name for name, had in listed if had in enough}
    if having & (EVERYBODY | {who.principal}):
        return ok(check, f"{who.principal} has it")
    groups = ", ".join(sorted(name for name in having - {"admins"} if _is_group(name)))
    through = f", unless through the group {groups}" if groups else ""
    mend = remedy(need.kind, who.principal, need)
    return missing(check, f"{who.principal} does not have it{through}: {mend}")


def remedy(kind: str, principal: str, need: Need | None = None) -> str:
    """Return how a right is given: in the bundle where it declares the object, else by hand."""
    level = need.level if need else LEVELS[kind][1]
    if kind in DECLARED:
        return f"declare the level {level} for it in {DECLARED[kind]}, and deploy"
    if need and kind in UNITY:
        on = f"{kind.upper()} {need.thing}"
        return f"GRANT {level.replace('_', ' ')} ON {on} TO `{principal}`"
    return f"grant it {level} there"


def _enough(need: Need) -> set[str]:
    if need.kind in UNITY:
        return {need.level, "ALL_PRIVILEGES"}
    return set(LEVELS[need.kind][LEVELS[need.kind].index(need.level) :])


def _privileges(case: Case, need: Need) -> Listed:
    """Return who has which privilege, by what the object is in, too. Raises the SDK's errors."""
    path = f"/api/2.1/unity-catalog/effective-permissions/{need.kind}/{need.thing}"
    found: Listed = []
    token: str | None = ""
    while token is not None:
        answer = _get(case, path, max_results="0", **({"page_token": token} if token else {}))
        found += [
            (one["principal"], privilege["privilege"])
            for one in answer.get("privilege_assignments") or []
            for privilege in one.get("privileges") or []
        ]
        token = answer.get("next_page_token") or None
    return found


def _listed(case: Case, need: Need) -> Listed:
    """Return who has which level on an object. Raises the SDK's errors.

    Raises KeyError without a list, which secrets alone lack where nobody has a level.
    """
    if need.kind == "secrets":
        answer = _get(case, "/api/2.0/secrets/acls/list", scope=need.thing)
        return [(one["principal"], one["permission"]) for one in answer.get("items") or []]
    answer = _get(case, f"/api/2.0/permissions/{need.kind}/{need.thing}")
    return [
        (_name(entry), one["permission_level"])
        for entry in answer["access_control_list"] or []
        for one in entry.get("all_permissions") or []
    ]


def _name(entry: dict[str, Any]) -> str:
    named = ("service_principal_name", "user_name", "group_name")
    return next((str(entry[name]) for name in named if entry.get(name)), "")


def _is_group(name: str) -> bool:
    """Tell a group's name from an address and from an application id."""
    return not ADDRESS.fullmatch(name) and not APPLICATION_ID.fullmatch(name)


def _get(case: Case, path: str, **query: str) -> dict[str, Any]:
    answer = case.client.api_client.do("GET", path, query=query)
    if not isinstance(answer, dict):
        raise TypeError(f"{path} is answered by no object")
    return dict(answer)
