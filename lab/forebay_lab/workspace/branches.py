"""Branches of a Lakebase project: each is a clone of the databases, behind a gateway of its own.

Simulated: a real branch shares its pages with its source and is there at once, has the same
databases by the same names, the cluster's identifier and its roles. Here the databases are cloned
in the same server, and the gateway of the branch leads to the clones by the names of the source.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from forebay_lab.gateway import Gateway
from forebay_lab.workspace.postgres import Postgres, Thing
from forebay_lab.workspace.routing import ApiError, Area, Request, route

Execute = Callable[[str], object]
"""Runs a statement on the server as its superuser, outside of any database that is cloned."""

BRANCH_ID = re.compile(r"[a-z][a-z0-9-]{0,62}")
LONGEST_TTL = 30 * 24 * 3600  # seconds


@dataclass
class Branches(Area):
    """POST and DELETE of branches, beside a `Postgres` area; use it as a context.

    `gateway` is that of the source, whose databases `dbnames` are what is cloned. Tests may have
    branches come without an endpoint, or with a wrong host, and operations fail with a message.
    """

    postgres: Postgres
    gateway: Gateway
    execute: Execute
    dbnames: list[str]
    has_endpoints: bool = True
    wrong_host: str | None = None
    failure: str | None = None
    clones: dict[str, dict[str, str]] = field(default_factory=dict)
    gateways: dict[str, Gateway] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Branches:
        return self

    def __exit__(self, *_: object) -> None:
        for branch in list(self.clones):
            self.drop(branch)
        self._stack.close()

    @route("POST", "/api/2.0/postgres/projects/{project}/branches")
    def create(self, request: Request) -> Thing:
        project = f"projects/{request.params['project']}"
        self.postgres.known(request, project, "CAN_MANAGE")
        branch_id = request.query.get("branch_id", "")
        if not BRANCH_ID.fullmatch(branch_id):
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "Field 'branch_id' is required...")
        with self._lock:
            return self._create(request, project, branch_id)

    def _create(self, request: Request, project: str, branch_id: str) -> Thing:
        name = f"{project}/branches/{branch_id}"
        if name in self.postgres.things:
            raise ApiError(409, "ALREADY_EXISTS", "branch with such id already exists")
        spec = request.json().get("spec") or {}
        source = spec.get("source_branch", f"{project}/branches/production")
        self.postgres.known(request, source, "CAN_USE")
        _check_life(spec)
        if self.failure:
            return self._failed(name)
        self._clone(name, branch_id, source)
        self.postgres.add_branch(project, branch_id, source=source)
        self.postgres.things[name]["spec"] = spec
        endpoint = f"{name}/endpoints/primary"
        self.postgres.things[endpoint]["status"]["hosts"] = {
            "host": self.wrong_host or self.gateways[name].host
        }
        if not self.has_endpoints:
            self.postgres.remove(endpoint)
        return self.postgres.operation(name, self.postgres.things[name])

    @route("POST", "/api/2.0/postgres/projects/{project}/branches/{branch}/endpoints")
    def create_endpoint(self, request: Request) -> Thing:
        branch = "projects/{project}/branches/{branch}".format(**request.params)
        self.postgres.known(request, branch, "CAN_MANAGE")
        name = self.postgres.add_endpoint(branch, request.query.get("endpoint_id", "primary"))
        self.postgres.things[name]["status"]["hosts"] = {"host": self.gateways[branch].host}
        return self.postgres.operation(name, self.postgres.things[name])

    @route("DELETE", "/api/2.0/postgres/projects/{project}/branches/{branch}")
    def delete(self, request: Request) -> Thing:
        name = "projects/{project}/branches/{branch}".format(**request.params)
        with self._lock:
            return self._delete(request, name)

    def _delete(self, request: Request, name: str) -> Thing:
        thing = self.postgres.known(request, name, "CAN_MANAGE")
        if thing["status"].get("default"):
            raise ApiError(400, "BAD_REQUEST", "cannot delete the default branch")
        if thing["status"].get("is_protected"):
            raise ApiError(400, "BAD_REQUEST", "cannot delete protected branch")
        if any(_source(each) == name for each in self.postgres.things.values()):
            raise ApiError(400, "BAD_REQUEST", "cannot delete a branch that has children")
        self.drop(name)
        self.postgres.remove(name)
        return self.postgres.operation(name.rpartition("/branches/")[0], None)

    def drop(self, name: str) -> None:
        """Take a branch's gateway and databases away."""
        if gateway := self.gateways.pop(name, None):
            gateway.__exit__(None, None, None)
        for clone in self.clones.pop(name, {}).values():
            self.execute(f'drop database if exists "{clone}" with (force)')

    def _clone(self, name: str, branch_id: str, source: str) -> None:
        """Copy the databases, and disconnect who uses them: a template clone cannot without."""
        self.clones[name] = {}
        for dbname in self.dbnames:
            copied = self.clones.get(source, {}).get(dbname, dbname)
            clone = f"{dbname}@{branch_id}"[:63]
            self.execute(f'drop database if exists "{clone}" with (force)')  # of an earlier run
            self.execute(f'alter database "{copied}" allow_connections false')
            self.execute(
                f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{copied}'"
            )
            try:
                self.execute(f'create database "{clone}" template "{copied}"')
            finally:
                self.execute(f'alter database "{copied}" allow_connections true')
            self.clones[name][dbname] = clone
        endpoint = f"{name}/endpoints/primary"
        gateway = Gateway(
            self.gateway.socket_path,
            lambda user, token: self.postgres.credentials.is_good(endpoint, user, token),
            port=self.gateway.port,
            host=f"127.0.0.{len(self.gateways) + 2}",
            databases=dict(self.clones[name]),
        )
        self.gateways[name] = gateway.__enter__()

    def _failed(self, name: str) -> Thing:
        """Return an operation that fails: what it was to make is not there."""
        operation = self.postgres.operation(name, None)
        stored: dict[str, Any] = self.postgres.things[operation["name"]]
        del stored["response"]
        stored["error"] = {"error_code": "INTERNAL_ERROR", "message": self.failure}
        return operation


def _source(thing: Thing) -> str | None:
    status = thing.get("status")
    return status.get("source_branch") if isinstance(status, dict) else None


def _check_life(spec: Thing) -> None:
    told = [key for key in ("ttl", "expire_time", "no_expiry") if key in spec]
    if len(told) != 1:
        message = "Exactly one of ttl, expire_time and no_expiry is required."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
    if "ttl" in spec and float(spec["ttl"].removesuffix("s")) > LONGEST_TTL:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", "ttl is at most 2592000s.")
