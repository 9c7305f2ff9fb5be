"""Who may do what to an object, as the permissions API and Unity Catalog tell it."""

from __future__ import annotations

from typing import Any

from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace


class Permissions(Area):
    """The permissions of any object of `access`; jobs have their own in `jobs`.

    Whoever asks needs some level on the object. Volumes are told of under Unity Catalog, where a
    writer is listed with both privileges, and secret scopes as access control lists.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @route("GET", "/api/2.0/permissions/{thing...}")
    def of_object(self, request: Request) -> dict[str, Any]:
        thing = request.params["thing"]
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

    @route("GET", "/api/2.1/unity-catalog/permissions/volume/{name}")
    def of_volume(self, request: Request) -> dict[str, Any]:
        granted = self._granted(request, f"volumes/{request.params['name']}")
        both = ["READ_VOLUME", "WRITE_VOLUME"]
        return {
            "privilege_assignments": [
                {"principal": name, "privileges": both[: both.index(level) + 1]}
                for name, level in granted.items()
            ]
        }

    @route("GET", "/api/2.0/secrets/acls/list")
    def of_scope(self, request: Request) -> dict[str, Any]:
        granted = self._granted(request, f"secrets/{request.query.get('scope', '')}")
        return {
            "items": [{"principal": name, "permission": level} for name, level in granted.items()]
        }

    def _granted(self, request: Request, thing: str) -> dict[str, str]:
        granted = self._workspace.access.granted(thing)
        who = request.principal
        if who is None or not (who.is_admin or who.name in granted):
            name = who.name if who else "nobody"
            raise ApiError(403, "PERMISSION_DENIED", f"{name} may not see who may use {thing}.")
        return granted


def _who(name: str) -> str:
    return "user_name" if "@" in name else "service_principal_name"
