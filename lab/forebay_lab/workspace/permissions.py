"""Who may do what to an object, as the permissions API and Unity Catalog tell it."""

from __future__ import annotations

from typing import Any

from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

STORED = {"database-projects": "postgres/projects"}
"""Kinds that `access` calls otherwise."""

PRIVILEGES = {
    "catalog": ("USE_CATALOG",),
    "schema": ("USE_SCHEMA",),
    "table": ("SELECT",),
    "volume": ("READ_VOLUME", "WRITE_VOLUME"),
}
"""Privileges of Unity Catalog, as they are stored; a later one brings those before it."""

GROUPS = ("users", "account users", "admins")


class Permissions(Area):
    """The permissions of any object of `access`; jobs have their own in `jobs`.

    Whoever asks needs some level on the object. What Unity Catalog has is told of with what is
    inherited; a writer of a Volume is listed with both privileges. Secret scopes have access
    control lists.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @route("GET", "/api/2.0/permissions/{thing...}")
    def of_object(self, request: Request) -> dict[str, Any]:
        thing = _stored(request.params["thing"])
        return {
            "object_id": f"/{thing}",
            "object_type": thing.partition("/")[0],
            "access_control_list": [
                {
                    _who(name): name,
                    "all_permissions": [{"permission_level": level, "inherited": False}],
                }
                for name, level in self._granted(request, thing).items()
            ],
        }

    @route("PUT", "/api/2.0/permissions/{thing...}")
    def set_on_object(self, request: Request) -> dict[str, Any]:
        """Have the list of an object be what is given, and nothing else."""
        self._check_admin(request)
        thing = _stored(request.params["thing"])
        for name in self._workspace.access.granted(thing):
            self._workspace.access.revoke(name, thing)
        return self.update_on_object(request)

    @route("PATCH", "/api/2.0/permissions/{thing...}")
    def update_on_object(self, request: Request) -> dict[str, Any]:
        self._check_admin(request)
        thing = _stored(request.params["thing"])
        for entry in request.json().get("access_control_list", []):
            name = next(str(v) for n, v in entry.items() if n != "permission_level")
            self._workspace.access.grant(name, thing, entry["permission_level"])
        return self.of_object(request)

    @route("PATCH", "/api/2.1/unity-catalog/permissions/{kind}/{name}")
    def update_on_securable(self, request: Request) -> dict[str, Any]:
        self._check_admin(request)
        kind, name = request.params["kind"], request.params["name"]
        thing, access = f"{kind}s/{name}", self._workspace.access
        for change in request.json().get("changes", []):
            who = change["principal"]
            level = access.granted(thing).get(who)
            had = PRIVILEGES[kind][: PRIVILEGES[kind].index(level) + 1] if level else ()
            has = {*had, *change.get("add", [])} - set(change.get("remove", []))
            access.revoke(who, thing)
            for privilege in filter(has.__contains__, PRIVILEGES[kind]):
                access.grant(who, thing, privilege)
        return self.of_securable(request)

    @route("POST", "/api/2.0/secrets/acls/put")
    def put_on_scope(self, request: Request) -> dict[str, Any]:
        self._check_admin(request)
        said = request.json()
        self._workspace.access.grant(
            said["principal"], f"secrets/{said['scope']}", said["permission"]
        )
        return {}

    @route("POST", "/api/2.0/secrets/acls/delete")
    def delete_on_scope(self, request: Request) -> dict[str, Any]:
        self._check_admin(request)
        said = request.json()
        self._workspace.access.revoke(said["principal"], f"secrets/{said['scope']}")
        return {}

    @route("GET", "/api/2.1/unity-catalog/effective-permissions/{kind}/{name}")
    def of_securable(self, request: Request) -> dict[str, Any]:
        """Tell of the object itself, and of the schema and the catalog that it is in."""
        kind, name = request.params["kind"], request.params["name"]
        above = name.split(".")
        places = [
            f"{place}/{'.'.join(above[:count])}"
            for count, place in enumerate(("catalogs", "schemas", f"{kind}s"), start=1)
            if count <= len(above)
        ]
        privileges = PRIVILEGES[kind]
        self._granted(request, places[-1])
        found: dict[str, list[str]] = {}
        for place in places:
            for who, level in self._workspace.access.granted(place).items():
                if level in privileges:
                    had = privileges[: privileges.index(level) + 1]
                    found.setdefault(who, []).extend(had)
        return {
            "privilege_assignments": [
                {"principal": who, "privileges": [{"privilege": one} for one in had]}
                for who, had in found.items()
            ]
        }

    @route("GET", "/api/2.0/secrets/acls/list")
    def of_scope(self, request: Request) -> dict[str, Any]:
        granted = self._granted(request, f"secrets/{request.query.get('scope', '')}")
        return {
            "items": [{"principal": name, "permission": level} for name, level in granted.items()]
        }

    def _check_admin(self, request: Request) -> None:
        if request.principal is None or not request.principal.is_admin:
            raise ApiError(403, "PERMISSION_DENIED", "Only an admin changes who may do what.")

    def _granted(self, request: Request, thing: str) -> dict[str, str]:
        granted = self._workspace.access.granted(thing)
        who = request.principal
        if who is None or not (who.is_admin or who.name in granted):
            name = who.name if who else "nobody"
            raise ApiError(403, "PERMISSION_DENIED", f"{name} may not see who may use {thing}.")
        return granted


def _stored(thing: str) -> str:
    kind, _, name = thing.rpartition("/")
    return f"{STORED.get(kind, kind)}/{name}"


def _who(name: str) -> str:
    if name in GROUPS:
        return "group_name"
    return "user_name" if "@" in name else "service_principal_name"
