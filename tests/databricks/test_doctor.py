"""The doctor: whatever is taken away is said in one line, and with all in place nothing is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import psycopg
import pytest
from databricks.sdk.errors import PermissionDenied
from databricks.sdk.service.catalog import PermissionsChange, Privilege
from psycopg import sql

from apps.support.serving import running
from databricks.support_bundle import joined
from databricks.support_deploy import deploy
from databricks.support_deployed import become, standing
from forebay.calls import operator
from forebay.cli.serve import _look_around
from forebay.databricks.bootstrap import admit
from forebay.databricks.checks.others import others
from forebay.databricks.client import workspace_client
from forebay.databricks.doctor import examine
from forebay.databricks.findings import Case, Finding
from forebay.databricks.principals import CALLERS, Part, Principal
from forebay.databricks.secrets import resolved
from forebay.errors import SettingError
from forebay.pool import Database
from forebay_apps.orchestrator.app import create_app
from forebay_lab.workspace import Fault
from forebay_lab.workspace.apps import App
from forebay_lab.workspace.deployed import (
    AGENT,
    APPS,
    BILLING,
    CALLBACK_SECRET,
    DEPLOYER,
    INTAKE,
    MODEL,
    ORCHESTRATOR,
    PROJECT,
    ROOT,
    SCOPE,
    VOLUME,
    WAREHOUSE,
    Deployed,
)
from support.cli import Cli
from support.server import TestServer

APP = "forebay-orchestrator-dev"
PRINCIPALS: dict[Part, str] = {"orchestrator": ORCHESTRATOR, "intake": INTAKE, "agent": AGENT}


@pytest.fixture
def here(
    server: TestServer,
    superuser: psycopg.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployed]:
    """Serve a workspace that lacks nothing, with the orchestrator behind its proxy."""
    become(monkeypatch, {})
    with standing(server, superuser, tmp_path) as deployed:
        become(monkeypatch, deployed.environment())
        admit(
            Database(deployed.url),
            [Principal(part, name) for part, name in PRINCIPALS.items()],
        )
        operator.register_agent(
            superuser, agent="parse_document", launcher="lakeflow", job_id=deployed.job.job_id
        )
        yield deployed


@pytest.fixture
def orchestrator(here: Deployed, tmp_path: Path, role_dsn: Callable[..., str]) -> Iterator[App]:
    """Serve the orchestrator where its proxy looks for it."""
    settings = {
        "FOREBAY_DATABASE_URL": role_dsn("all"),
        "FOREBAY_HOME": str(tmp_path / "home"),
        "FOREBAY_CALLBACK_SECRETS": CALLBACK_SECRET,
    }
    app = here.apps["forebay-orchestrator-dev"]
    with running(create_app(settings)) as url:
        app.upstream = url
        yield app


@pytest.fixture
def look(here: Deployed, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Finding]]:
    """Return a function that examines a part as the part itself, and gives what is not ok."""

    def look(part: Part, **options: Any) -> list[Finding]:
        ours = {name: options.pop(name) for name in list(options) if name.isupper()}
        settings = here.environment(part) | ours
        become(monkeypatch, settings)
        found = examine(part, settings, **options)
        assert all("\n" not in finding.said for finding in found)
        return [finding for finding in found if finding.state in ("missing", "unknown")]

    return look


@pytest.mark.parametrize("part", ["orchestrator", "intake", "agent", "person"])
def test_a_whole_workspace_lacks_nothing(
    here: Deployed, orchestrator: App, look: Callable[..., list[Finding]], part: Part
) -> None:
    """What the bundle declares is all that each part needs."""
    assert look(part) == []


GRANTS: list[tuple[Part, str, str]] = [
    ("orchestrator", f"postgres/projects/{PROJECT}", "database"),
    ("orchestrator", "jobs/7", "job 7"),
    ("orchestrator", f"sql/warehouses/{WAREHOUSE}", "warehouse"),
    ("orchestrator", "experiments/1", "experiment"),
    ("orchestrator", f"secrets/{SCOPE}", f"secret {SCOPE}/callbacks"),
    *(("orchestrator", f"tables/{table}", f"table {table}") for table in BILLING),
    ("intake", f"postgres/projects/{PROJECT}", "database"),
    ("intake", f"volumes/{VOLUME}", f"documents {ROOT}"),
    ("agent", f"postgres/projects/{PROJECT}", "database"),
    ("agent", f"volumes/{VOLUME}", f"documents {ROOT}"),
    ("agent", f"sql/warehouses/{WAREHOUSE}", "warehouse"),
    ("agent", f"serving-endpoints/{MODEL}", f"serving endpoint {MODEL}"),
    ("agent", "experiments/1", "experiment"),
    ("agent", "apps/forebay-orchestrator-dev", "callback"),
]


@pytest.mark.parametrize(("part", "thing", "check"), GRANTS)
def test_each_permission_that_is_taken_away_is_one_line(
    here: Deployed,
    orchestrator: App,
    look: Callable[..., list[Finding]],
    part: Part,
    thing: str,
    check: str,
) -> None:
    """Just that one, and the line says what to grant or whom to ask."""
    here.workspace.access.revoke(PRINCIPALS[part], thing)
    (finding,) = look(part)
    assert (finding.check, finding.state) == (check, "missing")
    assert len(finding.said) > 20


def test_the_list_above_has_every_permission(here: Deployed) -> None:
    """Each grant of the bundle is taken away above, but one that two lines tell of: see below."""
    names = {name: part for part, name in PRINCIPALS.items()}
    declared = {(names[name], thing) for name, thing in here.grants()}
    assert {(part, thing) for part, thing, _ in GRANTS} | {
        ("agent", f"secrets/{SCOPE}")
    } == declared


def test_an_unreadable_secret_is_said_where_it_is_needed_too(
    here: Deployed, orchestrator: App, look: Callable[..., list[Finding]]
) -> None:
    """Without the secret no callback can be signed."""
    here.workspace.access.revoke(AGENT, f"secrets/{SCOPE}")
    assert [finding.check for finding in look("agent")] == [f"secret {SCOPE}/callbacks", "callback"]


@pytest.mark.parametrize(
    ("part", "thing", "level", "check"),
    [
        ("orchestrator", "jobs/7", "CAN_VIEW", "CAN_MANAGE_RUN on jobs/7"),
        ("agent", "experiments/1", "CAN_READ", "CAN_EDIT on experiments/1"),
        ("agent", f"volumes/{VOLUME}", "READ_VOLUME", f"documents {ROOT}"),
    ],
)
def test_a_level_that_is_too_low_is_one_line(
    here: Deployed,
    orchestrator: App,
    look: Callable[..., list[Finding]],
    part: Part,
    thing: str,
    level: str,
    check: str,
) -> None:
    """To see a thing is not enough."""
    here.workspace.access.grant(PRINCIPALS[part], thing, level)
    (finding,) = look(part)
    assert (finding.check, finding.state) == (check, "missing")


@pytest.mark.parametrize("part", PRINCIPALS)
def test_each_role_that_is_taken_away_is_one_line(
    here: Deployed,
    orchestrator: App,
    look: Callable[..., list[Finding]],
    superuser: psycopg.Connection,
    part: Part,
) -> None:
    """The database's roles are tried one by one, and bootstrap is named."""
    lacking = CALLERS[part][0]
    revoke = sql.SQL("revoke {} from {} granted by {}").format(
        *map(sql.Identifier, (f"forebay_{lacking}", PRINCIPALS[part], DEPLOYER))
    )
    superuser.execute(revoke)
    found = [finding for finding in look(part) if finding.check == "roles"]
    assert [f"forebay_{lacking}" in finding.said for finding in found] == [True]
    assert "bootstrap" in found[0].said


