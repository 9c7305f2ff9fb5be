"""The bundle says what it means: every reference resolves, and permissions stand on both sides."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import jsonschema
import pytest

from databricks.support_bundle import ROOT, Tree, files, joined, leaves, references
from databricks.support_bundle_rights import AGENT, faults, granted, settings
from databricks.support_deploy import declared
from forebay_lab.workspace import deployed as stand_in
from forebay_lab.workspace.jobs import Job
from support.wheel import build_module

Change = Callable[[Tree], object]
SCHEMA = "FOREBAY_BUNDLE_SCHEMA"
TARGETS = ("dev", "prod")
DOCS = ROOT / "docs"

BUILT_IN = {"bundle.target", "workspace.current_user.userName"}
IDENTITIES = {"id", "name", "service_principal_client_id"}
APART = {"permissions", "grants"}
"""What is applied once the object is there, so that it may refer to what the object is for."""

LIMITS = {
    "apps": (r"[a-z][a-z0-9-]{1,29}", "name"),
    "postgres_projects": (r"[a-z][a-z0-9-]{0,62}", "project_id"),
    "postgres_branches": (r"[a-z][a-z0-9-]{0,62}", "branch_id"),
    "postgres_endpoints": (r"[a-z][a-z0-9-]{0,62}", "endpoint_id"),
    "postgres_databases": (r"[a-z][a-z0-9-]{0,62}", "database_id"),
    "postgres_roles": (r"[a-z][a-z0-9-]{3,62}", "role_id"),
    "jobs": (r".{1,100}", "name"),
    "secret_scopes": (r"[\w.@-]{1,128}", "name"),
    "volumes": (r"[a-z][a-z0-9_]{0,254}", "name"),
    "schemas": (r"[a-z][a-z0-9_]{0,254}", "name"),
    "sql_warehouses": (r".{1,100}", "name"),
    "experiments": (r"/Shared/[\w-]+", "name"),
}
"""The ids and names that the workspace takes, by kind."""


@pytest.fixture(params=TARGETS)
def resources(request: pytest.FixtureRequest) -> Tree:
    """Return the resources as a target has them."""
    found: Tree = joined(request.param)["resources"]
    return found


@pytest.mark.skipif(not os.environ.get(SCHEMA), reason=f"{SCHEMA} names no schema of bundles")
@pytest.mark.parametrize("name", files())
def test_each_file_is_as_the_schema_of_bundles_says(name: str) -> None:
    """`databricks bundle schema` prints it; its patterns have \\p{L}, which Python has not."""
    text = Path(os.environ[SCHEMA]).read_text()
    text = text.replace(r"[\\p{L}\\p{N}]", "[a-zA-Z0-9]").replace(r"\\p{L}", "[a-zA-Z]")
    schema = json.loads(text)
    if name != "databricks.yml":
        schema.pop("required", None)
    jsonschema.validate(files()[name], schema)


def test_all_files_are_read() -> None:
    """What follows looks at a whole bundle, not at an empty one."""
    assert len(list(leaves(joined()["resources"]))) > 150


def test_every_reference_resolves() -> None:
    """${var…} is declared and used, ${resources…} names a resource and something it has."""
    whole = joined()
    used = {name for _, name in references(whole)}
    assert {f"var.{name}" for name in whole["variables"]} == {n for n in used if n[:4] == "var."}
    for name in used:
        kind, *rest = name.split(".")
        if kind == "resources":
            group, key, field = rest
            assert field in IDENTITIES | whole["resources"][group][key].keys(), name
            assert field != "service_principal_client_id" or group == "apps", name
        elif kind != "var":
            assert name in BUILT_IN, name


def test_a_target_leaves_nothing_open(resources: Tree) -> None:
    """With what a deploy is told, only what the workspace makes is not known yet."""
    left = {name for _, name in references(resources)}
    assert {name.split(".")[0] for name in left} == {"resources"}


def test_no_resource_needs_itself() -> None:
    """There is an order in which all can be made; permissions come after their object."""
    graph: dict[str, set[str]] = {}
    for path, name in references(joined()["resources"]):
        group, key, *inner = map(str, path)
        apart = f".{inner[0]}" if inner[0] in APART else ""
        needs = {".".join(name.split(".")[1:3])} if name.startswith("resources.") else set()
        graph.setdefault(f"{group}.{key}{apart}", set()).update(needs)
        if apart:
            graph[f"{group}.{key}{apart}"].add(f"{group}.{key}")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"in a circle: {error.args[1]}")


def test_names_are_within_limits(resources: Tree) -> None:
    """Each kind of thing is named as the workspace takes it."""
    assert set(LIMITS) == set(resources)
    for kind, (pattern, field) in LIMITS.items():
        for thing in resources[kind].values():
            assert re.sub(r"\$\{.*?\}", "x", thing[field]) == thing[field]
            assert re.fullmatch(pattern, thing[field]), thing[field]


def env_of(resources: Tree) -> Iterator[tuple[str, Tree]]:
    """Give each variable of each app."""
    for key, app in resources["apps"].items():
        for variable in app["config"]["env"]:
            yield key, variable


def test_every_value_from_names_a_resource_of_its_app(resources: Tree) -> None:
    """And each variable has a value or a resource, not both."""
    for key, variable in env_of(resources):
        assert len({"value", "value_from"} & variable.keys()) == 1, variable
        if "value_from" in variable:
            names = {one["name"] for one in resources["apps"][key]["resources"]}
            assert variable["value_from"] in names


def test_what_an_app_needs_stands_on_the_objects_side_too(resources: Tree) -> None:
    """What an app is given is granted to its principal there, so that a second deploy keeps it."""
    seen = 0
    for key, app in resources["apps"].items():
        principal = f"${{resources.apps.{key}.service_principal_client_id}}"
        for one in app["resources"]:
            (need,) = (value for value in one.values() if isinstance(value, dict))
            seen += 1
            if "postgres" in one:
                roles = resources["postgres_roles"].values()
                assert principal in {role["postgres_role"] for role in roles}
                for project in resources["postgres_projects"].values():
                    assert (principal, "CAN_USE") in granted(project)
                continue
            (about,) = {name for _, name in references(need)}
            _, group, name, _ = about.split(".")
            assert (principal, need["permission"]) in granted(resources[group][name]), one
    assert seen == 7


def test_the_job_runs_as_its_own_principal(resources: Tree) -> None:
    """Which has a login; its rights are looked at below, with all others."""
    assert resources["jobs"]["agent"]["run_as"] == {"service_principal_name": AGENT}
    assert AGENT in {role["postgres_role"] for role in resources["postgres_roles"].values()}


def test_nobody_has_a_right_too_many_and_no_secret_is_in_the_clear(resources: Tree) -> None:
    """Rights are those listed and no other; settings name what is declared."""
    assert faults(resources) == []


def everybody(group: str, key: str, level: str) -> Change:
    """Return what gives everybody a level on an object."""
    return lambda tree: tree[group][key]["permissions"].append(
        {"level": level, "group_name": "users"}
    )


def parameter(name: str, value: str) -> Change:
    """Return what changes a setting of the job."""
    return lambda tree: tree["jobs"]["agent"]["tasks"][0]["python_wheel_task"][
        "named_parameters"
    ].update({name: value})


def variable(app: str, name: str, value: str) -> Change:
    """Return what changes a setting of an app."""

    def change(tree: Tree) -> None:
        (one,) = (v for v in tree["apps"][app]["config"]["env"] if v["name"] == name)
        one["value"] = value

    return change


CHANGES: dict[str, Change] = {
    "everybody manages the job": everybody("jobs", "agent", "CAN_MANAGE"),
    "everybody reads the secrets": everybody("secret_scopes", "forebay", "READ"),
    "everybody manages an app": everybody("apps", "intake", "CAN_MANAGE"),
    "everybody reads the documents": lambda tree: tree["volumes"]["documents"]["grants"].append(
        {"principal": "account users", "privileges": ["READ_VOLUME"]}
    ),
    "intake may not use the schema": lambda tree: tree["schemas"]["forebay"]["grants"].pop(0),
    "the job may not call back": lambda tree: tree["apps"]["orchestrator"]["permissions"].pop(),
    "a scope that is not there": parameter("FOREBAY_CALLBACK_SECRETS", "secret:forebay/callbacks"),
    "another database": parameter("FOREBAY_DATABASE_URL", "lakebase:x?dbname=forebai"),
    "another volume": parameter("FOREBAY_STORAGE_ROOTS", "/Volumes/main/forebay_dev/docs"),
    "another experiment": variable("orchestrator", "FOREBAY_MLFLOW_EXPERIMENT", "/Shared/other"),
    "another tag": variable("orchestrator", "FOREBAY_BILLING_TAG", "project=other"),
    "another tag of the job": parameter("FOREBAY_BILLING_TAG", "project=other"),
    "another app's costs": variable("orchestrator", "FOREBAY_BILLING_APPS", "forebay-intake-prod"),
    "another app's costs for the job": parameter("FOREBAY_BILLING_APPS", "forebay-intake-prod"),
    "a secret in the clear": variable("orchestrator", "FOREBAY_CALLBACK_SECRETS", "whsec_c2Vj"),
    "a password in a URL": variable("intake", "FOREBAY_ADMINS", "postgresql://a:b@host/x"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_would_be_wrong_is_noticed(change: str) -> None:
    """Each of these mistakes is found, so that what finds none has looked."""
    tree: Tree = copy.deepcopy(joined("dev")["resources"])
    CHANGES[change](tree)
    assert faults(tree)


def test_the_job_starts_once_a_run(resources: Tree) -> None:
    """Nothing but Forebay retries: neither the task's retries nor those of serverless compute."""
    job = resources["jobs"]["agent"]
    (task,) = job["tasks"]
    assert (task["max_retries"], task["disable_auto_optimization"]) == (0, True)
    assert job["queue"] == {"enabled": True}
    given = task["python_wheel_task"]["named_parameters"]
    for parameter in job["parameters"]:
        name = parameter["name"]
        assert given[name] == f"{{{{job.parameters.{name}}}}}"
    assert given["run_id"] == "{{job.run_id}}"


