"""The stand-in itself: it lets in whom it knows, and faults befall what they name."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import InternalError, Unauthenticated

from forebay.embedded import Server
from forebay_lab.loopback import PortTakenError
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.__main__ import _alone_in
from support.cli import Cli
from support.waiting import until

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


def test_a_port_that_is_taken_is_said(workspace: Workspace) -> None:
    port = int(workspace.url.rpartition(":")[2])
    with pytest.raises(PortTakenError, match=rf"Port {port} cannot be listened on"):
        Workspace(port=port)


def test_no_port_beyond_the_last(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert Cli(capsys)("workspace-server", "--folder", tmp_path, "--port", "99999").code == 2


@pytest.mark.timeout(120)
def test_its_file_for_shells_is_there_while_it_is_true(tmp_path: Path) -> None:
    """What was left behind goes at the start, and what it wrote goes with it."""
    folder, env = Path(tempfile.mkdtemp(prefix="forebay-tests-")), tmp_path / "workspace.env"
    folder.chmod(0o755)
    env.write_text("export DATABRICKS_HOST=http://127.0.0.1:1\n")
    command = [sys.executable, "-m", "forebay.cli", "workspace-server"]
    running = subprocess.Popen([*command, "--folder", folder, "--env", env])
    try:
        until(lambda: not env.exists(), seconds=60)
        until(env.exists, seconds=60)
        assert f"FOREBAY_HOME={folder}" in env.read_text()
        assert ":1\n" not in env.read_text()
        running.terminate()
        assert running.wait(60) == 0
        assert not env.exists()
    finally:
        running.kill()
        running.wait()
        Server(folder / "pg").stop()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_folder_has_one_stand_in(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The second would work on the first one's database, and stop it at its own end."""
    with _alone_in(tmp_path):
        second = Cli(capsys)("workspace-server", "--folder", tmp_path)
    assert second.code == 1
    assert "Another workspace server runs" in second.err
    assert not (tmp_path / "pg").exists()


def test_help_needs_no_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forebay.extras.has", lambda extra: False)
    shown = Cli(capsys)("workspace-server", "--help")
    assert (shown.code, "--orchestrator-port" in shown.out) == (0, True)
