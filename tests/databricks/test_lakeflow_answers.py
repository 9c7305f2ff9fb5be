"""What is answered about one job or run concerns that one alone; what is no answer says nothing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from databricks.sdk import WorkspaceClient

from forebay.launchers import CancelFailed, JobAway, LauncherAway, LaunchFailed, lakeflow
from forebay.launchers.configured import external_launchers
from forebay.launchers.lakeflow import HTTP_SECONDS, RETRY_SECONDS, LakeflowLauncher
from forebay_lab.workspace import ApiError, Fault, Principal, Workspace
from forebay_lab.workspace.jobs import Jobs
from support.lakeflow import JOB, add_jobs, an_attempt, quick_launcher

Client = Callable[..., WorkspaceClient]
OTHER_JOB = 8
GET_RUN = "GET /api/2.2/jobs/runs/get"
LIST_RUNS = "GET /api/2.2/jobs/runs/list"
REFUSALS = [
    (429, "REQUEST_LIMIT_EXCEEDED"),
    (422, "UNPROCESSABLE"),
    (410, "GONE"),
    (503, "TEMPORARILY_UNAVAILABLE"),
    (401, "UNAUTHENTICATED"),
    (500, "INTERNAL_ERROR"),
]
STRANGERS = [(404, "ENDPOINT_NOT_FOUND"), (404, "NOT_FOUND"), (403, "FORBIDDEN")]
PAGES = [
    (403, "<html><title>Forbidden</title></html>"),
    (403, "<html><title>Sign in</title></html>"),
    (403, ""),
    (403, '{"message": "The VPN is down."}'),
    (403, '["PERMISSION_DENIED"]'),
    (404, "<html><title>Not Found</title></html>"),
    (404, "RESOURCE_DOES_NOT_EXIST: Job 7 does not exist."),
    (400, "<html><title>Bad Request</title></html>"),
    (409, "<pre>Conflict</pre>"),
    (200, "<html><title>Sign in</title></html>"),
    (200, ""),
    (200, "null"),
]
"""What a gateway answers in the place of the API."""

NO_ANSWERS = [
    "",
    "{}",
    "[]",
    "null",
    "<html><title>Sign in</title></html>",
    '{"run_id": ',
    '{"run_id": null}',
    '{"run_id": true}',
    '{"run_id": "5"}',
]
"""What a gateway says with 200, and nothing that the API promises of a run."""

DEEP: dict[str, Any] = {}
for _ in range(600):
    DEEP = {"deeper": DEEP}


@pytest.fixture
def jobs(workspace: Workspace) -> Jobs:
    jobs = add_jobs(workspace)[0]
    jobs.add("other", job_id=OTHER_JOB)
    return jobs


@pytest.fixture
def launcher(jobs: Jobs, client: Client) -> LakeflowLauncher:
    return quick_launcher(client, retry_seconds=4)


def refused(status: int, code: str) -> ApiError:
    return ApiError(status, code, "No.")


@pytest.mark.parametrize(("status", "code"), REFUSALS + STRANGERS)
def test_a_job_that_cannot_be_started_now_is_away_alone(
    jobs: Jobs, launcher: LakeflowLauncher, status: int, code: str
) -> None:
    jobs.instead["run-now", JOB] = refused(status, code)
    with pytest.raises(JobAway) as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] not in ("400", "403", "404")
    assert launcher.launch(an_attempt(2, job_id=OTHER_JOB))


@pytest.mark.parametrize(("status", "code"), REFUSALS + STRANGERS)
def test_a_run_that_cannot_be_asked_hides_no_other_and_is_not_gone(
    jobs: Jobs, launcher: LakeflowLauncher, status: int, code: str
) -> None:
    odd, other = (launcher.launch(an_attempt(number)) for number in (1, 2))
    jobs.end(other)
    jobs.instead["get", int(odd)] = refused(status, code)
    seen = launcher.states({odd: JOB, other: JOB})
    assert seen[odd]["life_cycle_state"] == "POLL_FAILED"
    assert seen[odd].get("result_state") not in ("403", "404")
    assert seen[other]["life_cycle_state"] == "TERMINATED"


@pytest.mark.parametrize(
    "answer",
    [
        {"state": {"life_cycle_state": "RUNNING", "state_message": "x\0" * 800_000}},
        {"state": {"life_cycle_state": "RUNNING", "deep": DEEP}},
        {"state": {"life_cycle_state": 5, "result_state": 5}},
        {"state": "RUNNING", "status": "RUNNING"},
        {"status": {"state": "RUNNING", "termination_details": {"code": {"a": 1}}}},
        {"job_id": None, "run_page_url": 7, "state": {"user_cancelled_or_timedout": []}},
    ],
    ids=range(6),
)
def test_odd_answers_are_passed_on_as_what_the_database_takes(
    jobs: Jobs, launcher: LakeflowLauncher, answer: dict[str, Any]
) -> None:
    odd, other = (launcher.launch(an_attempt(number)) for number in (1, 2))
    jobs.end(other)
    jobs.instead["get", int(odd)] = {"run_id": int(odd)} | answer
    seen = launcher.states({odd: JOB, other: JOB})
    assert isinstance(seen[odd]["life_cycle_state"], str)
    for name in ("result_state", "termination_code", "message"):
        assert isinstance(seen[odd].get(name, ""), str)
    assert len(str(seen[odd])) < 10_000
    assert "\\x00" not in repr(seen[odd])
    assert seen[other]["life_cycle_state"] == "TERMINATED"


@pytest.mark.parametrize("runs", [None, [None], "x", 5, {"a": 1}])
def test_an_odd_list_counts_as_none(jobs: Jobs, launcher: LakeflowLauncher, runs: Any) -> None:
    ids = [launcher.launch(an_attempt(number)) for number in range(5)]
    for run_id in ids[1:]:
        jobs.end(run_id)
    jobs.instead["list", JOB] = {"runs": runs}
    seen = launcher.states(dict.fromkeys(ids, JOB))
    assert [seen[one]["life_cycle_state"] for one in ids] == ["RUNNING"] + ["TERMINATED"] * 4


@pytest.mark.parametrize("page", NO_ANSWERS)
def test_a_launch_that_names_no_run_counts_as_lost(
    page: str, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """Whether there is a run is open: the same token finds out."""
    workspace.faults.add(Fault("status", on="run-now", status=200, page=page))
    with pytest.raises(JobAway, match=f"job {JOB}: .* (answer|nothing)") as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] == "UNREACHABLE"
    assert launcher.launch(an_attempt(1))


@pytest.mark.parametrize("page", [*NO_ANSWERS, '{"run_id": 4711}'])
def test_a_look_that_shows_another_run_or_none_says_nothing(
    page: str, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    run_id = launcher.launch(an_attempt(1))
    workspace.faults.add(Fault("status", on=GET_RUN, status=200, page=page, times=2))
    assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "POLL_FAILED"
    with pytest.raises(CancelFailed):
        launcher.cancel(run_id, JOB)


@pytest.mark.parametrize("page", ["", "<html>Sign in</html>", "null"])
def test_a_cancel_that_is_not_answered_has_failed(
    page: str, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    run_id = launcher.launch(an_attempt(1))
    workspace.faults.add(Fault("status", on="runs/cancel", status=200, page=page))
    with pytest.raises(CancelFailed, match="200 OK, with "):
        launcher.cancel(run_id, JOB)


def test_a_run_of_another_job_is_neither_taken_for_ours_nor_cancelled(
    jobs: Jobs, launcher: LakeflowLauncher
) -> None:
    """Another workspace's ids may be those of strangers here."""
    stranger = launcher.launch(an_attempt(1, job_id=OTHER_JOB))
    assert launcher.states({stranger: JOB})[stranger]["life_cycle_state"] == "POLL_FAILED"
    with pytest.raises(LaunchFailed, match=f"job {OTHER_JOB}, not of job {JOB}"):
        launcher.cancel(stranger, JOB)
    assert jobs.runs[int(stranger)].life_cycle_state == "RUNNING"


