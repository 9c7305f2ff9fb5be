"""An answer that comes byte by byte is broken off: no request waits for it without end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
import requests
from databricks.sdk import WorkspaceClient

from forebay.databricks.answer_time import give_answers_time
from forebay.databricks.client import id_of
from forebay.databricks.login import LoginError
from forebay.launchers import JobAway, LauncherAway
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.faults import Coding
from forebay_lab.workspace.jobs import Jobs
from support.lakeflow import JOB, an_attempt

Client = Callable[..., WorkspaceClient]


def drip(on: str = ".", coding: Coding = "length") -> Fault:
    return Fault("drip", on=on, seconds=0.3, times=None, coding=coding)


def test_a_workspace_that_drips_is_away(workspace: Workspace, launcher: LakeflowLauncher) -> None:
    run_id = launcher.launch(an_attempt(1))
    workspace.faults.add(drip())
    for request in (launcher.check, lambda: launcher.states({run_id: JOB})):
        with pytest.raises(LauncherAway):
            request()
    workspace.faults.clear()
    assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "RUNNING"


@pytest.mark.parametrize("coding", get_args(Coding))
def test_a_launch_that_drips_is_that_jobs_alone(
    coding: Coding, workspace: Workspace, jobs: Jobs, launcher: LakeflowLauncher
) -> None:
    """It was carried out: the same token gives the same run."""
    fault = workspace.faults.add(drip("run-now", coding))
    with pytest.raises(JobAway, match="Timed out"):
        launcher.launch(an_attempt(1))
    workspace.faults.remove(fault)
    assert [launcher.launch(an_attempt(1))] == [str(run_id) for run_id in jobs.runs]


def test_a_workspace_that_leads_on_and_on_is_away(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """Each step may take as long as an answer."""
    launcher.check()
    asked = len(workspace.log)
    path = "/api/2.2/jobs/list"
    workspace.faults.add(Fault("status", on=path, status=307, location=path, times=None))
    with pytest.raises(LauncherAway, match="Exceeded 2 redirects"):
        launcher.check()
    assert len(workspace.log) - asked == 3


def test_a_login_that_drips_is_away(workspace: Workspace, client: Client) -> None:
    workspace.access.add(Principal("an-app", secret="s3cret"))
    workspace.faults.add(drip("oidc/v1/token"))
    oauth = {"token": None, "client_id": "an-app", "client_secret": "s3cret"}
    asked = client(**oauth, http_seconds=1, retry_seconds=1)
    with pytest.raises(TimeoutError) as caught:
        asked.current_user.me()
    assert isinstance(caught.value.__cause__, LoginError)


@pytest.mark.parametrize("kind", ["drip", "status"])
def test_a_host_that_tells_nothing_of_itself_holds_up_no_client(
    kind: str, workspace: Workspace, client: Client
) -> None:
    """It is asked as a client is made; one goes on without its answer, whatever it asks for."""
    on = "databricks-config"
    fault = drip(on) if kind == "drip" else Fault(kind, on=on, retry_after=3600)
    workspace.faults.add(replace(fault, times=None))
    began = time.monotonic()
    asked = client(http_seconds=1, retry_seconds=1)
    assert time.monotonic() - began < 5
    assert asked.current_user.me().active
    assert id_of(asked) == workspace.workspace_id


def test_a_long_answer_that_is_streamed_takes_its_time(workspace: Workspace) -> None:
    """As a file does: it is the head that has to be there."""
    workspace.faults.add(Fault("drip", on="databricks-config", seconds=0.02, times=1))
    with give_answers_time(requests.Session(), 0.5) as session:
        began = time.monotonic()
        answer = session.get(f"{workspace.url}/.well-known/databricks-config", stream=True)
        assert answer.json()["workspace_id"] == workspace.workspace_id
    assert time.monotonic() - began > 0.5


def test_the_next_request_on_a_line_is_in_no_danger(workspace: Workspace) -> None:
    with give_answers_time(requests.Session(), 1) as session:
        for pause in (0.0, 0.7, 0.7):
            time.sleep(pause)
            session.get(f"{workspace.url}/.well-known/databricks-config").raise_for_status()
