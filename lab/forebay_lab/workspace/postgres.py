"""Lakebase as autoscaling projects have it: resources, operations, roles and credentials.

Simulated: the data of a project is in whatever Postgres stands behind a `Gateway`, and the hosts
are what the test says they are.
"""

from __future__ import annotations

import re
import threading
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from forebay_lab.workspace.credentials import Credentials
from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

Thing = dict[str, Any]

KINDS = {
    "projects": "project",
    "branches": "branch",
    "endpoints": "endpoint",
    "roles": "role",
    "databases": "database",
    "operations": "operation",
}
COLLECTIONS = tuple(KINDS)[:-1]
OWNER = "ada@example.com"
PAGE = 100
ENDPOINT = r"projects/[^/]+/branches/[^/]+/endpoints/[^/]+"
LEAST_TTL, MOST_TTL = 300, 3600  # seconds


@dataclass(slots=True)
class Hosts:
    """Where an endpoint is reached."""

    direct: str = "127.0.0.1"
    pooled: str = "pooler.invalid"

    def as_json(self) -> Thing:
        return {"host": self.direct, "read_write_pooled_host": self.pooled}


@dataclass
class Postgres(Area):
    """The resources by their names, as they are answered; `credentials` knows the passwords.

    A principal needs CAN_USE on `postgres/projects/P` to see a project and to be given a
    credential, and CAN_MANAGE to change it.
    """

    workspace: Workspace
    hosts: Hosts = field(default_factory=Hosts)
    things: dict[str, Thing] = field(default_factory=dict)
    credentials: Credentials = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.credentials = Credentials(lambda: self.workspace.now())

    def add_project(self, project_id: str) -> str:
        """Make a project as a new one is; return the name of its primary endpoint."""
        name = f"projects/{project_id}"
        status = {
            "display_name": project_id,
            "pg_version": 18,
            "default_branch": f"{name}/branches/production",
            "owner": OWNER,
        }
        self._put(name, project_id=project_id, status=status)
        branch = self.add_branch(name, "production", is_default=True)
        return f"{branch}/endpoints/primary"

    def add_branch(
        self, project: str, branch_id: str, *, source: str | None = None, is_default: bool = False
    ) -> str:
        """Make a branch with its primary endpoint, database and owner; return its name."""
        name = f"{project}/branches/{branch_id}"
        status = {
            "branch_id": branch_id,
            "current_state": "READY",
            "default": is_default,
            "is_protected": False,
            **({} if source is None else {"source_branch": source}),
        }
        self._put(name, uid=str(uuid.uuid4()), parent=project, branch_id=branch_id, status=status)
        self.add_endpoint(name, "primary")
        self.add_role(name, "owner", {"postgres_role": OWNER, "identity_type": "USER"})
        database = {"postgres_database": "databricks_postgres", "role": f"{name}/roles/owner"}
        self._put(f"{name}/databases/databricks-postgres", parent=name, status=database)
        return name

    def add_endpoint(self, branch: str, endpoint_id: str) -> str:
        """Make a read-write endpoint; return its name."""
        name = f"{branch}/endpoints/{endpoint_id}"
        status = {
            "endpoint_type": "ENDPOINT_TYPE_READ_WRITE",
            "current_state": "ACTIVE",
            "hosts": self.hosts.as_json(),
        }
        self._put(name, parent=branch, endpoint_id=endpoint_id, status=status)
        return name

    def add_role(self, branch: str, role_id: str, spec: Thing) -> str:
        """Make a role, which logs in with a credential; return its name."""
        name = f"{branch}/roles/{role_id}"
        status = {"auth_method": "LAKEBASE_OAUTH_V1", **spec}
        self._put(name, parent=branch, role_id=role_id, status=status)
        return name

    def remove(self, name: str) -> None:
        """Take a resource away, with those below it."""
        with self._lock:
            for each in [each for each in self.things if f"{each}/".startswith(f"{name}/")]:
                del self.things[each]

    def operation(self, about: str, response: Thing | None) -> Thing:
        """Return an operation that is not done, and is when it is next asked for."""
        name = f"{about}/operations/{uuid.uuid4()}"
        empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
        with self._lock:
            self.things[name] = {"name": name, "done": True, "response": response or empty}
        return {"name": name, "done": False, "metadata": {}}

    def known(self, request: Request, name: str, level: str) -> Thing:
        """Return a resource, or raise what the API answers to whom that is not there or not his."""
        thing = self.things.get(name)
        project = "/".join(name.split("/")[:2])
        kind = KINDS.get(name.rpartition("/")[0].rpartition("/")[2], "resource")
        if thing is None:
            raise ApiError(404, "NOT_FOUND", f"{kind} id not found [TraceId: {uuid.uuid4()}]")
        if not self.workspace.access.may(request.principal, f"postgres/{project}", level):
            who = request.principal.name if request.principal else "nobody"
            raise ApiError(403, "PERMISSION_DENIED", f"{who} does not have {level} on {project}.")
        return thing

    @route("GET", "/api/2.0/postgres/{name...}")
    def get_or_list(self, request: Request) -> Any:
        name = request.params["name"]
        parent, _, collection = name.rpartition("/")
        if collection not in COLLECTIONS:
            return self.known(request, name, "CAN_USE")
        if parent:
            self.known(request, parent, "CAN_USE")
        with self._lock:
            found = [self.things[each] for each in self.things if _is_in(each, name)]
        if not parent:
            found = [each for each in found if self._may_see(request, each["name"])]
        start = int(request.query.get("page_token") or 0)
        end = start + int(request.query.get("page_size") or PAGE)
        more = {"next_page_token": str(end)} if end < len(found) else {}
        return {collection: found[start:end], **more}

    @route("POST", "/api/2.0/postgres/credentials")
    def generate_credential(self, request: Request) -> Thing:
        said = request.json()
        endpoint = said.get("endpoint", "")
        if not re.fullmatch(ENDPOINT, endpoint):
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "Field 'endpoint' is not an endpoint.")
        self.known(request, endpoint, "CAN_USE")
        assert request.principal
        token, ends_at = self.credentials.give(request.principal.name, endpoint, _ttl(said))
        return {"token": token, "expire_time": _timestamp(ends_at)}

    @route("POST", "/api/2.0/postgres/projects/{project}/branches/{branch}/roles")
    def create_role(self, request: Request) -> Thing:
        branch = "projects/{project}/branches/{branch}".format(**request.params)
        self.known(request, branch, "CAN_MANAGE")
        spec = request.json().get("spec") or {}
        role_id = request.query.get("role_id") or f"role-{uuid.uuid4().hex[:8]}"
        if not 4 <= len(role_id) <= 63:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "role_id has 4 to 63 characters.")
        if self._has_role(branch, role_id, spec):
            raise ApiError(409, "ALREADY_EXISTS", "role with such id already exists")
        name = self.add_role(branch, role_id, spec)
        return self.operation(name, self.things[name])

    @route("DELETE", "/api/2.0/postgres/projects/{project}/branches/{branch}/roles/{role}")
    def delete_role(self, request: Request) -> Thing:
        name = "projects/{project}/branches/{branch}/roles/{role}".format(**request.params)
        self.known(request, name, "CAN_MANAGE")
        self.remove(name)
        return self.operation(name.rpartition("/roles/")[0], None)

    def _has_role(self, branch: str, role_id: str, spec: Thing) -> bool:
        logins = {
            thing["status"].get("postgres_role")
            for name, thing in self.things.items()
            if _is_in(name, f"{branch}/roles")
        }
        return f"{branch}/roles/{role_id}" in self.things or spec.get("postgres_role") in logins

    def _may_see(self, request: Request, project: str) -> bool:
        return self.workspace.access.may(request.principal, f"postgres/{project}", "CAN_USE")

    def _put(self, name: str, **thing: Any) -> None:
        now = _timestamp(self.workspace.now())
        with self._lock:
            self.things[name] = {"name": name, "create_time": now, "update_time": now, **thing}


def _is_in(name: str, collection: str) -> bool:
    return name.rpartition("/")[0] == collection


def _ttl(said: Thing) -> float | None:
    """Return the seconds that were asked for, if any."""
    if "ttl" not in said:
        return None
    seconds = float(str(said["ttl"]).removesuffix("s"))
    if not LEAST_TTL <= seconds <= MOST_TTL:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "ttl is from 300s to 3600s.")
    return seconds


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