def test_runs_are_asked_side_by_side(jobs: Jobs, launcher: LakeflowLauncher) -> None:
    """Each of two answers waits for the other question."""
    both = threading.Barrier(2, timeout=20)
    ids = [launcher.launch(an_attempt(number)) for number in (1, 2)]
    for run_id in ids:
        jobs.instead["get", int(run_id)] = lambda: both.wait() and None
    assert {
        one["life_cycle_state"] for one in launcher.states(dict.fromkeys(ids, JOB)).values()
    } == {"RUNNING"}
    assert not both.broken


def test_a_workspace_that_logs_nobody_in_is_away(
    workspace: Workspace, jobs: Jobs, client: Client
) -> None:
    """With the secret of a service principal, as the bundle has it."""
    workspace.access.add(Principal("an-app", secret="s3cret"))
    workspace.access.grant("an-app", f"jobs/{JOB}", "CAN_MANAGE_RUN")
    oauth = {"token": None, "client_id": "an-app", "client_secret": "s3cret"}
    launcher = quick_launcher(client, retry_seconds=4, **oauth)
    workspace.faults.add(Fault("status", on="oidc/v1/token", times=None))
    with pytest.raises(LauncherAway):
        launcher.check()
    with pytest.raises(LauncherAway) as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] in ("503", "UNREACHABLE")
    workspace.faults.clear()
    run_id = launcher.launch(an_attempt(1))
    workspace.access.expire_tokens()
    assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "RUNNING"


