"""Serving endpoints, secrets and the proxy before an app: the stand-in's, for the real SDK."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import NotFound, PermissionDenied, RequestLimitExceeded
from databricks.sdk.service.serving import ChatMessage, ChatMessageRole

from agents.conftest import RecordedAttempt
from agents.model_support import INVOICE, MemoryCheckpoints, page
from forebay.agent import Retry
from forebay.callbacks import Callbacks
from forebay.databricks.bearer import Bearer, NoBearer, ambient
from forebay.errors import SettingError
from forebay.webhooks import Receiver
from forebay_agents.models.model import Model
from forebay_agents.models.settings import BASE_URL, DATABRICKS, NAME
from forebay_lab.loopback import LoopbackServer
from forebay_lab.model_server import Fault as ModelFault
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.apps import App, Apps
from forebay_lab.workspace.secrets import Secrets
from forebay_lab.workspace.serving import Serving
from support.receiver import SECRET, receiving

EVENT = {"type": "task.completed", "data": {"task_id": 1, "attempt_id": 2, "result": {}}}
ASKED = [ChatMessage(role=ChatMessageRole.USER, content="Which day is it?")]


@pytest.fixture
def service(workspace: Workspace) -> Principal:
    """Let a service principal in, which may do nothing yet."""
    principal = Principal("job", secret="job-secret")
    workspace.access.add(principal)
    return principal


@pytest.fixture
def bearer(workspace: Workspace, service: Principal, monkeypatch: pytest.MonkeyPatch) -> Bearer:
    """Give the service principal's bearer."""
    monkeypatch.setenv("DATABRICKS_HOST", workspace.url)
    return Bearer.of_service_principal("job", "job-secret")


def test_an_endpoint_answers_in_the_form_of_openai(
    workspace: Workspace, client: Callable[..., WorkspaceClient], service: Principal
) -> None:
    """Invocations by the SDK; refusals carry the codes that it knows, and a grant is needed."""
    serving = Serving(workspace)
    serving.add("a-model")
    workspace.add(serving)
    sdk = client(retry_seconds=1)
    answer = sdk.serving_endpoints.query("a-model", messages=ASKED)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens or 0) > 0
    assert [one.name for one in sdk.serving_endpoints.list()] == ["a-model"]
    with pytest.raises(NotFound):
        sdk.serving_endpoints.query("another", messages=ASKED)
    as_job = client(token=None, client_id="job", client_secret="job-secret")
    with pytest.raises(PermissionDenied, match="Can Query"):
        as_job.serving_endpoints.query("a-model", messages=ASKED)
    assert list(as_job.serving_endpoints.list()) == []
    serving.simulation.fault = ModelFault("rate_limited")
    with pytest.raises(TimeoutError) as timeout:  # the SDK tries a 429 again until its time is over
        sdk.serving_endpoints.query("a-model", messages=ASKED)
    assert isinstance(timeout.value.__cause__, RequestLimitExceeded)


def test_secrets_need_a_grant(
    workspace: Workspace, client: Callable[..., WorkspaceClient], service: Principal
) -> None:
    """A secret comes in base64, to whoever may read its scope."""
    secrets = Secrets(workspace)
    secrets.add("scope", "key", "Größe")
    workspace.add(secrets)
    assert client().dbutils.secrets.get("scope", "key") == "Größe"
    as_job = client(token=None, client_id="job", client_secret="job-secret")
    with pytest.raises(PermissionDenied):
        as_job.secrets.get_secret("scope", "key")
    workspace.access.grant("job", "secrets/scope", "READ")
    assert [one.key for one in as_job.secrets.list_secrets("scope")] == ["key"]
    with pytest.raises(NotFound):
        as_job.secrets.get_secret("scope", "other")


def status(url: str, headers: dict[str, str] | None = None) -> int:
    """Return what a GET is answered with; redirects are not followed."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    try:
        opener = urllib.request.build_opener(Stay)
        with opener.open(urllib.request.Request(url, headers=headers or {}), timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_an_endpoint_that_repeats_the_bearer_does_not_spread_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal is told in the endpoint's words, without what the workspace was asked with."""
    monkeypatch.setenv("DATABRICKS_HOST", workspace.url)
    monkeypatch.setenv("DATABRICKS_TOKEN", workspace.token)
    ambient.cache_clear()
    said = f"Invalid header authorization: Bearer {workspace.token}"
    workspace.faults.add(Fault("status", on="/serving-endpoints/", status=400, message=said))
    model = Model.from_environment({BASE_URL: DATABRICKS, NAME: "a-model"})
    assert model is not None
    try:
        with pytest.raises(Retry, match="Invalid header authorization: Bearer …") as refused:
            model.extract([page(1, *INVOICE)], RecordedAttempt({}), MemoryCheckpoints())
    finally:
        ambient.cache_clear()
    assert workspace.token not in str(refused.value)


