"""The doctor's checks: each group gives its findings, the good ones too; one line each."""

from __future__ import annotations

import secrets as random
import threading
from collections.abc import Iterable, Iterator, Mapping

from databricks.sdk.service.jobs import Job

from forebay import callbacks, jsonb, schema, storage
from forebay.calls import viewer
from forebay.databricks import acls, secrets
from forebay.databricks.bearer import Bearer, NoBearer
from forebay.databricks.bill_settings import WAREHOUSE
from forebay.databricks.doctor import Case, Finding, Group
from forebay.databricks.principals import CALLERS
from forebay.databricks.statements import StatementFailed, query
from forebay.errors import ConnectError
from forebay.listen import PROBE_SECONDS, Listener
from forebay.memberships import lacking
from forebay.pool import Database
from forebay.settings import DATABASE_URL
from forebay.webhooks import NotDelivered, Receiver

JOB_RUN_AS = "FOREBAY_JOB_RUN_AS"
EXPERIMENT = "FOREBAY_MLFLOW_EXPERIMENT"
MODELS = {
    "FOREBAY_MODEL_NAME": "FOREBAY_MODEL_BASE_URL",
    "FOREBAY_VISION_MODEL_NAME": "FOREBAY_VISION_BASE_URL",
}
"""Names of endpoints, and the settings that say where they are."""

BILLING = ("system.billing.usage", "system.billing.list_prices")
STATEMENT_SECONDS = 60
LISTEN_SECONDS = 10
CALLBACK_SECONDS = 15
PROBE = "forebay-doctor-{}.probe"
"""The name of the probe file in a storage root."""


def words(error: BaseException) -> str:
    """Return an error's message on one line, without the settings that the SDK adds to some."""
    said = " ".join(str(error).split()).partition(" Config: ")[0]
    return said.rstrip(".") or type(error).__name__


def database(case: Case) -> Iterator[Finding]:
    """Connect with a credential of the workspace; then schema, roles, and a real notification."""
    url = case.setting(DATABASE_URL)
    if not url:
        yield _missing("database", f"{DATABASE_URL} is not set: set it to lakebase:projects/...")
        return
    here = Database(url, application_name="forebay doctor")
    try:
        here.connect().close()
    except ConnectError as error:
        yield _missing("database", words(error))
        return
    yield _ok("database", f"connected as {case.who}")
    yield _schema(here)
    said = lacking(here, CALLERS[case.part])
    yield (
        _missing("roles", f"{said} 'forebay databricks bootstrap' does it")
        if said
        else _ok("roles", f"acts as {', '.join(f'forebay_{one}' for one in CALLERS[case.part])}")
    )
    yield _listen(here)


def jobs(case: Case) -> Iterator[Finding]:
    """See each job: that it is there, whom it runs as, and that the orchestrator may run it."""
    for job_id in sorted({*case.jobs, *_jobs_of_agents(case)}):
        try:
            job = case.client.jobs.get(job_id)
        except (OSError, ValueError) as error:
            yield _missing(
                f"job {job_id}",
                f"{words(error)}: check the id, and declare CAN_MANAGE_RUN on the job's side",
            )
            continue
        name = job.settings.name if job.settings else None
        yield _ok(f"job {job_id}", f"it is {name}")
        yield _run_as(case, job_id, job)
        if case.part == "orchestrator":
            yield from acls.holds(case, case.who, "jobs", str(job_id), "CAN_MANAGE_RUN")


def others(case: Case) -> Iterator[Finding]:
    """Look at what the apps' principals and the job's may do, as the workspace tells of it."""
    if case.orchestrator or case.intake:
        yield from acls.of_others(case)


def documents(case: Case) -> Iterator[Finding]:
    """Write a probe into each storage root, read it back, and remove it."""
    named = case.setting(storage.ROOTS)
    for root in filter(None, named.split(":")):
        yield _probed(root, case.settings)