@pytest.mark.parametrize(("status", "page"), PAGES)
def test_a_gateway_that_refuses_everything_is_no_workspace(
    workspace: Workspace, launcher: LakeflowLauncher, status: int, page: str
) -> None:
    """No request concerns its job alone then: all wait, and nothing is said of a run."""
    run_id = launcher.launch(an_attempt(1))
    workspace.faults.add(Fault("status", status=status, page=page, times=None))
    for request in (
        launcher.check,
        lambda: launcher.launch(an_attempt(2)),
        lambda: launcher.cancel(run_id),
        lambda: launcher.states({run_id: JOB}),
    ):
        with pytest.raises(LauncherAway) as caught:
            request()
        assert caught.value.seen["result_state"] == "UNREACHABLE"
    workspace.faults.clear()
    assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "RUNNING"


@pytest.mark.parametrize(("status", "page"), PAGES)
def test_a_gateway_that_refuses_one_job_leaves_the_others(
    workspace: Workspace, launcher: LakeflowLauncher, status: int, page: str
) -> None:
    """Nothing is final about its job either."""
    run_now = "POST /api/2.2/jobs/run-now"
    workspace.faults.add(Fault("status", on=run_now, status=status, page=page))
    with pytest.raises(JobAway) as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] == "UNREACHABLE"
    assert launcher.launch(an_attempt(2, job_id=OTHER_JOB))


