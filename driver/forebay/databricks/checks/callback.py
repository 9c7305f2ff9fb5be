"""The way of callbacks, and the secrets that settings name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from databricks.sdk.errors import PermissionDenied

from forebay import callbacks, jsonb
from forebay.databricks import secrets
from forebay.databricks.bearer import Bearer, NoBearer
from forebay.databricks.findings import Case, Finding, missing, off, ok, refused, unknown
from forebay.databricks.login import words
from forebay.errors import SettingError
from forebay.webhooks import NotDelivered, Receiver

CALLBACK_SECONDS = 15


def kept_secrets(case: Case) -> Iterator[Finding]:
    """See that each secret that a setting names is in its scope; none is fetched."""
    named = {n: v for n, v in case.settings.items() if n.isupper() and secrets.is_kept(v)}
    for name, value in sorted(named.items()):
        scope, key = secrets.where(value)
        check = f"secret {scope}/{key}"
        if not key:
            yield missing(check, f"{name} names it: it has to be secret:SCOPE/KEY")
            continue
        try:
            keys = {one.key for one in case.client.secrets.list_secrets(scope)}
        except PermissionDenied as error:
            yield (
                unknown(check, f"{words(error)}: see to it as somebody who has")
                if case.part == "person"
                else refused(check, error, f"{name} names it; grant READ on the scope")
            )
            continue
        except (OSError, ValueError) as error:
            yield refused(check, error, f"{name} names it")
            continue
        put = f"'databricks secrets put-secret {scope} {key}' puts it there"
        yield (
            ok(check, f"{name} has it")
            if key in keys
            else missing(check, f"it is not there, and {name} names it: {put}")
        )


def callback(case: Case) -> Iterator[Finding]:
    """Send a signed report of no task: the app refuses it by its own words if it arrives."""
    if not case.setting(callbacks.URL):
        said = f"{callbacks.URL} is not set: agents report to the database alone"
        yield off("callback", said)
        return
    names = (callbacks.URL, callbacks.SECRETS, callbacks.AUTH, callbacks.CLIENT_ID)
    try:
        settings = {name: case.setting(name) for name in (*names, callbacks.CLIENT_SECRET)}
    except SettingError as error:
        yield (unknown if case.part == "person" else missing)("callback", words(error))
        return
    receiver = Receiver.read(settings, callbacks.URL, callbacks.SECRETS)
    assert receiver is not None
    event = {"type": "task.usage", "data": {"task_id": 0, "attempt_id": 0, "usage": []}}
    body = jsonb.dump_safe("event", event)
    try:
        headers = _bearer(case, settings)
        receiver.post(callbacks.PROBE, body, seconds=CALLBACK_SECONDS, headers=headers)
    except NoBearer as error:
        yield missing("callback", words(error))
        return
    except NotDelivered as error:
        yield _answered(case, error)
        return
    yield missing("callback", "the receiver took a report of no task: it is no orchestrator")


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
        return ok("callback", f"a signed report reaches {url}")
    if error.status in (302, 401) and not is_apps:
        said = f"the proxy does not take this bearer: set {callbacks.AUTH} to databricks, with an"
        return missing("callback", f"{said} OAuth login (no personal access token)")
    if error.status == 403 and not is_apps:
        return missing("callback", f"the proxy lets {case.who} not in: grant CAN_USE on the app")
    if error.status == 401:
        return missing("callback", f"{error}: {callbacks.SECRETS} is another one there")
    return missing("callback", f"{error}: see that the orchestrator runs at {url}")
