"""The launcher of Lakeflow runs: one run a launch token, states as they were sent, errors told."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from databricks.sdk import WorkspaceClient

from forebay.databricks.client import workspace_client
from forebay.launchers import LauncherAway, LaunchFailed
from forebay.launchers.configured import external_launchers
from forebay.launchers.lakeflow import LakeflowLauncher
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.jobs import Jobs
from support.lakeflow import JOB, an_attempt, by_token, forget_tokens, quick_launcher

Client = Callable[..., WorkspaceClient]
RUN_NOW = "POST /api/2.2/jobs/run-now"
GET_RUN = "GET /api/2.2/jobs/runs/get"
LIST_RUNS = "GET /api/2.2/jobs/runs/list"


def test_a_run_is_given_ids_and_nothing_of_the_task(launcher: LakeflowLauncher, jobs: Jobs) -> None:
    run = jobs.runs[int(launcher.launch(an_attempt(5)))]
    assert run.parameters == {
        "forebay_task_id": "5",
        "forebay_attempt_id": "105",
        "forebay_launch_token": "fb-5",
    }
    assert run.token == "fb-5"


def test_the_same_token_gives_the_same_run(launcher: LakeflowLauncher, jobs: Jobs) -> None:
    first = launcher.launch(an_attempt(1))
    assert launcher.launch(an_attempt(1)) == first
    assert launcher.launch(an_attempt(2)) != first
    assert len(jobs.runs) == 2


def test_jl2_a_launch_whose_answer_is_lost_is_one_run(
    workspace: Workspace, client: Client, jobs: Jobs
) -> None:
    """The SDK posts again by itself, however the answer gets lost, and finds the same run."""
    launcher = quick_launcher(client, retry_seconds=100)
    for number, kind in enumerate(("lost", "hang", "reset"), 1):
        workspace.faults.add(Fault(kind, on=RUN_NOW, seconds=3))
        run_id = launcher.launch(an_attempt(number))
        assert by_token(jobs)[f"fb-{number}"] == [int(run_id)]
    workspace.faults.add(Fault("status", on=RUN_NOW, status=503))
    launcher.launch(an_attempt(4))
    assert {token: len(runs) for token, runs in by_token(jobs).items()} == {
        f"fb-{number}": 1 for number in range(1, 5)
    }
    assert len(workspace.calls("POST", "/api/2.2/jobs/run-now")) >= 7


def test_jl2_without_the_idempotency_token_a_lost_answer_is_a_second_run(
    workspace: Workspace, launcher: LakeflowLauncher, jobs: Jobs
) -> None:
    """What the test above would find: the SDK's second post starts another run."""
    forget_tokens(launcher)
    workspace.faults.add(Fault("lost", on=RUN_NOW))
    launcher.launch(an_attempt(1))
    assert len(by_token(jobs)["fb-1"]) == 2


def test_a_job_that_runs_as_many_as_it_may_queues_the_run(
    launcher: LakeflowLauncher, jobs: Jobs
) -> None:
    jobs.jobs[JOB].max_concurrent_runs, jobs.jobs[JOB].is_queueing = 1, False
    launcher.launch(an_attempt(1))
    waiting = launcher.launch(an_attempt(2))
    seen = launcher.states({waiting: JOB})[waiting]
    assert seen["life_cycle_state"] == "QUEUED"
    assert "maximum concurrent runs" in seen["message"]


# Errors of a launch


@pytest.mark.parametrize(
    ("status", "code", "result"),
    [
        (400, "INVALID_PARAMETER_VALUE", "400"),
        (403, "PERMISSION_DENIED", "403"),
        (404, "RESOURCE_DOES_NOT_EXIST", "UNREACHABLE"),
        (500, "INTERNAL_ERROR", "500"),
    ],
)
def test_a_launch_that_is_refused_says_why(
    workspace: Workspace, launcher: LakeflowLauncher, status: int, code: str, result: str
) -> None:
    workspace.faults.add(Fault("status", on=RUN_NOW, status=status, code=code, message="No."))
    with pytest.raises(LaunchFailed) as caught:
        launcher.launch(an_attempt())
    assert not isinstance(caught.value, LauncherAway)
    assert caught.value.seen == {
        "life_cycle_state": "LAUNCH_FAILED",
        "result_state": result,
        "termination_code": code,
        "message": f"job {JOB}: No",
    }


def test_a_job_that_is_not_there_counts_as_such(launcher: LakeflowLauncher) -> None:
    """The Jobs API says 400 to it: whether the job is there is looked up."""
    with pytest.raises(LaunchFailed) as caught:
        launcher.launch(an_attempt(job_id=9))
    assert caught.value.seen["result_state"] == "404"
    assert "Job 9 does not exist" in caught.value.seen["message"]
    with pytest.raises(LaunchFailed) as caught:
        launcher.launch(an_attempt(job_id=None))
    assert caught.value.seen["result_state"] == "NO_JOB"


def test_the_token_of_a_deleted_run_is_refused_alone(
    client: Client, launcher: LakeflowLauncher, jobs: Jobs
) -> None:
    run_id = launcher.launch(an_attempt(1))
    jobs.end(run_id)
    client().jobs.delete_run(int(run_id))
    with pytest.raises(LaunchFailed, match="deleted") as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] == "400"
    assert launcher.launch(an_attempt(2))