def test_entry_points_are_those_of_the_package(resources: Tree) -> None:
    """The job's and the apps' programs are scripts of pyproject.toml, and its package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (task,) = resources["jobs"]["agent"]["tasks"]
    wheel = task["python_wheel_task"]
    assert wheel["package_name"] == project["name"]
    programs = [app["config"]["command"][0] for app in resources["apps"].values()]
    assert {wheel["entry_point"], *programs} <= project["scripts"].keys()


def test_the_job_is_given_what_its_extras_bring(resources: Tree) -> None:
    """A local wheel takes no extras there: the list is that of pyproject.toml, to the letter."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = chain.from_iterable(
        extras["optional-dependencies"][name] for name in ("agents", "databricks")
    )
    (environment,) = resources["jobs"]["agent"]["environments"]
    wheel, *packages = environment["spec"]["dependencies"]
    assert wheel == "../build/orchestrator/*.whl"
    assert packages == list(wanted)


def test_settings_exist(resources: Tree) -> None:
    """What is set for apps and the job is what the code reads: see tests/test_docs.py."""
    described: set[str] = set()
    for page in ("operating", "apps", "databricks"):
        rows = re.findall(r"^\| (`[^|]*) \|", (DOCS / f"{page}.md").read_text(), re.MULTILINE)
        described |= set(re.findall(r"`([A-Z_]+)`", "".join(rows)))
    (task,) = resources["jobs"]["agent"]["tasks"]
    given = {name for name in task["python_wheel_task"]["named_parameters"] if name.isupper()}
    given |= {variable["name"] for _, variable in env_of(resources)}
    assert given <= described
    assert len(given) > 10


