"""Serving endpoints, in the form of OpenAI: the lab's model server stands behind each of them.

Simulated: there is no model. What it counts, limits and answers is `forebay_lab.model_server`'s;
refusals come in the form of Databricks.
"""

from __future__ import annotations

from typing import Any

from forebay_lab.model_server import Simulation
from forebay_lab.model_server.simulation import ConnectionLost
from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

CODES = {
    400: "BAD_REQUEST",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    429: "REQUEST_LIMIT_EXCEEDED",
    503: "TEMPORARILY_UNAVAILABLE",
}
"""The error code of a status; any other is INTERNAL_ERROR."""


class Serving(Area):
    """Foundation Model endpoints; `simulation` answers for all of them.

    Principals need CAN_QUERY on `serving-endpoints/NAME`.
    """

    def __init__(self, workspace: Workspace, simulation: Simulation | None = None) -> None:
        self.simulation = simulation or Simulation()
        self._workspace = workspace
        self._endpoints: list[str] = []

    def add(self, name: str) -> str:
        """Have an endpoint be there, and return its name."""
        self._endpoints.append(name)
        return name

    @route("GET", "/api/2.0/serving-endpoints")
    def list_endpoints(self, request: Request) -> dict[str, Any]:
        may = [name for name in self._endpoints if self._may(request, name)]
        return {"endpoints": [_shown(name) for name in may]}

    @route("GET", "/api/2.0/serving-endpoints/{name}")
    def get(self, request: Request) -> dict[str, Any]:
        return _shown(self._endpoint(request, request.params["name"]))

    @route("POST", "/serving-endpoints/chat/completions")
    def complete(self, request: Request) -> Answer:
        asked = request.json()
        return self._answer(request, asked, str(asked.get("model")))

    @route("POST", "/serving-endpoints/{name}/invocations")
    def invoke(self, request: Request) -> Answer:
        return self._answer(request, request.json(), request.params["name"])

    def _answer(self, request: Request, asked: dict[str, Any], name: str) -> Answer:
        asked = {**asked, "model": self._endpoint(request, name)}
        try:
            response = self.simulation.complete(asked, None, request.headers)
        except ConnectionLost:
            raise ApiError(502, "INTERNAL_ERROR", "The endpoint broke off.") from None
        if response.status == 200 and isinstance(response.body, dict):
            return Answer(response.body, headers=response.headers)
        message = "The endpoint failed."
        if isinstance(response.body, dict):
            error = response.body.get("error", {})
            message = f"{error.get('message', message)} ({error.get('code')})"
        code = CODES.get(response.status, "INTERNAL_ERROR")
        raise ApiError(response.status, code, message, headers=response.headers)

    def _endpoint(self, request: Request, name: str) -> str:
        if name not in self._endpoints:
            message = f"Endpoint with name '{name}' does not exist."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        if not self._may(request, name):
            assert request.principal is not None
            message = f"{request.principal.name} does not have Can Query on endpoint '{name}'."
            raise ApiError(403, "PERMISSION_DENIED", message)
        return name

    def _may(self, request: Request, name: str) -> bool:
        thing = f"serving-endpoints/{name}"
        return self._workspace.access.may(request.principal, thing, "CAN_QUERY")


def _shown(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "task": "llm/v1/chat",
        "state": {"ready": "READY", "config_update": "NOT_UPDATING"},
        "description": "Simulated: there is no model behind it.",
    }
