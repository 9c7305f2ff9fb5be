"""The stand-in's Lakebase as the real SDK sees it, and the gateway before its databases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.common.lro import LroOptions
from databricks.sdk.errors import (
    AlreadyExists,
    InvalidParameterValue,
    NotFound,
    PermissionDenied,
)
from databricks.sdk.service.postgres import Role, RoleIdentityType, RoleRoleSpec
from google.protobuf.duration_pb2 import Duration

from forebay.pool import Database as ForebayDatabase
from forebay_lab.gateway import Gateway
from forebay_lab.workspace import Principal, Workspace
from forebay_lab.workspace.database import Database
from forebay_lab.workspace.postgres import Postgres
from support.server import TestServer

Client = Callable[..., WorkspaceClient]
BRANCH = "projects/forebay/branches/production"
ENDPOINT = f"{BRANCH}/endpoints/primary"
SOON = LroOptions(timeout=timedelta(seconds=20))


@pytest.fixture
def postgres(workspace: Workspace) -> Postgres:
    """Serve the project forebay as a new one is."""
    area = Postgres(workspace)
    workspace.add(area)
    assert area.add_project("forebay") == ENDPOINT
    return area


def test_a_new_project_has_a_branch_an_endpoint_and_a_database(
    postgres: Postgres, client: Client
) -> None:
    w = client()
    assert [each.name for each in w.postgres.list_projects()] == ["projects/forebay"]
    (branch,) = w.postgres.list_branches("projects/forebay")
    assert (branch.name, branch.status.default) == (BRANCH, True)  # type: ignore[union-attr]
    (endpoint,) = w.postgres.list_endpoints(BRANCH)
    hosts = endpoint.status.hosts  # type: ignore[union-attr]
    assert (hosts.host, hosts.read_write_pooled_host) == ("127.0.0.1", "pooler.invalid")  # type: ignore[union-attr]
    (database,) = w.postgres.list_databases(BRANCH)
    assert database.status.postgres_database == "databricks_postgres"  # type: ignore[union-attr]
    with pytest.raises(NotFound, match="branch id not found"):
        w.postgres.get_branch("projects/forebay/branches/none")


def test_a_list_comes_in_pages(postgres: Postgres, client: Client) -> None:
    for number in range(5):
        postgres.add_role(BRANCH, f"role-{number}", {"postgres_role": f"r{number}"})
    assert len(list(client().postgres.list_roles(BRANCH, page_size=2))) == 6


def test_a_role_is_made_by_an_operation_and_taken_away_again(
    postgres: Postgres, client: Client
) -> None:
    w = client()
    role = Role(
        spec=RoleRoleSpec(postgres_role="an-app", identity_type=RoleIdentityType.SERVICE_PRINCIPAL)
    )
    made = w.postgres.create_role(BRANCH, role, role_id="an-app").wait(SOON)
    assert made.name == f"{BRANCH}/roles/an-app"
    assert made.status.postgres_role == "an-app"  # type: ignore[union-attr]
    with pytest.raises(AlreadyExists):
        w.postgres.create_role(BRANCH, role, role_id="another")
    w.postgres.delete_role(made.name).wait(SOON)
    with pytest.raises(NotFound):
        w.postgres.get_role(made.name)


def test_who_may_not_use_a_project_gets_no_credential(
    workspace: Workspace, postgres: Postgres, client: Client
) -> None:
    workspace.access.add(Principal("an-app"), "app-token")
    app = client(token="app-token")
    assert list(app.postgres.list_projects()) == []
    with pytest.raises(PermissionDenied, match="CAN_USE"):
        app.postgres.generate_database_credential(ENDPOINT)
    workspace.access.grant("an-app", "postgres/projects/forebay", "CAN_USE")
    given = app.postgres.generate_database_credential(ENDPOINT)
    assert postgres.credentials.is_good(ENDPOINT, "an-app", given.token or "")
    assert not postgres.credentials.is_good(ENDPOINT, "ada@example.com", given.token or "")
    with pytest.raises(PermissionDenied, match="CAN_MANAGE"):
        app.postgres.create_role(BRANCH, Role(), role_id="mine")


def test_a_credential_lasts_as_long_as_was_asked(postgres: Postgres, client: Client) -> None:
    postgres.workspace.now = lambda: 1_000_000.0
    w = client()
    given = w.postgres.generate_database_credential(ENDPOINT, ttl=Duration(seconds=600))
    assert given.expire_time is not None
    assert given.expire_time.ToSeconds() == 1_000_600
    with pytest.raises(InvalidParameterValue, match="300s"):
        w.postgres.generate_database_credential(ENDPOINT, ttl=Duration(seconds=10))


def test_an_instance_is_found_by_its_name(workspace: Workspace, client: Client) -> None:
    area = Database(workspace)
    workspace.add(area)
    area.add_instance("main", "db.example")
    w = client()
    assert w.database.get_database_instance("main").read_write_dns == "db.example"
    given = w.database.generate_database_credential(instance_names=["main"])
    assert area.credentials.is_good("main", "ada@example.com", given.token or "")
    with pytest.raises(NotFound):
        w.database.get_database_instance("none")


def test_the_gateway_wants_tls_and_a_good_password(server: TestServer) -> None:
    """A call that goes on behind it can be cancelled through it."""
    path = f"{server.host}/.s.PGSQL.{server.port}"
    with Gateway(path, lambda user, password: password == "good") as gateway:
        where = f"host=127.0.0.1 port={gateway.port} user={server.user} dbname=postgres"
        with pytest.raises(psycopg.OperationalError, match="requires TLS"):
            psycopg.connect(f"{where} sslmode=disable password=good")
        where += " sslmode=require"
        with pytest.raises(psycopg.OperationalError, match="authentication failed"):
            psycopg.connect(f"{where} password=bad")
        with ForebayDatabase(f"{where} password=good").connect() as conn:
            timer = threading.Timer(0.5, conn.cancel_safe)
            timer.start()
            with pytest.raises(psycopg.errors.QueryCanceled):
                conn.execute("select pg_sleep(60)")
        assert [login.outcome for login in gateway.logins] == ["28000", "28P01", "ok"]