def test_what_costs_bears_one_tag(resources: Tree) -> None:
    """Warehouse, job and project bear the tag that bills are read by: in the app, and by hand.

    The bundle cannot tag apps: bills are read by their names too.
    """
    by_name = {whose for whose, name, _ in settings(resources) if name == "FOREBAY_BILLING_APPS"}
    assert by_name == {"apps.orchestrator", "jobs.agent"}
    readers = {whose: v for whose, name, v in settings(resources) if name == "FOREBAY_BILLING_TAG"}
    assert readers.keys() == {"apps.orchestrator", "jobs.agent"}
    (tag,) = set(readers.values())
    key, _, value = tag.partition("=")
    pair = {"key": key, "value": value}
    assert resources["jobs"]["agent"]["tags"] == {key: value}
    assert resources["sql_warehouses"]["forebay"]["tags"]["custom_tags"] == [pair]
    assert resources["postgres_projects"]["forebay"]["custom_tags"] == [pair]


def test_parts_are_told_the_same(resources: Tree) -> None:
    """What two of them have to agree on, or what else is declared, is one value."""
    said = {(whose.split(".")[1], name): value for whose, name, value in settings(resources)}
    job = resources["jobs"]["agent"]
    assert said["intake", "FOREBAY_STORAGE_ROOTS"] == said["agent", "FOREBAY_STORAGE_ROOTS"]
    volume = resources["volumes"]["documents"]
    schema = resources["schemas"]["forebay"]
    place = f"/Volumes/{volume['catalog_name']}/{schema['name']}/{volume['name']}"
    assert said["intake", "FOREBAY_STORAGE_ROOTS"] == place
    run_as = job["run_as"]["service_principal_name"]
    assert said["orchestrator", "FOREBAY_JOB_RUN_AS"] == run_as
    (scope,) = resources["secret_scopes"].values()
    for part in ("orchestrator", "agent"):
        assert said[part, "FOREBAY_CALLBACK_SECRETS"] == f"secret:{scope['name']}/callbacks"
        assert said[part, "FOREBAY_MLFLOW_EXPERIMENT"] == resources["experiments"]["traces"]["name"]