@contextmanager
def echoing(seconds: float = 0.0) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Serve an app that takes so long to answer; what it gets are the headers of each request."""
    got: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            got.append({name.lower(): value for name, value in self.headers.items()})
            time.sleep(seconds)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = LoopbackServer(0, Handler)
    server.start()
    yield server.url, got
    server.stop()


def test_the_proxy_lets_only_oauth_bearers_with_a_grant_through(
    workspace: Workspace, bearer: Bearer, client: Callable[..., WorkspaceClient]
) -> None:
    """It tells the app who comes, and hides the bearer; a forged name is taken off."""
    with echoing() as (upstream, got), App(workspace, "orchestrator", upstream) as app:
        apps = Apps(workspace)
        apps.add(app, client_id="app-id")
        workspace.add(apps)
        known = client().apps.get("orchestrator")
        assert (known.url, known.service_principal_client_id) == (app.url, "app-id")
        path, forged = f"{app.url}/api/callbacks", {"X-Forwarded-Email": "boss@example.com"}
        assert status(path) == 401
        assert status(path, {"Authorization": f"Bearer {workspace.token}"}) == 401
        assert status(path, bearer.headers()) == 403
        workspace.access.grant("job", "apps/orchestrator", "CAN_USE")
        assert status(f"{app.url}/tasks", bearer.headers()) == 302
        assert got == []
        assert status(path, bearer.headers() | forged) == 200
    (headers,) = got
    assert (headers["x-forwarded-email"], headers["x-forwarded-user"]) == ("job", "job")
    assert "authorization" not in headers


def test_the_proxy_cuts_what_takes_too_long(workspace: Workspace, bearer: Bearer) -> None:
    """The app may go on, but nobody hears of it; one that is not there is another error."""
    workspace.access.grant("job", "apps/slow", "CAN_USE")
    with echoing(2) as (upstream, _), App(workspace, "slow", upstream, seconds=0.3) as app:
        assert status(f"{app.url}/api/x", bearer.headers()) == 504
    with App(workspace, "slow", upstream) as app:
        assert status(f"{app.url}/api/x", bearer.headers()) == 502


def test_callbacks_renew_a_bearer_that_the_proxy_refuses_once(
    workspace: Workspace, bearer: Bearer
) -> None:
    """A new login after 401, and after the second one the callback is given up."""
    workspace.access.grant("job", "apps/o", "CAN_USE")
    with receiving() as receiver, App(workspace, "o", receiver.url.removesuffix("/hook")) as app:
        sender = Callbacks(
            Receiver(f"{app.url}/api/callbacks", (SECRET,)), lambda: False, 10, bearer
        )
        assert sender.send(EVENT)
        workspace.access.expire_tokens()
        assert sender.send(EVENT)
        assert [one.status for one in app.log] == [200, 401, 200]
        workspace.access.token_seconds = 0
        workspace.access.expire_tokens()
        assert not sender.send(EVENT)
        assert [one.status for one in app.log][3:] == [401, 401]
        assert len(receiver.messages) == 2


def test_callbacks_wait_while_the_workspace_gives_no_bearer(
    workspace: Workspace, bearer: Bearer
) -> None:
    """A login that fails passes; nothing is sent without a bearer meanwhile."""
    workspace.access.grant("job", "apps/o", "CAN_USE")
    workspace.faults.add(Fault("status", on="/oidc/v1/token", status=500, times=2))
    with receiving() as receiver, App(workspace, "o", receiver.url.removesuffix("/hook")) as app:
        receiver_of_app = Receiver(f"{app.url}/api/callbacks", (SECRET,))
        assert Callbacks(receiver_of_app, lambda: False, 20, bearer).send(EVENT)
        assert [one.status for one in app.log] == [200]


def test_a_bearer_says_what_is_wrong_without_its_credentials(
    workspace: Workspace, bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong secret, a personal token and no login at all: none of them stands in the sentence."""
    with pytest.raises(NoBearer) as wrong:
        Bearer.of_service_principal("job", "wrong-secret").token()
    assert "wrong-secret" not in str(wrong.value)
    first = bearer.token()
    bearer.renew()
    assert bearer.token() != first
    monkeypatch.setenv("DATABRICKS_HOST", "")
    monkeypatch.setenv("HOME", "/nowhere")
    with pytest.raises(SettingError, match="No login to Databricks") as none:
        Bearer.of_service_principal("job", "job-secret").token()
    assert "job-secret" not in str(none.value)
