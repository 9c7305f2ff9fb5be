"""The Jobs API: once per idempotency token a run is started, then shown, listed and cancelled."""

from __future__ import annotations

from typing import Any

from forebay_lab.workspace.job_store import Job, JobStore
from forebay_lab.workspace.routing import ApiError, Request, route
from forebay_lab.workspace.runs import ENDED, JobRun, command

__all__ = ["ENDED", "Job", "JobRun", "Jobs", "command"]

LARGEST_PAGE = 24
PRINCIPALS = ("user_name", "service_principal_name", "group_name")


class Jobs(JobStore):
    """The Jobs API 2.2 of what the store holds."""

    # Runs

    @route("POST", "/api/2.2/jobs/run-now")
    def run_now(self, request: Request) -> dict[str, Any]:
        body = request.json()
        if said := self._say_instead("run-now", body.get("job_id")):
            return dict(said)
        with self._lock:
            job = self._job(body.get("job_id"))
            self._require(request, job.job_id, "CAN_MANAGE_RUN", "Manage Run")
            if job.refusal:
                raise job.refusal
            token = body.get("idempotency_token")
            run = self._known(job, token) or self._start(request, job, body, token)
            self._advance()
            return {"run_id": run.run_id, "number_in_job": run.number}

    @route("GET", "/api/2.2/jobs/runs/get")
    def get_run(self, request: Request) -> Any:
        if said := self._say_instead("get", request.query.get("run_id")):
            return said
        with self._lock:
            run = self._run(request, "CAN_VIEW", "View")
            return run.shown(request.base_url)

    @route("GET", "/api/2.2/jobs/runs/list")
    def list_runs(self, request: Request) -> Any:
        query = request.query
        if said := self._say_instead("list", query.get("job_id")):
            return said
        limit, offset = int(query.get("limit", 20)), int(query.get("page_token", 0))
        if not 1 <= limit <= LARGEST_PAGE:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "limit must be less than 25.")
        with self._lock:
            self._advance()
            if job_id := query.get("job_id"):
                self._require(request, int(job_id), "CAN_VIEW", "View")
            found = list(self._matching(request, query))
            page = found[offset : offset + limit]
            has_more = len(found) > offset + limit
            return {"runs": [run.shown(request.base_url, has_tasks=False) for run in page]} | (
                {"has_more": True, "next_page_token": str(offset + limit)} if has_more else {}
            )

    @route("POST", "/api/2.2/jobs/runs/cancel")
    def cancel_run(self, request: Request) -> dict[str, Any]:
        with self._lock:
            run = self._run(request, "CAN_MANAGE_RUN", "Manage Run")
            self._say_instead("cancel", run.run_id)
            self._cancel(run)
        return {}

    @route("POST", "/api/2.2/jobs/runs/cancel-all")
    def cancel_all(self, request: Request) -> dict[str, Any]:
        with self._lock:
            job = self._job(request.json().get("job_id"))
            self._require(request, job.job_id, "CAN_MANAGE_RUN", "Manage Run")
            for run in self._of(job):
                self._cancel(run)
        return {}

    @route("POST", "/api/2.2/jobs/runs/delete")
    def delete_run(self, request: Request) -> dict[str, Any]:
        with self._lock:
            run = self._run(request, "CAN_MANAGE_RUN", "Manage Run")
            if not run.has_ended:
                raise ApiError(400, "INVALID_STATE", f"Run {run.run_id} is active.")
            self.deleted.add(run.run_id)
        return {}

    @route("GET", "/api/2.2/jobs/runs/get-output")
    def get_output(self, request: Request) -> dict[str, Any]:
        with self._lock:
            run = self._run(request, "CAN_VIEW", "View", is_task=True)
            failed = {"error": run.message} if run.result_state == "FAILED" else {}
            return {"metadata": run.shown(request.base_url), "logs": run.output} | failed

    @route("GET", "/simulated/jobs/{job_id}/runs/{run_id}", is_open=True)
    def page(self, request: Request) -> dict[str, Any]:
        run = self.runs.get(int(request.params["run_id"]))
        state = run.life_cycle_state if run else "unknown"
        return {"simulated": "There is no Databricks behind this run.", "state": state}

    # Jobs

    @route("POST", "/api/2.2/jobs/create")
    def create(self, request: Request) -> dict[str, int]:
        settings = request.json()
        job = self.add(
            str(settings.get("name", "Untitled")),
            max_concurrent_runs=int(settings.get("max_concurrent_runs", 1)),
            is_queueing=bool((settings.get("queue") or {}).get("enabled")),
            parameters={one["name"]: one["default"] for one in settings.get("parameters", [])},
            settings=settings,
        )
        assert request.principal is not None
        self._workspace.access.grant(request.principal.name, f"jobs/{job.job_id}", "IS_OWNER")
        return {"job_id": job.job_id}

    @route("GET", "/api/2.2/jobs/get")
    def get(self, request: Request) -> dict[str, Any]:
        with self._lock:
            job = self._job(request.query.get("job_id"))
            self._require(request, job.job_id, "CAN_VIEW", "View")
            return self._shown(job)

    @route("GET", "/api/2.2/jobs/list")
    def list_jobs(self, request: Request) -> dict[str, Any]:
        name = request.query.get("name")
        limit, offset = (
            int(request.query.get("limit", 20)),
            int(request.query.get("page_token", 0)),
        )
        with self._lock:
            may = [job for job in self.jobs.values() if self._may(request, job.job_id, "CAN_VIEW")]
            found = [job for job in may if name is None or job.name.lower() == name.lower()]
            page = found[offset : offset + limit]
            more = len(found) > offset + limit
            return {"jobs": [self._shown(job) for job in page], "has_more": more} | (
                {"next_page_token": str(offset + limit)} if more else {}
            )

    @route("POST", "/api/2.2/jobs/delete")
    def delete(self, request: Request) -> dict[str, Any]:
        with self._lock:
            job = self._job(request.json().get("job_id"))
            self._require(request, job.job_id, "CAN_MANAGE", "Manage")
            self.remove(job.job_id)
        return {}

    @route("GET", "/api/2.0/permissions/jobs/{job_id}")
    def permissions(self, request: Request) -> dict[str, Any]:
        job_id = request.params["job_id"]
        granted = self._workspace.access.granted(f"jobs/{job_id}")
        return {
            "object_id": f"/jobs/{job_id}",
            "object_type": "job",
            "access_control_list": [
                {
                    "user_name" if "@" in name else "service_principal_name": name,
                    "all_permissions": [{"permission_level": level, "inherited": False}],
                }
                for name, level in granted.items()
            ],
        }

    @route("PATCH", "/api/2.0/permissions/jobs/{job_id}")
    def add_permissions(self, request: Request) -> dict[str, Any]:
        job_id = request.params["job_id"]
        self._require(request, int(job_id), "CAN_MANAGE", "Manage")
        for one in request.json().get("access_control_list", []):
            name = next(str(one[key]) for key in PRINCIPALS if key in one)
            self._workspace.access.grant(name, f"jobs/{job_id}", one["permission_level"])
        return self.permissions(request)

    @route("PUT", "/api/2.0/permissions/jobs/{job_id}")
    def set_permissions(self, request: Request) -> dict[str, Any]:
        job_id = request.params["job_id"]
        self._require(request, int(job_id), "CAN_MANAGE", "Manage")
        for name in self._workspace.access.granted(f"jobs/{job_id}"):
            self._workspace.access.revoke(name, f"jobs/{job_id}")
        return self.add_permissions(request)