def test_each_app_serves_itself_from_the_database(resources: Tree) -> None:
    """Its program is its own, and its database that of the project."""
    for key, app in resources["apps"].items():
        assert app["config"]["command"] == ["forebay", "serve", key]
        (endpoint,) = (
            one["value_from"] for one in app["config"]["env"] if one["name"] == "LAKEBASE_ENDPOINT"
        )
        (named,) = (one for one in app["resources"] if one["name"] == endpoint)
        assert "postgres" in named


def test_intake_hands_in_to_an_agent_that_there_is(resources: Tree) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    agents = project["entry-points"]["forebay.agents"]
    (named,) = (v for _, name, v in settings(resources) if name == "FOREBAY_INTAKE_AGENTS")
    assert set(named.split(",")) <= agents.keys()


def test_what_a_new_project_has_is_taken_over(resources: Tree) -> None:
    """Its branch, its endpoint, and whatever role an app's database resource made before us."""
    has = [resources["postgres_branches"]["production"], resources["postgres_endpoints"]["primary"]]
    for one in (*has, *resources["postgres_roles"].values()):
        assert one["replace_existing"] is True


def test_the_owner_can_make_roles_and_clones(resources: Tree) -> None:
    """As db upgrade and bootstrap do, and `branch create`; nobody else can."""
    roles = resources["postgres_roles"]
    assert {key for key, role in roles.items() if "attributes" in role} == {"owner"}
    assert roles["owner"]["attributes"] == {"createdb": True, "createrole": True}


def test_the_cli_is_one_that_has_all_of_this() -> None:
    """Older ones know no roles of Lakebase, and terraform takes none over."""
    bundle = joined()["bundle"]
    assert bundle["engine"] == "direct"
    least = re.fullmatch(r">= (\d+)\.(\d+)\.\d+", bundle["databricks_cli_version"])
    assert least
    assert tuple(map(int, least.groups())) >= (1, 4)


def test_the_endpoint_never_sleeps(resources: Tree) -> None:
    """LISTEN would be lost with it."""
    assert resources["postgres_endpoints"]["primary"]["no_suspension"] is True


