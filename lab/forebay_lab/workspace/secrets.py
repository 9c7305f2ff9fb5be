"""Secret scopes: kept in memory, and given to whoever may read the scope."""

from __future__ import annotations

import base64

from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace


class Secrets(Area):
    """The secrets API, as far as reading goes; permissions are READ on `secrets/SCOPE`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._scopes: dict[str, dict[str, str]] = {}

    def add(self, scope: str, key: str, value: str) -> None:
        """Keep a secret; the scope is made if it is not there."""
        self._scopes.setdefault(scope, {})[key] = value

    @route("GET", "/api/2.0/secrets/get")
    def get(self, request: Request) -> dict[str, str]:
        key = request.query.get("key", "")
        kept = self._scope(request)
        if key not in kept:
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"Secret {key} does not exist.")
        return {
            "key": key,
            "value": base64.b64encode(kept[key].encode("utf-8", "surrogateescape")).decode(),
        }

    @route("GET", "/api/2.0/secrets/list")
    def list_secrets(self, request: Request) -> dict[str, list[dict[str, str]]]:
        return {"secrets": [{"key": key} for key in self._scope(request)]}

    @route("GET", "/api/2.0/secrets/scopes/list")
    def list_scopes(self, request: Request) -> dict[str, list[dict[str, str]]]:
        scopes = [name for name in self._scopes if self._may(request, name)]
        return {"scopes": [{"name": name, "backend_type": "DATABRICKS"} for name in scopes]}

    def _scope(self, request: Request) -> dict[str, str]:
        scope = request.query.get("scope", "")
        if scope not in self._scopes:
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", f"Scope {scope} does not exist!")
        if not self._may(request, scope):
            assert request.principal is not None
            message = (
                f"User {request.principal.name} does not have READ permission on scope {scope}."
            )
            raise ApiError(403, "PERMISSION_DENIED", message)
        return self._scopes[scope]

    def _may(self, request: Request, scope: str) -> bool:
        return self._workspace.access.may(request.principal, f"secrets/{scope}", "READ")
