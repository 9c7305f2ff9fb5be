"""What the bundle deploys to its target `dev`, in a stand-in: areas, principals, permissions.

Simulated: the database is an embedded Postgres behind a gateway, the Volume a folder, the model a
simulation, and the job a process of this machine. The apps run wherever somebody starts them; their
proxies are here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from forebay_lab.gateway import Gateway
from forebay_lab.model_server import Simulation
from forebay_lab.workspace import Principal, Workspace
from forebay_lab.workspace.ai_functions import AiFunctions
from forebay_lab.workspace.apps import App, Apps
from forebay_lab.workspace.billing import Billing
from forebay_lab.workspace.branches import Branches
from forebay_lab.workspace.experiments import Experiments
from forebay_lab.workspace.files import Files
from forebay_lab.workspace.jobs import Job, JobRun, Jobs, command
from forebay_lab.workspace.permissions import Permissions
from forebay_lab.workspace.postgres import Postgres
from forebay_lab.workspace.runs import Work
from forebay_lab.workspace.secrets import Secrets
from forebay_lab.workspace.serving import Serving
from forebay_lab.workspace.statements import Statements
from forebay_lab.workspace.traces import Traces

DEPLOYER = "00000000-0000-4000-8000-000000000001"
ORCHESTRATOR = "00000000-0000-4000-8000-000000000002"
INTAKE = "00000000-0000-4000-8000-000000000003"
AGENT = "00000000-0000-4000-8000-000000000004"
"""The application ids of who deploys, of the apps, and of whoever the job runs as."""

PROJECT = "forebay-dev"
DATABASE = "forebay"
VOLUME = "main.forebay_dev.documents"
ROOT = "/Volumes/main/forebay_dev/documents"
MODEL = "databricks-simulated-model"
WAREHOUSE = "forebay-dev"
EXPERIMENT = "/Shared/forebay-dev"
TAG = "project=forebay-dev"
SCOPE = "forebay-dev"
APPS = {"forebay-orchestrator-dev": ORCHESTRATOR, "forebay-intake-dev": INTAKE}
PORTS = {"forebay-orchestrator-dev": 8000, "forebay-intake-dev": 8001}
"""Where `forebay serve` listens unless told otherwise."""

CALLBACK_SECRET = "whsec_c2ltdWxhdGVkLXNlY3JldC1vZi10aGUtc3RhbmQtaW4="
BILLING = ("system.billing.usage", "system.billing.list_prices")
HAS_DATABRICKS_AUTH = "select from pg_extension where extname = 'databricks_auth'"
DATABRICKS_AUTH = """
insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
select pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'databricks_auth',
    current_user::regrole, 'public'::regnamespace, false, '1.0';
create or replace function public.databricks_create_role(name text, kind text) returns void
    language plpgsql as $$ begin
        execute format('create role %I login', name);
        execute format('comment on role %I is %L', name, kind);
    end; $$;
alter extension databricks_auth add function public.databricks_create_role(text, text)
"""
"""The extension as far as it is used: entered by hand, since a server's files are not ours.