@pytest.mark.parametrize("setting", ["FOREBAY_BILLING_TAG", "FOREBAY_BILLING_PRICE"])
@pytest.mark.parametrize("part", ["orchestrator", "person"])
def test_what_no_bill_can_be_read_with_is_one_line(
    here: Deployed,
    orchestrator: App,
    look: Callable[..., list[Finding]],
    part: Part,
    setting: str,
) -> None:
    """The bill would be refused each time that somebody asks for it."""
    (finding,) = look(part, FOREBAY_WAREHOUSE_ID=WAREHOUSE, **{setting: "nonsense"})
    assert (finding.check, finding.state) == ("bill", "missing")
    assert finding.said.startswith(f"{setting} is 'nonsense': set it to")


def broken_run_as(here: Deployed) -> None:
    here.job.settings["run_as"] = {"user_name": "ada@example.com"}


def no_secret(here: Deployed) -> None:
    here.secrets._scopes[SCOPE].clear()


def no_job(here: Deployed) -> None:
    here.jobs.remove(here.job.job_id)


BROKEN: list[tuple[Part, Callable[[Deployed], None], str, str]] = [
    ("orchestrator", broken_run_as, "job 7 run_as", "set the job's run_as again"),
    ("orchestrator", no_secret, f"secret {SCOPE}/callbacks", "put-secret"),
    ("orchestrator", no_job, "job 7", "correct the id"),
]


