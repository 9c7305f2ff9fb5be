"""Branches of Lakebase: copies that share what they have in common with their source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import psycopg
from databricks.sdk import WorkspaceClient, errors
from databricks.sdk.common.lro import LroOptions
from databricks.sdk.service import postgres
from google.protobuf.duration_pb2 import Duration  # type: ignore[import-untyped]

from forebay.copies import Copy
from forebay.databricks.answers import absent
from forebay.databricks.client import workspace_client
from forebay.databricks.lakebase import SCHEME, Address
from forebay.databricks.login import words
from forebay.errors import BranchError
from forebay.logs import first_line

PREFIX = "forebay-"
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,53}[a-z0-9])?")
LIFE, LONGEST_LIFE = timedelta(days=7), timedelta(days=30)
OPERATION = LroOptions(timeout=timedelta(minutes=5))
"""How long one operation of the workspace may take."""


class LakebaseBranches:
    """Branches beside that of a `lakebase:` URL. The id of one is forebay- and then its name."""

    finding_is_proof = True  # the workspace says what a branch was made of
    cleaning: tuple[str, ...] = ("vacuum (analyze)",)  # nobody gets to the files of a branch

    def __init__(self, url: str, client: WorkspaceClient | None = None) -> None:
        self._address = Address.read(url)
        self._source = self._address.place.rpartition("/endpoints/")[0]
        self._project = self._source.rpartition("/branches/")[0]
        self._workspace = client

    @property
    def _client(self) -> WorkspaceClient:
        self._workspace = self._workspace or workspace_client()
        return self._workspace

    def check(self, name: str, life: timedelta | None) -> None:
        if not NAME.fullmatch(name):
            raise BranchError(
                f"{name!r} is no name for a branch of Lakebase: use up to 55 lower-case letters,"
                " digits and hyphens."
            )
        if life is not None and not timedelta(0) < life <= LONGEST_LIFE:
            raise BranchError(f"A branch of Lakebase lives for {LONGEST_LIFE.days} days at most.")

    def make(self, name: str, life: timedelta | None) -> Copy:
        """Make it, with an endpoint to write to; it expires by itself, after 7 days by default."""
        branch = self._branch(name)
        spec = postgres.BranchSpec(
            source_branch=self._source, ttl=Duration(seconds=int((life or LIFE).total_seconds()))
        )
        with _sentences("was not made"):
            if there := self._there(branch):
                raise BranchError(
                    f"There is a branch {branch} in the workspace, made of {_source(there)}: delete"
                    " it where it was made, or take another name."
                )
        copy = Copy(name, is_ours=False)
        try:
            with _sentences("was not made"):
                if operation := self._create(name, spec):
                    copy = replace(copy, is_ours=True)
                    operation.wait(OPERATION)
                there = self._there(branch)
                self._ensure_endpoint(branch)
                return replace(copy, identity=there.uid if there else None)
        except BaseException as error:
            self._take_back(copy, error)
            raise

    def remove(self, copy: Copy) -> None:
        branch = self._branch(copy.name)
        with _sentences("was not deleted"):
            there = self._there(branch) if copy.identity else None
            if copy.identity is None or (there and there.uid == copy.identity):
                self._remove(branch)

    def found(self, source: psycopg.Connection[Any]) -> list[Copy]:
        with _sentences("cannot be listed"):
            return [
                Copy(branch.name.rpartition("/")[2].removeprefix(PREFIX))
                for branch in self._client.postgres.list_branches(self._project)
                if branch.name and self._is_ours(branch)
            ]

    def url(self, name: str) -> str:
        with _sentences("cannot be looked up"):
            endpoint = self._endpoint(self._branch(name))
        if endpoint is None:
            raise BranchError(f"The branch {name!r} has no endpoint to write to.")
        return self._to(endpoint)

    def shown(self, name: str) -> str:
        try:
            return self.url(name)
        except BranchError:
            return self._to(f"{self._branch(name)}/endpoints/primary")

    def _branch(self, name: str) -> str:
        return f"{self._project}/branches/{PREFIX}{name}"

    def _to(self, endpoint: str) -> str:
        given = {k: v for k, v in self._address.given.items() if k != "host"}
        return f"{SCHEME}{endpoint}" + (f"?{urlencode(given)}" if given else "")

    def _is_ours(self, branch: postgres.Branch) -> bool:
        is_default = bool(branch.status and branch.status.default)
        is_named = (branch.name or "").startswith(f"{self._project}/branches/{PREFIX}")
        return is_named and self._source == _source(branch) and not is_default

    def _there(self, branch: str) -> postgres.Branch | None:
        with absent():
            return self._client.postgres.get_branch(branch)
        return None

    def _create(
        self, name: str, spec: postgres.BranchSpec
    ) -> postgres.CreateBranchOperation | None:
        """Begin to make it; None: it is there, and who made it is not known.

        The SDK posts again when an answer is lost, and is then told what a second one is told.
        """
        made = postgres.Branch(spec=spec)
        try:
            return self._client.postgres.create_branch(self._project, made, f"{PREFIX}{name}")
        except errors.AlreadyExists:
            return None

    def _endpoint(self, branch: str) -> str | None:
        """Return the name of the endpoint that takes writes, if there is one."""
        for endpoint in self._client.postgres.list_endpoints(branch):
            status, spec = endpoint.status, endpoint.spec
            kind = (status and status.endpoint_type) or (spec and spec.endpoint_type)
            if kind is postgres.EndpointType.ENDPOINT_TYPE_READ_WRITE:
                return endpoint.name
        return None

    def _ensure_endpoint(self, branch: str) -> None:
        if self._endpoint(branch) is None:
            spec = postgres.EndpointSpec(postgres.EndpointType.ENDPOINT_TYPE_READ_WRITE)
            made = postgres.Endpoint(spec=spec)
            with suppress(errors.AlreadyExists):
                self._client.postgres.create_endpoint(branch, made, "primary").wait(OPERATION)

    def _remove(self, branch: str) -> None:
        """Delete it for good: a branch that is only marked as deleted could be brought back."""
        with absent():  # the SDK may ask twice
            self._client.postgres.delete_branch(branch, purge=True).wait(OPERATION)

    def _take_back(self, copy: Copy, error: BaseException) -> None:
        left = "may be somebody else's"
        try:
            if copy.is_ours:
                return self.remove(copy)
            with _sentences("cannot be looked up"):
                if self._there(self._branch(copy.name)) is None:
                    return None
        except BranchError as failed:
            left = f"could not be removed ({failed})"
        raise BranchError(
            f"{first_line(error)} What was made of it may be there, is NOT masked, and {left}: look"
            f" at {self._branch(copy.name)} in the workspace."
        ) from error


def _source(branch: postgres.Branch) -> str | None:
    """Return what a branch was made of, as far as the workspace says it."""
    told = (branch.status, branch.spec)
    return next((each.source_branch for each in told if each and each.source_branch), None)


@contextmanager
def _sentences(what: str) -> Iterator[None]:
    """Raise whatever the workspace answers, or does not, as BranchError."""
    try:
        yield
    except BranchError:
        raise
    except Exception as error:  # the SDK raises a bare one for an operation that failed
        raise BranchError(
            f"The branch {what}: the workspace says {type(error).__name__}: {words(error)}."
        ) from error