The kind of a principal, by which the workspace's database knows its logins, becomes a comment.
"""


@dataclass(slots=True)
class Deployed:
    """A workspace as the bundle leaves it; `url` is FOREBAY_DATABASE_URL from outside of an app."""

    workspace: Workspace
    gateway: Gateway
    postgres: Postgres
    files: Files
    statements: Statements
    serving: Serving
    secrets: Secrets
    jobs: Jobs
    job: Job
    apps: dict[str, App]
    superuser: str = field(repr=False)
    url: str = ""

    def secret(self, client_id: str) -> str:
        """Return what a service principal logs in with."""
        return f"simulated-secret-{client_id[-1]}"

    def login(self, client_id: str) -> dict[str, str]:
        """Return the SDK's variables of a service principal."""
        return {
            "DATABRICKS_HOST": self.workspace.url,
            "DATABRICKS_CLIENT_ID": client_id,
            "DATABRICKS_CLIENT_SECRET": self.secret(client_id),
        }

    def job_settings(self) -> dict[str, str]:
        """Return the settings that the job's task is given as parameters."""
        return {
            "FOREBAY_DATABASE_URL": self.url,
            "FOREBAY_STORAGE_ROOTS": ROOT,
            "FOREBAY_MODEL_BASE_URL": "databricks",
            "FOREBAY_MODEL_NAME": MODEL,
            "FOREBAY_VISION_MODEL_NAME": "",
            "FOREBAY_WAREHOUSE_ID": WAREHOUSE,
            "FOREBAY_BILLING_TAG": TAG,
            "FOREBAY_BILLING_APPS": ",".join(APPS),
            "FOREBAY_MLFLOW_EXPERIMENT": EXPERIMENT,
            "FOREBAY_CALLBACK_URL": f"{self.apps['forebay-orchestrator-dev'].url}/api/callbacks",
            "FOREBAY_CALLBACK_AUTH": "databricks",
            "FOREBAY_CALLBACK_SECRETS": f"secret:{SCOPE}/callbacks",
        }

    def environment(self, part: str = "person") -> dict[str, str]:
        """Return the variables of who deploys (person), or of an app as the bundle sets them."""
        common = {"FOREBAY_DATABASE_URL": self.url}
        if part == "orchestrator":
            return {
                **self.login(ORCHESTRATOR),
                **common,
                "FOREBAY_WAREHOUSE_ID": WAREHOUSE,
                "FOREBAY_BILLING_TAG": TAG,
                "FOREBAY_BILLING_APPS": ",".join(APPS),
                "FOREBAY_MLFLOW_EXPERIMENT": EXPERIMENT,
                "FOREBAY_JOB_RUN_AS": AGENT,
                "FOREBAY_CALLBACK_SECRETS": f"secret:{SCOPE}/callbacks",
            }
        if part == "intake":
            return {**self.login(INTAKE), **common, "FOREBAY_STORAGE_ROOTS": ROOT}
        if part == "agent":
            return {**self.login(AGENT), **self.job_settings()}
        person = {"FOREBAY_STORAGE_ROOTS": ROOT, "FOREBAY_JOB_RUN_AS": AGENT}
        return {**self.login(DEPLOYER), **common, **person}

    def grants(self) -> dict[tuple[str, str], str]:
        """Return the level of each principal on each thing, as the bundle declares it."""
        granted = {
            (ORCHESTRATOR, f"jobs/{self.job.job_id}"): "CAN_MANAGE_RUN",
            (ORCHESTRATOR, "experiments/1"): "CAN_READ",
            (AGENT, "experiments/1"): "CAN_EDIT",
            (AGENT, "apps/forebay-orchestrator-dev"): "CAN_USE",
            (AGENT, f"serving-endpoints/{MODEL}"): "CAN_QUERY",
            **{(ORCHESTRATOR, f"tables/{table}"): "SELECT" for table in BILLING},
        }
        for client_id in (ORCHESTRATOR, INTAKE, AGENT):
            granted[client_id, f"postgres/projects/{PROJECT}"] = "CAN_USE"
        for client_id in (ORCHESTRATOR, AGENT):
            granted[client_id, f"sql/warehouses/{WAREHOUSE}"] = "CAN_USE"
            granted[client_id, f"secrets/{SCOPE}"] = "READ"
        for client_id in (INTAKE, AGENT):
            granted[client_id, f"volumes/{VOLUME}"] = "WRITE_VOLUME"
        return granted

    def uses(self) -> dict[tuple[str, str], str]:
        """Return what is granted on catalogs and schemas, without which nothing in them counts."""
        catalog, schema, _ = VOLUME.split(".")
        return {
            **{(who, f"catalogs/{catalog}"): "USE_CATALOG" for who in (INTAKE, AGENT)},
            **{(who, f"schemas/{catalog}.{schema}"): "USE_SCHEMA" for who in (INTAKE, AGENT)},
            (ORCHESTRATOR, "catalogs/system"): "USE_CATALOG",
            (ORCHESTRATOR, "schemas/system.billing"): "USE_SCHEMA",
        }