@pytest.mark.parametrize(
    ("fault", "result"),
    [
        (Fault("status", times=None), "503"),
        (Fault("status", times=None, status=429, code="REQUEST_LIMIT_EXCEEDED"), "429"),
        (Fault("status", times=None, status=502, code="BAD_GATEWAY"), "UNREACHABLE"),
        (Fault("status", times=None, status=500, code="INTERNAL_ERROR"), "UNREACHABLE"),
        (Fault("status", times=None, status=404, code="ENDPOINT_NOT_FOUND"), "UNREACHABLE"),
        (Fault("status", times=None, status=504, code="DEADLINE_EXCEEDED"), "504"),
        (Fault("status", times=None, status=401, code="UNAUTHENTICATED"), "401"),
        (Fault("reset", times=None), "UNREACHABLE"),
        (Fault("hang", times=None, seconds=20), "UNREACHABLE"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
def test_a_workspace_that_is_away_is_away_for_everything(
    workspace: Workspace, launcher: LakeflowLauncher, fault: Fault, result: str
) -> None:
    launcher.check()
    run_id = launcher.launch(an_attempt(1))
    workspace.faults.add(fault)
    began = time.monotonic()
    for request in (
        launcher.check,
        lambda: launcher.launch(an_attempt(2)),
        lambda: launcher.cancel(run_id),
        lambda: launcher.states({run_id: JOB}),
    ):
        with pytest.raises(LauncherAway) as caught:
            request()
        assert caught.value.seen["result_state"] == result
        assert caught.value.seen["life_cycle_state"] == "LAUNCH_FAILED"
    assert time.monotonic() - began < 40
    workspace.faults.clear()
    launcher.check()


def test_a_workspace_that_is_away_at_the_start_is_tried_again(
    client: Client, workspace: Workspace, jobs: Jobs
) -> None:
    """Also one that names nobody: no start is held up, and no process ends by it."""
    nobody = LakeflowLauncher(1, lambda: workspace_client(host=workspace.url, auth_type="pat"))
    with pytest.raises(LauncherAway) as caught:
        nobody.check()
    assert caught.value.seen["result_state"] == "401"
    away = workspace.faults.add(Fault("reset", times=None))
    launcher = quick_launcher(client)
    with pytest.raises(LauncherAway):
        launcher.check()
    workspace.faults.remove(away)
    launcher.check()


# Cancelling


def test_a_run_that_has_ended_or_is_not_there_is_left_alone(
    launcher: LakeflowLauncher, jobs: Jobs
) -> None:
    run_id = launcher.launch(an_attempt(1))
    launcher.cancel(run_id)
    assert jobs.runs[int(run_id)].result_state == "CANCELED"
    launcher.cancel(run_id)
    launcher.cancel("4711")


def test_what_is_told_holds_no_settings_of_the_client(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """The SDK adds them to its message: operators would read them as the reason of a pause."""
    for status, code in ((403, "PERMISSION_DENIED"), (401, "UNAUTHENTICATED")):
        workspace.faults.add(Fault("status", on=RUN_NOW, status=status, code=code, message="No."))
        with pytest.raises(LaunchFailed) as caught:
            launcher.launch(an_attempt())
        assert "onfig" not in f"{caught.value} {caught.value.seen}"


def test_who_may_only_run_jobs_can_do_all_that_the_launcher_does(
    workspace: Workspace, client: Client, jobs: Jobs
) -> None:
    workspace.access.add(Principal("an-app"), "app-token")
    workspace.access.grant("an-app", f"jobs/{JOB}", "CAN_MANAGE_RUN")
    launcher = quick_launcher(client, token="app-token")
    launcher.check()
    runs = {launcher.launch(an_attempt(number)): JOB for number in range(5)}
    assert len(launcher.states(runs)) == 5
    launcher.cancel(next(iter(runs)))


# Settings


def test_the_launcher_is_there_where_a_workspace_is_named() -> None:
    """Nothing is asked of the workspace, which need not be there."""
    assert external_launchers({}) == []
    (launcher,) = external_launchers({"DATABRICKS_HOST": "http://127.0.0.1:9"})
    assert (launcher.name, launcher.slots) == ("lakeflow", 200)
    named = {"DATABRICKS_HOST": "http://127.0.0.1:9", "FOREBAY_LAKEFLOW_SLOTS": "3"}
    assert external_launchers(named)[0].slots == 3
    assert external_launchers(named | {"FOREBAY_LAKEFLOW_SLOTS": "0"}) == []


def test_without_a_workspace_the_sdk_is_not_loaded() -> None:
    """It takes a second or two: a daemon that runs processes alone starts without it."""
    program = """
import sys
from forebay.daemon import Daemon
from forebay.launchers.configured import external_launchers
assert external_launchers({}) == []
print(any(name.startswith("databricks") for name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_the_workspace_is_known_by_its_id_also_after_a_bad_answer(
    workspace: Workspace, client: Client
) -> None:
    """The SDK asks for it once and goes on without; runs of another place would be left alone."""
    known = quick_launcher(client).place
    workspace.faults.add(Fault("status", on="databricks-config", status=404, times=None))
    assert quick_launcher(client).place == known == f"{workspace.workspace_id}\n{workspace.url}"
