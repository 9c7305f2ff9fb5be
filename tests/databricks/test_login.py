"""Logins to the workspace: how long they may take, what may pass, and bearers that are refused."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import DatabricksError, Unauthenticated

from forebay.databricks.client import workspace_client
from forebay.databricks.login import LoginError
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.routing import Answer, Area, Request, route

TOKEN = "POST /oidc/v1/token"
New = Callable[..., WorkspaceClient]


class Echo(Area):
    """Keep the bodies that are put."""

    def __init__(self, bodies: list[bytes]) -> None:
        self._bodies = bodies

    @route("PUT", "/api/2.0/echo")
    def put(self, request: Request) -> dict[str, str]:
        self._bodies.append(request.body.read())
        return {}


class Led(Area):
    """Lead a request to another host, where it is refused."""

    def __init__(self, elsewhere: str = "") -> None:
        self._elsewhere = elsewhere

    @route("GET", "/api/2.0/led", is_open=True)
    def lead(self, request: Request) -> Answer:
        return Answer(status=302, headers={"Location": f"{self._elsewhere}/refused"})

    @route("GET", "/refused", is_open=True)
    def refuse(self, request: Request) -> Answer:
        return Answer(status=401)


@pytest.fixture(name="new")
def _new(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> New:
    """Return a function that makes a client of a service principal, which tries for a second."""
    for name in [name for name in os.environ if name.startswith("DATABRICKS")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/nowhere")
    workspace.access.add(Principal("app", secret="app-secret"))

    def new(**options: object) -> WorkspaceClient:
        login = {"client_id": "app", "client_secret": "app-secret"}
        limits = {"http_seconds": 1, "retry_seconds": 1}
        given = {name: value for name, value in {**login, **limits, **options}.items() if value}
        return workspace_client(host=workspace.url, **given)

    return new


def asked(workspace: Workspace) -> int:
    """Return how often a bearer was asked for."""
    return len(workspace.calls(*TOKEN.split()))


def test_one_bearer_serves_all_calls(workspace: Workspace, new: New) -> None:
    """It is asked for with the first of them, and not again while it is good."""
    client = new()
    assert asked(workspace) == 0
    assert {client.current_user.me().user_name for _ in range(3)} == {"app"}
    assert asked(workspace) == 1


@pytest.mark.parametrize("status", [404, 429, 500, 503])
def test_a_login_that_is_away_counts_as_the_workspace_being_away(
    workspace: Workspace, new: New, status: int
) -> None:
    """Whatever a gateway answers there, it may pass, and the SDK tries for as long as it may."""
    client = new()
    fault = workspace.faults.add(Fault("status", on=TOKEN, status=status, times=None))
    with pytest.raises(TimeoutError) as caught:
        client.current_user.me()
    assert isinstance(caught.value.__cause__, LoginError)
    assert caught.value.__cause__.is_transient
    assert str(status) in str(caught.value.__cause__)
    workspace.faults.remove(fault)
    assert client.current_user.me().user_name == "app"


@pytest.mark.parametrize("kind", ["slow", "reset", "lost"])
def test_a_login_without_an_answer_is_given_up_and_tried_again(
    workspace: Workspace, new: New, kind: str
) -> None:
    """One answer that never comes costs a second, not the life of the process."""
    client = new(retry_seconds=5)
    workspace.faults.add(Fault(kind, on=TOKEN, seconds=30))  # type: ignore[arg-type]
    began = time.monotonic()
    assert client.current_user.me().user_name == "app"
    assert time.monotonic() - began < 5
    assert asked(workspace) >= 1


@pytest.mark.parametrize("answer", ["text", [], {}, {"access_token": None}, {"expires_in": "soon"}])
def test_an_answer_that_makes_no_sense_may_pass(
    workspace: Workspace, new: New, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    """It is no bearer, and no error of another kind either."""
    monkeypatch.setattr(workspace, "handle", lambda request: Answer(answer))
    with pytest.raises(LoginError, match="without a bearer") as caught:
        new().config.authenticate()
    assert caught.value.is_transient


def test_a_wrong_secret_is_said_at_once(workspace: Workspace, new: New) -> None:
    """No wait helps: nothing is tried again, and the sentence holds no secret."""
    client = new(client_secret="wrong-secret")
    with pytest.raises(LoginError, match=r"app \(invalid_client.*check") as caught:
        client.current_user.me()
    assert not caught.value.is_transient
    assert "wrong-secret" not in str(caught.value)
    assert asked(workspace) == 1


def test_no_credentials_at_all_are_a_login_error_too(new: New) -> None:
    """What the SDK says of its settings is cut off."""
    with pytest.raises(LoginError, match="cannot configure default credentials") as caught:
        new(client_id="", client_secret="")
    assert not caught.value.is_transient
    assert "Config:" not in str(caught.value)


def test_a_bearer_that_is_refused_is_renewed_within_the_call(
    workspace: Workspace, new: New
) -> None:
    """Tokens are revoked, or this machine's clock was set: no call ever hears of it."""
    client = new()
    client.current_user.me()
    workspace.access.expire_tokens()
    assert client.current_user.me().user_name == "app"
    assert asked(workspace) == 2


def test_a_body_is_sent_again_with_the_new_bearer(workspace: Workspace, new: New) -> None:
    """From where it began, be it a stream."""
    sent: list[bytes] = []
    client = new()
    client.current_user.me()
    workspace.access.expire_tokens()
    workspace.add(Echo(sent))
    client.api_client.do("PUT", "/api/2.0/echo", data=io.BytesIO(b"whole"))
    assert sent == [b"whole"]


def test_another_host_gets_no_bearer(workspace: Workspace, new: New) -> None:
    """A gateway may lead a request elsewhere, where it is refused without one."""
    with Workspace() as elsewhere:
        elsewhere.add(Led())
        elsewhere.access.add(Principal("app"), "a-token")
        workspace.add(Led(elsewhere.url))
        client = new(client_id=None, client_secret=None, token="a-token")
        with pytest.raises(DatabricksError):
            client.api_client.do("GET", "/api/2.0/led")
        assert [call.who for call in elsewhere.calls("GET", "/refused")] == [None]


def test_who_may_not_log_in_any_more_is_told_so(workspace: Workspace, new: New) -> None:
    """A principal that was removed hears why; a personal token that is wrong is refused once."""
    client = new()
    client.current_user.me()
    workspace.access.expire_tokens()
    workspace.access.add(Principal("app", secret="another"))
    with pytest.raises(LoginError, match="invalid_client"):
        client.current_user.me()
    with pytest.raises(Unauthenticated):
        new(client_id="", client_secret="", token="wrong").current_user.me()
    assert len(workspace.calls("GET", "/api/2.0/preview/scim/v2/Me")) == 3


def test_the_hour_that_a_clock_takes_back_changes_nothing(
    workspace: Workspace, new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bearer's life is not counted by the hour of the wall."""
    workspace.access.token_seconds = 1
    client = new()
    client.current_user.me()
    monkeypatch.setenv("TZ", "GMT+5")
    time.tzset()
    try:
        time.sleep(1.1)
        client.current_user.me()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [one.status for one in workspace.log if one.path.endswith("/Me")] == [200, 200]