def test_what_a_gateway_says_is_told_shortly(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """Without the request, which the SDK tells of an answer that it cannot read."""
    page = "<html><h1>Bad gateway</h1></html>"
    workspace.faults.add(Fault("status", on="run-now", status=502, page=page, times=None))
    with pytest.raises(JobAway) as caught:
        launcher.launch(an_attempt(1))
    assert str(caught.value) == (
        f"job {JOB}: 502 Bad Gateway, with a page that is no answer of the API's"
    )


def test_an_answer_that_repeats_the_request_tells_no_credential(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    said = f"Authorization: Bearer {workspace.token} is refused"
    workspace.faults.add(Fault("status", on="run-now", status=400, message=said))
    with pytest.raises(LaunchFailed, match=r"Authorization: Bearer \*\*\* is refused") as caught:
        launcher.launch(an_attempt(1))
    assert workspace.token not in str(caught.value.seen)


def test_a_refusal_that_repeats_the_launch_token_does_not_tell_it(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """Who has it may take the attempt's work."""
    token = "fb-0b6d7c1e"
    said = f"idempotency_token {token} is one of a run that was deleted"
    workspace.faults.add(Fault("status", on="run-now", status=400, message=said))
    with pytest.raises(LaunchFailed, match=r"idempotency_token \*\*\* is one of a run") as caught:
        launcher.launch(replace(an_attempt(1), launch_token=token))
    assert token not in str(caught.value.seen)


OTHERS = [
    "Workspace 7405607 does not exist.",
    "User 5 does not exist.",
    "Job 70 does not exist.",
    "Run 70 does not exist.",
    "The run-as user 5 of this run does not exist.",
    "The run-as user 5 of run {run} does not exist.",
    "The owner of job {job} does not exist.",
    "Cannot get run: workspace 99 was not found",
    "Cannot run job {job}: workspace 99 was not found",
    "Run {run} cannot be read: user 5 does not exist.",
    "Not found",
]
"""Texts in which something is said not to be there, and that is neither the run nor the job."""

NOT_THERE = [(404, "RESOURCE_DOES_NOT_EXIST"), (400, "INVALID_PARAMETER_VALUE")]


@pytest.mark.parametrize(("status", "code"), NOT_THERE)
@pytest.mark.parametrize("said", OTHERS)
def test_a_run_is_not_gone_because_something_else_is(
    said: str, status: int, code: str, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    run_id = launcher.launch(an_attempt(1))
    said = said.format(run=run_id, job=JOB)
    workspace.faults.add(
        Fault("status", on=GET_RUN, status=status, code=code, message=said, times=2)
    )
    seen = launcher.states({run_id: JOB})[run_id]
    assert seen["life_cycle_state"] == "POLL_FAILED"
    assert seen["message"] == said.rstrip(".")
    with pytest.raises(CancelFailed, match=said.rstrip(".")):
        launcher.cancel(run_id, JOB)


@pytest.mark.parametrize(("status", "code"), NOT_THERE)
@pytest.mark.parametrize(
    "said",
    [
        "Run {run} does not exist.",
        "Run: {run} in job: 7 doesn't exist",
        "RESOURCE_DOES_NOT_EXIST: Run with id '{run}' was not found. [TraceId: 5]",
    ],
)
def test_a_run_is_gone_where_its_id_is_said_not_to_be_there(
    said: str, status: int, code: str, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    run_id = launcher.launch(an_attempt(1))
    said = said.format(run=run_id)
    workspace.faults.add(
        Fault("status", on=GET_RUN, status=status, code=code, message=said, times=2)
    )
    assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "NOT_FOUND"
    launcher.cancel(run_id, JOB)


@pytest.mark.parametrize("said", OTHERS)
def test_a_job_is_not_gone_because_something_else_is(
    said: str, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """It waits as where nobody answers: nobody has to mend the job."""
    said = said.format(run=1, job=JOB)
    gone = {"status": 404, "code": "RESOURCE_DOES_NOT_EXIST", "message": said}
    workspace.faults.add(Fault("status", on="run-now", **gone))
    with pytest.raises(JobAway) as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] == "UNREACHABLE"
    assert said.rstrip(".") in caught.value.seen["message"]


@pytest.mark.parametrize("said", ["Job 7 does not exist.", "No."])
def test_a_job_is_gone_where_that_is_said_of_it_to_the_launch_or_to_a_look(
    said: str, workspace: Workspace, jobs: Jobs, launcher: LakeflowLauncher
) -> None:
    gone = {"status": 404, "code": "RESOURCE_DOES_NOT_EXIST"}
    workspace.faults.add(Fault("status", on="run-now", message=said, **gone))
    looked = "Job 7 does not exist."
    workspace.faults.add(Fault("status", on="/jobs/get", message=looked, **gone))
    with pytest.raises(LaunchFailed) as caught:
        launcher.launch(an_attempt(1))
    assert caught.value.seen["result_state"] == "404"


def test_a_principal_that_may_list_no_jobs_is_answered(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """By the API itself, which is then there for what it may do."""
    refused = Fault("status", on="/jobs/list", status=403, code="PERMISSION_DENIED", times=None)
    workspace.faults.add(refused)
    launcher.check()


@pytest.mark.parametrize("code", ["PERMISSION_DENIED", 403])
def test_a_workspace_that_takes_nothing_from_this_address_is_away(
    code: str | int, workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    """Its IP access list refuses all alike, whoever asks: no grant of a person's mends that."""
    said = "Source IP address: 10.1.2.3 is blocked by Databricks IP ACL for workspace: 7405607"
    answer = json.dumps({"error_code": code, "message": said})
    workspace.faults.add(Fault("status", on="/api/", status=403, page=answer, times=None))
    with pytest.raises(LauncherAway, match="IP ACL"):
        launcher.launch(an_attempt())


def test_what_is_told_of_a_workspace_that_is_away_can_be_stored(
    workspace: Workspace, launcher: LakeflowLauncher
) -> None:
    launcher.check()
    workspace.faults.add(Fault("status", times=None, message="a\0b\ud800" + "c" * 10_000))
    with pytest.raises(LauncherAway) as caught:
        launcher.check()
    for said in (str(caught.value), caught.value.seen["message"]):
        assert "\0" not in said
        said.encode()
        assert len(said) < 5000


def test_the_launcher_that_is_configured_gives_up_soon(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its steps hold up no stop: an app has 15 s for that, and one request may be under way."""
    config = configured(workspace, monkeypatch)._workspace().config
    assert config.http_timeout_seconds == HTTP_SECONDS <= 5
    assert config.retry_timeout_seconds == RETRY_SECONDS <= 5


def configured(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> LakeflowLauncher:
    """Return the launcher that a daemon has, which loses as much time as it."""
    monkeypatch.setenv("DATABRICKS_HOST", workspace.url)
    monkeypatch.setenv("DATABRICKS_TOKEN", workspace.token)
    (launcher,) = external_launchers({"DATABRICKS_HOST": workspace.url})
    assert isinstance(launcher, LakeflowLauncher)
    return launcher


def test_one_job_or_run_takes_no_more_than_seconds(
    workspace: Workspace, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon comes back to it by itself; what passes at once is not even noticed."""
    launcher = configured(workspace, monkeypatch)
    for status in (503, 429):
        workspace.faults.add(Fault("status", on="POST /api/2.2/jobs/run-now", status=status))
        run_id = launcher.launch(an_attempt(status))
        workspace.faults.add(Fault("status", on=GET_RUN, status=status))
        assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "RUNNING"
    jobs.instead["run-now", JOB] = jobs.instead["get", int(run_id)] = refused(503, "UNAVAILABLE")
    began = time.monotonic()
    with pytest.raises(JobAway):
        launcher.launch(an_attempt(1))
    assert launcher.states({run_id: JOB})[run_id]["life_cycle_state"] == "POLL_FAILED"
    assert time.monotonic() - began < 15


def test_a_launch_that_hangs_takes_no_more_than_seconds(
    workspace: Workspace, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time, and the second that the SDK waits before it finds that there is none left."""
    launcher = configured(workspace, monkeypatch)
    launcher.check()
    workspace.faults.add(Fault("hang", on="POST /api/2.2/jobs/run-now", seconds=60, times=None))
    began = time.monotonic()
    with pytest.raises(JobAway):
        launcher.launch(an_attempt(1))
    assert time.monotonic() - began < 10


def test_states_of_many_runs_come_from_the_list_and_of_the_others_one_by_one(
    workspace: Workspace, launcher: LakeflowLauncher, jobs: Jobs
) -> None:
    runs = [launcher.launch(an_attempt(number)) for number in range(60)]
    jobs.end(runs[0])
    jobs.end(runs[1], "FAILED", message="boom")
    seen = launcher.states(dict.fromkeys(runs, JOB) | {"4711": JOB})
    assert [seen[run_id]["life_cycle_state"] for run_id in runs[2:]] == ["RUNNING"] * 58
    assert seen[runs[0]]["termination_code"] == "SUCCESS"
    assert seen[runs[0]]["run_page_url"].endswith(f"/jobs/{JOB}/runs/{runs[0]}")
    assert (
        seen[runs[1]].items()
        >= {
            "life_cycle_state": "TERMINATED",
            "result_state": "FAILED",
            "termination_code": "RUN_EXECUTION_ERROR",
            "message": "boom",
        }.items()
    )
    assert seen["4711"]["life_cycle_state"] == "NOT_FOUND"
    assert len(workspace.calls("GET", "/api/2.2/jobs/runs/list")) == 3
    assert len(workspace.calls("GET", "/api/2.2/jobs/runs/get")) == 3


def test_what_a_long_list_does_not_show_in_time_is_asked_alone(
    workspace: Workspace, launcher: LakeflowLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [launcher.launch(an_attempt(number)) for number in range(60)]
    monkeypatch.setattr(lakeflow, "LONGEST_LISTING", 0.0)
    seen = launcher.states(dict.fromkeys(runs, JOB))
    assert {one["life_cycle_state"] for one in seen.values()} == {"RUNNING"}
    assert len(workspace.calls("GET", "/api/2.2/jobs/runs/list")) == 1
    assert len(workspace.calls("GET", "/api/2.2/jobs/runs/get")) == 60 - lakeflow.PAGE


def test_words_that_the_sdk_does_not_know_are_kept(launcher: LakeflowLauncher, jobs: Jobs) -> None:
    run_id = launcher.launch(an_attempt(1))
    jobs.put(run_id, "MARTIAN", "FUTURE_RESULT", "FUTURE_CODE", "new")
    seen = launcher.states({run_id: JOB})[run_id]
    assert (seen["life_cycle_state"], seen["result_state"]) == ("MARTIAN", "FUTURE_RESULT")
    assert seen["state"]["life_cycle_state"] == seen["status"]["state"] == "MARTIAN"
    jobs.put(run_id, "TERMINATED", "FUTURE_RESULT", "FUTURE_CODE", "new")
    assert launcher.states({run_id: JOB})[run_id]["termination_code"] == "FUTURE_CODE"


@pytest.mark.parametrize(
    ("status", "code"), [(403, "PERMISSION_DENIED"), (500, "INTERNAL_ERROR"), (409, "ABORTED")]
)
def test_a_run_that_cannot_be_seen_is_told_so(
    workspace: Workspace, launcher: LakeflowLauncher, status: int, code: str
) -> None:
    runs = {launcher.launch(an_attempt(number)): JOB for number in range(5)}
    workspace.faults.add(Fault("status", on=LIST_RUNS, status=status, code=code))
    workspace.faults.add(Fault("status", on=GET_RUN, status=status, code=code))
    seen = launcher.states(runs)
    failed = [one for one in seen.values() if one["life_cycle_state"] == "POLL_FAILED"]
    assert [(one["result_state"], one["termination_code"]) for one in failed] == [
        (str(status), code)
    ]
    assert len(seen) == 5