@pytest.mark.parametrize(("part", "break_it", "check", "said"), BROKEN)
def test_what_is_wrong_otherwise_is_one_line(
    here: Deployed,
    look: Callable[..., list[Finding]],
    part: Part,
    break_it: Callable[[Deployed], None],
    check: str,
    said: str,
) -> None:
    """A redeploy that changed run_as, a secret that nobody put, a job that is gone."""
    break_it(here)
    (finding,) = look(part)
    assert (finding.check, finding.state) == (check, "missing")
    assert said in finding.said


GATEWAYS: list[tuple[Part, str, str]] = [
    ("orchestrator", "/jobs/get", "job 7"),
    ("orchestrator", "/sql/warehouses/", "warehouse"),
    ("orchestrator", "/mlflow/experiments/", "experiment"),
    ("orchestrator", "/secrets/list", f"secret {SCOPE}/callbacks"),
    ("agent", "/serving-endpoints/", f"serving endpoint {MODEL}"),
]


@pytest.mark.parametrize(("part", "on", "check"), GATEWAYS)
@pytest.mark.parametrize("status", [403, 404])
def test_a_gateways_refusal_sends_nobody_to_mend_what_is_there(
    here: Deployed,
    orchestrator: App,
    look: Callable[..., list[Finding]],
    part: Part,
    on: str,
    check: str,
    status: int,
) -> None:
    """Nothing is known of the thing then."""
    page = "<html><title>No</title></html>"
    here.workspace.faults.add(Fault("status", f"GET .*{on}", status, page=page, times=None))
    (finding,) = look(part)
    assert (finding.check, finding.state) == (check, "unknown")
    assert finding.said == "No: look again when the workspace answers"


@pytest.mark.parametrize(
    ("on", "check"),
    [
        ("oidc/v1/token", "workspace"),
        ("/api/2.0/postgres/", "database"),
        ("PUT .*/fs/files/", f"documents {ROOT}"),
    ],
)
@pytest.mark.parametrize("status", [403, 503])
def test_what_a_gateway_answers_is_nothing_that_is_missing(
    here: Deployed, look: Callable[..., list[Finding]], on: str, check: str, status: int
) -> None:
    """Where the workspace itself did not speak, all may be fine."""
    page = "<html><title>No</title></html>"
    here.workspace.faults.add(Fault("status", on, status, page=page, times=None))
    (finding,) = look("intake")
    assert (finding.check, finding.state) == (check, "unknown")
    assert "READ VOLUME" not in finding.said


def test_a_branch_that_is_not_open_is_said(
    here: Deployed,
    orchestrator: App,
    look: Callable[..., list[Finding]],
    superuser: psycopg.Connection,
) -> None:
    """All is there, and nothing starts."""
    superuser.execute("update forebay.installation set is_branch = true")
    (finding,) = look("orchestrator")
    assert (finding.check, finding.state) == ("database", "missing")
    assert "a branch or a copy that is not open" in finding.said