def test_prod_cannot_be_destroyed_by_mistake() -> None:
    """Documents, tasks and their branch are kept; dev is removed as a whole."""
    prod, dev = (joined(target)["resources"] for target in ("prod", "dev"))
    for group, key in (("postgres_projects", "forebay"), ("volumes", "documents")):
        assert prod[group][key]["lifecycle"] == {"prevent_destroy": True}
        assert "lifecycle" not in dev[group][key]
    assert prod["postgres_branches"]["production"]["is_protected"] is True


def test_what_is_built_is_what_an_app_takes(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder has the wheel and what installs it, no file above the 10 MB that apps take."""
    assert {path.name for path in wheel.parent.iterdir()} == {"requirements.txt", wheel.name}
    assert all(path.stat().st_size < 10_000_000 for path in wheel.parent.iterdir())
    line = (wheel.parent / "requirements.txt").read_text()
    assert line == f"./{wheel.name}[apps,databricks]\n"
    build = build_module()
    monkeypatch.setattr(build.metadata, "distributions", lambda name: iter(()))
    with pytest.raises(SystemExit, match="pip install build"):
        build.build(tmp_path / "app")


def test_each_app_has_a_folder_of_its_own(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The CLI refuses two apps of one source_code_path; each folder has all that one needs."""
    build = build_module()

    def build_one(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(wheel.parent, folder)

    monkeypatch.setattr(build, "build", build_one)
    for _ in range(2):  # the second time over what the first one left
        build.build_all(tmp_path)
    whole = joined("dev")
    apps = whole["resources"]["apps"]
    assert set(build.APPS) == apps.keys()
    for key, app in apps.items():
        assert app["source_code_path"] == f"../build/{key}"
        assert {path.name for path in (tmp_path / key).iterdir()} == {
            path.name for path in wheel.parent.iterdir()
        }
    folders = [f"build/{app}" for app in build.APPS]
    assert whole["sync"] == {"paths": folders, "include": [f"{each}/*" for each in folders]}
    (artifact,) = whole["artifacts"].values()
    assert artifact["files"] == [{"source": f"{folders[0]}/*.whl"}]


def test_the_apps_know_who_may_do_what(resources: Tree) -> None:
    """Each kind of people is a variable of the bundle: what is set by hand a deploy takes away."""
    given = {(key, one["name"]) for key, one in env_of(resources)}
    kinds = ("FOREBAY_ADMINS", "FOREBAY_OPERATORS", "FOREBAY_VIEWERS")
    assert given >= {(app, kind) for app in resources["apps"] for kind in kinds}


def test_the_stand_in_grants_what_the_bundle_declares() -> None:
    """So that what the doctor finds in the stand-in is what a deploy would leave, name for name."""
    dev = joined("dev")["resources"]
    here = object.__new__(stand_in.Deployed)
    here.job = Job(7, "forebay-agent-dev")
    outside = {f"serving-endpoints/{stand_in.MODEL}", *(f"tables/{t}" for t in stand_in.BILLING)}
    assert declared(dev) == {key: v for key, v in here.grants().items() if key[1] not in outside}
    named = dev["jobs"]["agent"]["tasks"][0]["python_wheel_task"]["named_parameters"]
    here.url, here.apps = "", dict.fromkeys(stand_in.APPS, _NoApp())
    assert {name for name in named if name.isupper()} == set(here.job_settings())
    assert [app["name"] for app in dev["apps"].values()] == list(stand_in.APPS)
    assert dev["jobs"]["agent"]["name"] == here.job.name
    volume = dev["volumes"]["documents"]
    schema = dev["schemas"]["forebay"]["name"]
    assert f"{volume['catalog_name']}.{schema}.{volume['name']}" == stand_in.VOLUME
    assert named["FOREBAY_STORAGE_ROOTS"] == stand_in.ROOT
    assert dev["experiments"]["traces"]["name"] == stand_in.EXPERIMENT
    assert named["FOREBAY_MLFLOW_EXPERIMENT"] == stand_in.EXPERIMENT
    assert named["FOREBAY_BILLING_TAG"] == stand_in.TAG
    assert named["FOREBAY_BILLING_APPS"] == ",".join(stand_in.APPS)


class _NoApp:
    url = ""