@contextmanager
def deployed(
    superuser: str,
    folder: Path,
    *,
    port: int = 0,
    dbname: str = DATABASE,
    upstreams: Mapping[str, str] | None = None,
    latency: float = 0.2,
    has_bill: bool = False,
) -> Iterator[Deployed]:
    """Serve one over the Postgres of a superuser's DSN on a socket; documents go below `folder`.

    `has_bill`: rows of a bill are made up. `upstreams` says where an app runs, by its name. The
    database is made if it is not there.
    """
    prepare(superuser, dbname)
    workspace = Workspace(port=port)
    postgres, files, statements = Postgres(workspace), Files(workspace), Statements(workspace)
    serving = Serving(workspace, Simulation(latency=latency))
    secrets, jobs, known = Secrets(workspace), Jobs(workspace), Apps(workspace)
    experiments = Experiments(workspace)
    areas = (postgres, files, statements, serving, secrets, jobs, known, experiments)
    for area in (*areas, Traces(experiments), Permissions(workspace)):
        workspace.add(area)
    endpoint = postgres.add_project(PROJECT)
    where = conninfo_to_dict(superuser)
    socket_path = f"{where['host']}/.s.PGSQL.{where['port']}"
    upstreams = upstreams or {}
    apps = {
        name: App(workspace, name, upstreams.get(name, f"http://127.0.0.1:{PORTS[name]}"))
        for name in APPS
    }

    def check(user: str, token: str) -> bool:
        return postgres.credentials.is_good(endpoint, user, token)

    with (
        workspace,
        psycopg.connect(make_conninfo(superuser, dbname="postgres"), autocommit=True) as server,
        Gateway(socket_path, check) as gateway,
        Branches(
            postgres, gateway, lambda said: server.execute(said.encode()), [dbname]
        ) as branches,
        apps["forebay-orchestrator-dev"],
        apps["forebay-intake-dev"],
    ):
        workspace.add(branches)
        for name, client_id in APPS.items():
            known.add(apps[name], client_id=client_id)
        files.add_volume(VOLUME, folder / "documents")
        statements.add_warehouse(WAREHOUSE)
        billing = Billing(statements)
        for table in BILLING:
            statements.protect(table)
        AiFunctions(statements, files)
        serving.add(MODEL)
        experiments.add(EXPERIMENT)
        secrets.add(SCOPE, "callbacks", CALLBACK_SECRET)
        job = jobs.add("forebay-agent-dev", job_id=7)
        here = Deployed(
            workspace,
            gateway,
            postgres,
            files,
            statements,
            serving,
            secrets,
            jobs,
            job,
            apps,
            superuser,
            f"lakebase:{endpoint}?dbname={dbname}&port={gateway.port}",
        )
        _let_in(here)
        job.settings.update(_settings(here))
        job.work = _work(here)
        if has_bill:
            job.work = billing.billed(job.work, WAREHOUSE)
        yield here


def prepare(superuser: str, dbname: str = DATABASE) -> None:
    """Make the deployer's login and its database, as Lakebase has them, unless they are there."""
    with psycopg.connect(superuser, autocommit=True) as connection:
        role, database = sql.Identifier(DEPLOYER), sql.Identifier(dbname)
        if not connection.execute("select from pg_roles where rolname = %s", [DEPLOYER]).rowcount:
            connection.execute(sql.SQL("create role {} login createrole createdb").format(role))
        found = connection.execute("select from pg_database where datname = %s", [dbname])
        if not found.rowcount:
            connection.execute(sql.SQL("create database {}").format(database))
        connection.execute(sql.SQL("alter database {} owner to {}").format(database, role))
    with psycopg.connect(make_conninfo(superuser, dbname=dbname), autocommit=True) as connection:
        if not connection.execute(HAS_DATABRICKS_AUTH).rowcount:
            connection.execute(DATABRICKS_AUTH)


def _let_in(here: Deployed) -> None:
    access = here.workspace.access
    for client_id in (DEPLOYER, ORCHESTRATOR, INTAKE, AGENT):
        is_admin = client_id == DEPLOYER
        access.add(Principal(client_id, is_admin=is_admin, secret=here.secret(client_id)))
    for (name, thing), level in {**here.grants(), **here.uses()}.items():
        access.grant(name, thing, level)


def _settings(here: Deployed) -> dict[str, object]:
    """Return what the Jobs API tells of the job beside what it always does."""
    named = {
        **{
            f"forebay_{name}": f"{{{{job.parameters.forebay_{name}}}}}"
            for name in ("task_id", "attempt_id", "launch_token")
        },
        "run_id": "{{job.run_id}}",
        **here.job_settings(),
    }
    wheel = {
        "package_name": "forebay",
        "entry_point": "forebay-agent-job",
        "named_parameters": named,
    }
    return {
        "run_as": {"service_principal_name": AGENT},
        "tasks": [{"task_key": "attempt", "max_retries": 0, "python_wheel_task": wheel}],
    }


def _work(here: Deployed) -> Work:
    """Return what a run does: the job's program in a process, with nothing of ours around it."""

    def work(run: JobRun) -> None:
        settings = here.job_settings()
        ours = {n: "" for n in os.environ if n.startswith(("FOREBAY_", "DATABRICKS_", "MLFLOW_"))}
        environment = ours | here.login(AGENT) | {"MLFLOW_TRACKING_URI": "databricks"}
        arguments = [f"--{name}={value}" for name, value in settings.items()]
        command([sys.executable, "-m", "forebay_agents.job", *arguments], environment)(run)

    return work
