"""The stand-in itself: it lets in whom it knows, and faults befall what they name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import InternalError, Unauthenticated

from forebay_lab.workspace import Fault, Principal, Workspace

ME = "/api/2.0/preview/scim/v2/Me"
Client = Callable[..., WorkspaceClient]


def test_a_token_says_who_one_is(client: Client) -> None:
    assert client().current_user.me().user_name == "ada@example.com"


def test_an_unknown_token_is_refused(client: Client) -> None:
    with pytest.raises(Unauthenticated):
        client(token="wrong").current_user.me()


def test_a_service_principal_logs_in_with_its_secret(workspace: Workspace, client: Client) -> None:
    workspace.access.add(Principal("an-app", secret="s3cret"))
    app = client(token=None, client_id="an-app", client_secret="s3cret")
    assert app.current_user.me().user_name == "an-app"


def test_a_lost_answer_is_asked_for_again(workspace: Workspace, client: Client) -> None:
    workspace.faults.add(Fault("lost", on=ME))
    assert client().current_user.me().user_name == "ada@example.com"
    assert [one.status for one in workspace.calls("GET", ME)] == [0, 200]


def test_an_error_of_the_server_comes_as_one(workspace: Workspace, client: Client) -> None:
    workspace.faults.add(Fault("status", on=ME, status=500, code="INTERNAL_ERROR", message="No."))
    with pytest.raises(InternalError, match=r"No\."):
        client().current_user.me()