def warehouse(case: Case) -> Iterator[Finding]:
    """Ask the warehouse for one row; the dashboard's part also of each table of the bill."""
    warehouse_id = case.setting(WAREHOUSE)
    if not warehouse_id:
        return
    try:
        case.client.warehouses.get(warehouse_id)
        query(case.client, warehouse_id, "SELECT 1 AS one", seconds=STATEMENT_SECONDS)
    except (OSError, StatementFailed) as error:
        yield _missing("warehouse", f"{words(error)}: grant CAN_USE on {warehouse_id}")
        return
    yield _ok("warehouse", f"{warehouse_id} answers")
    if case.part in ("orchestrator", "person"):
        for table in BILLING:
            yield _readable(case, warehouse_id, table)


def endpoints(case: Case) -> Iterator[Finding]:
    """See each serving endpoint that reads documents."""
    for name_of, place_of in MODELS.items():
        place = case.setting(place_of) or case.setting(MODELS["FOREBAY_MODEL_NAME"])
        name = case.setting(name_of)
        if place != "databricks" or not name:
            continue
        check = f"serving endpoint {name}"
        try:
            state = case.client.serving_endpoints.get(name).state
        except (OSError, ValueError) as error:
            yield _missing(check, f"{words(error)}: correct {name_of}, or grant CAN_QUERY")
            continue
        ready = state.ready.value if state and state.ready else "of unknown state"
        yield (
            _ok(check, f"it is {ready}")
            if ready == "READY"
            else _missing(
                check, f"it is {ready}: wait until it is ready, or name another in {name_of}"
            )
        )


def experiment(case: Case) -> Iterator[Finding]:
    """Find the experiment of the traces, and see whether an agent may write to it."""
    name = case.setting(EXPERIMENT)
    if not name:
        return
    try:
        found = case.client.experiments.get_by_name(name).experiment
    except (OSError, ValueError) as error:
        yield _missing("experiment", f"{words(error)}: correct {EXPERIMENT}, or grant CAN_READ")
        return
    yield _ok("experiment", f"{name} is there")
    if case.part == "agent" and found and found.experiment_id:
        yield from acls.holds(case, case.who, "experiments", found.experiment_id, "CAN_EDIT")


def kept_secrets(case: Case) -> Iterator[Finding]:
    """See that each secret that a setting names is in its scope; none is fetched."""
    named = {n: v for n, v in case.settings.items() if n.isupper() and secrets.is_kept(v)}
    for name, value in sorted(named.items()):
        scope, key = secrets.where(value)
        check = f"secret {scope}/{key}"
        try:
            keys = {one.key for one in case.client.secrets.list_secrets(scope)}
        except (OSError, ValueError) as error:
            yield _missing(check, f"{words(error)}: {name} names it; grant READ on the scope")
            continue
        put = f"'databricks secrets put-secret {scope} {key}' puts it there"
        yield (
            _ok(check, f"{name} has it")
            if key in keys
            else _missing(check, f"it is not there, and {name} names it: {put}")
        )


def callback(case: Case) -> Iterator[Finding]:
    """Send a signed report of no task: the app refuses it by its own words if it arrives."""
    if not case.setting(callbacks.URL):
        return
    names = (callbacks.URL, callbacks.SECRETS, callbacks.AUTH, callbacks.CLIENT_ID)
    settings = {name: case.setting(name) for name in (*names, callbacks.CLIENT_SECRET)}
    receiver = Receiver.read(settings, callbacks.URL, callbacks.SECRETS)
    assert receiver is not None
    event = {"type": "task.usage", "data": {"task_id": 0, "attempt_id": 0, "usage": []}}
    body = jsonb.dump_safe("event", event)
    try:
        headers = _bearer(case, settings)
        receiver.post("forebay-doctor", body, seconds=CALLBACK_SECONDS, headers=headers)
    except NoBearer as error:
        yield _missing("callback", words(error))
        return
    except NotDelivered as error:
        yield _answered(case, error)
        return
    yield _missing("callback", "the receiver took a report of no task: it is no orchestrator")


GROUPS: dict[str, Group] = {
    "database": database,
    "job": jobs,
    "permission": others,
    "documents": documents,
    "warehouse": warehouse,
    "serving endpoint": endpoints,
    "experiment": experiment,
    "secret": kept_secrets,
    "callback": callback,
}


def _schema(here: Database) -> Finding:
    try:
        with here.connect() as connection:
            schema.check_compatible(connection)
            return _ok("schema", "this driver can use it")
    except schema.SchemaError as error:
        return _missing("schema", words(error))


