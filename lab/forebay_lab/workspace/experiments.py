"""Experiments of MLflow by their names: that they are there, and who may write to them."""

from __future__ import annotations

from itertools import count
from typing import Any

from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

LEVELS = {"CAN_READ": "View", "CAN_EDIT": "Edit"}


class Experiments(Area):
    """Experiments that are added; principals need CAN_READ on `experiments/ID` to see one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._ids: dict[str, str] = {}
        self._numbers = count(1)

    def add(self, name: str) -> str:
        """Have an experiment be there, and return its id, which is never given again."""
        self._ids[name] = str(next(self._numbers))
        return self._ids[name]

    def remove(self, name: str) -> None:
        """Have an experiment be there no more."""
        del self._ids[name]

    def require(self, request: Request, experiment_id: str, level: str) -> None:
        """Refuse, with ApiError, who has not this level on the experiment."""
        if experiment_id not in self._ids.values():
            message = f"No Experiment with id={experiment_id} exists"
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        thing = f"experiments/{experiment_id}"
        if not self._workspace.access.may(request.principal, thing, level):
            who = request.principal.name if request.principal else "nobody"
            message = (
                f"{who} does not have {LEVELS[level]} permission on experiment {experiment_id}."
            )
            raise ApiError(403, "PERMISSION_DENIED", message)

    @route("GET", "/api/2.0/mlflow/experiments/get-by-name")
    def get_by_name(self, request: Request) -> dict[str, Any]:
        name = request.query.get("experiment_name", "")
        if name not in self._ids:
            message = f"Node {name} does not exist."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        return self._told(request, self._ids[name])

    @route("GET", "/api/2.0/mlflow/experiments/get")
    def get(self, request: Request) -> dict[str, Any]:
        return self._told(request, request.query.get("experiment_id", ""))

    def _told(self, request: Request, experiment_id: str) -> dict[str, Any]:
        self.require(request, experiment_id, "CAN_READ")
        (name,) = (name for name, one in self._ids.items() if one == experiment_id)
        told = {"experiment_id": experiment_id, "name": name, "lifecycle_stage": "active"}
        return {"experiment": told}
