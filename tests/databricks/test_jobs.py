"""The stand-in's Jobs API: one run a token, queues, states that move, permissions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import (
    BadRequest,
    InvalidParameterValue,
    PermissionDenied,
    ResourceDoesNotExist,
)
from databricks.sdk.service.jobs import (
    JobAccessControlRequest,
    JobPermissionLevel,
    QueueSettings,
    RunLifeCycleState,
    RunResultState,
    TerminationCodeCode,
)

from forebay_lab.workspace import Principal, Workspace
from forebay_lab.workspace.jobs import JobRun, Jobs, command

Client = Callable[..., WorkspaceClient]


@pytest.fixture
def jobs(workspace: Workspace) -> Jobs:
    jobs = Jobs(workspace)
    workspace.add(jobs)
    return jobs


def life(client: WorkspaceClient, run_id: int) -> RunLifeCycleState | None:
    state = client.jobs.get_run(run_id).state
    return state.life_cycle_state if state else None


def test_a_token_starts_one_run(client: Client, jobs: Jobs) -> None:
    job = jobs.add("parse")
    w = client()
    first = w.jobs.run_now(job.job_id, job_parameters={"a": "1"}, idempotency_token="t").run_id
    assert w.jobs.run_now(job.job_id, idempotency_token="t").run_id == first
    assert w.jobs.run_now(job.job_id, idempotency_token="u").run_id != first
    assert w.jobs.run_now(job.job_id).run_id != w.jobs.run_now(job.job_id).run_id
    (parameter,) = w.jobs.get_run(first).job_parameters or []
    assert (parameter.name, parameter.value) == ("a", "1")


def test_a_token_of_a_deleted_run_and_one_that_is_too_long_are_refused(
    client: Client, jobs: Jobs
) -> None:
    job = jobs.add("parse")
    w = client()
    run_id = w.jobs.run_now(job.job_id, idempotency_token="t").run_id
    with pytest.raises(BadRequest, match="active"):
        w.jobs.delete_run(run_id)
    jobs.end(run_id)
    w.jobs.delete_run(run_id)
    with pytest.raises(InvalidParameterValue, match="deleted"):
        w.jobs.run_now(job.job_id, idempotency_token="t")
    with pytest.raises(ResourceDoesNotExist):
        w.jobs.get_run(run_id)
    with pytest.raises(InvalidParameterValue, match="too long"):
        w.jobs.run_now(job.job_id, idempotency_token="x" * 65)


def test_what_has_no_room_is_queued_or_skipped(client: Client, jobs: Jobs) -> None:
    job = jobs.add("parse", max_concurrent_runs=1, is_queueing=False)
    w = client()
    first = w.jobs.run_now(job.job_id).run_id
    waiting = w.jobs.run_now(job.job_id, queue=QueueSettings(enabled=True)).run_id
    skipped = w.jobs.run_now(job.job_id).run_id
    assert life(w, first) == RunLifeCycleState.RUNNING
    assert life(w, waiting) == RunLifeCycleState.QUEUED
    assert life(w, skipped) == RunLifeCycleState.SKIPPED
    jobs.end(first)
    assert life(w, waiting) == RunLifeCycleState.RUNNING


def test_states_move_with_time_or_by_command(workspace: Workspace, client: Client) -> None:
    now = [1000.0]
    workspace.now = lambda: now[0]
    jobs = Jobs(workspace)
    workspace.add(jobs)
    job = jobs.add("parse", pending_seconds=5, run_seconds=10)
    w = client()
    run_id = w.jobs.run_now(job.job_id).run_id
    seen = []
    for moment in (1000, 1005, 1014, 1015):
        now[0] = moment
        seen.append(life(w, run_id))
    states = RunLifeCycleState
    assert seen == [states.PENDING, states.RUNNING, states.RUNNING, states.TERMINATED]
    other = w.jobs.run_now(job.job_id).run_id
    jobs.put(other, "INTERNAL_ERROR", "FAILED", "CLOUD_FAILURE", "no machines")
    run = w.jobs.get_run(other)
    assert run.state
    assert run.state.result_state == RunResultState.FAILED
    assert run.status
    assert run.status.termination_details
    assert run.status.termination_details.code == TerminationCodeCode.CLOUD_FAILURE


def test_a_run_can_be_a_process(client: Client, jobs: Jobs) -> None:
    program = "import sys; print(sorted(sys.argv[1:])); sys.exit('a=3' in ''.join(sys.argv))"
    job = jobs.add("parse", work=command([sys.executable, "-c", program]))
    w = client()
    good = w.jobs.run_now(job.job_id, job_parameters={"a": "1"}).run_id
    bad = w.jobs.run_now(job.job_id, job_parameters={"a": "3"}).run_id
    assert jobs.wait(good).result_state == "SUCCESS"
    assert jobs.wait(bad).result_state == "FAILED"
    (task,) = w.jobs.get_run(good).tasks or []
    assert task.run_id
    assert w.jobs.get_run_output(task.run_id).logs == f"['--a=1', '--run_id={good}']\n"


def test_a_process_is_ended_when_its_run_is_cancelled(client: Client, jobs: Jobs) -> None:
    job = jobs.add("parse", work=command([sys.executable, "-c", "import time; time.sleep(60)"]))
    w = client()
    run_id = w.jobs.run_now(job.job_id).run_id
    w.jobs.cancel_run(run_id)
    assert jobs.wait(run_id).result_state == "CANCELED"
    w.jobs.cancel_run(run_id)


def test_a_run_can_be_a_function(client: Client, jobs: Jobs) -> None:
    began = threading.Event()

    def work(run: JobRun) -> None:
        began.set()
        assert run.is_cancelled.wait(10)

    job = jobs.add("parse", work=work)
    w = client()
    run_id = w.jobs.run_now(job.job_id).run_id
    assert began.wait(5)
    assert life(w, run_id) == RunLifeCycleState.RUNNING
    w.jobs.cancel_all_runs(job_id=job.job_id)
    assert jobs.wait(run_id).result_state == "CANCELED"


def test_runs_are_listed_in_pages(client: Client, jobs: Jobs) -> None:
    job, other = jobs.add("parse"), jobs.add("other")
    w = client()
    ids = [w.jobs.run_now(job.job_id).run_id for _ in range(30)]
    w.jobs.run_now(other.job_id)
    jobs.end(ids[0])
    listed = [run.run_id for run in w.jobs.list_runs(job_id=job.job_id, active_only=True, limit=24)]
    assert listed == ids[:0:-1]
    ended = [run.run_id for run in w.jobs.list_runs(job_id=job.job_id, completed_only=True)]
    assert ended == ids[:1]
    with pytest.raises(InvalidParameterValue):
        list(w.jobs.list_runs(limit=25))


def test_who_may_not_run_a_job_is_refused(workspace: Workspace, client: Client, jobs: Jobs) -> None:
    job = jobs.add("parse")
    workspace.access.add(Principal("an-app"), "app-token")
    app = client(token="app-token")
    with pytest.raises(PermissionDenied, match="an-app does not have Manage Run permissions"):
        app.jobs.run_now(job.job_id)
    client().jobs.update_permissions(
        str(job.job_id),
        access_control_list=[
            JobAccessControlRequest(
                service_principal_name="an-app",
                permission_level=JobPermissionLevel.CAN_MANAGE_RUN,
            )
        ],
    )
    run_id = app.jobs.run_now(job.job_id).run_id
    assert life(app, run_id) == RunLifeCycleState.RUNNING
    app.jobs.cancel_run(run_id)
    client().jobs.set_permissions(str(job.job_id), access_control_list=[])
    with pytest.raises(PermissionDenied):
        app.jobs.get_run(run_id)
    with pytest.raises(PermissionDenied):
        app.jobs.cancel_run(run_id)


def test_a_job_that_is_not_there_is_said_so(client: Client, jobs: Jobs) -> None:
    with pytest.raises(InvalidParameterValue, match="Job 9 does not exist"):
        client().jobs.run_now(9)
    with pytest.raises(ResourceDoesNotExist):
        client().jobs.get(9)


def test_jobs_are_made_found_and_deleted(client: Client, jobs: Jobs) -> None:
    w = client()
    made = w.jobs.create(name="parse", max_concurrent_runs=3).job_id
    assert [job.job_id for job in w.jobs.list(name="parse")] == [made]
    settings = w.jobs.get(made or 0).settings
    assert settings
    assert settings.max_concurrent_runs == 3
    w.jobs.delete(made or 0)
    assert list(w.jobs.list()) == []
