"""Experiments of MLflow by their names: that they are there, and who may write to them.

Simulated: no traces are kept here.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from forebay_lab.workspace.routing import ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace


class Experiments(Area):
    """Experiments that are added; principals need CAN_READ on `experiments/ID` to see one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._ids: dict[str, str] = {}

    def add(self, name: str) -> str:
        """Have an experiment be there, and return its id."""
        self._ids[name] = str(len(self._ids) + 1)
        return self._ids[name]

    @route("GET", "/api/2.0/mlflow/experiments/get-by-name")
    def get_by_name(self, request: Request) -> dict[str, Any]:
        name = request.query.get("experiment_name", "")
        if name not in self._ids:
            message = f"Node {name} does not exist."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        thing = f"experiments/{self._ids[name]}"
        if not self._workspace.access.may(request.principal, thing, "CAN_READ"):
            who = request.principal.name if request.principal else "nobody"
            raise ApiError(403, "PERMISSION_DENIED", f"{who} does not have View on {name}.")
        return {
            "experiment": {
                "experiment_id": self._ids[name],
                "name": name,
                "lifecycle_stage": "active",
            }
        }


def traces(experiment: str, folder: Path) -> dict[str, str]:
    """Return the settings by which traces are kept in a file and read, if MLflow can do that here.

    It needs sqlalchemy, which mlflow-skinny does not bring.
    """
    if importlib.util.find_spec("sqlalchemy") is None:
        return {}
    store = f"sqlite:///{folder / 'traces.db'}"
    return {"MLFLOW_TRACKING_URI": store, "FOREBAY_MLFLOW_EXPERIMENT": experiment}