def _listen(here: Database) -> Finding:
    """Have a notification to itself really arrive."""
    woken = threading.Event()
    listener = Listener(here, woken.set)
    listener.start()
    try:
        woken.wait(LISTEN_SECONDS)
    finally:
        listener.ask_to_stop()
    if woken.is_set():
        return _ok("listen", "a notification arrives")
    return _missing(
        "listen",
        f"no notification arrives within {PROBE_SECONDS:g} s: name the direct host, not a pooler;"
        " until then work is found by polling",
    )


def _jobs_of_agents(case: Case) -> Iterable[int]:
    """Return the jobs that agents have, for a part which may see that."""
    url = case.setting(DATABASE_URL)
    if "viewer" not in CALLERS[case.part] or not url:
        return []
    try:
        with Database(url, application_name="forebay doctor").connect() as connection:
            schema.check_compatible(connection)
            agents = viewer.agent_status(connection)
    except Exception:  # the database's own checks say why
        return []
    return [one.job_id for one in agents if one.launcher == "lakeflow" and one.job_id]


def _run_as(case: Case, job_id: int, job: Job) -> Finding:
    check, pinned = f"job {job_id} run_as", case.setting(JOB_RUN_AS)
    actual = job.run_as_user_name
    if not pinned:
        return _ok(check, f"it runs as {actual}; {JOB_RUN_AS} is not set to compare with")
    if actual == pinned:
        return _ok(check, f"it runs as {actual}, as pinned")
    return _missing(
        check,
        f"it runs as {actual}, and {JOB_RUN_AS} is {pinned}: a deploy may have changed it; set the"
        " job's run_as again",
    )


def _probed(root: str, settings: Mapping[str, str]) -> Finding:
    check, name = f"documents {root}", PROBE.format(random.token_hex(4))
    try:
        here = storage.roots({**settings, storage.ROOTS: root})[0]
        content = name.encode()
        here.write(name, [content])
        try:
            read = b"".join(here.read(name))
        finally:
            here.delete(name)
    except storage.StorageError as error:
        return _missing(check, words(error))
    if read != content:
        return _missing(check, f"the probe {name} came back as other bytes")
    return _ok(check, "a probe was written, read and removed")


def _readable(case: Case, warehouse_id: str, table: str) -> Finding:
    try:
        query(
            case.client,
            warehouse_id,
            f"SELECT 1 AS one FROM {table} LIMIT 1",
            seconds=STATEMENT_SECONDS,
        )
    except (OSError, StatementFailed) as error:
        return _missing(f"table {table}", f"{words(error)}: grant SELECT to {case.who}")
    return _ok(f"table {table}", "it can be read")


def _bearer(case: Case, settings: Mapping[str, str]) -> Mapping[str, str]:
    """Return the header that a proxy asks for. Raises SettingError and NoBearer."""
    bearer = callbacks.read_bearer(settings)
    if bearer and not settings[callbacks.CLIENT_ID]:
        bearer = Bearer(lambda: case.client)
    return bearer.headers() if bearer else {}


def _answered(case: Case, error: NotDelivered) -> Finding:
    """Say what an answer to the probe means: with a reason it is the app's, else the proxy's."""
    url, is_apps = case.setting(callbacks.URL), ": " in str(error)
    if error.status == 404 and is_apps:
        return _ok("callback", f"a signed report reaches {url}")
    if error.status in (302, 401) and not is_apps:
        said = f"the proxy does not take this bearer: set {callbacks.AUTH} to databricks, with an"
        return _missing("callback", f"{said} OAuth login (no personal access token)")
    if error.status == 403 and not is_apps:
        return _missing("callback", f"the proxy lets {case.who} not in: grant CAN_USE on the app")
    if error.status == 401:
        return _missing("callback", f"{error}: {callbacks.SECRETS} is another one there")
    return _missing("callback", f"{error}: see that the orchestrator runs at {url}")


def _ok(check: str, said: str) -> Finding:
    return Finding(check, "ok", said)


def _missing(check: str, said: str) -> Finding:
    return Finding(check, "missing", said)