def test_a_schema_that_is_not_there_is_said(
    here: Deployed, look: Callable[..., list[Finding]], superuser: psycopg.Connection
) -> None:
    """With the command that mends it."""
    superuser.execute("alter schema forebay rename to gone")
    found = {finding.check: finding.said for finding in look("intake")}
    assert "db upgrade" in found["schema"]


def test_a_pooler_that_swallows_notifications_is_said(
    here: Deployed, look: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LISTEN is tried for real: a notification has to arrive."""
    monkeypatch.setattr("forebay.databricks.checks.database.LISTEN_SECONDS", 4)
    here.gateway.swallows_notifications = True
    (finding,) = look("intake")
    assert finding.check == "listen"
    assert "pooler" in finding.said


def test_an_orchestrator_that_is_down_is_said(
    here: Deployed, look: Callable[..., list[Finding]]
) -> None:
    """The path of callbacks is tried whole: without the app the proxy answers."""
    here.apps["forebay-orchestrator-dev"].upstream = "http://127.0.0.1:9"
    (finding,) = look("agent")
    assert finding.check == "callback"
    assert "502" in finding.said


def test_a_callback_secret_of_another_app_is_said(
    here: Deployed, orchestrator: App, look: Callable[..., list[Finding]]
) -> None:
    """The signature is tried, not only the way."""
    here.secrets.add(SCOPE, "callbacks", "whsec_" + "b3RoZXIh" * 4)
    (finding,) = look("agent")
    assert finding.check == "callback"
    assert "another one there" in finding.said


def test_nothing_is_changed_and_nothing_is_left(
    here: Deployed, orchestrator: App, look: Callable[..., list[Finding]], db: psycopg.Connection
) -> None:
    """Beside the probe file nothing is written; the workspace is asked to do nothing else."""
    count = "select count(*) from forebay.audit_log"
    before = db.execute(count).fetchone()
    here.workspace.log.clear()
    for part in CALLERS:
        assert look(part) == []
    assert db.execute(count).fetchone() == before
    assert list(here.files.path(ROOT).iterdir()) == []
    written = {
        (one.method, one.path.split("/")[3])
        for one in here.workspace.log
        if one.method != "GET" and one.path.startswith("/api/")
    }
    assert written <= {
        ("POST", "postgres"),  # credentials
        ("POST", "sql"),
        ("PUT", "fs"),
        ("POST", "fs"),
        ("DELETE", "fs"),
        ("HEAD", "fs"),
    }


def test_a_workspace_that_hangs_takes_bounded_time(
    here: Deployed, look: Callable[..., list[Finding]]
) -> None:
    """What does not answer is said to, and the rest is looked at all the same."""
    here.workspace.faults.add(Fault("hang", on="GET /api/2.0/sql", seconds=30, times=None))
    began = time.monotonic()
    found = look("orchestrator", seconds=8)
    assert time.monotonic() - began < 15
    assert [(one.check, one.state) for one in found] == [("warehouse", "unknown")]
    here.workspace.faults.clear()


def test_a_wrong_login_is_one_line(here: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is tried then."""
    become(monkeypatch, here.environment() | {"DATABRICKS_CLIENT_SECRET": "wrong-secret"})
    (finding,) = examine("person", here.environment())
    assert (finding.check, finding.state) == ("workspace", "missing")
    assert "wrong-secret" not in finding.said


def test_se5_two_deploys_leave_all_that_a_launch_needs(
    here: Deployed, lacking: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands at one end alone is gone after a deploy: then the doctor says so, before a run.

    The declared permissions of an object replace those that an app's resources gave.
    """
    resources = joined("dev")["resources"]
    for _ in range(2):
        deploy(here, resources)
    assert lacking() == []
    become(monkeypatch, here.environment("orchestrator"))
    assert workspace_client().jobs.run_now(7, idempotency_token="first").run_id

    resources["jobs"]["agent"]["permissions"] = []
    deploy(here, resources)
    become(monkeypatch, here.environment())
    assert [one.check for one in lacking()] == [f"{APP}: CAN_MANAGE_RUN on jobs/7"]
    become(monkeypatch, here.environment("orchestrator"))
    with pytest.raises(PermissionDenied):
        workspace_client().jobs.run_now(7, idempotency_token="second")


def test_an_admin_may_take_rights_away_in_the_stand_in(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """With the SDK, as in a workspace: so that what the doctor says can be tried."""
    client = workspace_client()
    client.permissions.set("sql/warehouses", WAREHOUSE, access_control_list=[])
    client.secrets.delete_acl(SCOPE, AGENT)
    change = PermissionsChange(principal=AGENT, remove=[Privilege.WRITE_VOLUME])
    client.grants.update("volume", VOLUME, changes=[change])
    assert {finding.check for finding in lacking()} == {
        f"{APP}: CAN_USE on sql/warehouses/{WAREHOUSE}",
        f"forebay-agent-dev: CAN_USE on sql/warehouses/{WAREHOUSE}",
        f"forebay-agent-dev: READ on secrets/{SCOPE}",
        f"forebay-agent-dev: WRITE VOLUME on volume {VOLUME}",
    }
    login = {"client_id": ORCHESTRATOR, "client_secret": here.secret(ORCHESTRATOR)}
    with pytest.raises(PermissionDenied):
        workspace_client(**login).permissions.set("apps", APP, access_control_list=[])


LABELS = {ORCHESTRATOR: APP, INTAKE: "forebay-intake-dev", AGENT: "forebay-agent-dev"}
SHOWN = {
    "experiments/1": "experiments//Shared/forebay-dev",
    f"postgres/projects/{PROJECT}": f"database-projects/{PROJECT}",
    **{f"tables/{table}": f"table {table}" for table in BILLING},
    f"volumes/{VOLUME}": f"volume {VOLUME}",
    "catalogs/main": "catalog main",
    "catalogs/system": "catalog system",
    "schemas/main.forebay_dev": "schema main.forebay_dev",
    "schemas/system.billing": "schema system.billing",
}
"""How lines call what the stand-in calls otherwise."""


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def lacking(here: Deployed) -> Callable[..., list[Finding]]:
    """Return a function that looks at the others as an admin, and gives what is not ok."""

    def lacking(**named: Any) -> list[Finding]:
        settings = here.job_settings() | here.environment()
        named = dict(zip(("orchestrator", "intake"), APPS, strict=True)) | named
        case = Case("person", settings, workspace_client(), DEPLOYER, (7,), **named)
        return [finding for finding in others(case) if finding.state != "ok"]

    return lacking


def test_an_admin_sees_what_each_of_the_others_lacks(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """Whatever the bundle or an admin grants is missed by a line that names who, and what."""
    assert lacking() == []
    for (name, thing), level in {**here.grants(), **here.uses()}.items():
        here.workspace.access.revoke(name, thing)
        found = lacking()
        count = 2 if thing.startswith("volumes/") else 1  # to read and to write
        assert [finding.state for finding in found] == ["missing"] * count, (name, thing)
        for finding in found:
            assert finding.check.startswith(f"{LABELS[name]}: ")
            assert finding.check.endswith(f" on {SHOWN.get(thing, thing)}")
            assert name in finding.said
        here.workspace.access.grant(name, thing, level)


@pytest.mark.parametrize("part", PRINCIPALS)
def test_an_admin_sees_each_role_that_another_lacks(
    here: Deployed, lacking: Callable[..., list[Finding]], superuser: psycopg.Connection, part: Part
) -> None:
    """The database's roles of all in one look, and a login that is not there."""
    name, role = PRINCIPALS[part], f"forebay_{CALLERS[part][-1]}"
    login = sql.Identifier(name)
    revoke = sql.SQL("revoke {} from {} granted by {}")
    superuser.execute(revoke.format(sql.Identifier(role), login, sql.Identifier(DEPLOYER)))
    (finding,) = lacking()
    assert (finding.check, finding.state) == (f"{LABELS[name]}: database roles", "missing")
    assert f"{name} has no {role}: 'forebay databricks bootstrap" in finding.said
    superuser.execute(sql.SQL("drop role {}").format(login))
    (finding,) = lacking()
    assert "has no login in the database" in finding.said


def test_the_vision_model_is_looked_at_wherever_the_other_one_is(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """A model of somebody else's reads text here, and the workspace's own pictures."""
    (task,) = here.job.settings["tasks"]
    task["python_wheel_task"]["named_parameters"] |= {
        "FOREBAY_MODEL_BASE_URL": "https://models.example.com/v1",
        "FOREBAY_VISION_BASE_URL": "Databricks",
        "FOREBAY_VISION_MODEL_NAME": MODEL,
    }
    assert lacking() == []
    here.workspace.access.revoke(AGENT, f"serving-endpoints/{MODEL}")
    (finding,) = lacking()
    assert finding.check == f"forebay-agent-dev: CAN_QUERY on serving-endpoints/{MODEL}"


def another_job(here: Deployed, superuser: psycopg.Connection) -> None:
    """Have another agent's job be there, with a warehouse of its own."""
    here.statements.add_warehouse("second")
    second = here.jobs.add("second", job_id=8)
    second.settings.update(deepcopy(here.job.settings) | {"name": "second"})
    (task,) = second.settings["tasks"]
    task["python_wheel_task"]["named_parameters"]["FOREBAY_WAREHOUSE_ID"] = "second"
    operator.register_agent(superuser, agent="second", launcher="lakeflow", job_id=8)


def test_the_jobs_of_all_agents_are_looked_at(
    here: Deployed, lacking: Callable[..., list[Finding]], superuser: psycopg.Connection
) -> None:
    """Each with its own settings, whichever of them --job names."""
    another_job(here, superuser)
    assert {finding.check for finding in lacking()} == {
        f"{APP}: CAN_MANAGE_RUN on jobs/8",
        "second: CAN_USE on sql/warehouses/second",
    }
    here.workspace.access.grant(ORCHESTRATOR, "jobs/8", "CAN_MANAGE_RUN")
    here.workspace.access.grant(AGENT, "sql/warehouses/second", "CAN_USE")
    assert lacking() == []


def test_an_app_may_be_named_by_its_principal(
    here: Deployed, lacking: Callable[..., list[Finding]], superuser: psycopg.Connection, cli: Cli
) -> None:
    """Its lines bear its name nonetheless, and the command in them can be run as it stands."""
    assert lacking(orchestrator=ORCHESTRATOR.upper()) == []
    here.workspace.access.revoke(AGENT, f"apps/{APP}")
    here.workspace.access.revoke(ORCHESTRATOR, "experiments/1")
    superuser.execute(sql.SQL("drop role {}").format(sql.Identifier(ORCHESTRATOR)))
    found = {one.check: one.said for one in lacking(orchestrator=ORCHESTRATOR)}
    assert set(found) == {
        f"{APP}: database roles",
        f"{APP}: CAN_READ on experiments//Shared/forebay-dev",
        f"forebay-agent-dev: CAN_USE on apps/{APP}",
    }
    command = found[f"{APP}: database roles"].split("'")[1].split()
    assert cli(*command[1:]).code == 0
    assert f"{APP}: database roles" not in {one.check for one in lacking()}


def test_a_principal_that_no_app_runs_as_is_said(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """Whether the job may call its app cannot be looked at then."""
    (finding,) = [one for one in lacking(orchestrator=DEPLOYER) if one.state == "unknown"]
    assert finding.check == "CAN_USE on the orchestrator's app"
    assert "pass --orchestrator the app's name" in finding.said


def test_a_right_by_the_schema_or_for_everybody_counts(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """Privileges of Unity Catalog are inherited."""
    access = here.workspace.access
    for name in (INTAKE, AGENT):
        access.revoke(name, f"volumes/{VOLUME}")
    access.grant("account users", "catalogs/main", "WRITE_VOLUME")
    assert lacking() == []


def test_a_name_that_is_wrong_is_one_line_and_the_others_are_looked_at(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """Each app's mistake is said under its own name."""
    here.workspace.access.revoke(AGENT, "experiments/1")
    found = lacking(orchestrator="no-such-app", intake="nor-this")
    assert [finding.check for finding in found] == [
        "app no-such-app",
        "app nor-this",
        "forebay-agent-dev: CAN_EDIT on experiments//Shared/forebay-dev",
        "forebay-agent-dev: CAN_USE on apps/no-such-app",
    ]


def test_an_app_and_a_job_that_a_gateway_hides_are_unknown(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """They may be there."""
    for on in ("GET .*/apps/", "GET .*/jobs/get"):
        page = "<html><title>No</title></html>"
        here.workspace.faults.add(Fault("status", on, 403, page=page, times=None))
    assert {(one.check, one.state) for one in lacking()} == {
        *((f"app {name}", "unknown") for name in APPS),
        ("job 7", "unknown"),
    }


@pytest.mark.parametrize(
    "odd",
    [
        {"access_control_list": [{"user_name": "x", "all_permissions": [{}]}]},
        {"access_control_list": None, "privilege_assignments": None, "items": [{}]},
        {"access_control_list": ["x"], "privilege_assignments": [{"privileges": ["x"]}]},
    ],
)
def test_a_list_that_is_odd_ends_nothing(
    here: Deployed, lacking: Callable[..., list[Finding]], odd: dict[str, Any]
) -> None:
    """Each right that cannot be seen is a line of its own."""
    on = "GET .*/(permissions|effective-permissions|acls)/"
    here.workspace.faults.add(Fault("status", on, 200, page=json.dumps(odd), times=None))
    found = lacking()
    assert len(found) == len(here.grants()) + len(here.uses()) + 2  # to read and to write
    assert all(finding.state in ("missing", "unknown") for finding in found)


@pytest.mark.parametrize("page", ["[]", "{}", "<html>Please log in</html>"])
def test_what_is_no_list_says_nothing_of_rights(
    here: Deployed, lacking: Callable[..., list[Finding]], page: str
) -> None:
    """A gateway may answer with what looks well: nobody is sent to mend what is there."""
    on = "GET .*/api/2.0/permissions/"
    here.workspace.faults.add(Fault("status", on, 200, page=page, times=None))
    found = lacking()
    assert found
    assert {finding.state for finding in found} == {"unknown"}


def test_a_job_of_which_a_page_is_told_is_unknown(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """The line says so in words, not in those of a parser."""
    page = "<html>Please log in</html>"
    here.workspace.faults.add(Fault("status", "GET .*/jobs/get", 200, page=page, times=None))
    (finding,) = lacking()
    assert (finding.check, finding.state) == ("job 7", "unknown")
    assert "no answer of the API's" in finding.said


def test_a_group_with_hyphens_is_no_application_id(
    here: Deployed, lacking: Callable[..., list[Finding]]
) -> None:
    """Who may be in it cannot be seen, and is said."""
    here.workspace.access.revoke(AGENT, f"secrets/{SCOPE}")
    here.workspace.access.grant("a-b-c-d-e", f"secrets/{SCOPE}", "READ")
    (finding,) = lacking()
    assert "unless through the group a-b-c-d-e" in finding.said


@pytest.mark.parametrize("part", ["orchestrator", "intake"])
def test_what_the_job_needs_is_not_held_against_another_part(
    here: Deployed, look: Callable[..., list[Finding]], part: Part
) -> None:
    """The job lends its settings to a part only where that part has the same."""
    assert look(part, jobs=[7]) == []


def test_what_is_not_set_is_said(here: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that needs it lacks it; what one may do without is off."""
    settings = {**here.login(AGENT), "FOREBAY_DATABASE_URL": here.url}
    become(monkeypatch, settings)
    found = {finding.check: finding.state for finding in examine("agent", settings)}
    assert {check: state for check, state in found.items() if state == "missing"} == {
        "documents": "missing"
    }
    off = {check for check, state in found.items() if state == "off"}
    assert off == {"warehouse", "serving endpoint", "experiment", "callback"}


def test_a_person_is_told_where_settings_can_be_lent_from(
    here: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell without the job's settings says nothing of the job: it may be named."""
    settings = {**here.login(AGENT), "FOREBAY_DATABASE_URL": here.url}
    become(monkeypatch, settings)
    said = {(finding.check, finding.state): finding.said for finding in examine("person", settings)}
    for thing in (("documents", "missing"), ("serving endpoint", "off")):
        assert said[thing].endswith("or name the job with --job")


def test_what_was_found_in_time_is_said_beside_what_is_late(
    here: Deployed, look: Callable[..., list[Finding]]
) -> None:
    """A root that hangs does not hide what another lacks."""
    here.workspace.faults.add(Fault("hang", on="/Volumes/slow", seconds=30, times=None))
    roots = "/Volumes/main/no_such/documents:/Volumes/slow/a/b"
    found = look("intake", seconds=4, FOREBAY_STORAGE_ROOTS=roots)
    assert [(one.check, one.state) for one in found] == [
        ("documents /Volumes/main/no_such/documents", "missing"),
        ("documents", "unknown"),
    ]
    here.workspace.faults.clear()


def test_the_command_prints_lines_or_json_and_its_exit_code_tells(
    here: Deployed,
    orchestrator: App,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """0 when nothing is missing, else 1; scripts get the same as JSON."""
    become(monkeypatch, here.environment("intake"))
    cli = Cli(capsys)
    good = cli("databricks", "doctor", "--as", "intake")
    assert good.code == 0, good.out
    assert all(line.startswith(("ok ", "off ")) for line in good.out.splitlines())
    here.workspace.access.revoke(INTAKE, f"volumes/{VOLUME}")
    bad = cli("databricks", "doctor", "--as", "intake", "--json")
    assert bad.code == 1
    assert [one["check"] for one in json.loads(bad.out) if one["state"] != "ok"] == [
        f"documents {ROOT}"
    ]
    assert cli("databricks", "doctor", "--as", "nobody").code == 2


def test_an_app_that_starts_says_in_its_log_what_it_lacks(
    here: Deployed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A job that runs as who deployed it is seen at the next start, which waits for nothing."""
    here.job.settings["run_as"] = {"user_name": "ada@example.com"}
    settings = {**here.environment("orchestrator"), "DATABRICKS_APP_NAME": "forebay"}
    become(monkeypatch, settings)
    _look_around("orchestrator", settings)
    until = time.monotonic() + 60
    while not (said := [r for r in caplog.records if "doctor_" in r.getMessage()]):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert len(said) == 1
    assert "doctor_missing" in said[0].getMessage()


def test_elsewhere_nothing_is_looked_at(here: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a laptop, or a server of one's own, the apps ask no workspace anything."""
    here.workspace.log.clear()
    _look_around("orchestrator", here.environment("orchestrator"))
    time.sleep(0.5)
    assert here.workspace.log == []


def test_a_setting_that_is_kept_as_a_secret_is_fetched(
    here: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`secret:SCOPE/KEY` of our variables alone; what cannot be read names the setting."""
    settings = here.environment("orchestrator") | {"OTHER": "secret:a/b"}
    become(monkeypatch, settings)
    read = resolved(settings)
    assert read["FOREBAY_CALLBACK_SECRETS"] == CALLBACK_SECRET
    assert read["OTHER"] == "secret:a/b"
    here.workspace.access.revoke(ORCHESTRATOR, f"secrets/{SCOPE}")
    with pytest.raises(SettingError, match="FOREBAY_CALLBACK_SECRETS"):
        resolved(settings)
    with pytest.raises(SettingError, match=r"secret:SCOPE/KEY"):
        resolved(settings | {"FOREBAY_CALLBACK_SECRETS": "secret:a"})


def test_a_secret_that_is_no_text_is_said(here: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets may be bytes."""
    settings = here.environment("orchestrator")
    become(monkeypatch, settings)
    here.secrets._scopes[SCOPE]["callbacks"] = "\udcff"
    with pytest.raises(SettingError, match="no text in UTF-8"):
        resolved(settings)
