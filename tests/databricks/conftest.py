"""Fixtures: a stand-in workspace of the test's own, and the real SDK's client of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from databricks.sdk import WorkspaceClient
from pytest_postgresql.executors import NoopExecutor

from databricks.support_project import Project, lakebase_project
from forebay.databricks.client import workspace_client
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import Workspace
from forebay_lab.workspace.jobs import Jobs
from support.lakeflow import add_jobs, quick_launcher
from support.server import TestServer


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """Serve a stand-in without areas: a test adds those that it needs."""
    with Workspace() as served:
        yield served


@pytest.fixture
def client(workspace: Workspace) -> Callable[..., WorkspaceClient]:
    """Return a function that makes a client: its options are those of workspace_client."""

    def make(**options: Any) -> WorkspaceClient:
        given = {"host": workspace.url, "token": workspace.token}
        limits = {"http_seconds": 60, "retry_seconds": 5}
        return workspace_client(**given | limits | options)

    return make


@pytest.fixture
def project(
    server: TestServer, template: NoopExecutor, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    """Serve a Lakebase project, and set the variables that lead to it as an owner of the schema."""
    with lakebase_project(server, str(template.template_dbname), monkeypatch) as project:
        yield project


@pytest.fixture
def jobs(workspace: Workspace) -> Jobs:
    """Serve a job whose runs live until the test ends them."""
    return add_jobs(workspace)[0]


@pytest.fixture
def launcher(jobs: Jobs, client: Callable[..., WorkspaceClient]) -> LakeflowLauncher:
    return quick_launcher(client)


@pytest.fixture
def daemon_dsn(role_dsn: Callable[..., str]) -> str:
    return role_dsn("worker", "agent")
