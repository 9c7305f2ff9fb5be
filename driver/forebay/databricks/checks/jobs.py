"""The jobs: that they are there, whom they run as, and who may run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import NotFound
from databricks.sdk.service.jobs import Job

from forebay import schema
from forebay.calls import viewer
from forebay.databricks import acls
from forebay.databricks.findings import Case, Finding, missing, ok, refused
from forebay.databricks.principals import CALLERS
from forebay.pool import Database
from forebay.settings import DATABASE_URL

JOB_RUN_AS = "FOREBAY_JOB_RUN_AS"


def jobs(case: Case) -> Iterator[Finding]:
    """See each job: that it is there, whom it runs as, and that the orchestrator may run it."""
    for job_id in all_jobs(case):
        try:
            job = case.client.jobs.get(job_id)
        except NotFound as error:
            yield refused(f"job {job_id}", error, "correct the id")
            continue
        except (OSError, ValueError) as error:
            yield refused(f"job {job_id}", error, acls.remedy("jobs", case.who))
            continue
        name = job.settings.name if job.settings else None
        yield ok(f"job {job_id}", f"it is {name}")
        yield _run_as(case, job_id, job)
        if case.part == "orchestrator":
            need = acls.Need("jobs", str(job_id), "CAN_MANAGE_RUN")
            yield acls.found(case, acls.Other(case.part, case.who), need)


def all_jobs(case: Case) -> list[int]:
    """Return the jobs that are named, and those of the database's agents."""
    return sorted({*case.jobs, *_jobs_of_agents(case)})


def settings_of_job(client: WorkspaceClient, job_id: int) -> dict[str, str]:
    """Return the settings that a job's tasks are given; nothing where it is not seen."""
    try:
        return settings_of(client.jobs.get(job_id))
    except OSError:
        return {}  # the check of the job says why


def settings_of(job: Job) -> dict[str, str]:
    """Return the settings among the parameters of a job's tasks."""
    tasks = job.settings.tasks if job.settings else None
    named = [t.python_wheel_task.named_parameters or {} for t in tasks or [] if t.python_wheel_task]
    return {name: value for each in named for name, value in each.items() if name.isupper()}


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
        return ok(check, f"it runs as {actual}; {JOB_RUN_AS} is not set to compare with")
    if actual == pinned:
        return ok(check, f"it runs as {actual}, as pinned")
    return missing(
        check,
        f"it runs as {actual}, and {JOB_RUN_AS} is {pinned}: a deploy may have changed it; set the"
        " job's run_as again",
    )
