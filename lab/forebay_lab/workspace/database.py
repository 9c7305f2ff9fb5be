"""Lakebase as provisioned instances have it: an instance by its name, and credentials for it.

Simulated: the data is in whatever Postgres stands behind a `Gateway`.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from forebay_lab.workspace.credentials import Credentials
from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace


@dataclass
class Database(Area):
    """The instances; a principal needs CAN_USE on `database-instances/NAME` to be given a token."""

    workspace: Workspace
    instances: dict[str, dict[str, Any]] = field(default_factory=dict)
    credentials: Credentials = field(init=False)

    def __post_init__(self) -> None:
        self.credentials = Credentials(lambda: self.workspace.now())

    def add_instance(self, name: str, host: str = "127.0.0.1", *, state: str = "AVAILABLE") -> None:
        """Make an instance."""
        self.instances[name] = {
            "name": name,
            "uid": str(uuid.uuid4()),
            "capacity": "CU_1",
            "pg_version": "PG_VERSION_16",
            "read_write_dns": host,
            "state": state,
            "stopped": state == "STOPPED",
        }

    @route("GET", "/api/2.0/database/instances")
    def list_instances(self, request: Request) -> Any:
        return {"database_instances": [self._known(request, name) for name in self.instances]}

    @route("GET", "/api/2.0/database/instances/{name}")
    def get_instance(self, request: Request) -> Any:
        return self._known(request, request.params["name"])

    @route("POST", "/api/2.0/database/credentials")
    def generate_credential(self, request: Request) -> Any:
        names = request.json().get("instance_names") or []
        if len(names) != 1:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "The stand-in takes one instance name.")
        self._known(request, names[0])
        assert request.principal
        token, ends_at = self.credentials.give(request.principal.name, names[0])
        until = datetime.fromtimestamp(ends_at, UTC).isoformat().replace("+00:00", "Z")
        return {"token": token, "expiration_time": until}

    def _known(self, request: Request, name: str) -> dict[str, Any]:
        if name not in self.instances:
            raise ApiError(404, "NOT_FOUND", f"Database instance '{name}' does not exist.")
        thing = f"database-instances/{name}"
        if not self.workspace.access.may(request.principal, thing, "CAN_USE"):
            who = request.principal.name if request.principal else "nobody"
            raise ApiError(403, "PERMISSION_DENIED", f"{who} does not have CAN_USE on {thing}.")
        return self.instances[name]
